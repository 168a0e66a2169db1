//! SPIR-V of the checks: compute shaders over the words of a storage buffer at binding 0, in workgroups of [`LOCAL`]
//! invocations.

mod interface;
mod message;
mod module;

pub use interface::{COUNT, DATA_ID, LENGTH_ID, LOCAL, MARK, Message, TEXT, data, gaps_expected};

use crate::spirv::{capability, op, storage_class};
use module::{ComputeModule, spec_data};

/// Reads `v` from the first part of the buffer, stores `v + 1` to the second part, calls a function that aborts where `v`
/// is [`MARK`], and stores `v + 2` to the third part. Invocations past [`COUNT`] share words with the first ones.
pub fn aborting(message: Message) -> Vec<u32> {
    let mut capabilities = vec![capability::AbortKHR];
    match message {
        Message::Text8 => capabilities.extend([capability::ConstantDataKHR, capability::Int8]),
        Message::Text32 | Message::EmptyText | Message::SpecData => capabilities.push(capability::ConstantDataKHR),
        _ => {}
    }
    let mut m = ComputeModule::new(&capabilities);
    let (void, uint, boolean) = (m.void, m.uint, m.boolean);
    let mark = m.constant(MARK);
    let mask = m.constant(COUNT - 1);
    let check = m.a.builder.fresh();
    let check_type = m.a.builder.ty(op::TypeFunction, &[void, uint, uint]);

    let main = m.start_main();
    let i = m.invocation_index();
    let index = m.a.value(op::BitwiseAnd, uint, &[i, mask]);
    let pointer = m.word_at(index);
    let v = m.a.value(op::Load, uint, &[pointer]);
    for part in [1, 2] {
        let stored = m.add(v, part);
        let index = m.add(index, part * COUNT);
        let pointer = m.word_at(index);
        m.a.code(op::Store, &[pointer, stored]);
        if part == 1 {
            m.a.value(op::FunctionCall, void, &[check, v, i]);
        }
    }
    m.a.code(op::Return, &[]);
    m.a.code(op::FunctionEnd, &[]);

    let parameters = m.a.function(check, void, check_type, &[uint, uint]);
    let &[v, i] = &parameters[..] else { return Vec::new() };
    let marked = m.a.value(op::IEqual, boolean, &[v, mark]);
    let merge = m.start_if(marked);
    let (ty, value) = message::build(&mut m, message, v, i);
    m.a.code(op::AbortKHR, &[ty, value]);
    m.a.code(op::Label, &[merge]);
    m.finish_main(main)
}

/// Stores element `i % length` of constant data to word `i` of the buffer. If `specialized`, [`LENGTH_ID`] and [`DATA_ID`]
/// specialize the length and the elements.
pub fn table(length: u32, specialized: bool) -> Vec<u32> {
    let mut m = ComputeModule::new(&[capability::ConstantDataKHR]);
    let uint = m.uint;
    let (count, array, value) = if specialized {
        spec_data(&mut m, length)
    } else {
        let count = m.constant(length);
        let array = m.array(uint, count, None);
        let words: Vec<u32> = (0..length).map(data).collect();
        let value = m.a.builder.new_value(op::ConstantDataKHR, array, &words);
        (count, array, value)
    };
    let table_pointer = m.a.builder.pointer(storage_class::Private, array);
    let element_pointer = m.a.builder.pointer(storage_class::Private, uint);
    let table = m.a.variable(table_pointer, storage_class::Private, Some(value));
    let main = m.start_main();
    let i = m.invocation_index();
    let index = m.a.value(op::UMod, uint, &[i, count]);
    let element = m.a.value(op::AccessChain, element_pointer, &[table, index]);
    let element = m.a.value(op::Load, uint, &[element]);
    let pointer = m.word_at(i);
    m.a.code(op::Store, &[pointer, element]);
    m.finish_main(main)
}

/// Invocation 0 sets word 0 and aborts before it would set word 1. Invocations of other workgroups that see word 0 set
/// increment word 2 and wait for word 1.
///
/// They wait only for an invocation that has started: the specification does not guarantee that it starts while they wait.
pub fn waiting() -> Vec<u32> {
    let mut m = ComputeModule::new(&[capability::AbortKHR]);
    let (uint, boolean) = (m.uint, m.boolean);
    let [zero, one, two, local] = [0, 1, 2, LOCAL].map(|value| m.constant(value));
    // Scope Device without memory semantics: the words order no other memory.
    let (device, relaxed) = (one, zero);
    let main = m.start_main();
    let i = m.invocation_index();
    let [started, go, count] = [zero, one, two].map(|index| m.word_at(index));
    let first = m.a.value(op::IEqual, boolean, &[i, zero]);
    let merge = m.start_if(first);
    m.a.code(op::AtomicStore, &[started, device, relaxed, one]);
    m.a.code(op::AbortKHR, &[uint, i]);
    m.a.code(op::Label, &[merge]);

    let other = m.a.value(op::UGreaterThanEqual, boolean, &[i, local]);
    let end = m.start_if(other);
    let seen = m.a.value(op::AtomicLoad, uint, &[started, device, relaxed]);
    let seen = m.a.value(op::IEqual, boolean, &[seen, one]);
    let [waits, header, body, again, done] = std::array::from_fn(|_| m.a.builder.fresh());
    m.a.code(op::SelectionMerge, &[done, 0]);
    m.a.code(op::BranchConditional, &[seen, waits, done]);
    m.a.code(op::Label, &[waits]);
    m.a.value(op::AtomicIAdd, uint, &[count, device, relaxed, one]);
    m.a.code(op::Branch, &[header]);
    m.a.code(op::Label, &[header]);
    let after = m.a.builder.fresh();
    m.a.code(op::LoopMerge, &[after, again, 0]);
    m.a.code(op::Branch, &[body]);
    m.a.code(op::Label, &[body]);
    let set = m.a.value(op::AtomicLoad, uint, &[go, device, relaxed]);
    let set = m.a.value(op::IEqual, boolean, &[set, one]);
    m.a.code(op::BranchConditional, &[set, after, again]);
    m.a.code(op::Label, &[again]);
    m.a.code(op::Branch, &[header]);
    m.a.code(op::Label, &[after]);
    m.a.code(op::Branch, &[done]);
    m.a.code(op::Label, &[done]);
    m.a.code(op::Branch, &[end]);
    m.a.code(op::Label, &[end]);
    m.finish_main(main)
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
        ("table_specialized", table(5, true)),
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
