//! A program as a sequence of functions.

use super::Language;
use super::probe::{MARK, PROBED, Probe};
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

/// Messages of aborts.
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
    pub(super) text: String,
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
    /// Number of statements so far.
    pub(super) statements: u32,
    /// A statement's number, and the probe in front of it.
    pub(super) probe: Option<(u32, Probe)>,
}

impl<'c> Writer<'c> {
    /// Writes a whole program.
    pub(super) fn program(language: Language, choices: &'c mut Choices, aborts: bool, messages: Messages) -> String {
        let mut writer = Self::new(language, choices, aborts, messages);
        writer.text = language.head(aborts.then_some("GL_EXT_abort"));
        writer.write()
    }

    /// Writes a program without aborts that has a probe. Returns it and its number of statements.
    pub(super) fn probed(language: Language, choices: &'c mut Choices, at: u32, probe: Probe) -> (String, u32) {
        let mut writer = Self::new(language, choices, false, Messages::Nothing);
        writer.text = language.head(probe.extension());
        writer.probe = Some((at, probe));
        let text = writer.write();
        (text, writer.statements)
    }

    fn new(language: Language, choices: &'c mut Choices, aborts: bool, messages: Messages) -> Self {
        Self {
            language,
            choices,
            aborts,
            messages,
            text: String::new(),
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
            statements: 0,
            probe: None,
        }
    }

    fn write(&mut self) -> String {
        for _ in 0..self.choices.between(1, 4) {
            self.function();
        }
        self.main();
        std::mem::take(&mut self.text)
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
        let size = self.share();
        self.begin(returns, 250 / size, 60 / size);
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
        let size = self.share();
        self.begin(Ty::Void, 1500 / size, 200 / size);
        self.indent += 1;
        self.body(4, 9);
        self.abort();
        self.line("result[invocation * 16u] += common_word;");
        self.indent -= 1;
        self.line("}");
        self.text += self.language.main();
    }

    /// Programs with a probe have this share of the usual size, since every check is planted into them: many small ones find more.
    fn share(&self) -> u32 {
        if self.probe.is_some() { 3 } else { 1 }
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

impl Writer<'_> {
    /// Writes the probe if this is its statement. Makes no random choice, so that the rest of the program stays the same.
    pub(super) fn probe_here(&mut self) {
        let number = self.statements;
        self.statements += 1;
        let Some((_, probe)) = self.probe.filter(|(at, _)| *at == number) else {
            return;
        };
        let call = |function: &str| {
            let (text, arguments) = self.variables();
            format!("{function}(\"here{text}\"{arguments});")
        };
        let does = match probe {
            Probe::Nothing => return,
            Probe::Abort => call(self.language.abort()),
            Probe::Print => call(self.language.print()),
            Probe::Fault(fault) => format!("{{ {} }}", fault.code(self.language)),
        };
        self.line(&format!("if (invocation == {PROBED}u) {does} {MARK}"));
    }
}
