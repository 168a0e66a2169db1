//! Lets functions that an invocation may leave early return the words of physical pointers in place of the pointers.
//!
//! ```text
//! %f = Function %pointer ..                becomes   %f = Function %uvec2 ..
//!      ReturnValue %p                                %w = Bitcast %uvec2 %p, ReturnValue %w
//! %r = FunctionCall %pointer %f ..                   %v = FunctionCall %uvec2 %f .., %r = Bitcast %pointer %v
//! ```
//!
//! A function with several returns keeps its result in a variable once a driver has inlined it, and SwiftShader's compiler ends the process
//! at a variable of a pointer (`edit::address_words`). Composites with pointers are returned likewise.

use rustc_hash::FxHashMap as HashMap;
use vkabort_analysis::exit_plan::ExitPlan;
use vkabort_spirv::edit::Edits;
use vkabort_spirv::edit::address_words::AddressWords;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::physical_addressing::declare_physical_addressing;
use vkabort_spirv::index::Index;
use vkabort_spirv::{Id, Literal, Words, op};

/// Changes the functions with early exits. O(words of the functions, and calls).
pub fn return_words(index: &Index<'_>, plan: &ExitPlan) -> Edits {
    let mut edits = Edits::default();
    let mut out: Option<Emitter> = None;
    let mut words = AddressWords::default();
    // The type that a function returns, and the one that it returned.
    let mut changed: HashMap<Id, (Id, Id)> = HashMap::default();
    for (_, function) in plan.functions_with_exits(index) {
        let ty = function.result_type;
        if index.opcode(ty) == op::TypeVoid {
            continue;
        }
        let out = out.get_or_insert_with(|| Emitter::new(index));
        let Some(kept) = words.kept_type(index, out, ty) else {
            continue;
        };
        let inst = index.inst(function.offset);
        let (control, function_type) = (inst.words.get(3).copied().unwrap_or_default(), inst.id(4));
        let Some(signature) = index.def(function_type) else {
            continue;
        };
        let parameters: Vec<Id> = signature.ids(3).collect();
        let function_type = out.function_type(kept, &parameters);
        edits.replace_by(
            &inst,
            op::Function,
            (kept, function.id, Literal(control), function_type),
        );
        changed.insert(function.id, (kept, ty));
        for block in index.blocks_of(function) {
            let end = index.terminator(block);
            if end.opcode() == op::ReturnValue {
                let kept = words.keep(index, out, ty, end.id(1));
                out.op(op::ReturnValue, kept);
                out.place(|code| edits.replace_inst(&end, code));
            }
        }
    }
    let Some(mut out) = out.filter(|_| !changed.is_empty()) else {
        return Edits::default();
    };
    for call in index.calls.values() {
        let Some((kept, ty)) = changed.get(&call.callee) else {
            continue;
        };
        let inst = index.inst(call.offset);
        let returned = out.fresh();
        edits.replace_by(&inst, op::FunctionCall, (*kept, returned, Words(inst.from(3))));
        words.restore(&mut out, *ty, returned, inst.result());
        out.place(|code| edits.insert(inst.end(), code));
    }
    declare_physical_addressing(index, &mut out, &mut edits);
    out.finish(index, &mut edits);
    edits
}
