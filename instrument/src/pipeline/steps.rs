//! Passes with more inputs or facts than a row of the table holds.

use super::facts::{Fact, LoweredAborts, PassResult};
use super::state::{Module, State};
use crate::outcome::Hooks;
use std::borrow::Cow;
use vkabort_lower::prints::PrintInputs;
use vkabort_lower::reconverge::EarlyExits;
use vkabort_lower::{abort, constant_data, exit_loop, prints, reconverge};
use vkabort_options::PrintNumbers;
use vkabort_record::print::record::PrintIdentity;
use vkabort_record::site::{EntryPoint, SiteTable};
use vkabort_spirv::edit::Edits;
use vkabort_spirv::error::Result;

pub(super) fn number_prints(state: &State<'_>, module: &Module<'_>, _: &mut Hooks<'_>) -> Result<PassResult> {
    let prints = prints::number_prints(&module.index);
    let table = match module.sites(state.site_inputs()) {
        // Its warnings are about aborts.
        Ok(sites) if sites.table.sites.is_empty() => SiteTable {
            warnings: Vec::new(),
            ..sites.table
        },
        // The sites are built later, or cannot be.
        _ => state.facts.sites.table.clone(),
    };
    Ok((Edits::default(), Some(Fact::Prints(prints, table))))
}

pub(super) fn lower_prints(state: &State<'_>, module: &Module<'_>, hooks: &mut Hooks<'_>) -> Result<PassResult> {
    let (Some(options), sites) = (&state.options.prints, &state.facts.prints) else {
        return Ok((Edits::default(), None));
    };
    let table = &state.facts.sites.table;
    let numbers = match &mut hooks.claim_prints {
        Some(claim) => claim(table.code(), sites.len() as u32),
        None => PrintNumbers {
            first: 0,
            counter: Some(0),
        },
    };
    let workgroup_sizes: Vec<_> = table.entry_points.iter().map(EntryPoint::constant_local_size).collect();
    let inputs = PrintInputs {
        options: state.options,
        prints: options,
        sites,
        code: table.code(),
        numbers,
        execution_model: table.execution_model(),
        identity_words: PrintIdentity::of(table).words,
        workgroup_sizes: &workgroup_sizes,
        origin: &|offset| state.origin(offset as u32),
    };
    let (edits, warnings) = prints::lower(&module.index, &inputs)?;
    Ok((edits, Some(Fact::Warnings(warnings))))
}

pub(super) fn plant_checks(state: &State<'_>, module: &Module<'_>, _: &mut Hooks<'_>) -> Result<PassResult> {
    let hashes = [state.facts.sites.table.module_hash, state.created_hash];
    let (edits, planted) = vkabort_checks::plant(&module.index, state.options, state.planting, hashes)?;
    Ok((edits, Some(Fact::Planted(planted))))
}

/// The sites of aborts that the driver executes. It may support more than the layer decodes.
pub(super) fn describe_kept_aborts(state: &State<'_>, module: &Module<'_>, _: &mut Hooks<'_>) -> Result<PassResult> {
    let fact = match module.sites(state.site_inputs()) {
        Ok(sites) => Fact::Sites(sites),
        Err(error) => Fact::Warning(format!("messages cannot be decoded: {error}")),
    };
    Ok((Edits::default(), Some(fact)))
}

pub(super) fn specialize_data(state: &State<'_>, module: &Module<'_>, _: &mut Hooks<'_>) -> Result<PassResult> {
    let spec_ids = constant_data::spec_ids(&module.index);
    let edits = match spec_ids.is_empty() {
        true => Edits::default(),
        false => constant_data::specialize(&module.index, state.options)?,
    };
    Ok((edits, Some(Fact::SpecIds(spec_ids))))
}

pub(super) fn lower_aborts(state: &State<'_>, module: &Module<'_>, hooks: &mut Hooks<'_>) -> Result<PassResult> {
    let plan = module.plan(state);
    let (facts, origins) = (&state.facts, &state.origins);
    let mut options = Cow::Borrowed(state.options);
    if let Some(claim_compact) = &mut hooks.claim_compact
        && options.compact_records
        && !claim_compact(facts.sites.table.code())
    {
        options.to_mut().compact_records = false;
    }
    let lowered = abort::lower(&module.index, plan, &options, &facts.sites, origins, &facts.planted)?;
    let exits = lowered.flag.map(|flag| EarlyExits {
        flag,
        blocks: lowered.exits,
        headers: plan.polled_headers(&module.index),
    });
    let functions = plan.functions_with_exits(&module.index);
    let first_blocks = functions.filter_map(|(_, function)| module.index.blocks_of(function).first());
    let facts = LoweredAborts {
        left_early: first_blocks.map(|block| block.label).collect(),
        uses_constant_data: lowered.uses_constant_data,
        key_spec_id: lowered.key_spec_id,
        templates: lowered.templates,
        exits,
    };
    Ok((lowered.edits, Some(Fact::LoweredAborts(facts))))
}

pub(super) fn divide_functions(state: &State<'_>, module: &Module<'_>, _: &mut Hooks<'_>) -> Result<PassResult> {
    let end = state.facts.planted.hooks.end;
    let inputs = (&state.facts.left_early, end);
    let edits = exit_loop::sections::divide(&module.index, state.options, inputs, state.runs == 0);
    Ok((edits, None))
}

pub(super) fn reconverge_exits(state: &State<'_>, module: &Module<'_>, _: &mut Hooks<'_>) -> Result<PassResult> {
    let Some(exits) = &state.facts.exits else {
        return Ok((Edits::default(), None));
    };
    let (edits, warning) = reconverge::reconverge(&module.index, exits);
    Ok((edits, warning.map(Fact::Warning)))
}
