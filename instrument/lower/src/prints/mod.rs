//! Turns prints into records that do not end the invocation.
//!
//! ```text
//! ExtInst %set DebugPrintf %format %a %b ..      becomes
//!
//! the words of the arguments, those of each unit of the record in a vector (see `arguments`)
//! FunctionCall %vkabort_print3 NUMBER COUNTER %head %unit
//! ```
//!
//! The function reserves, writes and commits a record (see `writer`). The instruction becomes a call, so no block is split and no
//! loop changes. Helper invocations cannot write, so they print nothing.
//!
//! Phases: (1) [`number_prints`] describes the prints of the application's module; (2) behind all other passes, [`lower`] replaces
//! each, with the identity of the invocation (`identity`); (3) the
//! import and declarations that only prints used are removed (`unused`).
//!
//! Not handled: values of other types than scalars, vectors, pointers and strings have no words. An entry point whose function is
//! that of another stage too has no identity.
//!
//! The decisions and their reasons: `docs/design/prints.md`.

mod arguments;
mod find;
mod identity;
mod unused;
mod writer;

use arguments::{describe_arguments, write_parts};
use find::{FORMAT, prints};
use identity::{InvocationIdentity, add_identity};
use unused::remove_unused;
use vkabort_analysis::callgraph::CallGraph;
use vkabort_analysis::frames::collect_frames;
use vkabort_record::site::PrintSite;
use vkabort_record::stage::stage_name;
use vkabort_spirv::Inst;
use vkabort_spirv::edit::Edits;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::loop_header::after_phis;
use vkabort_spirv::edit::physical_addressing::declare_physical_addressing;
use vkabort_spirv::error::Result;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::names::Names;
use vkabort_spirv::index::source_text::Texts;
use vkabort_spirv::index::typed::FunctionIndex;
pub use writer::PrintInputs;
use writer::PrintWriter;

/// Describes the prints of the application's module.
pub fn number_prints(index: &Index<'_>) -> Vec<PrintSite> {
    let (names, mut texts) = (Names::new(index), Texts::default());
    let mut sites = Vec::new();
    for (number, print) in prints(index) {
        let Some(function) = index.functions.get(number) else {
            continue;
        };
        let mut blocks = index.blocks_of(function).iter();
        let block = blocks.find(|block| (block.offset..block.end).contains(&print.offset));
        let frame = block.map(|block| {
            let position = index.position(block, print.offset);
            collect_frames(index, &names, function.id, &position, &mut texts).swap_remove(0)
        });
        sites.push(PrintSite {
            word_offset: print.offset as u32,
            function: frame.as_ref().map(|frame| frame.function.clone()).unwrap_or_default(),
            location: frame.and_then(|frame| frame.location),
            format: index.string(print.id(FORMAT)).unwrap_or_default(),
            arguments: describe_arguments(index, &print),
        });
    }
    sites
}

/// Lowers the prints of a module. Returns warnings for the site table, too.
///
/// # Errors
///
/// [`crate::ErrorKind::Limit`] if an interface has no room for another variable.
pub fn lower(index: &Index<'_>, inputs: &PrintInputs<'_>) -> Result<(Edits, Vec<String>)> {
    let graph = CallGraph::new(index);
    let (mut out, mut edits, mut warnings) = (Emitter::new(index), Edits::default(), Vec::new());
    let mut writer = PrintWriter::new(index, inputs);
    let (mut entry_points, mut skipped, mut removed, mut lost) = (Vec::new(), Vec::new(), Vec::new(), 0);
    let prints = prints(index);
    let mut identity = InvocationIdentity::new(
        index,
        inputs.workgroup_sizes,
        inputs.execution_model.is_none(),
        &mut out,
    );
    for (number, print) in &prints {
        let reach = graph.reach.get(*number);
        let models = reach.map_or(&[][..], |reach| &reach.models);
        let is_skipped = |model: &&u32| inputs.prints.skipped_models.contains(model);
        let offset = (inputs.origin)(print.offset);
        let site = offset.and_then(|offset| inputs.sites.binary_search_by_key(&offset, |site| site.word_offset).ok());
        match (site, models.iter().find(is_skipped)) {
            (Some(site), None) => {
                let stage = identity.load_stage(&mut out);
                let parts = write_parts(index, print, writer.head(), stage, &mut out);
                writer.call(index, &mut out, &mut identity, (print, site), &parts);
                out.place(
                    |code| match first_place(index, *number, print).filter(|start| *start > print.offset) {
                        Some(start) => {
                            edits.remove_inst(print);
                            edits.insert(start, code);
                        }
                        None => edits.replace_inst(print, code),
                    },
                );
                entry_points.extend(reach.iter().flat_map(|reach| &reach.entry_points).copied());
            }
            (site, model) => {
                lost += usize::from(site.is_none());
                skipped.extend(model);
                removed.push(print.result());
                edits.remove_inst(print);
            }
        }
    }
    skipped.sort_unstable();
    skipped.dedup();
    warnings.extend(skipped.into_iter().map(|model| {
        let stage = stage_name(model);
        format!("prints that {stage} shaders reach are left out: the driver lacks stores there")
    }));
    if lost > 0 {
        warnings.push(format!(
            "{lost} prints are left out: their place in the module is not known"
        ));
    }
    entry_points.sort_unstable();
    entry_points.dedup();
    add_identity(
        index,
        identity,
        inputs.workgroup_sizes,
        &entry_points,
        &mut out,
        &mut edits,
    )?;
    let prints: Vec<Inst<'_>> = prints.into_iter().map(|(_, print)| print).collect();
    remove_unused(index, &prints, &removed, &mut edits);
    if !writer.functions().words.is_empty() {
        declare_physical_addressing(index, &mut out, &mut edits);
        edits.insert(index.new_functions(), writer.functions());
        out.finish(index, &mut edits);
    }
    Ok((edits, warnings))
}

/// First word offset at which a call may be in the block of a print: instructions without semantics may come between phis and variables.
fn first_place(index: &Index<'_>, function: FunctionIndex, print: &Inst<'_>) -> Option<usize> {
    let function = index.functions.get(function)?;
    let blocks = index.blocks_of(function);
    let block = blocks
        .iter()
        .find(|block| (block.offset..block.end).contains(&print.offset))?;
    match blocks.first().filter(|first| first.offset == block.offset) {
        Some(_) => index.after_variables(function),
        None => Some(after_phis(index, block)),
    }
}
