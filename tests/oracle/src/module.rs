//! A parsed module: global instructions, functions and blocks.

use crate::op;
use crate::words::{HEADER_WORDS, Inst, instructions, read_string};

/// A SPIR-V id.
pub type Id = u32;

/// A block: a label and its instructions, including the terminator.
#[derive(Clone, Debug)]
pub struct Block {
    /// Id of the `OpLabel`.
    pub label: Id,
    /// Instructions after the label.
    pub insts: Vec<Inst>,
}

impl Block {
    /// The merge instruction, if any.
    pub fn merge(&self) -> Option<&Inst> {
        let at = self.insts.len().checked_sub(2)?;
        self.insts
            .get(at)
            .filter(|i| matches!(i.op, op::LoopMerge | op::SelectionMerge))
    }

    /// Labels that the terminator can branch to.
    pub fn successors(&self) -> Vec<Id> {
        let Some(last) = self.insts.last() else {
            return Vec::new();
        };
        match last.op {
            op::Branch => vec![last.word(0)],
            op::BranchConditional => vec![last.word(1), last.word(2)],
            // 32-bit selector: a default label, then pairs of literal and label.
            op::Switch => std::iter::once(last.word(1))
                .chain(last.operands_from(3).iter().copied().step_by(2))
                .collect(),
            _ => Vec::new(),
        }
    }
}

/// A function with a body.
#[derive(Clone, Debug)]
pub struct Function {
    /// Result id of `OpFunction`.
    pub id: Id,
    /// Ids of its parameters.
    pub parameters: Vec<Id>,
    /// Types of the parameters.
    pub parameter_types: Vec<Id>,
    /// Blocks; the entry block is first.
    pub blocks: Vec<Block>,
}

impl Function {
    /// Index of the block with a label.
    pub fn block(&self, label: Id) -> Option<usize> {
        self.blocks.iter().position(|b| b.label == label)
    }
}

/// An entry point.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Execution model.
    pub model: u32,
    /// Id of the function.
    pub function: Id,
    /// Name.
    pub name: String,
}

/// A module.
#[derive(Clone, Debug)]
pub struct Module {
    /// Header words.
    pub header: [u32; HEADER_WORDS],
    /// Instructions before the first function.
    pub globals: Vec<Inst>,
    /// Functions in order.
    pub functions: Vec<Function>,
    /// Entry points in order.
    pub entries: Vec<Entry>,
}

impl Module {
    /// Parses a module; `None` if the words are malformed.
    pub fn parse(words: &[u32]) -> Option<Self> {
        let mut header = [0; HEADER_WORDS];
        header.copy_from_slice(words.get(..HEADER_WORDS)?);
        let (mut globals, mut functions, mut entries) = (Vec::new(), Vec::new(), Vec::new());
        let mut function: Option<Function> = None;
        for inst in instructions(words)? {
            match (inst.op, &mut function) {
                (op::Function, None) => {
                    function = Some(Function {
                        id: inst.word(1),
                        parameters: Vec::new(),
                        parameter_types: Vec::new(),
                        blocks: Vec::new(),
                    });
                }
                (op::FunctionEnd, Some(_)) => functions.extend(function.take()),
                (op::FunctionParameter, Some(f)) => {
                    f.parameters.push(inst.word(1));
                    f.parameter_types.push(inst.word(0));
                }
                (op::Label, Some(f)) => f.blocks.push(Block {
                    label: inst.word(0),
                    insts: Vec::new(),
                }),
                // Lines and debug instructions before the first label are ignored.
                (_, Some(f)) => {
                    if let Some(block) = f.blocks.last_mut() {
                        block.insts.push(inst);
                    }
                }
                // The line of a function may precede it.
                (op::Line | op::NoLine, None) => {}
                (_, None) => {
                    if inst.op == op::EntryPoint {
                        entries.push(Entry {
                            model: inst.word(0),
                            function: inst.word(1),
                            name: read_string(inst.operands_from(2)),
                        });
                    }
                    globals.push(inst);
                }
            }
        }
        function.is_none().then_some(Self {
            header,
            globals,
            functions,
            entries,
        })
    }

    /// The id bound.
    pub fn bound(&self) -> u32 {
        self.header[3]
    }

    /// Function with an id.
    pub fn function(&self, id: Id) -> Option<&Function> {
        self.functions.iter().find(|f| f.id == id)
    }

    /// Id with a name. For functions, ignores the parameter types that glslang appends.
    pub fn named(&self, name: &str) -> Option<Id> {
        let named = |inst: &&Inst| {
            let text = read_string(inst.operands_from(1));
            inst.op == op::Name && (text == name || text.split('(').next() == Some(name))
        };
        self.globals.iter().find(named).map(|inst| inst.word(0))
    }

    /// Whether a capability is declared.
    pub fn has_capability(&self, capability: u32) -> bool {
        self.globals
            .iter()
            .any(|i| i.op == op::Capability && i.word(0) == capability)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_between_functions_are_not_globals() {
        let function = |id| {
            [
                [5 << 16 | 54, 1, id, 0, 2].as_slice(),
                &[2 << 16 | 248, id + 1, 1 << 16 | 253, 1 << 16 | 56],
            ]
            .concat()
        };
        let header = [0x0723_0203, 0x1_0500, 0, 10, 0, 2 << 16 | 19, 1, 3 << 16 | 33, 2, 1];
        let line = [4 << 16 | 8, 9, 1, 1];
        let words = [&header[..], &line, &function(3), &line, &function(5)].concat();
        let module = Module::parse(&words).expect("a module");
        let globals: Vec<u16> = module.globals.iter().map(|inst| inst.op).collect();
        assert_eq!(
            (globals, module.functions.len()),
            (vec![op::TypeVoid, op::TypeFunction], 2)
        );
    }
}
