//! Finds the effects of undefined values: on memory that others can read, control flow, another invocation, or a result of the stage.
//!
//! An instruction whose result is undefined does no harm if the result is dropped, as by `OpSelect`, a mask, a phi of another
//! path, or an overwritten variable. So its operands are tested in front of it only if the result is certain to have an effect, and else
//! its fault travels to the effects that it comes to ([`flow`]):
//!
//! ```text
//! %q = UDiv %a %b            observed at %q if every path from there uses it
//! %r = Select %c %q %zero    may drop %q, so its fault travels to %r
//! Store %buffer %r           %r is observed
//! ```
//!
//! An **item** is a part of a value, or of the contents of a memory definition ([`items`]). At each of its uses it becomes an effect,
//! parts of other items, or nothing that is certain ([`uses`]). It is **observed** if every path from its definition passes
//! a use at which it has an effect or becomes an observed item: the greatest set of items for which that
//! holds, found by taking back what does not hold until nothing changes ([`observed`]). So a value that a loop leads back to itself
//! has the effects that it has elsewhere.
//!
//! Rules:
//!
//! - Memory: variables of the storage classes Function, Private and Output are the invocation's until a call, an emitted vertex or the
//!   end lets others read them, and Workgroup variables until a barrier behind which an invocation reads them.
//! - Calls: an argument has the effects that the parameter has in the function, and those of the result if all of it is observed. A
//!   returned value has an effect if it has one at every call.
//! - Selections, masks, `&&`, `||`, phis and dynamic indices can drop a value. Other arithmetic cannot, whatever it computes: the
//!   product of an undefined value and 0 is undefined.
//! - A value that other invocations of the subgroup may read (broadcasts, shuffles, rotations, exchanges in a quad) counts as dropped,
//!   since they need not: `subgroupBroadcastFirst(a / b)` reads one of them. Reductions and votes read all.
//! - Behind an instruction that may end the invocation, or make a helper of it, nothing is certain.
//!
//! Conservative: a value that the analysis does not find to be observed travels.
//!
//! Every item is evaluated once, after those that it becomes, and again only if one of a cycle of phis is taken back. An evaluation walks
//! over the blocks between the definition and its uses.
//!
//! The decisions and their reasons: `docs/design/checks.md`.

mod copies;
mod flow;
mod items;
mod memory_uses;
mod not_finite;
mod observed;
mod parts;
mod point;
mod queries;
mod use_conditions;
mod use_finder;
mod uses;
mod walk;

pub use flow::{Carried, Carrier, Flow, FlowTest, Source, TestedCarrier};
pub use parts::{ValuePart, component_count, leaves, results};
pub use point::{Condition, EffectPoint, Test};
pub use queries::Effects;
