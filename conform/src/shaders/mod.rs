//! The shaders of the checks. All are compute shaders over the words of a storage buffer at binding 0, in workgroups of
//! [`LOCAL`] invocations.

mod frame;
mod message;

pub use message::holes_expected;

use super::spirv::{Capability, Op, StorageClass};
use frame::{Frame, spec_data};

/// Invocations of a workgroup.
pub const LOCAL: u32 = 32;
/// Words of each of the buffer's parts, and invocations of most dispatches. A power of two.
pub const COUNT: u32 = 64;
/// The value of a word of the first part that makes its invocation abort.
pub const MARK: u32 = 7;
/// `SpecId` of a length.
pub const LENGTH_ID: u32 = 0;
/// `SpecId` of constant data.
pub const DATA_ID: u32 = 1;
/// The string in [`Message::Text8`] and [`Message::Text32`], and its NUL.
pub const TEXT: &str = "value %u of invocation %u\0";
/// Words that stand for "some data": no two are the same, and no byte is zero.
pub fn data(index: u32) -> u32 {
    0x8142_2418u32.wrapping_mul(index + 1) | 0x0101_0101
}

/// What an invocation aborts with. `v` is its word, [`MARK`], and `i` its number.
#[derive(Clone, Copy)]
pub enum Message {
    /// `v + i`
    Uint,
    /// `{v, ~i, i}`
    Whole,
    /// A structure with gaps: see [`holes_expected`].
    Holes,
    /// A string of 8-bit integers from `OpConstantDataKHR`, `v`, `i`.
    Text8,
    /// The same string in 32-bit integers, `v`, `i`.
    Text32,
    /// A structure without members.
    Nothing,
    /// An empty string: four zero bytes.
    EmptyText,
    /// That many words, loaded from the buffer at binding 1.
    Loaded(u32),
    /// Words loaded from the buffer at binding 1, by default one, by `SpecId` [`LENGTH_ID`] as many as wanted.
    LoadedBySpecId,
    /// Two words of `OpSpecConstantDataKHR` with `SpecId` [`DATA_ID`], their number with `SpecId` [`LENGTH_ID`].
    SpecData,
}

/// Words `v` of the first part; the second part gets `v + 1` before a function is called that aborts where `v` is
/// [`MARK`]; the third gets `v + 2` after it. Invocations past [`COUNT`] share words with the first ones.
pub fn aborting(message: Message) -> Vec<u32> {
    let mut capabilities = vec![Capability::AbortKhr];
    match message {
        Message::Text8 => capabilities.extend([Capability::ConstantDataKhr, Capability::Int8]),
        Message::Text32 | Message::EmptyText | Message::SpecData => capabilities.push(Capability::ConstantDataKhr),
        _ => {}
    }
    let mut f = Frame::new(&capabilities);
    let (void, uint, boolean) = (f.void, f.uint, f.boolean);
    let mark = f.constant(MARK);
    let mask = f.constant(COUNT - 1);
    let check = f.a.id();
    let check_type = f.a.ty(Op::TypeFunction, &[void, uint, uint]);

    let main = f.start_main();
    let i = f.number();
    let index = f.a.value(Op::BitwiseAnd, uint, &[i, mask]);
    let pointer = f.at(index);
    let v = f.a.value(Op::Load, uint, &[pointer]);
    for part in [1, 2] {
        let stored = f.add(v, part);
        let index = f.add(index, part * COUNT);
        let pointer = f.at(index);
        f.a.code(Op::Store, &[pointer, stored]);
        if part == 1 {
            f.a.value(Op::FunctionCall, void, &[check, v, i]);
        }
    }
    f.a.code(Op::Return, &[]);
    f.a.code(Op::FunctionEnd, &[]);

    let parameters = f.a.function(check, void, check_type, &[uint, uint]);
    let &[v, i] = &parameters[..] else { return Vec::new() };
    let marked = f.a.value(Op::IEqual, boolean, &[v, mark]);
    let merge = f.only_if(marked);
    let (ty, value) = message::build(&mut f, message, v, i);
    f.a.code(Op::AbortKhr, &[ty, value]);
    f.a.code(Op::Label, &[merge]);
    f.finish_main(main)
}

