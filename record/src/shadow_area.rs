//! Memory layout of the shadow area, where the check `races` keeps the shadow of arrays that shared memory has no room for. Only shaders
//! store to it; the host zeroes it once.
//!
//! ```text
//! byte  0  NEXT   number of workgroups that have looked for a block
//!       4  MISSED number of those that found none
//!      64  BLOCKS blocks:
//!          byte  0  BUSY   0: the block is free
//!                4  LEFT   invocations of its workgroup that have ended
//!               64  the words of the workgroup
//! ```
//!
//! One invocation of a workgroup adds 1 to NEXT and exchanges BUSY of the block of that number, or of one of the next `TRIES - 1`, until
//! it gets a 0. Then the workgroup clears the words that it uses. Each invocation that ends adds 1 to LEFT; the last one of the workgroup
//! stores 0 to LEFT and then to BUSY. So no invocation finds a word of another workgroup, and a workgroup in which an invocation never
//! ends keeps its block. A workgroup without a block has no shadow, and the host logs their number.

/// Number of blocks, a power of two. Large GPUs run more workgroups at once, even of those that use all of their shared memory; a kernel
/// has many more, and each tries anew.
pub const BLOCKS: u32 = 128;
/// Most blocks that a workgroup tries.
pub const TRIES: u32 = 16;
/// Byte offset of NEXT.
pub const NEXT_OFFSET: u32 = 0;
/// Byte offset of MISSED.
pub const MISSED_OFFSET: u32 = 4;
/// Byte offset of LEFT in a block.
pub const LEFT_OFFSET: u32 = 4;
/// Words in front of those of the workgroup: a cache line.
pub const BLOCK_HEADER_WORDS: u32 = 16;
/// Byte offset of the first block.
pub const FIRST_BLOCK: u32 = 64;
/// Most words of a workgroup.
const MAX_WORDS: u32 = 1 << 15;

const _: () = assert!(BLOCKS.is_power_of_two() && BLOCK_HEADER_WORDS * 4 > LEFT_OFFSET);

/// Words that a workgroup needs at most for shared memory of `bytes` bytes: one for each scalar of 16 bits, up to 32,768, so that the area
/// takes 16 MiB at most.
pub const fn workgroup_words(bytes: u32) -> u32 {
    let words = bytes / 2;
    if words < MAX_WORDS { words } else { MAX_WORDS }
}

/// Size in bytes of a block for `words` words of a workgroup.
pub const fn block_bytes(words: u32) -> u32 {
    ((BLOCK_HEADER_WORDS + words) * 4).next_multiple_of(64)
}

/// Byte offset of a block for `words` words of a workgroup. Of the number [`BLOCKS`], the end of the area.
pub const fn block_offset(number: u32, words: u32) -> u32 {
    FIRST_BLOCK + number * block_bytes(words)
}

/// Size in bytes of an area whose blocks have `words` words for a workgroup.
pub const fn area_bytes(words: u32) -> u32 {
    block_offset(BLOCKS, words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_cache_lines_of_their_own_and_fill_the_area() {
        for words in [0, 1, 47, 48, 49, workgroup_words(32 << 10), workgroup_words(u32::MAX)] {
            let mut end = FIRST_BLOCK;
            for number in 0..BLOCKS {
                let start = block_offset(number, words);
                assert!(start == end && start.is_multiple_of(64), "block {number} at {start}");
                end = start + block_bytes(words);
                assert!(start + (BLOCK_HEADER_WORDS + words) * 4 <= end);
            }
            assert_eq!(end, area_bytes(words));
            assert!(area_bytes(words) <= (16 << 20) + (64 << 10));
        }
    }

    #[test]
    fn a_workgroup_has_a_word_for_each_scalar_of_16_bits() {
        assert_eq!(workgroup_words(32 << 10), 16 << 10);
        assert_eq!(workgroup_words(227 << 10), MAX_WORDS);
    }
}
