//! Reads the sections before the functions.

use super::{Decoration, EntryPoint, Index, PASS, cut_short};
use crate::debug_set::DebugSet;
use crate::error::{Error, ErrorKind, Result};
use crate::op_sets::is_decoration;
use crate::words::{HEADER_WORDS, Insts};
use crate::{Id, Inst, op};

/// Most components of a vector, and columns of a matrix: passes collect them. `SPV_EXT_long_vector` takes a constant for a length
/// above 16.
const MAX_COMPONENTS: u32 = 4_096;

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
            let mut is_declaration = false;
            match inst.opcode() {
                op::Function => {
                    *insts = Insts::new(self.words, offset);
                    break;
                }
                op::Capability => {
                    self.capabilities.push(inst);
                    at.capabilities = inst.end();
                }
                op::Extension => {
                    self.extensions.push(inst);
                    at.extensions = inst.end();
                }
                op::MemoryModel => at.memory_model = offset,
                op::ExtInstImport => {
                    let set = DebugSet::of_name(inst.from(2));
                    self.debug_sets.extend(set.map(|set| (inst.result(), set)));
                }
                op::EntryPoint => self.entry_points.push(EntryPoint {
                    inst,
                    model: inst.execution_model(),
                    function: inst.entry_function(),
                }),
                op::ExecutionMode | op::ExecutionModeId => self.execution_modes.push(inst),
                op::SourceExtension | op::Source | op::SourceContinued | op::String | op::ModuleProcessed => {}
                op::Name | op::MemberName => at.names = inst.end(),
                opcode if is_decoration(opcode) || matches!(opcode, op::GroupDecorate | op::GroupMemberDecorate) => {
                    at.annotations = inst.end();
                    match opcode {
                        op::Decorate | op::MemberDecorate => {
                            let by_member = usize::from(opcode == op::MemberDecorate);
                            self.decorations.push(Decoration {
                                target: inst.target(),
                                member: (by_member == 1).then(|| inst.word(2)),
                                kind: inst.decoration(),
                                value: inst.word(3 + by_member),
                            });
                        }
                        op::GroupDecorate | op::GroupMemberDecorate => groups.push(inst),
                        op::DecorateId | op::MemberDecorateIdEXT => self.decorate_ids.push(inst),
                        _ => {}
                    }
                }
                opcode => {
                    is_declaration = true;
                    match opcode {
                        op::ConstantDataKHR | op::SpecConstantDataKHR => self.constant_data.push(inst),
                        op::TypeVector | op::TypeMatrix if inst.component_count() > MAX_COMPONENTS => {
                            let message = format!("{} components: at most {MAX_COMPONENTS}", inst.component_count());
                            return Err(Error::new(ErrorKind::Limit, PASS, offset as u32, message));
                        }
                        op::TypeInt if inst.width() == 8 => self.byte_types.push(inst.result()),
                        _ => {}
                    }
                }
            }
            if !is_declaration {
                layout_end = inst.end();
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
        if self.sections.names == 0 {
            self.sections.names = Insts::new(self.words, self.sections.memory_model)
                .take_while(|i| i.offset < layout_end)
                .find(|i| i.opcode() == op::ModuleProcessed || is_decoration(i.opcode()))
                .map_or(layout_end, |i| i.offset);
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
                let (target, member) = (Id::new(target[0]), target.get(1).copied());
                self.decorations.extend(of_group.iter().map(|d| Decoration {
                    target,
                    member: member.or(d.member),
                    ..*d
                }));
            }
        }
    }
}
