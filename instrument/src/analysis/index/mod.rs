//! What stands where in a module: an immutable index of word offsets over words that stay where they are.
//!
//! Built in one walk. Passes read it and return edits; after an edit the index is stale and is built anew.

pub(crate) mod constant;
pub(crate) mod debug;
pub(crate) mod function;
pub(crate) mod names;
pub(crate) mod text;
pub(crate) mod types;

use crate::error::{Error, ErrorKind, Result};
use crate::spv::words::{HEADER_WORDS, Insts, header, inst_at};
use crate::spv::{Id, Inst, literal, op};
use debug::DebugSet;
use function::{Block, Call, Function};

const PASS: &str = "index";

/// Blocks for which room is kept although there are no more.
const SPARE: usize = 1024;

/// A decoration that some pass asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decoration {
    pub(crate) target: Id,
    /// Member index of `OpMemberDecorate`.
    pub(crate) member: Option<u32>,
    pub(crate) kind: u32,
    /// First literal, 0 if there is none.
    pub(crate) value: u32,
}

/// An `OpEntryPoint`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryPoint<'a> {
    pub(crate) inst: Inst<'a>,
    pub(crate) model: u32,
    pub(crate) function: Id,
}

impl<'a> EntryPoint<'a> {
    pub(crate) fn name(&self) -> String {
        literal::string(self.inst.from(3))
    }

    /// Ids of its interface variables.
    pub(crate) fn interface(&self) -> &'a [Id] {
        let operands = self.inst.from(3);
        operands.get(literal::length(operands)..).unwrap_or(&[])
    }
}

/// Offsets at which declarations can be inserted, each after the last instruction of its section.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sections {
    pub(crate) capabilities: usize,
    pub(crate) extensions: usize,
    pub(crate) memory_model: usize,
    pub(crate) names: usize,
    pub(crate) annotations: usize,
    /// Types, constants, global variables: the first function starts here.
    pub(crate) globals: usize,
}

/// The index of one module.
#[derive(Debug)]
pub(crate) struct Index<'a> {
    pub(crate) words: &'a [u32],
    pub(crate) version: u32,
    pub(crate) bound: u32,
    /// Offset of the instruction that defines an id, 0 where none does.
    defs: Vec<u32>,
    pub(crate) capabilities: Vec<Inst<'a>>,
    pub(crate) extensions: Vec<Inst<'a>>,
    pub(crate) entry_points: Vec<EntryPoint<'a>>,
    pub(crate) execution_modes: Vec<Inst<'a>>,
    /// Sorted by target and member, those of the target itself first.
    pub(crate) decorations: Vec<Decoration>,
    /// Decorations whose operands are ids.
    pub(crate) decorate_ids: Vec<Inst<'a>>,
    /// Constant data: `OpConstantDataKHR` and `OpSpecConstantDataKHR`.
    pub(crate) constant_data: Vec<Inst<'a>>,
    /// 8-bit integer types.
    pub(crate) byte_types: Vec<Id>,
    /// Imported instruction sets that only say something about the module.
    debug_sets: Vec<(Id, DebugSet)>,
    pub(crate) sections: Sections,
    pub(crate) functions: Vec<Function>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) calls: Vec<Call>,
}

impl<'a> Index<'a> {
    /// Walks the module once.
    pub(crate) fn new(words: &'a [u32]) -> Result<Self> {
        let (version, bound) = header(words)?;
        let mut index = Self {
            words,
            version,
            bound,
            defs: vec![0; bound as usize],
            capabilities: Vec::new(),
            extensions: Vec::new(),
            entry_points: Vec::new(),
            execution_modes: Vec::new(),
            decorations: Vec::with_capacity(32),
            decorate_ids: Vec::new(),
            constant_data: Vec::new(),
            byte_types: Vec::new(),
            debug_sets: Vec::new(),
            sections: Sections::default(),
            functions: Vec::with_capacity(8),
            blocks: Vec::with_capacity(words.len() / 64 + 8),
            calls: Vec::with_capacity(16),
        };
        let mut insts = Insts::new(words, HEADER_WORDS);
        index.read_globals(&mut insts)?;
        index.read_functions(&mut insts)?;
        index.decorations.sort_by_key(|d| (d.target, d.member));
        // In a large module what grew by doubling may be half empty.
        if index.blocks.capacity() > index.blocks.len() + SPARE {
            index.blocks.shrink_to_fit();
        }
        Ok(index)
    }

