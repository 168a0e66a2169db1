//! `OpUnreachable` that is reached.
//!
//! "Behavior is undefined if this instruction is executed" (SPIR-V specification, Control-Flow Instructions). Compilers write it
//! behind a call that does not return, for the cases that a `switch` leaves out, and for assumptions of the author. Not checked:
//! blocks without a path from the start of the function, such as merge blocks of loops that are never left.

use super::message::Message;
use super::operand_checks::ValueFacts;
use super::place::Place;
use super::planter::Planter;
use super::properties::Properties;
use super::rule::CheckRule;
use super::scalars::find;
use vkabort_options::Check;
use vkabort_spirv::op;

/// The check `unreachable`.
pub(super) struct Rule;

impl CheckRule for Rule {
    fn plant_values<'w>(&self, planter: &mut Planter<'_, '_, 'w>, facts: &mut ValueFacts<'_, '_, '_, 'w>) {
        let found = find(planter.index, planter.function, |inst| {
            (inst.opcode() == op::Unreachable).then_some(*inst)
        });
        for (block, inst) in found {
            if !facts.function.graph.is_reachable(block) {
                continue;
            }
            let Some(position) = planter.selected_position(block, &inst) else {
                continue;
            };
            let place = Place::new(block, inst.offset, (inst, position));
            let message = Message::new("code that was declared unreachable is reached");
            planter.plant(Check::Unreachable, &place, message, |out| {
                let bool = out.bool();
                out.value(op::ConstantTrue, bool, ())
            });
        }
    }

    fn properties(&self) -> Properties {
        Properties {
            ends_helpers: true,
            ..Properties::PLAIN
        }
    }
}
