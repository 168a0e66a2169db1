//! Many accesses through one address: through its pointer, a variable that keeps it, a parameter, and the address of the next node.

use super::shared_arrays::Writer;
use super::{ACCESSES, ShapeInputs};
use crate::module::Id;
use crate::op::{self, decoration, storage_class as class};

/// Memory operand `Aligned`.
const ALIGNED: u32 = 2;
/// Members of a node: words, a vector, the address of the next node, pairs.
const WORDS: u32 = 0;
const VECTOR: u32 = 1;
const NEXT: u32 = 2;
const PAIRS: u32 = 3;
/// Words of the first member.
const NODE_ARRAY: u32 = ShapeInputs::VECTOR_OFFSET / 4;

/// How an access gets at the pointer.
#[derive(Clone, Copy)]
enum Through {
    Value,
    Variable,
    Callee,
    Next,
}

const ALL: [Through; 4] = [Through::Value, Through::Variable, Through::Callee, Through::Next];

impl Writer<'_> {
    pub(super) fn one_address(&mut self) {
        let node = self.node_type();
        let pointer = self.builder.pointer(class::PhysicalStorageBuffer, node);
        let callee = self.node_callee(pointer);
        self.entry_point(|writer| {
            let variable = writer.local(pointer);
            writer.builder.decorate(variable, decoration::AliasedPointer, &[]);
            let invocation = writer.invocation();
            let first = writer.with_constant(op::ShiftLeftLogical, invocation, 1);
            let second = writer.with_constant(op::IAdd, first, 1);
            let words = [first, second].map(|number| writer.load_data(number));
            let uint = writer.builder.uint();
            let uvec2 = writer.builder.vector(uint, 2);
            let address = writer.value(op::CompositeConstruct, uvec2, &words);
            let node = writer.value(op::Bitcast, pointer, &[address]);
            writer.push(op::Store, &[variable, node]);
            let usual = writer.choices.pick(&ALL).unwrap_or(Through::Value);
            let is_mixed = writer.choices.chance(30);
            let (fewest, most) = ACCESSES;
            for _ in 0..writer.choices.between(fewest, most) {
                let other = writer.choices.pick(&ALL).filter(|_| is_mixed);
                match other.unwrap_or(usual) {
                    Through::Value => writer.access_node(node),
                    Through::Variable => {
                        let node = writer.value(op::Load, pointer, &[variable]);
                        writer.access_node(node);
                    }
                    Through::Callee => {
                        let sum = writer.sum();
                        let value = writer.word(op::FunctionCall, &[callee, node, sum]);
                        writer.add(value);
                    }
                    Through::Next => {
                        let next = writer.member(node, uvec2, &[NEXT]);
                        let next = writer.value(op::Load, uvec2, &[next, ALIGNED, 8]);
                        let next = writer.value(op::Bitcast, pointer, &[next]);
                        writer.access_node(next);
                    }
                }
            }
        });
    }

    fn node_type(&mut self) -> Id {
        let uint = self.builder.uint();
        let [uvec2, uvec4] = [2, 4].map(|count| self.builder.vector(uint, count));
        let [words, four] = [NODE_ARRAY, 4].map(|length| self.builder.constant(length));
        let words = self.builder.strided_array(uint, words, Some(4));
        let pair = self.builder.structure(&[(uint, 0), (uint, 4)]);
        let pairs = self.builder.strided_array(pair, four, Some(8));
        let node = self.builder.structure(&[
            (words, 0),
            (uvec4, ShapeInputs::VECTOR_OFFSET),
            (uvec2, ShapeInputs::NEXT_OFFSET),
            (pairs, ShapeInputs::PAIRS_OFFSET),
        ]);
        self.builder.decorate(node, decoration::Block, &[]);
        node
    }

    /// A function that loads a word of a node, and stores another.
    fn node_callee(&mut self, pointer: Id) -> Id {
        let uint = self.builder.uint();
        let (function, parameters) = self.begin_function_with(uint, &[pointer, uint]);
        if let [node, number] = parameters[..] {
            let number = self.with_constant(op::BitwiseAnd, number, NODE_ARRAY - 1);
            let zero = self.number(WORDS);
            let word = self.member_at(node, uint, &[zero, number]);
            let value = self.word(op::Load, &[word, ALIGNED, 4]);
            let [pairs, last, second] = [PAIRS, 3, 1].map(|index| self.number(index));
            let word = self.member_at(node, uint, &[pairs, last, second]);
            self.push(op::Store, &[word, value, ALIGNED, 4]);
            self.push(op::ReturnValue, &[value]);
        }
        self.push(op::FunctionEnd, &[]);
        function
    }

    /// Pointer to a member of type `ty`.
    fn member(&mut self, node: Id, ty: Id, path: &[u32]) -> Id {
        let path: Vec<Id> = path.iter().map(|index| self.number(*index)).collect();
        self.member_at(node, ty, &path)
    }

    fn member_at(&mut self, node: Id, ty: Id, path: &[Id]) -> Id {
        let pointer = self.builder.pointer(class::PhysicalStorageBuffer, ty);
        self.value(op::AccessChain, pointer, &[&[node], path].concat())
    }

    fn access_node(&mut self, node: Id) {
        let uint = self.builder.uint();
        let sum = self.sum();
        if self.choices.chance(15) {
            let uvec4 = self.builder.vector(uint, 4);
            let vector = self.member(node, uvec4, &[VECTOR]);
            let vector = self.value(op::Load, uvec4, &[vector, ALIGNED, 16]);
            let component = self.choices.below(4);
            let value = self.word(op::CompositeExtract, &[vector, component]);
            return self.add(value);
        }
        let word = match self.choices.below(3) {
            0 => {
                let path = [WORDS, self.choices.below(NODE_ARRAY)];
                self.member(node, uint, &path)
            }
            1 => {
                let number = self.with_constant(op::BitwiseAnd, sum, NODE_ARRAY - 1);
                let words = self.number(WORDS);
                self.member_at(node, uint, &[words, number])
            }
            _ => {
                let path = [PAIRS, self.choices.below(4), self.choices.below(2)];
                self.member(node, uint, &path)
            }
        };
        match self.choices.chance(40) {
            true => self.push(op::Store, &[word, sum, ALIGNED, 4]),
            false => {
                let value = self.word(op::Load, &[word, ALIGNED, 4]);
                self.add(value);
            }
        }
    }
}
