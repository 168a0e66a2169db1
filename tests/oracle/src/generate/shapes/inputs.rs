//! Inputs of a program of a shape, from the host: buffers, and the memory behind the addresses in them.

use crate::generate::{CONTROL, DATA, OUT};

/// Buffers of a program.
#[derive(Clone, Debug)]
pub struct ShapeInputs {
    /// The words of the buffer [`OUT`].
    pub out: Vec<u32>,
    /// The words of the uniform buffer [`CONTROL`]: four vectors of integers, then four of floats.
    pub settings: Vec<u32>,
    /// The words of the buffer [`DATA`]: first the address of each invocation's node, in two words each.
    pub data: Vec<u32>,
    /// The words of the nodes.
    pub nodes: Vec<u32>,
    address: u64,
}

impl ShapeInputs {
    /// Most invocations of a program.
    pub const INVOCATIONS: u32 = 32;
    /// Words of the buffer [`OUT`] for each invocation, the last 15 of which are behind the results of all.
    pub const OUT_WORDS: u32 = 16;
    /// Words of a node: 16 words, a vector, the address of the next node, two that are unused, and 4 pairs.
    pub const NODE_WORDS: u32 = 32;
    /// Byte offset of a node's vector.
    pub const VECTOR_OFFSET: u32 = 64;
    /// Byte offset of the address of the next node.
    pub const NEXT_OFFSET: u32 = 80;
    /// Byte offset of a node's pairs.
    pub const PAIRS_OFFSET: u32 = 96;

    /// The inputs, with nodes at an address. Each invocation has two nodes, each of which is the other one's next.
    pub fn new(address: u64) -> Self {
        let bytes = u64::from(Self::NODE_WORDS) * 4;
        let node = |number: u32| address + u64::from(number) * bytes;
        let halves = |address: u64| [address as u32, (address >> 32) as u32];
        let mut nodes: Vec<u32> = (0..2 * Self::INVOCATIONS * Self::NODE_WORDS)
            .map(|word| word * 3 + 1)
            .collect();
        let (rows, _) = nodes.as_chunks_mut::<{ Self::NODE_WORDS as usize }>();
        for (number, row) in (0..).zip(rows) {
            let next = Self::NEXT_OFFSET as usize / 4;
            if let Some(place) = row.get_mut(next..next + 2) {
                place.copy_from_slice(&halves(node(number ^ 1)));
            }
        }
        Self {
            out: vec![0; (Self::INVOCATIONS * Self::OUT_WORDS) as usize],
            settings: (1..=16)
                .chain((0..16).map(|power: u32| (1u32 << power) as f32).map(f32::to_bits))
                .collect(),
            data: (0..Self::INVOCATIONS)
                .flat_map(|number| halves(node(2 * number)))
                .collect(),
            nodes,
            address,
        }
    }

    /// The address of the nodes.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// The words of each buffer, by binding.
    pub fn buffers(&self) -> [(u32, &[u32]); 3] {
        [(OUT, &self.out), (CONTROL, &self.settings), (DATA, &self.data)]
    }
}
