//! Moves continue constructs in which an invocation may abort into functions.
//!
//! ```text
//! %continue: .. call %f .. stores .. BranchConditional %c %header %merge
//!   becomes
//! %continue: %r = call %outlined(%inputs), %c = CompositeExtract %r 0, BranchConditional %c %header %merge
//! ```
//!
//! No invocation can return from a continue construct, since its back-edge block must post-dominate it
//! (SPIR-V specification 2.11, Structured Control Flow); from a function it can. One call remains, after which
//! `unwind` takes the back edge and leaves the loop at its top. This serves calls in the condition of a do-while, in the
//! increment of a for, and anything deeper. A construct in which only harmless arithmetic follows the call stays in place
//! (`region`).
//!
//! Terms. The *region* is the continue construct: its only entry is the continue target, its only exit the back-edge
//! block. *Inputs* are values that it uses and the rest of the function defines; *outputs* are the reverse. Values cross
//! the border as arguments and results if they can. Pointers of logical addressing and opaque handles cannot: the
//! instructions that compute them are rematerialised on the other side.
//!
//! Unreachable blocks of a region move with it. They may precede the continue target in the module; in the new function
//! they follow it.
//!
//! Outputs keep their ids outside and get new ones inside, with copies of their decorations. Debug instructions of the
//! region are dropped because their scopes belong to the old function; so are debug instructions outside that use a value
//! which is not an output.
//!
//! Not handled, and reported as errors: pointers and opaque handles that no instruction can rematerialise, composites of
//! narrow values that the module may only store, instructions with unknown operands, and more inputs than a function has
//! parameters.
//!
//! The decisions and their reasons: `docs/design/ending.md`.

mod context;
mod decorations;
mod inputs;
mod outline_region;
mod outputs;
mod region;
mod uses;
mod widening;

use context::RegionContext;
use decorations::DecorationInsts;
use outline_region::outline_region;
use region::{find_regions, keep_outermost};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use uses::{ReachableBlocks, collect_outside_uses};
use vkabort_analysis::exit_plan::ExitPlan;
use vkabort_spirv::Id;
use vkabort_spirv::edit::Edits;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::phi::PhiRenames;
use vkabort_spirv::error::Result;
use vkabort_spirv::index::Index;
use widening::TypeLimits;

/// Moves the outermost regions; the next round moves those inside them. `outlined` holds the functions made by earlier
/// rounds: a region that only calls one of them stays. Returns those of this one. No edits if no region has to move.
///
/// # Errors
///
/// Invalid control flow, or a region that cannot move.
pub fn outline(index: &Index<'_>, plan: &ExitPlan, outlined: &HashSet<Id>) -> Result<(Edits, Vec<Id>)> {
    let (mut edits, mut new) = (Edits::default(), Vec::new());
    // What all regions share, collected for the first of them.
    let mut shared: Option<(Emitter, DecorationInsts<'_>, TypeLimits)> = None;
    for (number, function) in plan.functions_with_exits(index) {
        let mut regions = find_regions(index, plan, number, function, outlined);
        if regions.is_empty() {
            continue;
        }
        let reachable = ReachableBlocks::new(index, function);
        // An abort may end the continue construct of an unreachable loop, which needs no back edge. It can stay there.
        regions
            .retain(|region| region.has_back_edge(index) || reachable.contains_label(index, function, region.header));
        let regions = keep_outermost(regions);
        let uses = collect_outside_uses(index, function, &regions, &reachable);
        let mut renames = PhiRenames::default();
        for (region, uses) in regions.iter().zip(&uses) {
            let (out, decorations, limits) = shared
                .get_or_insert_with(|| (Emitter::new(index), DecorationInsts::new(index), TypeLimits::new(index)));
            let context = RegionContext {
                index,
                function,
                region,
                uses,
                reachable: &reachable,
                limits,
                decorations,
                out,
                inner_ids: HashMap::default(),
            };
            new.push(outline_region(context, &mut renames, &mut edits)?);
        }
        renames.apply(index, function, &mut edits);
    }
    if let Some((out, ..)) = shared {
        out.finish(index, &mut edits);
    }
    Ok((edits, new))
}
