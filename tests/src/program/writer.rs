//! Functions and statements.

use super::Language;
use vkabort_oracle::choices::Choices;

/// Types of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ty {
    Void,
    Uint,
    /// A writable `uint` variable; as a parameter, `inout`.
    Place,
    /// Three `uint`s.
    Vector,
    Pair,
    /// Four `uint`s.
    Array,
}

/// A callable function.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) returns: Ty,
    pub(super) parameters: Vec<Ty>,
    /// Estimated operations per call.
    pub(super) cost: u32,
    /// Estimated size in operations, with all calls inlined, as drivers do.
    pub(super) size: u32,
}

/// An enclosing construct of the current statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Around {
    Loop,
    Switch,
}

/// Writes one program.
pub(super) struct Writer<'c> {
    pub(super) language: Language,
    pub(super) choices: &'c mut Choices,
    aborts: bool,
    text: String,
    indent: usize,
    /// Variables in scope.
    scope: Vec<(Ty, String)>,
    pub(super) functions: Vec<Function>,
    /// Maximum number of executions of the current statement.
    pub(super) times: u32,
    pub(super) cost: u32,
    pub(super) budget: u32,
    pub(super) size: u32,
    pub(super) room: u32,
    around: Vec<Around>,
    returns: Ty,
    next_name: u32,
}

impl<'c> Writer<'c> {
    /// Writes a whole program.
    pub(super) fn program(language: Language, choices: &'c mut Choices, aborts: bool) -> String {
        let mut writer = Self {
            language,
            choices,
            aborts,
            text: language.head(aborts),
            indent: 0,
            scope: Vec::new(),
            functions: Vec::new(),
            times: 1,
            cost: 0,
            budget: 0,
            size: 0,
            room: 0,
            around: Vec::new(),
            returns: Ty::Void,
            next_name: 0,
        };
        for _ in 0..writer.choices.between(1, 4) {
            writer.function();
        }
        writer.main();
        writer.text
    }

    fn function(&mut self) {
        let returns = self
            .choices
            .pick(&[Ty::Uint, Ty::Uint, Ty::Void, Ty::Vector, Ty::Pair])
            .unwrap_or(Ty::Uint);
        let kinds = [Ty::Uint, Ty::Place, Ty::Vector];
        let parameters: Vec<Ty> = (0..self.choices.below(4))
            .filter_map(|_| self.choices.pick(&kinds))
            .collect();
        let name = format!("f{}", self.functions.len());
        self.begin(returns, 250, 60);
        let mut list = Vec::new();
        for parameter in &parameters {
            let name = self.fresh("p");
            list.push(match parameter {
                Ty::Place => format!("inout uint {name}"),
                Ty::Vector => format!("{} {name}", self.language.vector(3)),
                _ => format!("uint {name}"),
            });
            self.scope.push((*parameter, name));
        }
        let ty = self.type_name(returns);
        self.line(&format!("{ty} {name}({}) {{", list.join(", ")));
        self.indent += 1;
        self.body(2, 5);
        match self.returned() {
            Some(value) => self.line(&format!("return {value};")),
            None => self.line("return;"),
        }
        self.indent -= 1;
        self.line("}");
        self.functions.push(Function {
            name,
            returns,
            parameters,
            cost: self.cost,
            size: self.size,
        });
    }

    /// The entry point initializes the variables, then calls `all`. A separate function keeps planted aborts after the
    /// initialization.
    fn main(&mut self) {
        self.line("void all() {");
        self.begin(Ty::Void, 1500, 200);
        self.indent += 1;
        self.body(4, 9);
        self.abort();
        self.line("result[invocation * 16u] += common_word;");
        self.indent -= 1;
        self.line("}");
        self.text += self.language.main();
    }

    fn begin(&mut self, returns: Ty, budget: u32, room: u32) {
        self.scope = vec![(Ty::Place, "common_word".into())];
        self.times = 1;
        self.cost = 10;
        self.budget = budget;
        (self.size, self.room) = (0, room);
        self.returns = returns;
    }

    /// Declares variables, then writes statements.
    fn body(&mut self, fewest: u32, most: u32) {
        self.declare(Ty::Place);
        if self.choices.chance(60) {
            self.declare(Ty::Vector);
        }
        if self.choices.chance(50) || self.returns == Ty::Pair {
            self.declare(Ty::Pair);
        }
        if self.choices.chance(50) {
            self.declare(Ty::Array);
        }
        self.statements(fewest, most, 3);
    }

    fn statements(&mut self, fewest: u32, most: u32, depth: u32) {
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

    fn declare(&mut self, ty: Ty) {
        let name = self.fresh("v");
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
    fn abort(&mut self) {
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
        let (counter, count) = (self.fresh("i"), self.choices.between(1, 4));
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
                self.line(&format!("uint {counter} = 0u;"));
                let head = format!("while (++{counter} <= {count}u{})", more("&&"));
                self.block(&head, depth, &[(Ty::Uint, counter)]);
            }
            _ => {
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
        self.statements(1, 3, depth - 1);
        self.indent -= 1;
        self.line("}");
        self.scope.truncate(outside);
    }

    fn returned(&mut self) -> Option<String> {
        match self.returns {
            Ty::Uint => Some(self.uint(1)),
            Ty::Vector => Some(self.vector(3, 1)),
            Ty::Pair => self.pick(Ty::Pair),
            _ => None,
        }
    }

    fn type_name(&self, ty: Ty) -> String {
        match ty {
            Ty::Vector => self.language.vector(3),
            Ty::Pair => "Pair".into(),
            Ty::Void => "void".into(),
            _ => "uint".into(),
        }
    }

    /// Variables of a type. `Uint` includes `Place`.
    pub(super) fn names(&self, ty: Ty) -> Vec<String> {
        let fits = |found: Ty| found == ty || ty == Ty::Uint && found == Ty::Place;
        let names = self.scope.iter().filter(|(found, _)| fits(*found));
        names.map(|(_, name)| name.clone()).collect()
    }

    pub(super) fn pick(&mut self, ty: Ty) -> Option<String> {
        let names = self.names(ty);
        names.get(self.choices.below(names.len() as u32) as usize).cloned()
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.next_name += 1;
        format!("{prefix}{}", self.next_name)
    }

    fn line(&mut self, text: &str) {
        self.text += &"    ".repeat(self.indent);
        self.text += text;
        self.text += "\n";
    }
}
