//! Builds the site table of a module: a site for each abort, in their order.
//!
//! [`build_sites`] describes each abort: function, call chain and source location from debug information and names, the
//! layout of its message, and the text that the message begins with. Later passes move aborts; the origin of an abort, its
//! word offset in the numbered module, leads back to its site.

use crate::analysis::callgraph::CallGraph;
use crate::analysis::index::Index;
use crate::analysis::index::constant::Length;
use crate::analysis::index::debug::{Inlined, Position};
use crate::analysis::index::names::Names;
use crate::analysis::index::source_text::Texts;
use crate::analysis::index::typed::FunctionIndex;
use crate::analysis::logical_match::check_message;
use crate::analysis::message_layout::Layouts;
use crate::analysis::message_text;
use crate::analysis::spec_constants::spec_constants;
use crate::analysis::warnings::warnings;
use crate::edit::origins::Origins;
use crate::error::Result;
use crate::options::Options;
use crate::spv::op::execution_mode;
use crate::spv::{Id, Inst, op};
use vkabort_record::site::{EntryPoint, Frame, ModuleHash, Site, SiteId, SiteTable};
use vkabort_record::specialization::LocalSize;

/// The built-in `WorkgroupSize`.
const WORKGROUP_SIZE: u32 = 25;

/// Most frames of the call chain in a site.
const MAX_FRAMES: usize = 64;

/// The sites of a module.
#[derive(Debug, Default)]
pub(crate) struct Sites {
    pub(crate) table: SiteTable,
    /// Word offsets of the aborts in the numbered module, by site.
    offsets: Vec<u32>,
}

impl Sites {
    /// The site of an abort. `origins` leads from its module to the numbered one.
    pub(crate) fn of(&self, abort: &Inst<'_>, origins: &Origins) -> Option<&Site> {
        let offset = origins.of(abort.offset as u32)?;
        self.table.sites.get(self.offsets.binary_search(&offset).ok()?)
    }
}

/// The sites of a module. `origins` leads from it to the application's words, which the sites name: an inserted abort has the
/// origin of the instruction that it guards.
///
/// # Errors
///
/// Those of [`Layouts::message`], a message type without a size or beyond a limit, and of [`check_message`], a message that
/// does not match it.
pub(crate) fn build_sites(
    index: &Index<'_>,
    graph: &CallGraph,
    options: &Options,
    hash: ModuleHash,
    origins: &Origins,
) -> Result<Sites> {
    let names = Names::new(index);
    let layouts = Layouts::new(index, &names, options);
    let mut texts = Texts::default();
    let offsets: Vec<u32> = index.aborts().map(|offset| offset as u32).collect();
    let mut sites = Vec::with_capacity(offsets.len());
    for (number, function) in index.functions.iter() {
        // Callers are the same for all aborts of a function.
        let mut function_callers = None;
        for block in index.blocks_of(function) {
            let abort = index.terminator(block);
            if abort.opcode() != op::AbortKHR {
                continue;
            }
            let message = layouts.message(&abort)?;
            check_message(index, options, &abort)?;
            let position = index.position(block, abort.offset);
            let mut frames = collect_frames(index, &names, function.id, &position, &mut texts);
            let mut innermost = frames.remove(0);
            let snippet = index.snippet(&position, &mut innermost.location, &texts);
            let callers =
                function_callers.get_or_insert_with(|| collect_callers(index, graph, &names, number, &mut texts));
            frames.reserve_exact(callers.len());
            frames.extend_from_slice(callers);
            frames.truncate(MAX_FRAMES);
            frames.reverse();
            sites.push(Site {
                id: SiteId(sites.len() as u32),
                word_offset: origins.of(abort.offset as u32).unwrap_or_default(),
                function: innermost.function,
                entry_points: graph
                    .reach
                    .get(number)
                    .map(|r| r.entry_points.clone())
                    .unwrap_or_default(),
                callers: frames,
                location: innermost.location,
                snippet,
                message,
                text: message_text::text(index, abort.message()),
                check: None,
            });
        }
    }
    let entry_points = index
        .entry_points
        .iter()
        .map(|entry| EntryPoint {
            name: entry.name(),
            execution_model: entry.model,
            local_size: find_local_size(index, options, entry.function),
        })
        .collect();
    let table = SiteTable {
        module_hash: hash,
        entry_points,
        warnings: warnings(index, &sites),
        sites,
        constants: spec_constants(index, &names),
    };
    Ok(Sites { table, offsets })
}

