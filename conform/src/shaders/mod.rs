//! SPIR-V of the checks: compute shaders over the words of a storage buffer at binding 0, in workgroups of [`LOCAL`]
//! invocations.

mod interface;
mod message;
mod module;

pub use interface::{COUNT, DATA_ID, LENGTH_ID, LOCAL, MARK, Message, TEXT, data, gaps_expected};

use module::{ComputeModule, spec_data};
use vkabort_spirv_builder::Id;
use vkabort_spirv_builder::op::{self, capability, decoration, storage_class};

/// Reads `v` from the first part of the buffer, stores `v + 1` to the second part, calls a function that aborts where `v`
/// is [`MARK`], and stores `v + 2` to the third part. Invocations past [`COUNT`] share words with the first ones.
pub fn aborting(message: Message) -> Vec<u32> {
    let mut capabilities = vec![capability::AbortKHR];
    match message {
        Message::Text8 | Message::Text32 | Message::EmptyText | Message::SpecData => {
            capabilities.push(capability::ConstantDataKHR);
        }
        _ => {}
    }
    let mut m = ComputeModule::new(&capabilities);
    let (void, uint, boolean) = (m.void(), m.uint(), m.bool());
    let mark = m.constant(MARK);
    let mask = m.constant(COUNT - 1);
    let (main, check) = (m.fresh(), m.fresh());

    m.start(main, []);
    let i = m.invocation_index();
    let index = m.emit(op::BitwiseAnd, uint, &[i, mask]);
    let pointer = m.word_at(index);
    let v = m.emit(op::Load, uint, &[pointer]);
    for part in [1, 2] {
        let stored = m.add(v, part);
        let index = m.add(index, part * COUNT);
        let pointer = m.word_at(index);
        m.code(op::Store, &[pointer, stored]);
        if part == 1 {
            m.emit(op::FunctionCall, void, &[check, v, i]);
        }
    }
    m.end();

    let [v, i] = m.start(check, [uint, uint]);
    let marked = m.emit(op::IEqual, boolean, &[v, mark]);
    let merge = m.start_if(marked);
    let (ty, value) = message::build(&mut m, message, v, i);
    m.code(op::AbortKHR, &[ty, value]);
    m.code(op::Label, &[merge]);
    m.finish(main)
}

/// Stores element `i % length` of constant data to word `i` of the buffer. If `specialized`, [`LENGTH_ID`] and [`DATA_ID`]
/// specialize the length and the elements.
pub fn table(length: u32, specialized: bool) -> Vec<u32> {
    let mut m = ComputeModule::new(&[capability::ConstantDataKHR]);
    let uint = m.uint();
    let (count, array, value) = if specialized {
        spec_data(&mut m, length)
    } else {
        let count = m.constant(length);
        let array = m.strided_array(uint, count, None);
        let words: Vec<u32> = (0..length).map(data).collect();
        let value = m.new_value(op::ConstantDataKHR, array, &words);
        (count, array, value)
    };
    look_up(m, [count, array, value], uint)
}

/// Like [`table`], of 8-bit elements. The length has the `SpecId` [`LENGTH_ID`], the data has none.
pub fn byte_table(length: u32) -> Vec<u32> {
    let mut m = ComputeModule::new(&[capability::ConstantDataKHR]);
    let uint = m.uint();
    let byte = m.int(8, false);
    let count = m.new_value(op::SpecConstant, uint, &[length]);
    m.decorate(count, decoration::SpecId, &[LENGTH_ID]);
    let array = m.strided_array(byte, count, None);
    let words: Vec<u32> = (0..length.div_ceil(4)).map(data).collect();
    let value = m.new_value(op::ConstantDataKHR, array, &words);
    look_up(m, [count, array, value], byte)
}

/// Stores element `i % count` of `value`, of the type `scalar` and widened to a word, to word `i` of the buffer.
fn look_up(mut m: ComputeModule, [count, array, value]: [Id; 3], scalar: Id) -> Vec<u32> {
    let uint = m.uint();
    let table_pointer = m.pointer(storage_class::Private, array);
    let element_pointer = m.pointer(storage_class::Private, scalar);
    let table = m.new_value(op::Variable, table_pointer, &[storage_class::Private, value]);
    let main = m.fresh();
    m.start(main, []);
    let i = m.invocation_index();
    let index = m.emit(op::UMod, uint, &[i, count]);
    let element = m.emit(op::AccessChain, element_pointer, &[table, index]);
    let element = m.emit(op::Load, scalar, &[element]);
    let word = if scalar == uint {
        element
    } else {
        m.emit(op::UConvert, uint, &[element])
    };
    let pointer = m.word_at(i);
    m.code(op::Store, &[pointer, word]);
    m.finish(main)
}

