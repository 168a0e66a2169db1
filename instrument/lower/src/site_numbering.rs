//! Builds the site table of a module: a site for each abort, in their order.
//!
//! [`build_sites`] describes each abort: function, call chain and source location from debug information and names, the
//! layout of its message, and the text that the message begins with. Later passes move aborts; the origin of an abort, its
//! word offset in the numbered module, leads back to its site.

use vkabort_analysis::callgraph::CallGraph;
use vkabort_analysis::frames::{MAX_FRAMES, collect_callers, collect_frames};
use vkabort_analysis::logical_match::check_message;
use vkabort_analysis::macro_uses::macro_uses;
use vkabort_analysis::message_layout::Layouts;
use vkabort_analysis::message_text;
use vkabort_analysis::warnings::warnings;
use vkabort_options::Options;
use vkabort_record::message_type::Type;
use vkabort_record::site::{CodeHash, EntryPoint, Frame, Location, ModuleHash, Site, SiteFault, SiteId, SiteTable};
use vkabort_record::specialization::LocalSize;
use vkabort_spirv::edit::abort_values::AbortValues;
use vkabort_spirv::edit::origins::Origins;
use vkabort_spirv::edit::planted_aborts::{Leaving, PlantedAborts};
use vkabort_spirv::error::Result;
use vkabort_spirv::index::constant::Length;
use vkabort_spirv::index::debug::Position;
use vkabort_spirv::index::names::Names;
use vkabort_spirv::index::source_text::Texts;
use vkabort_spirv::index::spec_constants::spec_constants;
use vkabort_spirv::index::typed::FunctionIndex;
use vkabort_spirv::index::{Block, Function, Index};
use vkabort_spirv::op::execution_mode;
use vkabort_spirv::{Id, Inst, op};
use xxhash_rust::xxh3::Xxh3Default;

/// The built-in `WorkgroupSize`.
const WORKGROUP_SIZE: u32 = 25;

/// The sites of a module.
#[derive(Debug, Default)]
pub struct Sites {
    pub table: SiteTable,
    /// Word offsets of the aborts in the numbered module, by site.
    offsets: Vec<u32>,
    /// The layouts of the messages with the values behind them, by site. `None`: no value follows.
    with_values: Vec<Option<Type>>,
    /// How the invocations leave, by site.
    leaving: Vec<Leaving>,
}

/// A site, the values that its aborts send, and how their invocations leave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NumberedSite<'a> {
    pub(crate) site: &'a Site,
    with_values: Option<&'a Type>,
    pub(crate) leaving: Leaving,
}

impl<'a> NumberedSite<'a> {
    /// The layout of the message with the values behind it.
    pub(crate) fn layout(self) -> &'a Type {
        self.with_values.unwrap_or(&self.site.message)
    }

    /// Bytes of the message, if values follow it.
    pub(crate) fn payload_size(self) -> Option<u32> {
        self.with_values.map(|_| self.site.message.size())
    }
}

impl Sites {
    /// The site of an abort. `origins` leads from its module to the numbered one.
    pub(crate) fn of(&self, abort: &Inst<'_>, origins: &Origins) -> Option<NumberedSite<'_>> {
        let number = self.offsets.binary_search(&origins.of(abort.offset as u32)?).ok()?;
        self.get(number)
    }

    /// The site with a number.
    pub(crate) fn get(&self, number: usize) -> Option<NumberedSite<'_>> {
        Some(NumberedSite {
            site: self.table.sites.get(number)?,
            with_values: self.with_values.get(number)?.as_ref(),
            leaving: *self.leaving.get(number)?,
        })
    }
}

/// Inputs of the site table besides the words of the module.
#[derive(Clone, Copy)]
pub struct SiteInputs<'a> {
    pub options: &'a Options,
    /// Hash of the application's module.
    pub hash: ModuleHash,
    /// Leads from the module to the application's words, which the sites name: an inserted abort has the origin of the
    /// instruction that it guards.
    pub origins: &'a Origins,
    pub planted: &'a PlantedAborts,
    /// The values that aborts send behind their message.
    pub values: &'a AbortValues,
}