/// The frames of a position in a function, innermost first: functions inlined there, then the function itself.
fn collect_frames(
    index: &Index<'_>,
    names: &Names,
    function: Id,
    position: &Position<'_>,
    texts: &mut Texts,
) -> Vec<Frame> {
    let chain = index.inlined(position, texts);
    let last = chain.len().saturating_sub(1);
    let frame = |(at, inlined): (usize, Inlined)| Frame {
        function: match inlined.function {
            // `OpName` is right even where the debug information is wrong.
            _ if at == last => names.function(index, function),
            Some(name) => name,
            None => "(inlined)".to_owned(),
        },
        location: inlined.location,
    };
    chain.into_iter().enumerate().map(frame).collect()
}

/// The frames of a shortest call chain from an entry point to a function, innermost first, without the function itself.
fn collect_callers(
    index: &Index<'_>,
    graph: &CallGraph,
    names: &Names,
    function: FunctionIndex,
    texts: &mut Texts,
) -> Vec<Frame> {
    let mut frames = Vec::new();
    let mut at = function;
    while let Some(call) = graph.reach.get(at).and_then(|r| r.via).and_then(|c| index.calls.get(c)) {
        if frames.len() >= MAX_FRAMES {
            break;
        }
        let block = index.blocks.get(call.block);
        let position = block.map_or_else(Position::default, |block| index.position(block, call.offset));
        let caller = index.functions.get(call.caller).map_or(Id::NONE, |f| f.id);
        frames.extend(collect_frames(index, names, caller, &position, texts));
        at = call.caller;
    }
    frames.shrink_to_fit();
    frames
}

/// The workgroup size of an entry point; `None` if it has none.
fn find_local_size(index: &Index<'_>, options: &Options, function: Id) -> Option<[LocalSize; 3]> {
    let mode = index.execution_modes.iter().find(|m| {
        m.target() == function
            && matches!(
                m.execution_mode(),
                execution_mode::LocalSize | execution_mode::LocalSizeId
            )
    })?;
    // A constant decorated WorkgroupSize overrides the execution mode.
    let decorated = index
        .decorations
        .iter()
        .find(|d| d.kind == op::decoration::BuiltIn && d.value == WORKGROUP_SIZE);
    match decorated.and_then(|d| index.def(d.target)) {
        Some(constant) => evaluate_constants(index, options, &constant),
        None if mode.execution_mode() == execution_mode::LocalSize => {
            Some([3, 4, 5].map(|word| LocalSize::Fixed(mode.word(word))))
        }
        None => evaluate_constants(index, options, mode),
    }
}

/// The values of the three constants from word 3 on.
fn evaluate_constants(index: &Index<'_>, options: &Options, inst: &Inst<'_>) -> Option<[LocalSize; 3]> {
    let mut sizes = [LocalSize::Fixed(0); 3];
    for (size, id) in sizes.iter_mut().zip(inst.ids(3)) {
        *size = match index.length(id, options)? {
            Length::Fixed(value) => LocalSize::Fixed(u32::try_from(value).ok()?),
            Length::Specialised { spec_id, default } => LocalSize::Specialized {
                spec_id,
                default: u32::try_from(default).ok()?,
            },
        }
    }
    (inst.ids(3).len() == 3).then_some(sizes)
}
