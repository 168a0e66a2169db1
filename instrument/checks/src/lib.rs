//! Plants checks: aborts that a failed check takes, in shaders that need not have any of their own.
//!
//! ```text
//! instruction      becomes   %failed = ..
//!                            SelectionMerge %go, BranchConditional %failed %fail %go
//!                            %fail: %message = CompositeConstruct ..
//!                                   AbortKHR %type %message
//!                            %go:   instruction
//! ```
//!
//! The output is valid SPIR-V with ordinary aborts, which a driver with `SPV_KHR_abort` executes as it is. A planted abort has the
//! origin of the instruction that it guards, so that its site has the position of that one.
//!
//! A check is a row of `vkabort_options::checks` and a file with a [`rule::CheckRule`]: it finds the places in a function of the shader
//! and calls [`Planter::plant`]; `planter` does the rest.
//! Code that entry points do not reach is left alone.
//!
//! The decisions and their reasons: `docs/design/checks.md`.
#![forbid(unsafe_code)]
#![expect(
    missing_docs,
    reason = "a crate of the rewriter, which others use through vkabort-instrument"
)]

mod accesses;
mod addresses;
mod barriers;
mod bit_field;
mod bounds;
mod breaks;
mod buffers;
mod convert;
mod divide;
mod domain;
mod faults;
mod filter;
mod guard;
mod helper;
mod indexing;
mod initialized;
mod invalid;
mod loop_clock;
mod loop_limits;
mod loop_positions;
mod loops;
mod message;
mod module;
mod module_facts;
mod nan;
mod operand_checks;
mod place;
mod planter;
mod properties;
mod races;
mod repetitions;
mod rule;
mod scalars;
mod shift;
mod size_budget;
mod states;
mod steps;
mod unreachable;
mod variants;
mod workgroup;

use module::ModulePlanter;
pub use module::Planting;
use module_facts::ModuleFacts;
use operand_checks::ValueFacts;
use planter::Planter;
use size_budget::SizeBudget;
use vkabort_analysis::view::ModuleView;
use vkabort_options::Options;
use vkabort_record::site::ModuleHash;
use vkabort_spirv::edit::Edits;
use vkabort_spirv::edit::planted_aborts::PlantedAborts;
use vkabort_spirv::error::{Error, ErrorKind, Result};
use vkabort_spirv::index::Index;
use vkabort_spirv::index::typed::FunctionIndex;
use vkabort_spirv::op::capability;

/// Plants the selected checks, or fewer in a large module that they would more than double. Edits nothing if there is no place for any.
/// `hashes`: see [`vkabort_options::PlantingPlace::modules`].
///
/// # Errors
///
/// [`ErrorKind::Limit`] if an interface has no room for another variable. [`ErrorKind::Unsupported`] if the module calls functions for
/// the elements of cooperative matrices: aborts move its code into a function that the entry point calls, and in one of those Mesa 26.2
/// crashes on such an instruction.
pub fn plant(
    index: &Index<'_>,
    options: &Options,
    planting: Planting,
    hashes: [ModuleHash; 2],
) -> Result<(Edits, PlantedAborts)> {
    let by_element = [
        capability::CooperativeMatrixReductionsNV,
        capability::CooperativeMatrixPerElementOperationsNV,
    ];
    if by_element.iter().any(|capability| index.has_capability(*capability)) {
        let message =
            "it calls functions for the elements of cooperative matrices, which drivers crash on outside entry points";
        return Err(Error::new(ErrorKind::Unsupported, "sanitize", None, message));
    }
    let view = ModuleView::new(index);
    let mut facts = ModuleFacts::new(&view, options);
    let mut budget = SizeBudget::new(options);
    loop {
        let properties = |check| rule::rule(check).properties();
        let module = ModulePlanter::new(index, (&budget.options, properties), planting, hashes);
        let (edits, mut planted) = plant_selected(&mut facts, module)?;
        if budget.leave_out(index, &edits, &planted) {
            continue;
        }
        if planted.aborts.is_empty() && !facts.repetitions.spec_ids.is_empty() {
            // A pipeline that makes its loops longer would not rewrite a module without checks.
            facts.count_specialised_loops();
            continue;
        }
        planted.spec_ids.extend(&facts.repetitions.spec_ids);
        planted.spec_ids.sort_unstable();
        planted.spec_ids.dedup();
        return Ok(budget.finish(edits, planted));
    }
}

/// Plants all selected checks.
fn plant_selected<'o, 'a: 'o, 'w>(
    facts: &mut ModuleFacts<'_, 'a, 'w>,
    mut module: ModulePlanter<'o, 'w>,
) -> Result<(Edits, PlantedAborts)> {
    let (index, checks) = (module.index, module.options.sanitize.checks);
    for rule in rule::selected(checks) {
        rule.prepare(&mut module, facts);
    }
    collect_faults(facts, &mut module);
    for (number, function) in index.functions.iter() {
        let Some(mut planter) = Planter::new(&mut module, number, function) else {
            continue;
        };
        planter.repetitions = facts.repetitions.functions.get(number);
        planter.view = facts.view.function(number);
        // Without a view of the function, checks of values are left out.
        let (function, values) = (facts.view.function(number), &mut facts.values);
        let mut of_values = function.map(|function| ValueFacts::new(function, values));
        for rule in rule::selected(checks) {
            rule.plant(&mut planter);
            if let Some(facts) = &mut of_values {
                rule.plant_values(&mut planter, facts);
            }
        }
        faults::plant_faults(&mut planter);
        planter.finish();
    }
    let effects = [&facts.values.effects, &facts.values.not_finite, &facts.values.unstored].into_iter();
    let warnings = facts.view.given_up().into_iter();
    let warnings = warnings
        .chain(effects.filter_map(|effects| effects.given_up()))
        .chain(module.faults.given_up(module.options.sanitize.numbers_faults));
    module
        .planted
        .warnings
        .extend(warnings.map(|text| format!("checks are left out: {text}")));
    module.planted.faults = module.faults.numbered(&module.places.expressions);
    for rule in rule::selected(checks) {
        rule.finish(&mut module);
    }
    module.finish()
}

/// Finds the operations whose faults travel, and what carries them.
fn collect_faults<'o, 'a: 'o, 'w>(facts: &mut ModuleFacts<'_, 'a, 'w>, module: &mut ModulePlanter<'o, 'w>) {
    let (index, checks) = (module.index, module.options.sanitize.checks);
    module.is_collecting = true;
    for (number, function) in index.functions.iter() {
        let Some(view) = facts.view.function(number) else {
            continue;
        };
        let Some(mut planter) = Planter::new(module, number, function) else {
            continue;
        };
        let mut of_values = ValueFacts::new(view, &mut facts.values);
        for rule in rule::selected(checks).filter(|rule| rule.properties().travels) {
            rule.plant_values(&mut planter, &mut of_values);
        }
    }
    module.is_collecting = false;
    let mut all = std::mem::take(&mut module.faults);
    let is_written = |number: FunctionIndex| module.is_planted(number);
    all.plan(|class, sources| facts.values.effects_of(class).flow(sources, &is_written));
    module.faults = all;
}
