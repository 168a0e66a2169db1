//! The table of the passes in their order, and the pipeline that runs it.

mod attempts;
mod facts;
mod state;
mod steps;
#[cfg(test)]
mod tests;

use crate::outcome::{Hooks, Instrumented, Outcome, Unplanted};
use attempts::make_attempts;
use facts::Fact;
use state::{Module, Pass, State, selected};
use std::borrow::Cow;
use steps::{
    describe_kept_aborts, divide_functions, lower_aborts, lower_prints, number_prints, plant_checks, reconverge_exits,
    specialize_data,
};
use vkabort_checks::Planting;
use vkabort_lower::site_numbering::SiteInputs;
use vkabort_lower::{
    captured_values, constant_data, exit_loop, join_exits, loop_normalize, loop_values, opaque_conditions, outline,
    pointer_results, poison, site_numbering, strip,
};
use vkabort_options::{Options, Values};
use vkabort_record::site::{ModuleHash, SiteTable};
use vkabort_spirv::edit::Edits;
use vkabort_spirv::edit::abort_values::AbortValues;
use vkabort_spirv::edit::origins::Origins;
use vkabort_spirv::edit::planted_aborts::PlantedAborts;
use vkabort_spirv::error::Result;
use vkabort_spirv::lowered::{Feature, scan};
use vkabort_spirv::words::header;
use xxhash_rust::xxh3::Xxh3Default;

/// Limit on the divisions of a module: each walks over all of it, takes one region of a function and leaves one exit of about 16. The pass
/// `exit_loop` warns of functions that still have many.
const MAX_DIVISIONS: u32 = 16;

/// The passes, first to last.
#[rustfmt::skip]
const PASSES: [Pass; 21] = [
    Pass::new("print_numbering", |s| s.lowers_prints, number_prints),
    Pass::new("sanitize", |s| s.planting != Planting::Nothing, plant_checks),
    Pass::new("opaque_conditions", |s| s.options.opaque_conditions && s.facts.has_checks && s.lowers_aborts(), |s, m, _| {
        let (edits, holds) = opaque_conditions::hide(&m.index, s.bound);
        Ok((edits, holds.map(Fact::Holds)))
    }),
    Pass::new("site_numbering", |s| s.keeps_aborts(), describe_kept_aborts),
    Pass::new("constant_data", |s| s.lowers(Feature::ConstantData), specialize_data),
    Pass::new("poison", |s| s.lowers(Feature::PoisonFreeze), |_, m, _| Ok((poison::lower(&m.index)?, None))),
    Pass::new("values", |s| s.sends_values(), |s, m, _| {
        let (edits, values) = captured_values::add_values(&m.index, s.options, &s.facts.planted)?;
        Ok((edits, Some(Fact::Values(values))))
    }),
    Pass::new("loop_values", |s| s.options.remembers_loop_values && s.lowers_aborts(), |s, m, _| {
        let (edits, holds) = loop_values::remember(&m.index, s.bound, &s.facts.planted);
        Ok((edits, holds.map(Fact::Holds)))
    }),
    Pass::new("site_numbering", |s| s.lowers_aborts(), |s, m, _| {
        let sites = site_numbering::build_sites(&m.index, &m.plan(s).graph, s.site_inputs())?;
        Ok((Edits::default(), Some(Fact::Numbered(sites))))
    }),
    Pass::new("loop_normalize", |s| s.lowers_aborts(), |s, m, _| {
        Ok((loop_normalize::normalize(&m.index, m.plan(s)), None))
    }).repeated(),
    Pass::new("outline", |s| s.lowers_aborts(), |s, m, _| {
        let (edits, functions) = outline::outline(&m.index, m.plan(s), &s.facts.outlined)?;
        Ok((edits, Some(Fact::Outlined(functions))))
    }).repeated(),
    Pass::new("pointer_results", |s| s.lowers_aborts(), |s, m, _| {
        Ok((pointer_results::return_words(&m.index, m.plan(s)), None))
    }),
    Pass::new("abort", |s| s.lowers_aborts(), lower_aborts),
    Pass::new("join_exits", |s| s.facts.has_checks && s.lowers_aborts(), |s, m, _| {
        let (edits, moved) = join_exits::join(&m.index, s.options, s.bound);
        Ok((edits, Some(Fact::MovedExits(moved))))
    }),
    Pass::new("reconverge", |s| s.facts.exits.is_some(), reconverge_exits),
    Pass::new("pointer_variables", |s| s.lowers_aborts(), |s, m, _| {
        Ok((exit_loop::pointer_variables::keep_words(&m.index, s.options, &s.facts.left_early), None))
    }),
    Pass::new("sections", |s| s.lowers_aborts(), divide_functions).up_to(MAX_DIVISIONS),
    Pass::new("exit_loop", |s| s.lowers_aborts(), |s, m, _| {
        let (edits, warning) = exit_loop::wrap(&m.index, s.options, &s.facts.left_early);
        Ok((edits, warning.map(Fact::Warning)))
    }),
    Pass::new("strip", |s| s.lowers_no_aborts(), |s, m, _| {
        let (edits, uses_data) = strip::strip_features(&m.index, s.selected);
        Ok((edits, Some(Fact::UsesConstantData(uses_data))))
    }),
    // Constant data that only messages used is gone; the rest becomes ordinary constants.
    Pass::new("constant_data", |s| s.facts.uses_constant_data, |_, m, hooks| {
        let place = |words: &[u32]| hooks.place.as_mut().and_then(|place| place(words));
        Ok((constant_data::lower(&m.index, place)?, None))
    }),
    Pass::new("prints", |s| !s.facts.prints.is_empty(), lower_prints),
];

