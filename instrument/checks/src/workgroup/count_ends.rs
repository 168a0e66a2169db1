//! Begins to count the invocations of workgroups that end.

use super::super::module::ModulePlanter;
use super::shared_words::SharedWords;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::op::{memory_semantics, scope};
use vkabort_spirv::{Code, Id, op};

/// Counts the invocations that end by a failed check or an abort of the application. Returns the word with their number. `None` if
/// there is no room for it.
pub(crate) fn count_ends(module: &mut ModulePlanter<'_, '_>) -> Option<u32> {
    let ModulePlanter {
        out,
        shared_words,
        ended,
        ..
    } = module;
    if let Some(word) = ended.word() {
        return Some(word);
    }
    let word = shared_words.reserve(1)?;
    let end = write_end(
        out,
        shared_words,
        &mut module.guards,
        word,
        module.options.memory_barriers,
    );
    ended.count_by(word, end);
    module.planted.hooks.end = Some(end);
    for reach in module.graph.reach.values() {
        shared_words.mark_used(reach);
    }
    for offset in module.index.aborts() {
        ended.write_end(out);
        out.place(|code| module.edits.insert(offset, code));
    }
    Some(word)
}

/// Writes the function `vkabort_end`, which returns how many have ended before. The memory barrier lets invocations behind the barrier see
/// that this one does not come.
fn write_end(
    out: &mut Emitter,
    shared_words: &mut SharedWords,
    functions: &mut Code,
    word: u32,
    has_memory_barriers: bool,
) -> Id {
    let uint = out.uint();
    out.function(functions, "vkabort_end", (uint, &[]), |out, _, _| {
        let [zero, one, workgroup, number] = [0, 1, scope::Workgroup, word].map(|value| out.constant(value));
        let pointer = shared_words.word(out, number);
        let before = out.calculate(op::AtomicIAdd, (pointer, workgroup, zero, one));
        if has_memory_barriers {
            let semantics = out.constant(memory_semantics::ACQUIRE_RELEASE | memory_semantics::WORKGROUP_MEMORY);
            out.op(op::MemoryBarrier, (workgroup, semantics));
        }
        Some(before)
    })
}
