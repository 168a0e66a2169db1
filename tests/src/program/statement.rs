//! Statements.

use super::Language;
use super::writer::{Around, Messages, Ty, Writer};

impl Writer<'_> {
    pub(super) fn statements(&mut self, fewest: u32, most: u32, depth: u32) {
        for _ in 0..self.choices.between(fewest, most) {
            if self.cost > self.budget || self.size > self.room {
                break;
            }
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: u32) {
        self.cost += 2 * self.times;
        self.size += 2;
        self.probe_here();
        match self.choices.below(if depth == 0 { 8 } else { 16 }) {
            0 | 1 => self.assign(),
            2 => {
                let (index, value) = (self.choices.below(16), self.uint(2));
                self.line(&format!("result[invocation * 16u + {index}u] ^= {value};"));
            }
            3 => {
                let (index, value) = (self.choices.below(8), self.uint(1));
                let text = self.language.atomic_add(&format!("counters[{index}]"), &value);
                self.line(&text);
            }
            4 | 5 => self.abort(),
            6 => match self.call(Ty::Void) {
                Some(call) => self.line(&format!("{call};")),
                None => self.assign(),
            },
            7 => self.leave(),
            8..=10 => self.selection(depth),
            11 => self.switch(depth),
            _ => self.iteration(depth),
        }
    }

    fn assign(&mut self) {
        match self.choices.below(4) {
            0 => {
                if let Some(pair) = self.pick(Ty::Pair) {
                    let value = self.vector(2, 1);
                    return self.line(&format!("{pair}.second = {value};"));
                }
            }
            1 => {
                if let Some(array) = self.pick(Ty::Array) {
                    let (index, value) = (self.uint(1), self.uint(1));
                    return self.line(&format!("{array}[({index}) & 3u] = {value};"));
                }
            }
            2 => {
                let call = self.call(Ty::Pair);
                if let (Some(pair), Some(call)) = (self.pick(Ty::Pair), call) {
                    return self.line(&format!("{pair} = {call};"));
                }
            }
            _ => {}
        }
        let places = self.names(Ty::Place);
        let at = self.choices.below(places.len() as u32) as usize;
        let operator = self.choices.pick(&["=", "+=", "^="]).unwrap_or("=");
        let value = self.uint(2);
        if let Some(place) = places.get(at) {
            self.line(&format!("{place} {operator} {value};"));
        }
    }

    pub(super) fn declare(&mut self, ty: Ty) {
        let name = self.fresh("v");
        self.declare_as(ty, name);
    }

    fn declare_as(&mut self, ty: Ty, name: String) {
        match ty {
            Ty::Vector => {
                let (kind, value) = (self.language.vector(3), self.vector(3, 1));
                self.line(&format!("{kind} {name} = {value};"));
            }
            Ty::Pair => {
                let (first, second) = (self.uint(1), self.vector(2, 1));
                self.line(&format!("Pair {name};"));
                self.line(&format!("{name}.first = {first};"));
                self.line(&format!("{name}.second = {second};"));
            }
            Ty::Array => {
                self.line(&format!("uint {name}[4];"));
                for i in 0..4 {
                    let value = self.uint(1);
                    self.line(&format!("{name}[{i}] = {value};"));
                }
            }
            _ => {
                let value = self.uint(1);
                self.line(&format!("uint {name} = {value};"));
            }
        }
        self.scope.push((ty, name));
    }

    /// An abort with a message of several parts, guarded by `due`.
    pub(super) fn abort(&mut self) {
        if self.messages != Messages::Random {
            return self.abort_with_variables();
        }
        let (mut text, mut arguments) = (format!("site {}", self.next_name), String::new());
        for _ in 0..self.choices.between(1, 4) {
            let (specifier, argument) = match self.choices.below(4) {
                0 => ("%d", format!("int({})", self.uint(1))),
                1 => ("%f", self.float()),
                // glslang before 16.6 lets the next argument overlap a vector, so a vector comes last.
                2 => {
                    text += " %v3u";
                    arguments += &format!(", {}", self.vector(3, 1));
                    break;
                }
                _ => ("%u", self.uint(1)),
            };
            text += " ";
            text += specifier;
            arguments += &format!(", {argument}");
        }
        if self.aborts {
            let abort = self.language.abort();
            self.line(&format!("if (due()) {abort}(\"{text}\"{arguments});"));
        } else {
            self.line("if (due()) common_word = 0u;");
        }
    }

    /// An abort with the variables in scope.
    fn abort_with_variables(&mut self) {
        let site = self.fresh("site ");
        let (text, arguments) = self.variables();
        let abort = self.language.abort();
        self.line(&match self.messages {
            _ if !self.aborts => "if (due()) common_word = 0u;".to_owned(),
            Messages::Variables => format!("if (due()) {abort}(\"{site}{text}\"{arguments});"),
            _ => format!("if (due()) {abort}(\"{site}\");"),
        });
    }

    /// A format of the variables in scope, and the arguments.
    pub(super) fn variables(&self) -> (String, String) {
        let (mut text, mut arguments) = (String::new(), String::new());
        let mut seen = Vec::new();
        for (ty, name) in self.scope.iter().rev() {
            if seen.contains(&name) || name == "common_word" {
                continue;
            }
            seen.push(name);
            let parts: &[&str] = match ty {
                Ty::Vector => &[".x", ".y", ".z"],
                Ty::Pair => &[".first", ".second.x", ".second.y"],
                Ty::Array => &["[0]", "[1]", "[2]", "[3]"],
                _ => &[""],
            };
            for part in parts {
                text += &format!(" {name}{part}=%u");
                arguments += &format!(", {name}{part}");
            }
        }
        (text, arguments)
    }

    /// The name of a new loop counter.
    fn counter(&mut self) -> String {
        let counter = self.fresh("i");
        let is_taken = |name: &str| self.scope.iter().any(|(_, other)| other == name);
        match ["i", "j"].into_iter().find(|name| !is_taken(name)) {
            Some(name) if self.messages != Messages::Random => name.to_owned(),
            _ => counter,
        }
    }

    /// The name of a loop counter that is declared in front of its loop, and stays in scope behind it.
    fn unique(&mut self, counter: String) -> String {
        match self.messages {
            Messages::Random => counter,
            _ => {
                let counter = self.fresh("i");
                self.scope.push((Ty::Uint, counter.clone()));
                counter
            }
        }
    }

    /// Declares a variable in a block, sometimes by the name of another one.
    fn declare_in_block(&mut self, outside: usize) {
        if self.messages == Messages::Random || !self.choices.chance(50) {
            return;
        }
        let taken: Vec<String> = self.scope.iter().skip(outside).map(|(_, name)| name.clone()).collect();
        let places = self.names(Ty::Place).into_iter();
        let others: Vec<String> = places
            .filter(|name| name.starts_with('v') && !taken.contains(name))
            .collect();
        let shadowed = others.get(self.choices.below(others.len() as u32) as usize).cloned();
        let shadowed = shadowed.filter(|_| self.choices.chance(40));
        let name = shadowed.unwrap_or_else(|| self.fresh("v"));
        self.declare_as(Ty::Place, name);
    }

    fn leave(&mut self) {
        let condition = self.condition(1);
        let loops = self.around.contains(&Around::Loop);
        let text = match self.choices.below(3) {
            0 if self.around.last() == Some(&Around::Loop) => "break;".into(),
            1 if loops => "continue;".into(),
            _ => match self.returned() {
                Some(value) => format!("return {value};"),
                None => "return;".into(),
            },
        };
        self.line(&format!("if ({condition}) {text}"));
    }

    fn selection(&mut self, depth: u32) {
        let condition = self.condition(2);
        self.block(&format!("if ({condition})"), depth, &[]);
        if self.choices.chance(50) {
            self.block("else", depth, &[]);
        }
    }

    fn switch(&mut self, depth: u32) {
        let selector = self.uint(2);
        self.line(&format!("switch ({selector} & 3u) {{"));
        self.around.push(Around::Switch);
        let cases = self.choices.between(1, 3);
        for case in 0..=cases {
            let label = if case == cases {
                "default:".into()
            } else {
                format!("case {case}u:")
            };
            self.block(&label, depth, &[]);
            // Sometimes falls through to the next case; Slang does not support this.
            if self.language == Language::Slang || case == cases || self.choices.chance(70) {
                self.line("break;");
            }
        }
        self.around.pop();
        self.line("}");
    }

    fn iteration(&mut self, depth: u32) {
        let (counter, count) = (self.counter(), self.choices.between(1, 4));
        let before = self.times;
        self.times = before.saturating_mul(count);
        if self.cost + self.times * 10 > self.budget {
            self.times = before;
            return self.assign();
        }
        self.around.push(Around::Loop);
        // An extra condition may abort in the loop's header or continue construct.
        let asks = self.choices.chance(50).then(|| self.condition(1));
        let more = |operator: &str| {
            asks.as_ref()
                .map_or_else(String::new, |text| format!(" {operator} {text}"))
        };
        match self.choices.below(3) {
            0 => {
                let step = match self.call(Ty::Uint) {
                    Some(call) if self.choices.chance(50) => format!("common_word ^= {call}, {counter} += 1u"),
                    _ => format!("{counter} += 1u"),
                };
                let head = format!("for (uint {counter} = 0u; {counter} < {count}u{}; {step})", more("&&"));
                self.block(&head, depth, &[(Ty::Uint, counter)]);
            }
            1 => {
                let counter = self.unique(counter);
                self.line(&format!("uint {counter} = 0u;"));
                let head = format!("while (++{counter} <= {count}u{})", more("&&"));
                self.block(&head, depth, &[(Ty::Uint, counter)]);
            }
            _ => {
                let counter = self.unique(counter);
                self.line(&format!("uint {counter} = 0u;"));
                self.block("do", depth, &[(Ty::Uint, counter.clone())]);
                self.line(&format!("while (++{counter} < {count}u{});", more("&&")));
            }
        }
        self.around.pop();
        self.times = before;
    }

    /// Statements in braces, with their own scope.
    fn block(&mut self, head: &str, depth: u32, extra: &[(Ty, String)]) {
        let outside = self.scope.len();
        self.scope.extend_from_slice(extra);
        self.line(&format!("{head} {{"));
        self.indent += 1;
        self.declare_in_block(outside);
        self.statements(1, 3, depth - 1);
        self.indent -= 1;
        self.line("}");
        self.scope.truncate(outside);
    }
}