/// The sites of a module.
///
/// # Errors
///
/// Those of [`Layouts::message`], a message type without a size or beyond a limit, and of [`check_message`], a message that
/// does not match it.
pub fn build_sites(index: &Index<'_>, graph: &CallGraph, inputs: SiteInputs<'_>) -> Result<Sites> {
    let names = Names::new(index);
    let mut builder = SiteBuilder {
        index,
        graph,
        inputs,
        names: &names,
        layouts: Layouts::new(index, &names, inputs.options),
        texts: Texts::default(),
        sites: Vec::new(),
        with_values: Vec::new(),
        leaving: Vec::new(),
    };
    for (number, function) in index.functions.iter() {
        builder.add_function(number, function)?;
    }
    Ok(builder.finish())
}

/// A site table under construction.
struct SiteBuilder<'a, 'w> {
    index: &'a Index<'w>,
    graph: &'a CallGraph,
    inputs: SiteInputs<'a>,
    names: &'a Names,
    layouts: Layouts<'a, 'w>,
    texts: Texts,
    sites: Vec<Site>,
    with_values: Vec<Option<Type>>,
    leaving: Vec<Leaving>,
}

impl SiteBuilder<'_, '_> {
    /// Adds the sites of a function. Those of a guard are where it is called.
    fn add_function(&mut self, number: FunctionIndex, function: &Function) -> Result<()> {
        let index = self.index;
        let is_guard = self.inputs.planted.guards.contains(&function.id);
        let call = is_guard.then(|| index.calls.values().iter().find(|call| call.callee == function.id));
        let call = call.flatten();
        let number = call.map_or(number, |call| call.caller);
        let uses = macro_uses(index, function, &mut self.texts);
        // Callers are the same for all aborts of a function.
        let mut callers = None;
        for block in index.blocks_of(function) {
            let abort = index.terminator(block);
            if abort.opcode() != op::AbortKHR {
                continue;
            }
            let position = match call.and_then(|call| Some((call, index.blocks.get(call.block)?))) {
                Some((call, block)) => index.position(block, call.offset),
                None => index.position(block, abort.offset),
            };
            let used = uses.get(&abort.offset).filter(|_| call.is_none());
            self.add_site(number, function, block, (&position, used), &mut callers)?;
        }
        Ok(())
    }

    /// Adds the site of the abort that ends `block` of `function`. `used`: where the macro that it comes from is used. `number`: the function of the site. `callers`: its call chain,
    /// once an abort has needed it.
    fn add_site(
        &mut self,
        number: FunctionIndex,
        function: &Function,
        block: &Block,
        (position, used): (&Position, Option<&Location>),
        callers: &mut Option<Vec<Frame>>,
    ) -> Result<()> {
        let (index, abort) = (self.index, self.index.terminator(block));
        let of_abort = self.inputs.values.of(block);
        let mut message = self.layouts.message(&abort)?;
        self.with_values
            .push(of_abort.and_then(|values| values.split(&mut message)));
        check_message(index, self.inputs.options, &abort)?;
        let planted = of_abort.map_or(abort.message(), |values| values.message);
        let planted = self.inputs.planted.aborts.get(&planted);
        self.leaving
            .push(planted.map(|planted| planted.leaving).unwrap_or_default());
        // The site of a fault is where its operation is.
        let operation = planted.filter(|planted| planted.used_in.is_some());
        let of_operation = operation.and_then(|planted| index.function_with(planted.operation?));
        let of_operation = of_operation.filter(|of_operation| *of_operation != number);
        let mut own_callers = None;
        let reach = self.graph.reach.get(number);
        let (number, callers) = match of_operation {
            Some(of_operation) => (of_operation, &mut own_callers),
            None => (number, callers),
        };
        let of_site = index.functions.get(number).map_or(function.id, |f| f.id);
        let (mut innermost, frames) = self.frames((number, of_site), (position, used), callers);
        let snippet = innermost
            .location
            .as_mut()
            .and_then(|location| self.texts.snippet(location));
        self.sites.push(Site {
            template: None,
            id: SiteId(self.sites.len() as u32),
            word_offset: self.inputs.origins.of(abort.offset as u32).unwrap_or_default(),
            function: innermost.function,
            entry_points: reach.map(|reach| reach.entry_points.clone()).unwrap_or_default(),
            callers: frames,
            location: innermost.location,
            snippet,
            message,
            text: message_text::text(index, abort.message()),
            check: planted.map(|planted| planted.check.to_owned()),
            is_of_faults: planted.is_some_and(|planted| planted.is_of_faults),
            used_in: planted.and_then(|planted| planted.used_in.clone()).map(Box::new),
            values: of_abort.map(|values| values.values.clone()).unwrap_or_default(),
        });
        Ok(())
    }