    fn read_globals(&mut self, insts: &mut Insts<'a>) -> Result<()> {
        let mut groups = Vec::new();
        let at = &mut self.sections;
        let mut layout_end = HEADER_WORDS;
        loop {
            let offset = insts.offset();
            let Some(inst) = insts.next() else {
                if offset < self.words.len() {
                    return Err(cut_short(offset));
                }
                break;
            };
            match inst.opcode() {
                op::Function => {
                    *insts = Insts::new(self.words, offset);
                    break;
                }
                op::Capability => {
                    self.capabilities.push(inst);
                    (at.capabilities, layout_end) = (inst.end(), inst.end());
                }
                op::Extension => {
                    self.extensions.push(inst);
                    (at.extensions, layout_end) = (inst.end(), inst.end());
                }
                op::MemoryModel => (at.memory_model, layout_end) = (offset, inst.end()),
                op::ExtInstImport => {
                    let set = DebugSet::of_name(inst.from(2));
                    self.debug_sets.extend(set.map(|set| (inst.word(1), set)));
                    layout_end = inst.end();
                }
                op::SourceExtension | op::Source | op::SourceContinued | op::String => {
                    layout_end = inst.end();
                }
                op::EntryPoint => {
                    let entry = EntryPoint {
                        inst,
                        model: inst.word(1),
                        function: inst.word(2),
                    };
                    self.entry_points.push(entry);
                    layout_end = inst.end();
                }
                op::ExecutionMode | op::ExecutionModeId => {
                    self.execution_modes.push(inst);
                    layout_end = inst.end();
                }
                op::Name | op::MemberName => {
                    (at.names, layout_end) = (inst.end(), inst.end());
                }
                op::ModuleProcessed => layout_end = inst.end(),
                op::Decorate | op::MemberDecorate => {
                    let by_member = usize::from(inst.opcode() == op::MemberDecorate);
                    self.decorations.push(Decoration {
                        target: inst.word(1),
                        member: (by_member == 1).then(|| inst.word(2)),
                        kind: inst.word(2 + by_member),
                        value: inst.word(3 + by_member),
                    });
                    (at.annotations, layout_end) = (inst.end(), inst.end());
                }
                op::GroupDecorate | op::GroupMemberDecorate => {
                    groups.push(inst);
                    (at.annotations, layout_end) = (inst.end(), inst.end());
                }
                op::ConstantDataKHR | op::SpecConstantDataKHR => self.constant_data.push(inst),
                op::TypeInt if inst.word(2) == 8 => self.byte_types.push(inst.word(1)),
                op::DecorateId | op::MemberDecorateIdEXT => {
                    self.decorate_ids.push(inst);
                    (at.annotations, layout_end) = (inst.end(), inst.end());
                }
                op::DecorationGroup | op::DecorateString | op::MemberDecorateString => {
                    (at.annotations, layout_end) = (inst.end(), inst.end());
                }
                _ => {}
            }
            Self::define(&mut self.defs, &inst)?;
        }
        at.globals = insts.offset();
        if at.memory_model == 0 {
            return Err(Error::new(ErrorKind::Invalid, PASS, None, "there is no OpMemoryModel"));
        }
        if at.capabilities == 0 {
            at.capabilities = HEADER_WORDS;
        }
        if at.extensions == 0 {
            at.extensions = at.capabilities;
        }
        self.close_debug_sections(layout_end);
        self.expand_groups(&groups);
        Ok(())
    }

