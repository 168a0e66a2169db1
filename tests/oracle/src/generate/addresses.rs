//! Generates compute shaders that access memory through addresses, which the host puts into the buffer [`DATA`](super::DATA).
//!
//! ```text
//! struct Node { uint word; uint count; Node *next; uvec4 vector; uint words[]; };
//! struct Items { Item items[]; };             the same memory; struct Item { uint first; uint second; uint third; }
//! ```
//!
//! Any address may be wrong, and any element before or beyond the memory: the interpreter finds the consequences.

use super::DATA;
use super::compute_writer::{ComputeWriter, variable, words_block};
use crate::choices::Choices;
use crate::module::Id;
use crate::op::{self, capability, decoration, storage_class as class};
use vkabort_spirv_builder::Builder;

/// Addresses in the buffer, of two words each.
pub const ADDRESSES: u32 = 8;
/// Bytes of a node in front of its elements.
pub const NODE_BYTES: u32 = 32;
/// Byte offset of the address of the next one.
pub const NEXT_OFFSET: u32 = 8;

/// Members of a node.
const WORD: u32 = 0;
const COUNT: u32 = 1;
const NEXT: u32 = 2;
const VECTOR: u32 = 3;
const WORDS: u32 = 4;
/// Memory operand `Aligned`.
const ALIGNED: u32 = 2;

/// A compute shader of so many invocations. It stores a word for each to the buffer [`super::OUT`].
pub fn generate_addresses(choices: &mut Choices) -> (Vec<u32>, u32) {
    let invocations = choices.between(1, 4);
    let mut writer = ComputeWriter::new(choices, invocations, Nodes::new);
    writer.entry_point(|writer| writer.sequence(2));
    (writer.builder.finish(), invocations)
}

/// Byte offset of items from the address of a node, and the bytes of one.
const ITEMS_OFFSET: u32 = 4;
const ITEM_BYTES: u32 = 12;

/// The types of nodes and items, a variable for a pointer to items, and the buffer of the addresses.
struct Nodes {
    addresses: Id,
    node: Id,
    items: Id,
    last_items: Id,
}

/// Pointers to a node.
#[derive(Clone, Copy)]
struct Pointers {
    node: Id,
    items: Id,
}

impl Nodes {
    fn new(builder: &mut Builder) -> Self {
        builder.capability(capability::PhysicalStorageBufferAddresses);
        builder.extension("SPV_KHR_physical_storage_buffer");
        builder.model[0] = 5348;
        let uint = builder.uint();
        let [uvec2, uvec4] = [2, 4].map(|count| builder.vector(uint, count));
        let words = builder.new_type(op::TypeRuntimeArray, &[uint]);
        builder.decorate(words, decoration::ArrayStride, &[4]);
        let members = [
            (uint, 0),
            (uint, 4),
            (uvec2, NEXT_OFFSET),
            (uvec4, 16),
            (words, NODE_BYTES),
        ];
        let node = builder.structure(&members);
        builder.decorate(node, decoration::Block, &[]);
        let block = words_block(builder);
        let addresses = builder.buffer(class::StorageBuffer, block, DATA);
        let item = builder.structure(&[(uint, 0), (uint, 4), (uint, 8)]);
        let array = builder.new_type(op::TypeRuntimeArray, &[item]);
        builder.decorate(array, decoration::ArrayStride, &[ITEM_BYTES]);
        let items = builder.structure(&[(array, ITEMS_OFFSET)]);
        builder.decorate(items, decoration::Block, &[]);
        let pointer = builder.pointer(class::PhysicalStorageBuffer, items);
        let last_items = variable(builder, class::Private, (pointer, "last_items"), &[]);
        Self {
            addresses,
            node,
            items,
            last_items,
        }
    }
}

