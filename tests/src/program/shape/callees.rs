//! Functions that access the shared arrays, take whole arrays, or leave values in their parameters.

use super::ShapeWriter;
use crate::program::Language;

impl ShapeWriter<'_> {
    pub(super) fn functions(&mut self) {
        for array in ["a", "b"] {
            self.line(&format!("void put_{array}(uint n, uint v) {{ {array}[n] = v; }}"));
            self.line(&format!("uint get_{array}(uint n) {{ return {array}[n]; }}"));
        }
        self.line("uint divided(uint v, uint n) { return v / d[n & 31u]; }");
        self.line("void change(inout uint v, uint other) { v = v * 3u + other; }");
        self.line("void fill(out uint v, uint other) { v = other ^ 9u; }");
        self.line("uint total(uint list[32]) { uint t = 0u; for (uint i = 0u; i < 32u; ++i) t += list[i]; return t; }");
        let returned = match self.language {
            Language::Glsl => {
                "uint[4] four(uint v) { uint list[4]; for (uint i = 0u; i < 4u; ++i) list[i] = v + i; return list; }"
            }
            Language::Slang => {
                "struct Four { uint list[4]; }; Four four(uint v) { Four r; for (uint i = 0u; i < 4u; ++i) r.list[i] = v + i; return r; }"
            }
        };
        self.line(returned);
    }

    pub(super) fn calls(&mut self) {
        for _ in 0..self.choices.between(2, 5) {
            if self.choices.chance(30) {
                let (to, from) = self.choices.pick(&[("a", "b"), ("b", "a")]).unwrap_or(("a", "b"));
                let copier = self.choices.below(self.invocations);
                self.line(&format!("if (l == {copier}u) {to} = {from};"));
                self.barrier();
            }
            if self.choices.chance(30) {
                let copy = self.fresh("copy");
                self.line(&format!("uint {copy}[32] = a;"));
                self.line(&format!("{copy}[sum & 31u] += l;"));
                self.line(&format!("sum += total({copy}) + total(b);"));
                self.barrier();
            }
            self.choose_uses();
            for _ in 0..self.choices.between(2, 8) {
                self.call();
            }
            self.barrier();
        }
    }

    fn call(&mut self) {
        let (array, index, is_own) = self.place("sum");
        let text = match self.choices.below(9) {
            0 => {
                let local = self.fresh("v");
                self.line(&format!("uint {local};"));
                self.line(&format!("fill({local}, sum);"));
                format!("sum += {local};")
            }
            1 => match self.language {
                Language::Glsl => "sum += four(sum)[sum & 3u];".to_owned(),
                Language::Slang => "sum += four(sum).list[sum & 3u];".to_owned(),
            },
            2 => format!("sum += divided(sum, l + {}u);", self.choices.below(32)),
            3 | 4 if is_own => format!("put_{array}({index}, sum);"),
            5 if is_own => format!("change({array}[{index}], sum);"),
            6 => format!("sum += get_{array}({index});"),
            7 => {
                let value = self.divergent_loop(0);
                format!("sum += {value};")
            }
            _ => format!("sum += {array}[{index}];"),
        };
        self.line(&text);
    }
}
