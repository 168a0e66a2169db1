//! Reads the sections before the functions.

use super::{Decoration, EntryPoint, Index, PASS, cut_short};
use crate::error::{Error, ErrorKind, Result};
use crate::spv::debug_set::DebugSet;
use crate::spv::words::{HEADER_WORDS, Insts};
use crate::spv::{Inst, op};

impl<'a> Index<'a> {
    pub(super) fn read_globals(&mut self, insts: &mut Insts<'a>) -> Result<()> {
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
                    self.debug_sets.extend(set.map(|set| (inst.result(), set)));
                    layout_end = inst.end();
                }
                op::SourceExtension | op::Source | op::SourceContinued | op::String => {
                    layout_end = inst.end();
                }
                op::EntryPoint => {
                    let entry = EntryPoint {
                        inst,
                        model: inst.execution_model(),
                        function: inst.entry_function(),
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
                        target: inst.target(),
                        member: (by_member == 1).then(|| inst.word(2)),
                        kind: inst.decoration(),
                        value: inst.word(3 + by_member),
                    });
                    (at.annotations, layout_end) = (inst.end(), inst.end());
                }
                op::GroupDecorate | op::GroupMemberDecorate => {
                    groups.push(inst);
                    (at.annotations, layout_end) = (inst.end(), inst.end());
                }
                op::ConstantDataKHR | op::SpecConstantDataKHR => self.constant_data.push(inst),
                op::TypeInt if inst.width() == 8 => self.byte_types.push(inst.result()),
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

    /// Sets the offsets of names and annotations in modules that lack them.
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

    /// Copies the decorations of groups to their targets.
    fn expand_groups(&mut self, groups: &[Inst<'a>]) {
        for inst in groups {
            let group = inst.target();
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
}