impl ComputeWriter<'_, Nodes> {
    fn sequence(&mut self, depth: u32) {
        for _ in 0..self.choices.between(1, 3) {
            match self.choices.below(5) {
                0 if depth > 0 => {
                    let condition = self.condition();
                    let merge = self.open_selection(condition);
                    self.sequence(depth - 1);
                    self.close_selection(merge);
                }
                1 => self.walk(),
                _ => {
                    let node = self.any_node();
                    for _ in 0..self.choices.between(1, 3) {
                        self.access(node, None);
                    }
                }
            }
        }
    }

    /// A node at one of the addresses.
    fn any_node(&mut self) -> Pointers {
        let last = self.builder.constant(ADDRESSES - 1);
        let (factor, first) = (self.choices.below(3), self.choices.below(ADDRESSES));
        let [factor, first, zero, one] = [factor, first, 0, 1].map(|value| self.builder.constant(value));
        let invocation = self.invocation();
        let number = self.word(op::IMul, &[invocation, factor]);
        let number = self.word(op::IAdd, &[number, first]);
        let number = self.word(op::BitwiseAnd, &[number, last]);
        let low = self.word(op::ShiftLeftLogical, &[number, one]);
        let high = self.word(op::IAdd, &[low, one]);
        let uint = self.builder.uint();
        let pointer = self.builder.pointer(class::StorageBuffer, uint);
        let words = [low, high].map(|number| {
            let pointer = self.value(op::AccessChain, pointer, &[self.memory.addresses, zero, number]);
            self.word(op::Load, &[pointer])
        });
        let uvec2 = self.builder.vector(uint, 2);
        let address = self.value(op::CompositeConstruct, uvec2, &words);
        self.node_at(address)
    }

    fn node_at(&mut self, address: Id) -> Pointers {
        let [node, items] = [self.memory.node, self.memory.items].map(|ty| {
            let pointer = self.builder.pointer(class::PhysicalStorageBuffer, ty);
            self.value(op::Bitcast, pointer, &[address])
        });
        self.push(op::Store, &[self.memory.last_items, items]);
        Pointers { node, items }
    }

    /// A loop through some elements of a node, or from it to the next one.
    fn walk(&mut self) {
        let node = self.any_node();
        let count = self.choices.between(1, 4);
        let count = self.builder.constant(count);
        let open = self.open_loop(count);
        self.access(node, Some(open.number));
        if self.choices.chance(50) {
            let uint = self.builder.uint();
            let uvec2 = self.builder.vector(uint, 2);
            let next = self.member(node.node, uvec2, &[NEXT]);
            let next = self.value(op::Load, uvec2, &[next, ALIGNED, 8]);
            let next = self.node_at(next);
            self.access(next, None);
        }
        self.close_loop(&open);
    }

    /// Pointer to a member of type `ty`, of elements by their number.
    fn member(&mut self, node: Id, ty: Id, path: &[u32]) -> Id {
        let pointer = self.builder.pointer(class::PhysicalStorageBuffer, ty);
        let path: Vec<Id> = path.iter().map(|index| self.builder.constant(*index)).collect();
        self.value(op::AccessChain, pointer, &[&[node], &path[..]].concat())
    }

    fn access(&mut self, Pointers { node, items }: Pointers, iteration: Option<Id>) {
        let uint = self.builder.uint();
        match self.choices.below(7) {
            0 => {
                let uvec4 = self.builder.vector(uint, 4);
                let vector = self.member(node, uvec4, &[VECTOR]);
                let vector = self.value(op::Load, uvec4, &[vector, ALIGNED, 16]);
                let component = self.choices.below(4);
                let value = self.word(op::CompositeExtract, &[vector, component]);
                self.add(value);
            }
            1 => {
                let count = self.member(node, uint, &[COUNT]);
                let [device, relaxed, one] = [1, 0, 1].map(|value| self.builder.constant(value));
                let before = self.word(op::AtomicIAdd, &[count, device, relaxed, one]);
                self.add(before);
            }
            2 => {
                let word = self.member(node, uint, &[WORD]);
                let sum = self.sum();
                self.push(op::Store, &[word, sum, ALIGNED, 4]);
            }
            kind => {
                let first = self.choices.below(32).wrapping_sub(8);
                let first = self.builder.constant(first);
                let mut number = self.invocation();
                number = self.word(op::IAdd, &[number, first]);
                if let Some(iteration) = iteration {
                    number = self.word(op::IAdd, &[number, iteration]);
                }
                let element = self.element((node, items), number);
                if kind < 5 {
                    let value = self.word(op::Load, &[element, ALIGNED, 4]);
                    self.add(value);
                } else {
                    let sum = self.sum();
                    self.push(op::Store, &[element, sum, ALIGNED, 4]);
                }
            }
        }
    }

    /// Pointer to a word of a node, or to one of an item.
    fn element(&mut self, (node, items): (Id, Id), number: Id) -> Id {
        let uint = self.builder.uint();
        let pointer = self.builder.pointer(class::PhysicalStorageBuffer, uint);
        if self.choices.chance(50) {
            let member = self.builder.constant(WORDS);
            return self.value(op::AccessChain, pointer, &[node, member, number]);
        }
        let base = match self.choices.chance(50) {
            true => items,
            false => {
                let ty = self.builder.pointer(class::PhysicalStorageBuffer, self.memory.items);
                self.value(op::Load, ty, &[self.memory.last_items])
            }
        };
        let part = self.choices.below(3);
        let [array, part] = [0, part].map(|index| self.builder.constant(index));
        self.value(op::AccessChain, pointer, &[base, array, number, part])
    }
}
