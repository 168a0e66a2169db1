//! Bodies of planted functions that read the layer's memory.

use super::Lowering;
use vkabort_runtime::Runtime;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::runtime_hooks::RuntimeHooks;
use vkabort_spirv::{Id, op};

/// A planted function of one block, which returns a constant.
struct PlantedBody {
    parameters: Vec<Id>,
    label: Id,
    result: Id,
}

impl Lowering<'_, '_> {
    /// Writes the bodies of planted functions that read the layer's memory.
    pub(super) fn write_planted(&mut self, hooks: &RuntimeHooks) {
        self.replace_body(hooks.ticks, |runtime, out, _| {
            let ticks = runtime.load_ticks(out);
            out.op(op::ReturnValue, ticks);
        });
        self.replace_body(hooks.holds, |runtime, out, _| {
            let holds = runtime.write_holds(out);
            out.op(op::ReturnValue, holds);
        });
        if let Some(area) = self.options.shadow_area {
            for (opcode, function) in &hooks.area_atomics {
                self.replace_body(Some(*function), |runtime, out, body| {
                    let [offset, word] = *body.parameters else { return };
                    runtime.write_area_atomic(out, area, *opcode, (offset, word));
                });
            }
        }
        if let Some(table) = self.options.sanitize.buffer_table {
            self.replace_body(hooks.find_buffer, |runtime, out, body| {
                let [address] = *body.parameters else { return };
                runtime.write_find_buffer(out, table, address, (body.label, body.result));
            });
        }
    }

    /// Replaces the instructions of a planted function of one block.
    fn replace_body(&mut self, function: Option<Id>, write: impl FnOnce(&mut Runtime, &mut Emitter, PlantedBody)) {
        let index = self.index;
        let function = function.and_then(|function| index.function_of(function));
        let Some(function) = function.and_then(|number| index.functions.get(number)) else {
            return;
        };
        let Some(block) = index.blocks_of(function).first() else {
            return;
        };
        let end = index.terminator(block);
        let insts = index.insts(function.offset, block.offset);
        let parameters = insts.filter(|inst| inst.opcode() == op::FunctionParameter);
        let body = PlantedBody {
            parameters: parameters.map(|inst| inst.result()).collect(),
            label: block.label,
            result: end.id(1),
        };
        write(&mut self.runtime, &mut self.out, body);
        self.out.place(|code| self.edits.replace_inst(&end, code));
    }
}
