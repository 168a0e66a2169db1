//! Assigns one initialisation bit to each part of a variable.
//!
//! A part that no access of the module divides has one bit: so a vector that is always stored as a whole has one, and an array of
//! which elements are accessed has one for each.
//!
//! ```text
//! struct { vec3 a; float b[4]; } s;       s.a = ..; s.b[i] = ..;
//!
//! bit 0: s.a      bits 4 to 7: s.b[0] to s.b[3]
//! ```
//!
//! Elements take a power of two of bits, or whole words, and begin at a multiple of it: an element of unknown index lies in one word.

use super::super::accesses::Step;
use super::super::scalars::literal;
use smallvec::SmallVec;
use vkabort_analysis::view::path::{part_count, part_type};
use vkabort_options::Options;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::constant::Length;
use vkabort_spirv::{Id, op};

/// Most bits of a variable. Larger ones are not followed, which the log says.
pub(super) const MAX_BITS: u32 = 1 << 10;
/// Most bits of a variable in shared memory, whose bits all invocations of the workgroup share.
pub(super) const MAX_SHARED_BITS: u32 = 1 << 15;

/// A part of the variable.
#[derive(Clone, Debug)]
struct Node {
    ty: Id,
    parts: Parts,
    /// Bits from the start of the part around it; of arrays from the start of the element.
    offset: u32,
    bits: u32,
}

/// Subdivision of a part, as positions of nodes.
#[derive(Clone, Debug)]
enum Parts {
    Whole,
    Members(Vec<usize>),
    /// Equal parts: elements of an array, columns, components.
    Elements {
        count: u32,
        element: usize,
    },
}

/// The bits of a variable.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    nodes: Vec<Node>,
    /// Most bits.
    limit: u32,
}

/// An index that is not a constant: it is multiplied with `stride` bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DynamicIndex {
    pub(super) index: Id,
    /// Elements that there are.
    pub(super) count: u32,
    pub(super) stride: u32,
}

/// The bits of a part that a pointer points to.
#[derive(Clone, Debug)]
pub(super) struct BitPlace {
    /// The first bit if all indices that are not constant are 0.
    pub(super) first: u32,
    pub(super) bits: u32,
    pub(super) dynamic: SmallVec<[DynamicIndex; 2]>,
    node: usize,
}

impl Layout {
    pub(super) fn new(ty: Id, limit: u32) -> Self {
        let root = Node {
            ty,
            parts: Parts::Whole,
            offset: 0,
            bits: 1,
        };
        Self {
            nodes: vec![root],
            limit,
        }
    }

    /// Divides the parts that indices lead through. `None` if one of them has no fixed number of parts, or too many.
    pub(super) fn divide(&mut self, index: &Index<'_>, options: &Options, steps: &[Step]) -> Option<()> {
        let mut at = 0;
        for step in steps {
            self.divide_node(index, options, at)?;
            at = match &self.nodes.get(at)?.parts {
                Parts::Whole => return None,
                Parts::Members(members) => *members.get(literal(index, step.index)? as usize)?,
                Parts::Elements { element, .. } => *element,
            };
        }
        Some(())
    }

    fn divide_node(&mut self, index: &Index<'_>, options: &Options, at: usize) -> Option<()> {
        let node = self.nodes.get(at)?;
        if !matches!(node.parts, Parts::Whole) {
            return Some(());
        }
        let ty = node.ty;
        let of = index.def(ty)?;
        let count = match of.opcode() {
            op::TypeArray => match index.length(of.array_length(), &options.specialization)? {
                Length::Fixed(length) => length,
                Length::Specialised { .. } => return None,
            },
            op::TypeStruct | op::TypeVector | op::TypeMatrix => part_count(index, ty)?,
            _ => return None,
        };
        let count = u32::try_from(count).ok().filter(|count| *count <= self.limit)?;
        let is_structure = of.opcode() == op::TypeStruct;
        let first = self.nodes.len();
        let new_nodes = if is_structure { count } else { 1 };
        for part in 0..new_nodes {
            self.nodes.push(Node {
                ty: part_type(index, ty, part),
                parts: Parts::Whole,
                offset: 0,
                bits: 1,
            });
        }
        let parts = match is_structure {
            true => Parts::Members((first..first + count as usize).collect()),
            false => Parts::Elements { count, element: first },
        };
        self.nodes.get_mut(at)?.parts = parts;
        (self.nodes.len() <= MAX_BITS as usize * 2).then_some(())
    }

    /// Numbers the bits. `None` if they are too many.
    pub(super) fn number_bits(&mut self) -> Option<()> {
        // Parts have higher positions than what they are parts of.
        for at in (0..self.nodes.len()).rev() {
            let bits = match self.nodes.get(at)?.parts.clone() {
                Parts::Whole => 1,
                Parts::Elements { count, element } => stride(self.nodes.get(element)?.bits).checked_mul(count)?,
                Parts::Members(members) => {
                    let mut end = 0_u32;
                    for member in members {
                        let member = self.nodes.get_mut(member)?;
                        member.offset = end.next_multiple_of(alignment(member.bits));
                        end = member.offset.checked_add(member.bits)?;
                    }
                    end
                }
            };
            self.nodes.get_mut(at)?.bits = Some(bits).filter(|bits| (1..=self.limit).contains(bits))?;
        }
        Some(())
    }

    /// Words of all bits.
    pub(super) fn words(&self) -> u32 {
        self.whole().bits.div_ceil(32)
    }

    /// The bits of the variable.
    pub(super) fn whole(&self) -> BitPlace {
        BitPlace {
            first: 0,
            bits: self.nodes.first().map_or(1, |root| root.bits),
            dynamic: SmallVec::new(),
            node: 0,
        }
    }

    /// The bits of the part that indices lead to. `None` if a constant index is outside.
    pub(super) fn place(&self, index: &Index<'_>, steps: &[Step]) -> Option<BitPlace> {
        let mut place = self.whole();
        for step in steps {
            match (&self.nodes.get(place.node)?.parts, literal(index, step.index)) {
                (Parts::Whole, _) | (Parts::Members(_), None) => return None,
                (Parts::Members(members), Some(member)) => {
                    place.node = *members.get(member as usize)?;
                    place.first += self.nodes.get(place.node)?.offset;
                }
                (Parts::Elements { count, element }, number) => {
                    let stride = stride(self.nodes.get(*element)?.bits);
                    let (index, count) = (step.index, *count);
                    match number {
                        Some(number) if number >= count => return None,
                        Some(number) => place.first += number * stride,
                        None => place.dynamic.push(DynamicIndex { index, count, stride }),
                    }
                    place.node = *element;
                }
            }
        }
        place.bits = self.nodes.get(place.node)?.bits;
        Some(place)
    }

    /// Index of a part's bit, relative to the first bit of `place`.
    pub(super) fn bit(&self, place: &BitPlace, path: &[u32]) -> Option<u32> {
        let (mut at, mut bit) = (place.node, 0);
        for number in path {
            match &self.nodes.get(at)?.parts {
                Parts::Whole => break,
                Parts::Members(members) => {
                    at = *members.get(*number as usize)?;
                    bit += self.nodes.get(at)?.offset;
                }
                Parts::Elements { element, .. } => {
                    at = *element;
                    bit += number * stride(self.nodes.get(at)?.bits);
                }
            }
        }
        (bit < place.bits).then_some(bit)
    }
}

/// Bits from one element to the next.
fn stride(bits: u32) -> u32 {
    bits.next_multiple_of(alignment(bits))
}

/// Bits of which the start of a part is a multiple.
fn alignment(bits: u32) -> u32 {
    bits.next_power_of_two().min(32)
}