/// Runs the passes on one module, if need be with less than the options select.
pub(crate) fn rewrite(original: &[u32], options: &Options, mut hooks: Hooks<'_>) -> Result<Outcome> {
    header(original)?;
    // Most modules of most programs: before anything is set up.
    let is_left_alone = options.sanitize.checks.is_empty() && options.prints.is_none();
    if is_left_alone && scan(original).and(selected(options)).is_empty() {
        return Ok(Outcome::Unchanged);
    }
    make_attempts(original, options, &mut hooks, |options, planting, hooks| {
        rewrite_with(&PASSES, original, options, planting, hooks)
    })
}

fn rewrite_with(
    passes: &[Pass],
    original: &[u32],
    options: &Options,
    planting: Planting,
    hooks: &mut Hooks<'_>,
) -> Result<Outcome> {
    let mut state = State::new(original, options, planting);
    if !passes.iter().any(|pass| (pass.applies)(&state)) {
        return Ok(Outcome::Unchanged);
    }
    let hash = module_hash(original, options);
    state.created_hash = match options.specialization.is_empty() {
        true => hash,
        false => module_hash(original, &Options::default()),
    };
    state.facts.sites.table.module_hash = hash;
    let words = run_passes(passes, original, &mut state, hooks).map_err(|error| state.locate(error))?;
    let is_changed = state.changes_module();
    let mut facts = state.facts;
    // Those of a module whose sites are not numbered.
    let left_out = std::mem::take(&mut facts.planted.warnings);
    if !is_changed {
        if let Some(not_sanitized) = hooks.not_sanitized.as_mut().filter(|_| !left_out.is_empty()) {
            not_sanitized(Unplanted::LeftOut(&left_out.join("; ")));
        }
        return Ok(Outcome::Unchanged);
    }
    facts.sites.table.warnings.extend(left_out);
    facts.sites.table.prints = facts.prints;
    Ok(Outcome::Instrumented(Instrumented {
        words: words.into_owned(),
        sites: facts.sites.table,
        data_spec_ids: facts.spec_ids.data,
        length_spec_ids: [facts.spec_ids.lengths, facts.planted.spec_ids].concat(),
        key_spec_id: facts.key_spec_id,
        reads_ticks: facts.planted.hooks.ticks.is_some(),
    }))
}

fn run_passes<'w>(
    passes: &[Pass],
    original: &'w [u32],
    state: &mut State<'_>,
    hooks: &mut Hooks<'_>,
) -> Result<Cow<'w, [u32]>> {
    let mut words = Cow::Borrowed(original);
    let mut row = 0;
    while let Some((pass, edits)) = state.next_edits(passes, &mut row, &words, hooks)? {
        let (new, origins) = edits.apply(&words, &state.origins, pass.name)?;
        (words, state.origins) = (Cow::Owned(new), origins);
        if let Some(after_pass) = &mut hooks.after_pass {
            after_pass(pass.name, &words);
        }
        if pass.is_repeated {
            state.repeat(passes, &mut row)?;
        } else if state.runs_again(pass) {
            row -= 1;
        }
    }
    Ok(words)
}

/// The site table of a module that is not rewritten. `None` if it declares no aborts.
pub(crate) fn sites(original: &[u32], options: &Options) -> Result<Option<SiteTable>> {
    header(original)?;
    if !scan(original).contains(Feature::Abort) {
        return Ok(None);
    }
    let hash = module_hash(original, options);
    let (module, origins, planted) = (Module::new(original)?, Origins::default(), PlantedAborts::default());
    let values = match options.values {
        Values::Off => AbortValues::default(),
        Values::Auto | Values::On => captured_values::add_values(&module.index, options, &planted)?
            .1
            .without_tails(),
    };
    let sites = module.sites(SiteInputs {
        options,
        hash,
        origins: &origins,
        planted: &planted,
        values: &values,
    })?;
    Ok(Some(sites.table))
}

/// XXH3 of the words as little-endian bytes, then of the specialisation data if there is any: the same words with other
/// data decode differently.
pub(crate) fn module_hash(words: &[u32], options: &Options) -> ModuleHash {
    /// Words that are converted to bytes at a time.
    const CHUNK: usize = 256;
    let mut hasher = Xxh3Default::new();
    let mut bytes = [[0; 4]; CHUNK];
    for chunk in words.chunks(CHUNK) {
        let (bytes, _) = bytes.split_at_mut(chunk.len());
        for (bytes, word) in bytes.iter_mut().zip(chunk) {
            *bytes = word.to_le_bytes();
        }
        hasher.update(bytes.as_flattened());
    }
    for (id, data) in &options.specialization {
        hasher.update(&id.to_le_bytes());
        hasher.update(&(data.len() as u64).to_le_bytes());
        hasher.update(data);
    }
    ModuleHash(hasher.digest())
}
