//! Divides a function with very many early returns into sections.
//!
//! ```text
//! %border: phis, code          becomes   %border: phis, Branch %header
//!          .. Return ..                  %header: LoopMerge %end %again, Branch %body
//! %next:   phis, more                    %body:   code
//!                                                 .. Store %left true, Branch %end ..
//!                                        %next:   phis, Branch %again
//!                                        %again:  BranchConditional %never %header %end
//!                                        %end:    %l = Load %left
//!                                                 SelectionMerge %go, BranchConditional %l %out %go
//!                                        %out:    Return
//!                                        %go:     more
//! ```
//!
//! The time that Mesa takes to compile a loop grows with the cube of its exits: 200 returns and 200 checks in a row took 1.3 s, twice
//! as many 13 s. The code around a section has one exit for it. If that code still has many exits, the pass runs again and puts
//! sections into larger ones. Code behind a section takes the values of the section from variables (`crossing`).
//!
//! The exit of a section counts the invocations that end, for all exits of the section (`counted_ends`).
//!
//! Code that is left by other branches than returns is in no section: a `case` that ends in a condition.

use super::counted_ends::CountedEnds;
use super::division::Division;
use super::regions::borders;
use super::write::write;
use super::{Wrapper, deep};
use rustc_hash::FxHashSet as HashSet;
use vkabort_analysis::dominators::Dominators;
use vkabort_options::Options;
use vkabort_spirv::Id;
use vkabort_spirv::edit::Edits;
use vkabort_spirv::index::{Function, Index};

/// Divides the functions that nest too deep. `end`: the planted function that counts invocations that end. `is_first`: the module has not
/// been divided yet.
pub fn divide(
    index: &Index<'_>,
    options: &Options,
    (first_blocks, end): (&HashSet<Id>, Option<Id>),
    is_first: bool,
) -> Edits {
    let mut edits = Edits::default();
    let functions = deep(index, options, first_blocks);
    if functions.is_empty() {
        return edits;
    }
    let ends = end.map(|end| CountedEnds::new(index, end));
    let mut wrapper = Wrapper::new(index, options, &mut edits);
    for deep in functions {
        divide_function(
            &mut wrapper,
            deep.function,
            (options.loop_exits, ends.as_ref()),
            is_first,
        );
    }
    let out = wrapper.out;
    if !edits.is_empty() {
        out.finish(index, &mut edits);
    }
    edits
}

/// Divides one region of a function; the pass is repeated for others.
fn divide_function(
    wrapper: &mut Wrapper<'_, '_>,
    function: &Function,
    (loop_exits, ends): (usize, Option<&CountedEnds>),
    is_first: bool,
) {
    let index = wrapper.index;
    let found = borders(index, function, loop_exits, ends);
    if found.by_region.is_empty() {
        return;
    }
    let successors = index.successor_nodes(function);
    let dominators = Dominators::new(&successors);
    for borders in found.by_region {
        let mut division = Division::new(index, function, &dominators, borders, &found.returns);
        let closed = division.closed_borders(&successors);
        if closed.len() < division.borders.len() {
            division = Division::new(index, function, &dominators, closed, &found.returns);
        }
        let is_closed = division.count() > 0 && division.closed_borders(&successors).len() == division.borders.len();
        // Each section leaves one exit: the pass ends when there is nothing to win.
        let wins = is_first || division.exits.len() > division.count();
        if is_closed && wins && write(wrapper, &division, ends).is_ok() {
            return;
        }
    }
}
