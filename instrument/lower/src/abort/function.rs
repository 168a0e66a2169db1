//! Lowers the aborts of a function, and writes its exits.

use super::code_limit::check_code;
use super::exit_branches::ExitBranches;
use super::site::write_site;
use super::unwind::{FlagState, Unwinder};
use super::{Lowering, is_recorded};
use vkabort_analysis::exit_plan::ExitKind;
use vkabort_runtime::{EntryRecords, Runtime};
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::planted_aborts::Leaving;
use vkabort_spirv::edit::{Edits, Rank};
use vkabort_spirv::error::Result;
use vkabort_spirv::index::typed::FunctionIndex;
use vkabort_spirv::index::{Function, Index};
use vkabort_spirv::op::storage_class;
use vkabort_spirv::{Code, Id, Literal, op};

/// Words of code for a word of a deferred message that no other message has.
const CODE_OF_DEFERRED: usize = 4;

impl Lowering<'_, '_> {
    /// Phase 1: lowers the aborts of a function and writes its exits.
    pub(super) fn lower_function(&mut self, number: FunctionIndex, function: &Function) -> Result<()> {
        let (index, first_exit) = (self.index, self.exits.len());
        let reach = self.plan.graph.reach.get(number);
        let reach = reach.map_or(&[][..], |reach| &reach.entry_points);
        let sets_aborted = reach
            .iter()
            .any(|entry| self.polling.get(*entry as usize) == Some(&true));
        let mut of_function = EntryRecords {
            may_leave_unrecorded: self.plan.has_polled_loop(function),
            ..EntryRecords::default()
        };
        let mut variables = Vec::new();
        let branches = self.called_in_loops.as_ref();
        let branches = branches.map(|called| ExitBranches::new(index, function, called.is_set(number)));
        let mut unwinder = Unwinder {
            index,
            branches: branches.as_ref(),
            plan: self.plan,
            runtime: &mut self.runtime,
            out: &mut self.out,
            placeholders: &mut self.placeholders,
            edits: &mut self.edits,
            function,
            number,
            exits: &mut self.exits,
        };
        for (block_number, block) in function.blocks.iter().zip(index.blocks_of(function)) {
            let abort = index.terminator(block);
            if abort.opcode() != op::AbortKHR {
                continue;
            }
            self.maybe_dead.extend([abort.message(), abort.message_type()]);
            let site = self.sites.of(&abort, self.origins);
            let mut flag_state = FlagState::Set;
            if let Some(site) = site.filter(|site| is_recorded(self.options, site.site.id)) {
                let mut lowered = write_site(&mut unwinder, self.options, site, block, sets_aborted)?;
                variables.append(&mut lowered.variables);
                of_function.in_place |= lowered.deferred.is_none();
                if index.entry_points.len() == 1 && !reach.is_empty() && site.leaving == Leaving::MayWait {
                    call_write_now(unwinder.runtime, unwinder.out);
                    of_function.may_leave_unrecorded = true;
                }
                if let Some(record) = lowered.deferred {
                    if site.leaving != Leaving::BehindBranch
                        && branches
                            .as_ref()
                            .is_some_and(|branches| branches.has_abort(block_number, block.label))
                    {
                        unwinder.runtime.write_branch(unwinder.out);
                    }
                    of_function.deferred.push(self.deferred.len() as u32);
                    if self.deferred_values.insert(abort.message()) {
                        self.deferred_words += record.words.len();
                    }
                    self.deferred.push(record);
                }
            } else {
                of_function.may_leave_unrecorded = true;
                flag_state = FlagState::Unset;
            }
            unwinder.write_recorded_exit(flag_state, block.label, ExitKind::Abort);
            unwinder.out.place(|code| unwinder.edits.replace_inst(&abort, code));
            let code = unwinder.edits.inserted().len() + self.deferred_words * CODE_OF_DEFERRED;
            check_code(index, &abort, code)?;
        }
        unwinder.run(first_exit);
        declare_variables(index, function, &variables, &mut self.edits);
        for entry in reach {
            if let Some(records) = self.records.get_mut(*entry as usize) {
                records.extend(&of_function);
            }
        }
        Ok(())
    }
}

/// Writes the record here. The end of the entry point, whose stage and built-ins it has, finds no other.
fn call_write_now(runtime: &mut Runtime, out: &mut Emitter) {
    let function = *runtime.write_now.get_or_insert_with(|| out.fresh());
    let void = out.void();
    out.emit(op::FunctionCall, void, function);
}

/// Declares variables, (pointer type, id), at the start of a function.
fn declare_variables(index: &Index<'_>, function: &Function, variables: &[(Id, Id)], edits: &mut Edits) {
    let Some(first) = index.blocks_of(function).first() else {
        return;
    };
    let mut code = Code::default();
    for (pointer_type, variable) in variables {
        code.op(
            op::Variable,
            (*pointer_type, *variable, Literal(storage_class::Function)),
        );
    }
    edits.insert_ranked(first.offset + 2, Rank::Variables, &code);
}