/// Word `i` of the buffer becomes element `i % length` of constant data, whose length and elements [`LENGTH_ID`] and
/// [`DATA_ID`] specialize if `specialized`.
pub fn table(length: u32, specialized: bool) -> Vec<u32> {
    let mut f = Frame::new(&[Capability::ConstantDataKhr]);
    let uint = f.uint;
    let (count, array, value) = if specialized {
        spec_data(&mut f, length)
    } else {
        let count = f.constant(length);
        let array = f.array(uint, count, None);
        let words: Vec<u32> = (0..length).map(data).collect();
        let value = f.a.constant(Op::ConstantDataKhr, array, &words);
        (count, array, value)
    };
    let table_pointer = f.a.pointer(StorageClass::Private, array);
    let element_pointer = f.a.pointer(StorageClass::Private, uint);
    let table = f.a.variable(table_pointer, StorageClass::Private, Some(value));
    let main = f.start_main();
    let i = f.number();
    let index = f.a.value(Op::UMod, uint, &[i, count]);
    let element = f.a.value(Op::AccessChain, element_pointer, &[table, index]);
    let element = f.a.value(Op::Load, uint, &[element]);
    let pointer = f.at(i);
    f.a.code(Op::Store, &[pointer, element]);
    f.finish_main(main)
}

/// Invocation 0 sets word 0 and aborts instead of setting word 1. Invocations of other workgroups that see word 0 set
/// count themselves in word 2 and wait for word 1.
///
/// They wait only for an invocation that runs, since nothing promises that it ever starts while they wait.
pub fn waiting() -> Vec<u32> {
    let mut f = Frame::new(&[Capability::AbortKhr]);
    let (uint, boolean) = (f.uint, f.boolean);
    let [zero, one, two, local] = [0, 1, 2, LOCAL].map(|value| f.constant(value));
    // Scope Device, no memory semantics: only the words themselves matter.
    let (device, relaxed) = (one, zero);
    let main = f.start_main();
    let i = f.number();
    let [started, go, count] = [zero, one, two].map(|index| f.at(index));
    let first = f.a.value(Op::IEqual, boolean, &[i, zero]);
    let merge = f.only_if(first);
    f.a.code(Op::AtomicStore, &[started, device, relaxed, one]);
    f.a.code(Op::AbortKhr, &[uint, i]);
    f.a.code(Op::Label, &[merge]);

    let other = f.a.value(Op::UGreaterThanEqual, boolean, &[i, local]);
    let end = f.only_if(other);
    let seen = f.a.value(Op::AtomicLoad, uint, &[started, device, relaxed]);
    let seen = f.a.value(Op::IEqual, boolean, &[seen, one]);
    let [waits, header, body, again, done] = std::array::from_fn(|_| f.a.id());
    f.a.code(Op::SelectionMerge, &[done, 0]);
    f.a.code(Op::BranchConditional, &[seen, waits, done]);
    f.a.code(Op::Label, &[waits]);
    f.a.value(Op::AtomicIAdd, uint, &[count, device, relaxed, one]);
    f.a.code(Op::Branch, &[header]);
    f.a.code(Op::Label, &[header]);
    let after = f.a.id();
    f.a.code(Op::LoopMerge, &[after, again, 0]);
    f.a.code(Op::Branch, &[body]);
    f.a.code(Op::Label, &[body]);
    let set = f.a.value(Op::AtomicLoad, uint, &[go, device, relaxed]);
    let set = f.a.value(Op::IEqual, boolean, &[set, one]);
    f.a.code(Op::BranchConditional, &[set, after, again]);
    f.a.code(Op::Label, &[again]);
    f.a.code(Op::Branch, &[header]);
    f.a.code(Op::Label, &[after]);
    f.a.code(Op::Branch, &[done]);
    f.a.code(Op::Label, &[done]);
    f.a.code(Op::Branch, &[end]);
    f.a.code(Op::Label, &[end]);
    f.finish_main(main)
}

/// Every shader that the checks use, by name. Messages as large as the limit have 65536 bytes here.
pub fn all() -> Vec<(&'static str, Vec<u32>)> {
    vec![
        ("message_uint", aborting(Message::Uint)),
        ("message_whole", aborting(Message::Whole)),
        ("message_gaps", aborting(Message::Holes)),
        ("message_string_8", aborting(Message::Text8)),
        ("message_string_32", aborting(Message::Text32)),
        ("message_empty_structure", aborting(Message::Nothing)),
        ("message_empty_string", aborting(Message::EmptyText)),
        ("message_largest", aborting(Message::Loaded(16384))),
        ("message_sized_by_spec_id", aborting(Message::LoadedBySpecId)),
        ("message_specialized_data", aborting(Message::SpecData)),
        ("table", table(37, false)),
        ("table_specialized", table(5, true)),
        ("waiting", waiting()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkabort_instrument::{Options, Outcome, instrument};

    #[test]
    fn every_shader_is_a_module_that_the_rewriter_takes() {
        for (name, words) in all() {
            match instrument(&words, &Options::default()) {
                Ok(Outcome::Instrumented(_)) => {}
                Ok(Outcome::Unchanged) => panic!("{name} uses none of the extensions"),
                Err(error) => panic!("{name}: {error}"),
            }
        }
    }

    #[test]
    fn data_has_no_byte_that_is_zero() {
        for index in 0..20000 {
            assert!(data(index).to_ne_bytes().iter().all(|&byte| byte != 0));
        }
    }
}
