//! Entry points and resources of a module, from which the layout of any pipeline follows.

use anyhow::{Context, Result};
use ash::vk::{DescriptorType, ShaderStageFlags};
use std::collections::BTreeMap;
use std::ffi::CString;
use vkabort_oracle::op::{self, decoration, storage_class};
use vkabort_oracle::words::{Inst, instructions, read_string};
use vkabort_record::stage::{PipelineKind, Stage};

/// Dimensionalities of an image type.
const DIM_BUFFER: u32 = 5;
const DIM_SUBPASS: u32 = 6;

/// Entry points, capabilities and resources of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Stage and name of each entry point; no stage for execution models that pipelines here do not have.
    pub entries: Vec<(Option<ShaderStageFlags>, CString)>,
    /// Declared capabilities.
    pub capabilities: Vec<u32>,
    /// Type and count by set and binding.
    pub bindings: BTreeMap<(u32, u32), (DescriptorType, u32)>,
}

/// Definitions of a module by id.
struct Definitions<'a> {
    by_id: BTreeMap<u32, &'a Inst>,
    decorations: BTreeMap<(u32, u32), u32>,
}

impl Interface {
    /// Reads the interface of a module.
    ///
    /// # Errors
    ///
    /// The words are not a module, or an entry point's name contains NUL.
    pub fn of(words: &[u32]) -> Result<Self> {
        let all = instructions(words).context("not a SPIR-V module")?;
        let mut definitions = Definitions {
            by_id: BTreeMap::new(),
            decorations: BTreeMap::new(),
        };
        let mut interface = Self::default();
        for inst in &all {
            match inst.op {
                op::Capability => interface.capabilities.push(inst.word(0)),
                op::EntryPoint => {
                    let name = read_string(inst.operands_from(2));
                    interface.entries.push((stage(inst.word(0)), CString::new(name)?));
                }
                op::Decorate => {
                    definitions
                        .decorations
                        .insert((inst.word(0), inst.word(1)), inst.word(2));
                }
                op::Function => break,
                _ => {
                    let result = if is_type(inst.op) { inst.word(0) } else { inst.word(1) };
                    definitions.by_id.insert(result, inst);
                }
            }
        }
        for inst in all.iter().filter(|inst| inst.op == op::Variable) {
            let variable = inst.word(1);
            let place = |kind| definitions.decorations.get(&(variable, kind)).copied();
            let Some((set, binding)) = place(decoration::DescriptorSet).zip(place(decoration::Binding)) else {
                continue;
            };
            if let Some(resource) = definitions.resource(inst) {
                interface.bindings.entry((set, binding)).or_insert(resource);
            }
        }
        Ok(interface)
    }
}

impl Definitions<'_> {
    /// Descriptor type and count of a variable; none if it is not a resource.
    fn resource(&self, variable: &Inst) -> Option<(DescriptorType, u32)> {
        let pointer = self.by_id.get(&variable.word(0))?;
        let mut ty = *self.by_id.get(&pointer.word(2))?;
        let mut count = 1;
        loop {
            match ty.op {
                op::TypeArray => count *= self.by_id.get(&ty.word(2)).map_or(1, |length| length.word(2)),
                op::TypeRuntimeArray => {}
                _ => break,
            }
            ty = *self.by_id.get(&ty.word(1))?;
        }
        let is_buffer_block = self.decorations.contains_key(&(ty.word(0), decoration::BufferBlock));
        let kind = match (variable.word(2), ty.op) {
            (storage_class::StorageBuffer, _) => DescriptorType::STORAGE_BUFFER,
            (storage_class::Uniform, _) if is_buffer_block => DescriptorType::STORAGE_BUFFER,
            (storage_class::Uniform, _) => DescriptorType::UNIFORM_BUFFER,
            (_, op::TypeSampler) => DescriptorType::SAMPLER,
            (_, op::TypeSampledImage) => DescriptorType::COMBINED_IMAGE_SAMPLER,
            (_, op::TypeAccelerationStructureKHR) => DescriptorType::ACCELERATION_STRUCTURE_KHR,
            (_, op::TypeImage) => {
                let is_storage = ty.word(6) == 2;
                match (ty.word(2), is_storage) {
                    (DIM_BUFFER, true) => DescriptorType::STORAGE_TEXEL_BUFFER,
                    (DIM_BUFFER, false) => DescriptorType::UNIFORM_TEXEL_BUFFER,
                    (DIM_SUBPASS, _) => DescriptorType::INPUT_ATTACHMENT,
                    (_, true) => DescriptorType::STORAGE_IMAGE,
                    (_, false) => DescriptorType::SAMPLED_IMAGE,
                }
            }
            _ => return None,
        };
        Some((kind, count))
    }
}

/// Whether an instruction's result is its first operand.
fn is_type(opcode: u16) -> bool {
    (op::TypeVoid..=op::TypeFunction).contains(&opcode) || opcode == op::TypeAccelerationStructureKHR
}

fn stage(model: u32) -> Option<ShaderStageFlags> {
    let stage =
        Stage::of(model).filter(|stage| matches!(stage.pipeline, PipelineKind::Graphics | PipelineKind::Compute));
    stage.map(|stage| ShaderStageFlags::from_raw(stage.vulkan))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::glsl;

    #[test]
    fn reads_entry_point_and_bindings() -> Result<()> {
        let words = glsl::compile_compute(
            "#version 460\nlayout(local_size_x = 1) in;\nlayout(set = 1, binding = 2) buffer B { uint b[]; };\n\
             layout(set = 0, binding = 1) uniform U { uint u; };\nlayout(binding = 4) uniform sampler2D t[3];\n\
             layout(binding = 5, r32ui) uniform uimage2D i;\n\
             void main() { b[u] = imageLoad(i, ivec2(0)).x + uint(textureLod(t[1], vec2(0), 0).x); }\n",
        )?;
        let interface = Interface::of(&words)?;
        assert_eq!(interface.entries, [(Some(ShaderStageFlags::COMPUTE), c"main".into())]);
        let bindings: Vec<_> = interface.bindings.into_iter().collect();
        assert_eq!(
            bindings,
            [
                ((0, 1), (DescriptorType::UNIFORM_BUFFER, 1)),
                ((0, 4), (DescriptorType::COMBINED_IMAGE_SAMPLER, 3)),
                ((0, 5), (DescriptorType::STORAGE_IMAGE, 1)),
                ((1, 2), (DescriptorType::STORAGE_BUFFER, 1)),
            ]
        );
        Ok(())
    }
}