/// Invocation 0 sets word 0 and aborts before it would set word 1. Invocations of other workgroups that see word 0 set
/// increment word 2 and wait for word 1.
///
/// They wait only for an invocation that has started: the specification does not guarantee that it starts while they wait.
pub fn waiting() -> Vec<u32> {
    let mut m = ComputeModule::new(&[capability::AbortKHR]);
    let (uint, boolean) = (m.uint(), m.bool());
    let [zero, one, two, local] = [0, 1, 2, LOCAL].map(|value| m.constant(value));
    // Scope Device without memory semantics: the words order no other memory.
    let (device, relaxed) = (one, zero);
    let main = m.fresh();
    m.start(main, []);
    let i = m.invocation_index();
    let [started, go, count] = [zero, one, two].map(|index| m.word_at(index));
    let first = m.emit(op::IEqual, boolean, &[i, zero]);
    let merge = m.start_if(first);
    m.code(op::AtomicStore, &[started, device, relaxed, one]);
    m.code(op::AbortKHR, &[uint, i]);
    m.code(op::Label, &[merge]);

    let other = m.emit(op::UGreaterThanEqual, boolean, &[i, local]);
    let end = m.start_if(other);
    let seen = m.emit(op::AtomicLoad, uint, &[started, device, relaxed]);
    let seen = m.emit(op::IEqual, boolean, &[seen, one]);
    let [waits, header, body, again, done] = std::array::from_fn(|_| m.fresh());
    m.code(op::SelectionMerge, &[done, 0]);
    m.code(op::BranchConditional, &[seen, waits, done]);
    m.code(op::Label, &[waits]);
    m.emit(op::AtomicIAdd, uint, &[count, device, relaxed, one]);
    m.code(op::Branch, &[header]);
    m.code(op::Label, &[header]);
    let after = m.fresh();
    m.code(op::LoopMerge, &[after, again, 0]);
    m.code(op::Branch, &[body]);
    m.code(op::Label, &[body]);
    let set = m.emit(op::AtomicLoad, uint, &[go, device, relaxed]);
    let set = m.emit(op::IEqual, boolean, &[set, one]);
    m.code(op::BranchConditional, &[set, after, again]);
    m.code(op::Label, &[again]);
    m.code(op::Branch, &[header]);
    m.code(op::Label, &[after]);
    m.code(op::Branch, &[done]);
    m.code(op::Label, &[done]);
    m.code(op::Branch, &[end]);
    m.code(op::Label, &[end]);
    m.finish(main)
}

/// Every shader of the checks, by name. The largest message has 65536 bytes.
pub fn all() -> Vec<(&'static str, Vec<u32>)> {
    vec![
        ("message_uint", aborting(Message::Uint)),
        ("message_whole", aborting(Message::Whole)),
        ("message_gaps", aborting(Message::Gaps)),
        ("message_string_8", aborting(Message::Text8)),
        ("message_string_32", aborting(Message::Text32)),
        ("message_empty_structure", aborting(Message::Empty)),
        ("message_empty_string", aborting(Message::EmptyText)),
        ("message_largest", aborting(Message::Loaded(16384))),
        ("message_sized_by_spec_id", aborting(Message::LoadedBySpecId)),
        ("message_specialized_data", aborting(Message::SpecData)),
        ("table", table(37, false)),
        ("table_largest", table(65_532, false)),
        ("table_specialized", table(5, true)),
        ("table_of_bytes", byte_table(7)),
        ("waiting", waiting()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkabort_instrument::{Options, Outcome, instrument};

    #[test]
    fn the_rewriter_accepts_every_shader() {
        for (name, words) in all() {
            match instrument(&words, &Options::default()) {
                Ok(Outcome::Instrumented(_)) => {}
                Ok(Outcome::Unchanged) => panic!("{name} uses none of the extensions"),
                Err(error) => panic!("{name}: {error}"),
            }
        }
    }
}
