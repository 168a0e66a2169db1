//! Interface of shaders and host: sizes, values, specialization ids, and the kinds of messages.

/// Invocations of a workgroup.
pub const LOCAL: u32 = 32;
/// Words of each part of the buffer, and invocations of most dispatches. A power of two.
pub const COUNT: u32 = 64;
/// Value of a word of the first part that makes its invocation abort.
pub const MARK: u32 = 7;
/// `SpecId` of an array length.
pub const LENGTH_ID: u32 = 0;
/// `SpecId` of constant data.
pub const DATA_ID: u32 = 1;
/// The string of [`Message::Text8`] and [`Message::Text32`], with its NUL.
pub const TEXT: &str = "value %u of invocation %u\0";

/// Test data: all words differ, and no byte is zero.
pub fn data(index: u32) -> u32 {
    0x8142_2418u32.wrapping_mul(index + 1) | 0x0101_0101
}

/// The message of an abort. `v` is the invocation's word, [`MARK`], and `i` its index.
#[derive(Clone, Copy)]
pub enum Message {
    /// `v + i`
    Uint,
    /// `{v, ~i, i}`
    Whole,
    /// A structure with gaps; see [`gaps_expected`].
    Gaps,
    /// A string of 8-bit integers from `OpConstantDataKHR`, `v`, `i`.
    Text8,
    /// The same string in 32-bit integers, `v`, `i`.
    Text32,
    /// A structure without members.
    Empty,
    /// An empty string: four zero bytes.
    EmptyText,
    /// This number of words, loaded from the buffer at binding 1.
    Loaded(u32),
    /// Words loaded from the buffer at binding 1: one by default, else as [`LENGTH_ID`] specializes.
    LoadedBySpecId,
    /// Two words of `OpSpecConstantDataKHR` with `SpecId` [`DATA_ID`], their number with `SpecId` [`LENGTH_ID`].
    SpecData,
}

/// Members of [`Message::Gaps`]: byte offset and value of each word.
pub fn gaps_expected(v: u32, i: u32) -> [(usize, u32); 11] {
    [
        (0, v),
        (8, i),
        (16, v),
        (20, i),
        (24, v),
        (32, i),
        (36, v),
        (48, v),
        (52, i),
        (64, i),
        (72, v),
    ]
}

#[cfg(test)]
mod tests {
    use super::data;

    #[test]
    fn data_has_no_zero_byte() {
        for index in 0..20000 {
            assert!(data(index).to_ne_bytes().iter().all(|&byte| byte != 0));
        }
    }
}
