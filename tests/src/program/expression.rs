//! Expressions. All arithmetic is exact and defined for all operands.

use super::writer::{Ty, Writer};

impl Writer<'_> {
    /// An expression of type `uint`.
    pub(super) fn uint(&mut self, depth: u32) -> String {
        self.cost += self.times;
        self.size += 1;
        if depth == 0 {
            return self.uint_leaf();
        }
        match self.choices.below(14) {
            0..=3 => {
                let operator = self.choices.pick(&["+", "-", "*", "^", "&", "|"]).unwrap_or("+");
                format!("({} {operator} {})", self.uint(depth - 1), self.uint(depth - 1))
            }
            4 => {
                let operator = self.choices.pick(&["<<", ">>"]).unwrap_or("<<");
                format!("({} {operator} ({} & 31u))", self.uint(depth - 1), self.uint(0))
            }
            5 => {
                let operator = self.choices.pick(&["/", "%"]).unwrap_or("/");
                format!("({} {operator} ({} | 1u))", self.uint(depth - 1), self.uint(0))
            }
            6 => format!(
                "({} ? {} : {})",
                self.condition(depth - 1),
                self.uint(depth - 1),
                self.uint(depth - 1)
            ),
            7 => format!("uint({})", self.int(depth - 1)),
            8 => format!("uint({})", self.float()),
            9 | 10 => match self.call(Ty::Uint) {
                Some(call) => call,
                None => self.uint_leaf(),
            },
            11 => format!("result[invocation * 16u + {}u]", self.choices.below(16)),
            12 => format!("data[{} & 63u]", self.uint(depth - 1)),
            _ => format!("{}.x", self.vector(2, depth - 1)),
        }
    }

    fn uint_leaf(&mut self) -> String {
        let names = self.names(Ty::Uint);
        match self.choices.below(6) {
            0 => format!("{}u", self.choices.word() >> self.choices.below(32)),
            1 => "common_word".into(),
            2 => match self.pick(Ty::Pair) {
                Some(pair) => format!(
                    "{pair}.{}",
                    self.choices.pick(&["first", "second.y"]).unwrap_or("first")
                ),
                None => "invocation".into(),
            },
            3 => match self.pick(Ty::Array) {
                Some(array) => {
                    let index = self.pick(Ty::Uint).unwrap_or_else(|| "2u".into());
                    format!("{array}[{index} & 3u]")
                }
                None => "1u".into(),
            },
            _ => names
                .get(self.choices.below(names.len() as u32) as usize)
                .cloned()
                .unwrap_or_else(|| "7u".into()),
        }
    }

    /// An expression of type `int` that cannot overflow.
    pub(super) fn int(&mut self, depth: u32) -> String {
        match self.choices.below(4) {
            0 => format!("int({} & 65535u)", self.uint(depth.min(1))),
            1 => format!("(int({} & 4095u) - 2000) / 3", self.uint(0)),
            2 => format!("(int({} & 65535u) - 40000 >> 2)", self.uint(0)),
            _ => format!("-int({} & 255u)", self.uint(0)),
        }
    }

    /// An expression of type `float` between 0 and 512 that needs no rounding.
    pub(super) fn float(&mut self) -> String {
        format!(
            "(float({} & 255u) * 0.25 + float({} & 127u))",
            self.uint(0),
            self.uint(0)
        )
    }

    /// An expression of type `bool`.
    pub(super) fn condition(&mut self, depth: u32) -> String {
        self.cost += self.times;
        match self.choices.below(8) {
            0 if depth > 0 => {
                let operator = self.choices.pick(&["&&", "||"]).unwrap_or("&&");
                format!(
                    "({} {operator} {})",
                    self.condition(depth - 1),
                    self.condition(depth - 1)
                )
            }
            1 if depth > 0 => format!("!({})", self.condition(depth - 1)),
            2 => format!("({} < {})", self.int(depth), self.int(0)),
            3 => format!("({} > {})", self.float(), self.float()),
            _ => {
                let operator = self.choices.pick(&["<", ">", "<=", ">=", "==", "!="]).unwrap_or("<");
                format!("(({} & 7u) {operator} ({} & 7u))", self.uint(depth), self.uint(0))
            }
        }
    }

    /// A vector of `count` `uint`s.
    pub(super) fn vector(&mut self, count: u32, depth: u32) -> String {
        let vectors = self.names(Ty::Vector);
        let ty = self.language.vector(count);
        match (self.choices.below(4), vectors.last().cloned()) {
            (0, Some(vector)) => {
                let swizzle: String = (0..count).filter_map(|_| self.choices.pick(&['x', 'y', 'z'])).collect();
                format!("{vector}.{swizzle}")
            }
            (1, _) if depth > 0 => format!("({} + {})", self.vector(count, depth - 1), self.vector(count, 0)),
            _ => {
                let parts: Vec<String> = (0..count).map(|_| self.uint(depth.min(1))).collect();
                format!("{ty}({})", parts.join(", "))
            }
        }
    }

    /// A call of a function that returns `returns`, if one fits into the budget.
    pub(super) fn call(&mut self, returns: Ty) -> Option<String> {
        let fitting: Vec<usize> = (0..self.functions.len())
            .filter(|&i| {
                let function = &self.functions[i];
                let affordable = self.cost + self.times * function.cost < self.budget;
                function.returns == returns && affordable && self.size + function.size < self.room
            })
            .collect();
        let function = self.functions.get(self.choices.pick(&fitting)?)?.clone();
        self.cost += self.times * function.cost;
        self.size += function.size;
        let mut arguments = Vec::new();
        for parameter in &function.parameters {
            arguments.push(match parameter {
                Ty::Vector => self.vector(3, 0),
                Ty::Place => self.place()?,
                Ty::Pair => self.pick(Ty::Pair)?,
                _ => self.uint(0),
            });
        }
        Some(format!("{}({})", function.name, arguments.join(", ")))
    }

    /// A writable variable, for an `inout` parameter.
    fn place(&mut self) -> Option<String> {
        let places = self.names(Ty::Place);
        places.get(self.choices.below(places.len() as u32) as usize).cloned()
    }
}
