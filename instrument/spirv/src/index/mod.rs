//! Immutable index of the section, definition, function, block and call offsets of a module.
//!
//! One walk over the words builds it. An edit makes it stale; the next pass builds a new one.

mod cfg;
pub mod constant;
pub mod debug;
mod debug_source;
pub mod debug_variables;
mod functions;
mod items;
pub mod names;
mod sections;
pub mod source_text;
pub mod spec_constants;
pub mod typed;
mod types;

use crate::debug_set::DebugSet;
use crate::error::{Error, ErrorKind, Result};
use crate::words::{GENERATOR, HEADER_WORDS, Insts, header, inst_at};
use crate::{Id, Inst, literal, op};
pub use items::{Block, Call, Decoration, EntryPoint, Function, Sections};
use typed::{BlockIndex, CallIndex, FunctionIndex, Table};

const PASS: &str = "index";

/// Unused room for blocks that is not given back.
const SPARE_BLOCKS: usize = 1024;

/// The index of one module: its words, read once, and questions about them.
///
/// | file | adds |
/// | --- | --- |
/// | `mod` | the walk; definitions, capabilities, decorations |
/// | `sections`, `functions` | the two halves of the walk |
/// | `types` | facts about types |
/// | `constant` | values of integer constants |
/// | `debug` | source positions and inlined functions |
/// | `cfg` | blocks, their ends and successors; functions by id |
#[derive(Debug, Default)]
pub struct Index<'a> {
    pub words: &'a [u32],
    pub version: u32,
    pub bound: u32,
    /// Offset of the instruction that defines an id, 0 where none does.
    defs: Vec<u32>,
    pub capabilities: Vec<Inst<'a>>,
    pub extensions: Vec<Inst<'a>>,
    pub entry_points: Vec<EntryPoint<'a>>,
    pub execution_modes: Vec<Inst<'a>>,
    /// Sorted by target and member, those of the target itself first.
    pub decorations: Vec<Decoration>,
    /// Decorations whose operands are ids.
    pub decorate_ids: Vec<Inst<'a>>,
    /// Constant data: `OpConstantDataKHR` and `OpSpecConstantDataKHR`.
    pub constant_data: Vec<Inst<'a>>,
    /// 8-bit integer types.
    pub byte_types: Vec<Id>,
    /// Imported instruction sets that only say something about the module.
    debug_sets: Vec<(Id, DebugSet)>,
    pub sections: Sections,
    pub functions: Table<FunctionIndex, Function>,
    pub blocks: Table<BlockIndex, Block>,
    pub calls: Table<CallIndex, Call>,
}

impl<'a> Index<'a> {
    /// The number of the compiler that wrote the module. The registry is `spir-v.xml` of SPIRV-Headers.
    pub fn generator(&self) -> u32 {
        self.words.get(GENERATOR).map_or(0, |word| word >> 16)
    }

    /// Walks the module once.
    pub fn new(words: &'a [u32]) -> Result<Self> {
        let (version, bound) = header(words)?;
        let mut index = Self {
            words,
            version,
            bound,
            defs: vec![0; bound as usize],
            decorations: Vec::with_capacity(32),
            functions: Table::with_capacity(8),
            blocks: Table::with_capacity(words.len() / 64 + 8),
            calls: Table::with_capacity(16),
            ..Self::default()
        };
        let mut insts = Insts::new(words, HEADER_WORDS);
        index.read_globals(&mut insts)?;
        index.read_functions(&mut insts)?;
        index.decorations.sort_by_key(|d| (d.target, d.member));
        // Growth by doubling may leave half of it unused.
        index.blocks.shrink_beyond(SPARE_BLOCKS);
        Ok(index)
    }

    fn define(defs: &mut [u32], inst: &Inst<'_>) -> Result<()> {
        let Some(at) = crate::operands::result_index(inst.opcode()) else {
            return Ok(());
        };
        let id = inst.id(at);
        let offset = inst.offset as u32;
        match defs.get_mut(id.index()) {
            Some(slot) if id.is_some() && *slot == 0 => {
                *slot = offset;
                Ok(())
            }
            found => {
                let message = match found.filter(|_| id.is_some()) {
                    Some(_) => format!("{id} is defined twice"),
                    None => format!("result id {id} is outside the id bound"),
                };
                Err(Error::new(ErrorKind::Invalid, PASS, offset, message))
            }
        }
    }

    /// The instruction that defines `id`, if any does.
    pub fn def(&self, id: Id) -> Option<Inst<'a>> {
        match self.defs.get(id.index()) {
            Some(0) | None => None,
            Some(offset) => inst_at(self.words, *offset as usize),
        }
    }

    /// Instructions from `start` to before `end`.
    pub fn insts(&self, start: usize, end: usize) -> impl Iterator<Item = Inst<'a>> + use<'a> {
        Insts::new(self.words, start).take_while(move |i| i.offset < end)
    }

    /// Types, constants and global variables.
    pub fn globals(&self) -> impl Iterator<Item = Inst<'a>> + use<'a> {
        self.insts(self.globals_start(), self.sections.globals)
    }

    /// Word offset at which functions are added: behind the last one, but in front of non-semantic instructions behind functions,
    /// which may name those before them (`NonSemantic.ClspvReflection` names the entry points).
    pub fn new_functions(&self) -> usize {
        self.sections.new_functions.unwrap_or(self.words.len())
    }

    /// Word offset at which types, constants and global variables begin.
    pub fn globals_start(&self) -> usize {
        self.sections.annotations.max(self.sections.names)
    }

    pub fn has_capability(&self, capability: u32) -> bool {
        self.capabilities.iter().any(|i| i.capability() == capability)
    }

    /// The imported instruction sets with a name.
    pub fn sets(&self, name: &str) -> Vec<Id> {
        let declarations = self.insts(HEADER_WORDS, self.sections.memory_model);
        let imports = declarations.filter(|inst| inst.opcode() == op::ExtInstImport && literal::is(inst.from(2), name));
        imports.map(|inst| inst.result()).collect()
    }

    pub fn has_extension(&self, name: &str) -> bool {
        self.extensions.iter().any(|i| literal::is(i.from(1), name))
    }

    /// Decorations of `target`, those of its members included.
    pub fn decorations_of(&self, target: Id) -> impl Iterator<Item = &Decoration> {
        let first = self.decorations.partition_point(|d| d.target < target);
        self.decorations
            .get(first..)
            .unwrap_or(&[])
            .iter()
            .take_while(move |d| d.target == target)
    }

    /// First literal of a decoration of `target` itself.
    pub fn decoration(&self, target: Id, kind: u32) -> Option<u32> {
        self.decorations_of(target)
            .take_while(|d| d.member.is_none())
            .find(|d| d.kind == kind)
            .map(|d| d.value)
    }

    /// First literal of a decoration of a member of `target`.
    pub fn member_decoration(&self, target: Id, member: u32, kind: u32) -> Option<u32> {
        let key = (target, Some(member));
        let first = self.decorations.partition_point(|d| (d.target, d.member) < key);
        let of_member = self.decorations.get(first..).unwrap_or(&[]).iter();
        of_member
            .take_while(|d| (d.target, d.member) == key)
            .find(|d| d.kind == kind)
            .map(|d| d.value)
    }
}

pub(crate) fn cut_short(offset: usize) -> Error {
    Error::new(
        ErrorKind::Malformed,
        PASS,
        offset as u32,
        "an instruction has no length or runs past the end of the module",
    )
}
