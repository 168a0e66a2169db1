//! Accesses to shared arrays and buffers, and terms that may fail only in a wrong program.

use super::{ShapeWriter, Use};

impl ShapeWriter<'_> {
    pub(super) fn choose_uses(&mut self) {
        self.uses = [(); 2].map(|()| match self.choices.chance(60) {
            true => Use::Own {
                factor: 2 * self.choices.below(16) + 1,
                first: self.choices.below(32),
            },
            false => Use::Read,
        });
    }

    /// An array, an index that the invocation may load from, and whether it may store there. `value`: text that chooses the element.
    pub(super) fn place(&mut self, value: &str) -> (&'static str, String, bool) {
        let which = self.choices.below(2) as usize;
        let array = if which == 0 { "a" } else { "b" };
        match self.uses.get(which) {
            Some(Use::Own { factor, first }) => (array, format!("(l * {factor}u + {first}u) & 31u"), true),
            _ => (array, format!("({value}) & 31u"), false),
        }
    }

    /// An access of straight code.
    pub(super) fn access(&mut self) {
        let text = match self.choices.below(10) {
            0 => format!("sum += {};", self.buffer_word("sum")),
            1 => format!("{} = sum;", self.own_word()),
            2 => format!("sum ^= {};", self.own_word()),
            3 => format!("sum += {};", self.term("sum")),
            _ => {
                let (array, index, is_own) = self.place("sum");
                match (is_own, self.choices.below(3)) {
                    (true, 0) => format!("{array}[{index}] = sum;"),
                    (true, 1) => format!("{array}[{index}] += sum;"),
                    _ => format!("sum += {array}[{index}];"),
                }
            }
        };
        self.line(&text);
    }

    /// A word of a buffer.
    pub(super) fn buffer_word(&mut self, value: &str) -> String {
        let (vector, component) = (self.choices.below(4), self.component());
        match self.has_data {
            true if self.choices.chance(60) => format!("data[({value}) & 63u]"),
            _ => format!("settings.counts[{vector}].{component}"),
        }
    }

    /// One of the words of the invocation behind the results.
    pub(super) fn own_word(&mut self) -> String {
        format!("result[32u + l * 15u + {}u]", self.choices.below(15))
    }

    fn component(&mut self) -> char {
        self.choices.pick(&['x', 'y', 'z', 'w']).unwrap_or('x')
    }

    /// A term that depends on a value, with an operation that a check tests.
    pub(super) fn term(&mut self, value: &str) -> String {
        let (vector, component) = (self.choices.below(4), self.component());
        let divisor = format!("d[({value}) & 31u]");
        match self.choices.below(9) {
            0 => format!("{value} / {divisor}"),
            1 => format!("{value} % {divisor}"),
            2 => format!("(5u << {divisor})"),
            3 => format!("(({value}) >> {divisor})"),
            4 => format!("1000u / settings.counts[{vector}].{component}"),
            5 => {
                let function = self.choices.pick(&["sqrt", "log2", "inversesqrt"]).unwrap_or("sqrt");
                let function = self.language.float_function(function);
                format!("uint({function}(settings.scales[{vector}].{component}) * 16.0 + 0.4)")
            }
            6 => {
                let float = format!("settings.scales[{vector}].{component}");
                format!("(settings.scales[1].x > 2.0 ? uint({float}) : uint({float} / settings.scales[2].y))")
            }
            _ => self.buffer_word(value),
        }
    }
}