    /// Finds the places for names and annotations in modules that lack them.
    fn close_debug_sections(&mut self, layout_end: usize) {
        let first_after = |stop: &dyn Fn(u16) -> bool| {
            Insts::new(self.words, self.sections.memory_model)
                .take_while(|i| i.offset < layout_end)
                .find(|i| stop(i.opcode()))
                .map_or(layout_end, |i| i.offset)
        };
        if self.sections.names == 0 {
            self.sections.names = first_after(&|opcode| {
                matches!(
                    opcode,
                    op::ModuleProcessed
                        | op::Decorate
                        | op::MemberDecorate
                        | op::DecorationGroup
                        | op::DecorateId
                        | op::MemberDecorateIdEXT
                        | op::DecorateString
                        | op::MemberDecorateString
                )
            });
        }
        if self.sections.annotations == 0 {
            self.sections.annotations = layout_end;
        }
    }

    /// Gives the targets of decoration groups their decorations.
    fn expand_groups(&mut self, groups: &[Inst<'a>]) {
        for inst in groups {
            let group = inst.word(1);
            let of_group: Vec<Decoration> = self.decorations.iter().copied().filter(|d| d.target == group).collect();
            let by_member = inst.opcode() == op::GroupMemberDecorate;
            for target in inst.from(2).chunks(if by_member { 2 } else { 1 }) {
                let (target, member) = (target[0], target.get(1).copied());
                self.decorations.extend(of_group.iter().map(|d| Decoration {
                    target,
                    member: member.or(d.member),
                    ..*d
                }));
            }
        }
    }

    fn define(defs: &mut [u32], inst: &Inst<'_>) -> Result<()> {
        let Some(at) = crate::spv::operands::result_index(inst.opcode()) else {
            return Ok(());
        };
        let id = inst.word(at);
        let offset = inst.offset as u32;
        match defs.get_mut(id as usize) {
            Some(slot) if id != 0 && *slot == 0 => {
                *slot = offset;
                Ok(())
            }
            Some(_) if id != 0 => Err(Error::new(
                ErrorKind::Invalid,
                PASS,
                offset,
                format!("%{id} is defined twice"),
            )),
            _ => Err(Error::new(
                ErrorKind::Invalid,
                PASS,
                offset,
                format!("result id {id} is outside the id bound"),
            )),
        }
    }

    /// The instruction that defines `id`, if any does.
    pub(crate) fn def(&self, id: Id) -> Option<Inst<'a>> {
        match self.defs.get(id as usize) {
            Some(0) | None => None,
            Some(offset) => inst_at(self.words, *offset as usize),
        }
    }

    /// Instructions from `start` to before `end`.
    pub(crate) fn insts(&self, start: usize, end: usize) -> impl Iterator<Item = Inst<'a>> + use<'a> {
        Insts::new(self.words, start).take_while(move |i| i.offset < end)
    }

    /// Types, constants and global variables.
    pub(crate) fn globals(&self) -> impl Iterator<Item = Inst<'a>> + use<'a> {
        self.insts(self.globals_start(), self.sections.globals)
    }

    /// Where types, constants and global variables begin.
    pub(crate) fn globals_start(&self) -> usize {
        self.sections.annotations.max(self.sections.names)
    }

    pub(crate) fn has_capability(&self, capability: u32) -> bool {
        self.capabilities.iter().any(|i| i.word(1) == capability)
    }

    pub(crate) fn has_extension(&self, name: &str) -> bool {
        self.extensions.iter().any(|i| literal::is(i.from(1), name))
    }

    /// Decorations of `target`, those of its members included.
    pub(crate) fn decorations_of(&self, target: Id) -> impl Iterator<Item = &Decoration> {
        let first = self.decorations.partition_point(|d| d.target < target);
        self.decorations
            .get(first..)
            .unwrap_or(&[])
            .iter()
            .take_while(move |d| d.target == target)
    }

    /// First literal of a decoration of `target` itself.
    pub(crate) fn decoration(&self, target: Id, kind: u32) -> Option<u32> {
        self.decorations_of(target)
            .take_while(|d| d.member.is_none())
            .find(|d| d.kind == kind)
            .map(|d| d.value)
    }

    /// First literal of a decoration of a member of `target`.
    pub(crate) fn member_decoration(&self, target: Id, member: u32, kind: u32) -> Option<u32> {
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
