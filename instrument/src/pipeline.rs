//! The table of the passes in their order, and the pipeline that runs it.

mod state;
#[cfg(test)]
mod tests;

use crate::edit::Edits;
use crate::edit::abort_values::AbortValues;
use crate::edit::origins::Origins;
use crate::edit::planted::Planted;
use crate::error::Result;
use crate::lowered::{Feature, scan};
use crate::options::{Options, Values};
use crate::outcome::{Hooks, Instrumented, Outcome};
use crate::pass::reconverge::EarlyExits;
use crate::pass::sanitize::Planting;
use crate::pass::{
    abort, constant_data, loop_normalize, outline, poison, reconverge, sanitize, site_numbering, strip, values,
};
use crate::spv::words::header;
use state::{Module, Needs, Pass, State};
use std::borrow::Cow;
use std::mem;
use vkabort_record::site::{ModuleHash, SiteTable};
use xxhash_rust::xxh3::Xxh3Default;

/// The passes, first to last.
const PASSES: [Pass; 12] = [
    Pass::new("sanitize", |n| n.planting != Planting::Nothing, plant_checks),
    Pass::new("site_numbering", |n| n.keeps_aborts(), describe_kept_aborts),
    Pass::new("constant_data", |n| n.lowers(Feature::ConstantData), specialize_data),
    Pass::new("poison", |n| n.lowers(Feature::PoisonFreeze), lower_poison),
    Pass::new("values", |n| n.sends_values(), send_values),
    Pass::new("site_numbering", |n| n.lowers_aborts(), number_sites),
    Pass::new("loop_normalize", |n| n.lowers_aborts(), normalize_loops).repeated(),
    Pass::new("outline", |n| n.lowers_aborts(), outline_constructs).repeated(),
    Pass::new("abort", |n| n.lowers_aborts(), lower_aborts),
    Pass::new("reconverge", |n| n.reconvergence, reconverge_exits),
    Pass::new("strip", |n| n.lowers_no_aborts(), strip_features),
    // Constant data that only messages used is gone; the rest becomes ordinary constants.
    Pass::new("constant_data", |n| n.constant_data, lower_data),
];

/// Runs the passes on one module. One that cannot be rewritten with values at its aborts is rewritten without, and one that
/// cannot be sanitized as if no check were selected.
pub(crate) fn rewrite(original: &[u32], options: &Options, mut hooks: Hooks<'_>) -> Result<Outcome> {
    match rewrite_or_leave_unchecked(original, options, &mut hooks) {
        Err(_) if options.values != Values::Off => {
            let without = Options {
                values: Values::Off,
                ..options.clone()
            };
            rewrite_or_leave_unchecked(original, &without, &mut hooks)
        }
        outcome => outcome,
    }
}

fn rewrite_or_leave_unchecked(original: &[u32], options: &Options, hooks: &mut Hooks<'_>) -> Result<Outcome> {
    if options.sanitize.checks.is_empty() {
        return rewrite_with(&PASSES, original, options, Planting::Nothing, hooks);
    }
    let error = match rewrite_with(&PASSES, original, options, Planting::Everywhere, hooks) {
        Err(error) => error,
        outcome => return outcome,
    };
    // Only continue constructs need functions, which some modules cannot have there.
    if let Ok(mut outcome) = rewrite_with(&PASSES, original, options, Planting::OutsideContinues, hooks) {
        if let Outcome::Instrumented(new) = &mut outcome {
            let warning = format!("continue constructs are not sanitized: {error}");
            new.sites.warnings.push(warning);
        }
        return Ok(outcome);
    }
    let outcome = rewrite_with(&PASSES, original, options, Planting::Nothing, hooks)?;
    if let Some(not_sanitized) = &mut hooks.not_sanitized {
        not_sanitized(&error.to_string());
    }
    Ok(outcome)
}

fn rewrite_with(
    passes: &[Pass],
    original: &[u32],
    options: &Options,
    planting: Planting,
    hooks: &mut Hooks<'_>,
) -> Result<Outcome> {
    header(original)?;
    let needs = Needs::new(original, options, planting);
    if !passes.iter().any(|pass| (pass.applies)(&needs)) {
        return Ok(Outcome::Unchanged);
    }
    let mut state = State::new(needs, options, hooks);
    state.sites.table.module_hash = module_hash(original, options);
    let words = run_passes(passes, original, &mut state).map_err(|error| state.locate(error))?;
    if !state.needs.changes_module() {
        return Ok(Outcome::Unchanged);
    }
    Ok(Outcome::Instrumented(Instrumented {
        words: words.into_owned(),
        module_hash: state.sites.table.module_hash,
        sites: state.sites.table,
        data_spec_ids: state.spec_ids.data,
        length_spec_ids: state.spec_ids.lengths,
        key_spec_id: state.key_spec_id,
        looks_at_ticks: state.planted.ticks.is_some(),
    }))
}

fn run_passes<'w>(passes: &[Pass], original: &'w [u32], state: &mut State<'_, '_>) -> Result<Cow<'w, [u32]>> {
    let mut words = Cow::Borrowed(original);
    let mut row = 0;
    while let Some((pass, edits)) = state.next_edits(passes, &mut row, &words)? {
        let (new, origins) = edits.apply(&words, &state.origins, pass.name)?;
        (words, state.origins) = (Cow::Owned(new), origins);
        if let Some(after_pass) = &mut state.hooks.after_pass {
            after_pass(pass.name, &words);
        }
        if pass.is_repeated {
            state.repeat(passes, &mut row)?;
        }
    }
    Ok(words)
}

