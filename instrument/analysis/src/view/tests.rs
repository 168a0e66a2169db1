//! Tests the stores that loads may read, in small functions written as text.

use super::{ModuleView, Origin};
use std::collections::BTreeMap;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::typed::FunctionIndex;
use vkabort_spirv::{Id, op};

/// Types, constants and variables of every module.
const PRELUDE: &str = "
%void = TypeVoid
%bool = TypeBool
%uint = TypeInt 32 0
%true = ConstantTrue %bool
%n0 = Constant %uint 0
%n1 = Constant %uint 1
%n2 = Constant %uint 2
%n3 = Constant %uint 3
%pair = TypeStruct %uint %uint
%four = TypeArray %uint %n3
%local = TypePointer 7 %uint
%pairs = TypePointer 7 %pair
%fours = TypePointer 7 %four
%private = TypePointer 6 %uint
%global = Variable %private 6
%none = TypeFunction %void
%taking = TypeFunction %void %local
";

const OPCODES: &[(&str, u16)] = &[
    ("TypeVoid", op::TypeVoid),
    ("TypeBool", op::TypeBool),
    ("TypeInt", op::TypeInt),
    ("TypeStruct", op::TypeStruct),
    ("TypeArray", op::TypeArray),
    ("TypePointer", op::TypePointer),
    ("TypeFunction", op::TypeFunction),
    ("ConstantTrue", op::ConstantTrue),
    ("Constant", op::Constant),
    ("Variable", op::Variable),
    ("Function", op::Function),
    ("FunctionParameter", op::FunctionParameter),
    ("FunctionEnd", op::FunctionEnd),
    ("FunctionCall", op::FunctionCall),
    ("Label", op::Label),
    ("Load", op::Load),
    ("Store", op::Store),
    ("AccessChain", op::AccessChain),
    ("CopyMemory", op::CopyMemory),
    ("IAdd", op::IAdd),
    ("Branch", op::Branch),
    ("BranchConditional", op::BranchConditional),
    ("SelectionMerge", op::SelectionMerge),
    ("LoopMerge", op::LoopMerge),
    ("Return", op::Return),
];

/// A module of the prelude and functions, the first of which is the entry point, and its ids by name.
struct Module {
    words: Vec<u32>,
    ids: BTreeMap<String, u32>,
}

impl Module {
    fn new(functions: &str) -> Self {
        let mut module = Self {
            words: vec![0x0723_0203, 0x10600, 0, 200, 0],
            ids: BTreeMap::new(),
        };
        let main = module.id("%main");
        module.words.extend([2 << 16 | u32::from(op::Capability), 1]);
        module.words.extend([3 << 16 | u32::from(op::MemoryModel), 0, 1]);
        module
            .words
            .extend([5 << 16 | u32::from(op::EntryPoint), 5, main, 0x6e69_616d, 0]);
        for line in PRELUDE
            .lines()
            .chain(functions.lines())
            .filter(|line| !line.trim().is_empty())
        {
            module.add(line);
        }
        module
    }

    fn id(&mut self, name: &str) -> u32 {
        let next = self.ids.len() as u32 + 1;
        *self.ids.entry(name.to_owned()).or_insert(next)
    }

    fn add(&mut self, line: &str) {
        let (result, rest) = match line.split_once(" = ") {
            Some((result, rest)) => (Some(self.id(result.trim())), rest),
            None => (None, line),
        };
        let mut tokens = rest.split_whitespace();
        let name = tokens.next().expect("an opcode");
        let (_, opcode) = OPCODES.iter().find(|(of, _)| *of == name).expect("a known opcode");
        let mut operands: Vec<u32> = Vec::new();
        for token in tokens {
            operands.push(match token.starts_with('%') {
                true => self.id(token),
                false => token.parse().expect("a number"),
            });
        }
        if let Some(result) = result {
            operands.insert(usize::from(vkabort_spirv::operands::has_type(*opcode)), result);
        }
        self.words.push((operands.len() as u32 + 1) << 16 | u32::from(*opcode));
        self.words.extend(operands);
    }

    fn name(&self, id: Id) -> String {
        let found = self.ids.iter().find(|(_, number)| **number == id.word());
        found.map(|(name, _)| name.clone()).unwrap_or_default()
    }
}

