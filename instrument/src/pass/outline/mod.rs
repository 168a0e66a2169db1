//! Moves continue constructs in which an invocation may abort into functions of their own.
//!
//! ```text
//! %continue: .. call %f .. stores .. BranchConditional %c %header %merge
//!   becomes
//! %continue: %r = call %outlined(%inputs), %c = CompositeExtract %r 0, BranchConditional %c %header %merge
//! ```
//!
//! No invocation can return from a continue construct, since its back-edge block must post-dominate it; from a function it
//! can. What is left of the construct is one call, after which `unwind` takes the back edge and leaves the loop at its
//! top. One mechanism serves calls in the condition of a do-while, in the increment of a for, and anything deeper. Where
//! nothing but harmless computing follows the call anyway, the construct stays as it is (`stay`).
//!
//! Terms. The *region* is the continue construct: entered at the continue target only, left by the back-edge block only.
//! *Inputs* are values that it uses and the rest of the function defines; *outputs* the other way round. Values that can
//! be passed are; pointers of logical addressing and opaque handles cannot, so the instructions that make them are
//! repeated on the other side.
//!
//! Blocks of a region that no branch reaches move with it. They may stand before the continue target in the module; in the
//! new function they come after it.
//!
//! Outputs keep their ids outside and get new ones inside, with copies of their decorations. Debug instructions of the
//! region are dropped: their scopes belong to the function that they came from. So are those outside that name a value
//! which nothing but them takes out of the region.

mod decorations;
mod in_place;
mod inputs;
mod outline_region;
mod reachability;
mod type_limits;
mod uses;
mod widening;

use crate::analysis::exit_plan::ExitPlan;
use crate::analysis::index::Index;
use crate::analysis::index::function::{Block, Function};
use crate::analysis::loops;
use crate::edit::Edits;
use crate::edit::globals::Globals;
use crate::edit::phi::PhiRenames;
use crate::error::Result;
use crate::spv::Id;
use decorations::Annotations;
use in_place::may_stay;
use outline_region::Outliner;
use reachability::Reached;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use type_limits::Types;

const PASS: &str = "outline";

/// Whether anything has to be moved.
pub(crate) fn is_needed(index: &Index<'_>, plan: &ExitPlan) -> bool {
    let touched = plan.touched(index);
    let mut functions = touched.map(|(number, function)| regions(index, plan, number, function, &HashSet::default()));
    functions.any(|regions| !regions.is_empty())
}

/// Moves the outermost regions that need it; inner ones follow in the next round. `outlined` holds the functions made so
/// far: a region that only calls one of them stays, as do those that [`may_stay`] finds.
pub(crate) fn outline(index: &Index<'_>, plan: &ExitPlan, outlined: &mut HashSet<Id>) -> Result<Edits> {
    let mut edits = Edits::default();
    let mut globals: Option<Globals> = None;
    let mut annotations: Option<Annotations<'_>> = None;
    let mut types: Option<Types> = None;
    for (number, function) in plan.touched(index) {
        let regions = outermost(regions(index, plan, number, function, outlined));
        if regions.is_empty() {
            continue;
        }
        let reached = Reached::new(index, function);
        let uses = uses::of_regions(index, function, &regions, &reached);
        let mut renames = PhiRenames::default();
        for (region, uses) in regions.iter().zip(&uses) {
            let globals = globals.get_or_insert_with(|| Globals::new(index));
            let annotations = annotations.get_or_insert_with(|| Annotations::new(index));
            let types = types.get_or_insert_with(|| Types::new(index));
            let id = Outliner {
                index,
                function,
                region,
                uses,
                reached: &reached,
                types,
                annotations,
                globals,
                names: HashMap::default(),
            }
            .run(&mut renames, &mut edits)?;
            outlined.insert(id);
        }
        renames.apply(index, function, &mut edits);
    }
    if let Some(globals) = globals {
        globals.finish(index, &mut edits);
    }
    Ok(edits)
}

/// The regions that no other one encloses, in their order. Ones that share blocks otherwise stand in invalid modules only:
/// the smaller one waits for the next round. The cost is that of the blocks, however many regions there are.
fn outermost(regions: Vec<Region>) -> Vec<Region> {
    if regions.len() < 2 {
        return regions;
    }
    let mut by_size: Vec<usize> = (0..regions.len()).collect();
    by_size.sort_by_key(|r| Reverse(regions.get(*r).map_or(0, |r| r.blocks.len())));
    let mut taken: HashSet<usize> = HashSet::default();
    let mut kept = HashSet::default();
    for number in by_size {
        let Some(region) = regions.get(number) else { continue };
        if !region.blocks.iter().any(|b| taken.contains(b)) {
            taken.extend(&region.blocks);
            kept.insert(region.header);
        }
    }
    regions.into_iter().filter(|r| kept.contains(&r.header)).collect()
}

/// The continue constructs of a function in which an invocation may abort, apart from those that can stay.
fn regions(
    index: &Index<'_>,
    plan: &ExitPlan,
    number: usize,
    function: &Function,
    outlined: &HashSet<Id>,
) -> Vec<Region> {
    let mut regions: Vec<Region> = Vec::new();
    for header in index.blocks_of(function) {
        let Some((merge, target)) = loops::loop_merge(index, header) else {
            continue;
        };
        let blocks = loops::continue_blocks(index, function, header.label, merge, target);
        let dirty = blocks.iter().any(|b| loops::may_abort(index, plan, number, *b));
        if dirty && target != header.label && !may_stay(index, plan, number, header.label, &blocks, outlined) {
            regions.push(Region {
                header: header.label,
                merge,
                target,
                blocks,
            });
        }
    }
    regions
}

struct Region {
    header: Id,
    merge: Id,
    target: Id,
    blocks: BTreeSet<usize>,
}

impl Region {
    /// Whether a block has an edge out of the region.
    fn is_left_by(&self, index: &Index<'_>, block: &Block) -> bool {
        let to = index.successors(block);
        to.contains(&self.header) || to.contains(&self.merge)
    }
}