fn plant_checks(state: &mut State<'_, '_>, module: &Module<'_>) -> Result<Edits> {
    let (edits, planted) = sanitize::plant(
        &module.index,
        state.options,
        state.needs.planting,
        state.sites.table.module_hash,
    )?;
    if !edits.is_empty() {
        state.needs.add_aborts();
    }
    state.planted = planted;
    Ok(edits)
}

/// The sites of aborts that the driver executes. It may support more than the layer decodes.
fn describe_kept_aborts(state: &mut State<'_, '_>, module: &Module<'_>) -> Result<Edits> {
    let hash = state.sites.table.module_hash;
    match module.sites(
        state.options,
        hash,
        &state.origins,
        &state.planted,
        &AbortValues::default(),
    ) {
        Ok(sites) => state.sites = sites,
        Err(error) => {
            let warning = format!("messages cannot be decoded: {error}");
            state.sites.table.warnings.push(warning);
        }
    }
    Ok(Edits::default())
}

fn specialize_data(state: &mut State<'_, '_>, module: &Module<'_>) -> Result<Edits> {
    state.spec_ids = constant_data::spec_ids(&module.index);
    if state.spec_ids.is_empty() {
        return Ok(Edits::default());
    }
    constant_data::specialize(&module.index, state.options)
}

fn lower_poison(_: &mut State<'_, '_>, module: &Module<'_>) -> Result<Edits> {
    poison::lower(&module.index)
}

fn send_values(state: &mut State<'_, '_>, module: &Module<'_>) -> Result<Edits> {
    let (edits, values) = values::add_values(&module.index, state.options, &state.planted)?;
    state.values = values;
    Ok(edits)
}

fn number_sites(state: &mut State<'_, '_>, module: &Module<'_>) -> Result<Edits> {
    let (graph, hash) = (&module.plan(state).graph, state.sites.table.module_hash);
    state.sites = site_numbering::build_sites(
        &module.index,
        graph,
        state.options,
        hash,
        &state.origins,
        &state.planted,
        &state.values,
    )?;
    state.numbered = mem::take(&mut state.origins);
    Ok(Edits::default())
}

fn normalize_loops(state: &mut State<'_, '_>, module: &Module<'_>) -> Result<Edits> {
    let plan = module.plan(state);
    let edits = loop_normalize::normalize(&module.index, plan);
    state.keep_waiting_loops(&edits, module);
    Ok(edits)
}

fn outline_constructs(state: &mut State<'_, '_>, module: &Module<'_>) -> Result<Edits> {
    let plan = module.plan(state);
    let edits = outline::outline(&module.index, plan, &mut state.outlined)?;
    state.keep_waiting_loops(&edits, module);
    Ok(edits)
}

fn lower_aborts(state: &mut State<'_, '_>, module: &Module<'_>) -> Result<Edits> {
    let plan = module.plan(state);
    let lowered = abort::lower(
        &module.index,
        plan,
        state.options,
        &state.sites,
        &state.origins,
        &state.planted,
    )?;
    state.needs.constant_data = lowered.uses_constant_data;
    state.key_spec_id = lowered.key_spec_id;
    let mut templates = lowered.templates;
    for site in &mut state.sites.table.sites {
        site.template = templates.remove(&site.id);
    }
    state.needs.reconvergence = lowered.flag.is_some();
    state.exits = lowered.flag.map(|flag| EarlyExits {
        flag,
        blocks: lowered.exits,
        headers: plan.polled_headers(&module.index),
    });
    Ok(lowered.edits)
}

fn reconverge_exits(state: &mut State<'_, '_>, module: &Module<'_>) -> Result<Edits> {
    let Some(exits) = state.exits.take() else {
        return Ok(Edits::default());
    };
    let (edits, warning) = reconverge::reconverge(&module.index, &exits);
    state.sites.table.warnings.extend(warning);
    Ok(edits)
}

fn strip_features(state: &mut State<'_, '_>, module: &Module<'_>) -> Result<Edits> {
    let mut edits = Edits::default();
    state.needs.constant_data = strip::strip_features(&module.index, state.needs.selected, &[], &mut edits, (&[], &[]));
    Ok(edits)
}

fn lower_data(state: &mut State<'_, '_>, module: &Module<'_>) -> Result<Edits> {
    let place = |words: &[u32]| state.hooks.place.as_mut().and_then(|place| place(words));
    constant_data::lower(&module.index, place)
}

/// The site table of a module that is not rewritten. `None` if it declares no aborts.
pub(crate) fn sites(original: &[u32], options: &Options) -> Result<Option<SiteTable>> {
    header(original)?;
    if !scan(original).contains(Feature::Abort) {
        return Ok(None);
    }
    let hash = module_hash(original, options);
    let (module, origins, planted) = (Module::new(original)?, Origins::default(), Planted::default());
    let values = match options.values {
        Values::Off => AbortValues::default(),
        Values::Auto | Values::On => values::add_values(&module.index, options, &planted)?.1.without_tails(),
    };
    let sites = module.sites(options, hash, &origins, &planted, &values)?;
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