/// Definition of the memory that a load in the first function reads, and the values that it may return.
fn loaded(functions: &str, load: &str) -> String {
    let mut module = Module::new(functions);
    let load = Id::new(module.id(load));
    let index = Index::new(&module.words).expect("a module");
    let view = ModuleView::new(&index);
    let function = view.function(FunctionIndex::from_usize(0)).expect("a view");
    let text = match function.definition_of_load(load) {
        Some((definition, _)) => {
            let found = function.memory.definitions.get(definition).expect("a definition");
            match found.origin {
                Origin::Entry => "entry",
                Origin::Access(_) if found.previous.is_some() => "part",
                Origin::Access(_) => "store",
                Origin::Event(_) => "call",
                Origin::Phi => "phi",
            }
        }
        None => "several",
    };
    let sources = function.sources_of_load(load);
    let mut sources: Vec<String> = sources.into_iter().flatten().map(|id| module.name(id)).collect();
    sources.sort();
    format!("{text} {}", sources.join(" ")).trim_end().to_owned()
}

#[test]
fn a_load_returns_the_last_store() {
    let text = "
        %main = Function %void 0 %none
        %start = Label
        %v = Variable %local 7 %n3
        %before = Load %uint %v
        Store %v %n1
        Store %v %n2
        %after = Load %uint %v
        Return
        FunctionEnd";
    assert_eq!(loaded(text, "%before"), "entry %n3");
    assert_eq!(loaded(text, "%after"), "store %n2");
}

#[test]
fn stores_of_two_paths_meet_in_a_phi() {
    let text = "
        %main = Function %void 0 %none
        %start = Label
        %v = Variable %local 7
        %w = Variable %local 7
        Store %v %n1
        SelectionMerge %end 0
        BranchConditional %true %then %end
        %then = Label
        Store %v %n2
        Store %w %n3
        %inside = Load %uint %w
        Branch %end
        %end = Label
        %both = Load %uint %v
        %maybe = Load %uint %w
        Return
        FunctionEnd";
    assert_eq!(loaded(text, "%both"), "phi %n1 %n2");
    assert_eq!(loaded(text, "%inside"), "store %n3");
    // On the other path it has no value.
    assert_eq!(loaded(text, "%maybe"), "phi %n3");
}

#[test]
fn a_loop_brings_its_own_stores_back() {
    let text = "
        %main = Function %void 0 %none
        %start = Label
        %v = Variable %local 7
        Store %v %n0
        Branch %head
        %head = Label
        %now = Load %uint %v
        LoopMerge %end %again 0
        BranchConditional %true %body %end
        %body = Label
        %next = IAdd %uint %now %n1
        Store %v %next
        %kept = Load %uint %v
        Branch %again
        %again = Label
        Branch %head
        %end = Label
        %last = Load %uint %v
        Return
        FunctionEnd";
    assert_eq!(loaded(text, "%now"), "phi %n0 %next");
    assert_eq!(loaded(text, "%kept"), "store %next");
    assert_eq!(loaded(text, "%last"), "phi %n0 %next");
}

#[test]
fn members_are_followed_by_themselves_and_elements_of_unknown_index_together() {
    let text = "
        %main = Function %void 0 %none
        %start = Label
        %s = Variable %pairs 7
        %a = Variable %fours 7
        %s0 = AccessChain %local %s %n0
        %s1 = AccessChain %local %s %n1
        Store %s0 %n1
        Store %s1 %n2
        %first = Load %uint %s0
        %whole = Load %pair %s
        %i = Load %uint %global
        %a0 = AccessChain %local %a %n0
        %ai = AccessChain %local %a %i
        Store %a0 %n1
        %exact = Load %uint %a0
        Store %ai %n2
        %any = Load %uint %a0
        Return
        FunctionEnd";
    assert_eq!(loaded(text, "%first"), "store %n1");
    assert_eq!(loaded(text, "%whole"), "several %n1 %n2");
    assert_eq!(loaded(text, "%exact"), "part %n1");
    assert_eq!(loaded(text, "%any"), "part %n1 %n2");
}

#[test]
fn calls_change_only_what_they_may_write() {
    let text = "
        %main = Function %void 0 %none
        %start = Label
        %v = Variable %local 7
        %w = Variable %local 7
        Store %v %n1
        Store %w %n1
        Store %global %n1
        %reads = FunctionCall %void %reading %v
        %read = Load %uint %v
        %writes = FunctionCall %void %writing %v
        %written = Load %uint %v
        %other = Load %uint %w
        %kept = Load %uint %global
        CopyMemory %w %v
        %copied = Load %uint %w
        Return
        FunctionEnd
        %reading = Function %void 0 %taking
        %p = FunctionParameter %local
        %b1 = Label
        %x = Load %uint %p
        Return
        FunctionEnd
        %writing = Function %void 0 %taking
        %q = FunctionParameter %local
        %b2 = Label
        Store %q %n2
        Return
        FunctionEnd";
    assert_eq!(loaded(text, "%read"), "store %n1");
    assert_eq!(loaded(text, "%written"), "call");
    assert_eq!(loaded(text, "%other"), "store %n1");
    assert_eq!(loaded(text, "%kept"), "store %n1");
    assert_eq!(loaded(text, "%copied"), "store");
}