    /// The operations that messages name by the numbers of their faults.
    fn faults(&mut self) -> Vec<SiteFault> {
        let index = self.index;
        let mut faults = Vec::new();
        for (first, planted) in &self.inputs.planted.faults {
            let number = index.function_with(planted.operation);
            let function = number.and_then(|number| Some((number, index.functions.get(number)?)));
            let Some(((number, function), operation)) = function.zip(index.def(planted.operation)) else {
                continue;
            };
            let block = index.block_at(function, operation.offset);
            let Some(block) = block.and_then(|block| index.blocks.get(block)) else {
                continue;
            };
            let position = index.position(block, operation.offset);
            let (innermost, callers) = self.frames((number, function.id), (&position, None), &mut None);
            let mut location = innermost.location;
            faults.push(SiteFault {
                first: *first,
                parts: planted.parts,
                check: planted.check.to_owned(),
                text: planted.text.clone(),
                numbers: planted.numbers.clone(),
                word_offset: self.inputs.origins.of(operation.offset as u32).unwrap_or_default(),
                function: innermost.function,
                callers,
                snippet: location.as_mut().and_then(|location| self.texts.snippet(location)),
                location,
            });
        }
        faults
    }

    /// The function and place of a position, and the frames around it, outermost first. `used`: the place that counts in its stead.
    fn frames(
        &mut self,
        (number, function): (FunctionIndex, Id),
        (position, used): (&Position, Option<&Location>),
        callers: &mut Option<Vec<Frame>>,
    ) -> (Frame, Vec<Frame>) {
        let index = self.index;
        let mut frames = collect_frames(index, self.names, function, position, &mut self.texts);
        let mut innermost = frames.remove(0);
        if let Some(used) = used {
            innermost.location = Some(used.clone());
        }
        let callers =
            callers.get_or_insert_with(|| collect_callers(index, self.graph, self.names, number, &mut self.texts));
        frames.reserve_exact(callers.len());
        frames.extend_from_slice(callers);
        frames.truncate(MAX_FRAMES);
        frames.reverse();
        (innermost, frames)
    }

    fn finish(mut self) -> Sites {
        let index = self.index;
        let faults = self.faults();
        let entry_points = index.entry_points.iter().map(|entry| EntryPoint {
            name: entry.name(),
            execution_model: entry.model,
            local_size: find_local_size(index, self.inputs.options, entry.function),
        });
        Sites {
            table: SiteTable {
                module_hash: self.inputs.hash,
                code_hash: code_hash(&self.inputs, &self.sites),
                entry_points: entry_points.collect(),
                warnings: warnings(index, &self.sites),
                sites: self.sites,
                prints: Vec::new(),
                faults,
                shared_accesses: self.inputs.planted.shared_accesses.clone(),
                constants: spec_constants(index, self.names),
            },
            offsets: index.aborts().map(|offset| offset as u32).collect(),
            with_values: self.with_values,
            leaving: self.leaving,
        }
    }
}

/// The hash in the records of a rewritten module, if it is not the module's. The options decide how a module is rewritten, so they
/// tell apart what the layer makes of one module.
fn code_hash(inputs: &SiteInputs<'_>, sites: &[Site]) -> Option<CodeHash> {
    let options = inputs.options;
    let has_checks = sites.iter().any(|site| site.check.is_some());
    let has_values = sites.iter().any(|site| !site.values.is_empty());
    let mut hasher = Xxh3Default::new();
    hasher.update(&inputs.hash.0.to_le_bytes());
    if has_checks {
        hasher.update(format!("{:?}", options.sanitize.identity()).as_bytes());
        if let Some(area) = options.shadow_area.filter(|_| inputs.planted.hooks.leave.is_some()) {
            hasher.update(&area.words.to_le_bytes());
        }
    }
    if has_values {
        hasher.update(format!("{:?} {}", options.values, options.values_size).as_bytes());
    }
    (has_checks || has_values).then(|| ModuleHash(hasher.digest()).into())
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
        *size = match index.length(id, &options.specialization)? {
            Length::Fixed(value) => LocalSize::Fixed(u32::try_from(value).ok()?),
            Length::Specialised { spec_id, default } => LocalSize::Specialized {
                spec_id,
                default: u32::try_from(default).ok()?,
            },
        }
    }
    (inst.ids(3).len() == 3).then_some(sizes)
}
