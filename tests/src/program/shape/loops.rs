//! Loops that invocations leave at different times, and the values that leave them.

use super::ShapeWriter;

impl ShapeWriter<'_> {
    pub(super) fn divergent_loops(&mut self) {
        for _ in 0..self.choices.between(1, 3) {
            self.choose_uses();
            let value = self.divergent_loop(2);
            for _ in 0..self.choices.between(1, 3) {
                self.use_value(&value);
            }
            self.line(&format!("sum ^= {value};"));
            self.barrier();
            if self.choices.chance(50) {
                // What other invocations have stored in the loop.
                self.line("sum += a[(l + 1u) & 31u] + b[(l + 7u) & 31u];");
                self.barrier();
            }
        }
    }

    /// A loop. Returns the variable that it stores in each iteration.
    pub(super) fn divergent_loop(&mut self, depth: u32) -> String {
        let (value, number) = (self.fresh("v"), self.fresh("k"));
        let trips = format!(
            "(l * {}u + {}u) % {}u",
            self.choices.between(1, 3),
            self.choices.below(4),
            self.choices.between(2, 6)
        );
        // The first iteration stores it, which no compiler knows.
        match self.choices.chance(50) {
            true => self.line(&format!("uint {value};")),
            false => self.line(&format!("uint {value} = sum;")),
        }
        match self.choices.below(4) {
            0 => {
                self.line(&format!("uint {number} = 0u;"));
                self.open("do");
                self.iteration(&value, &number, depth);
                self.close_with(&format!(" while (++{number} < {trips});"));
            }
            1 => {
                self.open(&format!("for (uint {number} = 0u; {number} < 9u; ++{number})"));
                self.iteration(&value, &number, depth);
                self.line(&format!("if ({number} >= {trips}) break;"));
                self.close();
            }
            2 => {
                self.line(&format!("uint {number} = 0u;"));
                self.open("while (true)");
                self.iteration(&value, &number, depth);
                self.line(&format!("if (++{number} > {trips}) break;"));
                self.close();
            }
            _ => {
                self.open(&format!("for (uint {number} = 0u; {number} <= {trips}; ++{number})"));
                self.iteration(&value, &number, depth);
                self.close();
            }
        }
        value
    }

    /// Statements that store the value of an iteration.
    fn iteration(&mut self, value: &str, number: &str, depth: u32) {
        let base = format!("(sum + {number})");
        let term = self.term(&base);
        match self.choices.below(if depth == 0 { 4 } else { 6 }) {
            0 => self.line(&format!("{value} = {term};")),
            1 => {
                let (array, index, is_own) = self.place(&base);
                self.line(&format!("{value} = {array}[{index}] + {term};"));
                if is_own {
                    self.line(&format!("{array}[{index}] = {value} + {number};"));
                }
            }
            2 => {
                let other = self.term(&base);
                self.open(&format!("switch ({base} % 3u)"));
                self.line(&format!("case 0u: {value} = {term}; break;"));
                self.line(&format!("case 1u: {value} = {number}; break;"));
                self.line(&format!("default: {value} = {other}; break;"));
                self.close();
            }
            3 => {
                let other = self.term(&base);
                self.line(&format!(
                    "if (({base} & 1u) != 0u) {{ {value} = {term}; }} else {{ {value} = {other}; }}"
                ));
            }
            _ => {
                let inner = self.divergent_loop(depth - 1);
                self.line(&format!("{value} = {inner} + {number};"));
                if self.choices.chance(40) {
                    self.line(&format!("if (({inner} & 3u) == 1u) {{ {value} = {term}; }}"));
                }
            }
        }
    }

    /// Uses a value behind its loop.
    fn use_value(&mut self, value: &str) {
        let text = match self.choices.below(7) {
            0 => format!("sum += 100000u / ({value} | 1u);"),
            1 => format!("sum += 5u << ({value} & 31u);"),
            2 => format!("sum += 7u << d[{value} & 31u];"),
            3 => format!("sum += {value} / d[{value} & 31u];"),
            4 => format!("{} = {value};", self.own_word()),
            _ => {
                let (array, index, is_own) = self.place(value);
                match is_own {
                    true => format!("{array}[{index}] = {value};"),
                    false => format!("sum += {array}[{index}];"),
                }
            }
        };
        self.line(&text);
    }
}
