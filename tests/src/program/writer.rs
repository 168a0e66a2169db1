//! A program as a sequence of functions.

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
pub(super) enum Around {
    Loop,
    Switch,
}

/// What aborts send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Messages {
    /// Random expressions.
    Random,
    /// The variables in scope. Names repeat, as in source that people write.
    Variables,
    /// Nothing; the program is otherwise the same as with `Variables`.
    Nothing,
}

/// Writes one program.
pub(super) struct Writer<'c> {
    pub(super) language: Language,
    pub(super) choices: &'c mut Choices,
    pub(super) aborts: bool,
    pub(super) messages: Messages,
    text: String,
    pub(super) indent: usize,
    /// Variables in scope.
    pub(super) scope: Vec<(Ty, String)>,
    pub(super) functions: Vec<Function>,
    /// Maximum number of executions of the current statement.
    pub(super) times: u32,
    pub(super) cost: u32,
    pub(super) budget: u32,
    pub(super) size: u32,
    pub(super) room: u32,
    pub(super) around: Vec<Around>,
    pub(super) returns: Ty,
    pub(super) next_name: u32,
}

impl<'c> Writer<'c> {
    /// Writes a whole program.
    pub(super) fn program(language: Language, choices: &'c mut Choices, aborts: bool, messages: Messages) -> String {
        let mut writer = Self {
            language,
            choices,
            aborts,
            messages,
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

    pub(super) fn returned(&mut self) -> Option<String> {
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

    pub(super) fn fresh(&mut self, prefix: &str) -> String {
        self.next_name += 1;
        format!("{prefix}{}", self.next_name)
    }

    pub(super) fn line(&mut self, text: &str) {
        self.text += &"    ".repeat(self.indent);
        self.text += text;
        self.text += "\n";
    }
}
