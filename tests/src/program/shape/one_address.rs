//! Many accesses through one address: directly, through a variable, a parameter, and the address of the next node.

use super::{ACCESSES, ShapeWriter};
use crate::program::Language;

impl ShapeWriter<'_> {
    pub(super) fn one_address(&mut self) {
        let ty = match self.language {
            Language::Glsl => "Node",
            Language::Slang => "Node*",
        };
        self.line(&format!("{ty} node = nodes[l];"));
        let all = ["nodes[l]", "node", "node.next", "nodes[l].next", "node.next.next"];
        let usual = self.choices.pick(&all).unwrap_or("node");
        let is_mixed = self.choices.chance(30);
        let (fewest, most) = ACCESSES;
        for _ in 0..self.choices.between(fewest, most) {
            let node = self.choices.pick(&all).filter(|_| is_mixed).unwrap_or(usual);
            let text = match self.choices.below(9) {
                0 => format!(
                    "sum += {node}.vector.{};",
                    self.choices.pick(&['x', 'y', 'z', 'w']).unwrap_or('x')
                ),
                1 => format!("{node}.pairs[{}].second = sum;", self.choices.below(4)),
                2 => format!("sum ^= {node}.pairs[sum & 3u].first;"),
                3 => format!("sum += {node}.pairs[{}].second;", self.choices.below(4)),
                4 => format!("{node}.words[{}] = sum;", self.choices.below(16)),
                5 => format!("{node}.words[sum & 15u] += sum;"),
                6 => format!("sum += {node}.words[sum & 15u];"),
                7 => {
                    let divisor = self.term("sum");
                    format!("sum += {divisor} + {node}.words[{}];", self.choices.below(16))
                }
                _ => format!("sum += {node}.words[{}];", self.choices.below(16)),
            };
            self.line(&text);
        }
    }
}
