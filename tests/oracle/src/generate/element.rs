//! Generates compute shaders that load one element of an array through an address, in a loop of one iteration, so that the check of
//! addresses tests its index. The host puts the address and the index into the buffer [`DATA`](super::DATA).

use super::DATA;
use super::compute_writer::{ComputeWriter, words_block};
use crate::choices::Choices;
use crate::module::Id;
use crate::op::{self, capability, decoration, storage_class as class};
use vkabort_spirv_builder::Builder;

/// Memory operand `Aligned`.
const ALIGNED: u32 = 2;

/// An array of words behind an address.
#[derive(Clone, Copy, Debug)]
pub struct Elements {
    /// Byte offset of its first element.
    pub offset: u32,
    /// Bytes from one element to the next.
    pub stride: u32,
    /// The alignment that the load declares.
    pub alignment: u32,
}

/// A compute shader of one invocation. The buffer has an address, in two words, and an index.
pub fn generate_element(choices: &mut Choices, elements: Elements) -> Vec<u32> {
    let mut writer = ComputeWriter::new(choices, 1, |builder| Memory::new(builder, elements));
    writer.entry_point(|writer| {
        let [low, high, number] = [0, 1, 2].map(|number| writer.datum(number));
        let uint = writer.builder.uint();
        let uvec2 = writer.builder.vector(uint, 2);
        let address = writer.value(op::CompositeConstruct, uvec2, &[low, high]);
        let pointer = writer
            .builder
            .pointer(class::PhysicalStorageBuffer, writer.memory.block);
        let base = writer.value(op::Bitcast, pointer, &[address]);
        let [zero, one] = [0, 1].map(|value| writer.builder.constant(value));
        let open = writer.open_loop(one);
        let pointer = writer.builder.pointer(class::PhysicalStorageBuffer, uint);
        let element = writer.value(op::AccessChain, pointer, &[base, zero, number]);
        let value = writer.word(op::Load, &[element, ALIGNED, elements.alignment]);
        writer.add(value);
        writer.close_loop(&open);
    });
    writer.builder.finish()
}

/// The block at the address, and the buffer of the address.
struct Memory {
    block: Id,
    data: Id,
}

impl Memory {
    fn new(builder: &mut Builder, elements: Elements) -> Self {
        builder.capability(capability::PhysicalStorageBufferAddresses);
        builder.extension("SPV_KHR_physical_storage_buffer");
        builder.model[0] = 5348;
        let uint = builder.uint();
        let array = builder.new_type(op::TypeRuntimeArray, &[uint]);
        builder.decorate(array, decoration::ArrayStride, &[elements.stride]);
        let block = builder.structure(&[(array, elements.offset)]);
        builder.decorate(block, decoration::Block, &[]);
        let words = words_block(builder);
        let data = builder.buffer(class::StorageBuffer, words, DATA);
        Self { block, data }
    }
}

impl ComputeWriter<'_, Memory> {
    fn datum(&mut self, number: u32) -> Id {
        let [zero, number] = [0, number].map(|value| self.builder.constant(value));
        let uint = self.builder.uint();
        let pointer = self.builder.pointer(class::StorageBuffer, uint);
        let pointer = self.value(op::AccessChain, pointer, &[self.memory.data, zero, number]);
        self.word(op::Load, &[pointer])
    }
}
