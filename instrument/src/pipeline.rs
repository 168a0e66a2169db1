//! The table of the passes in their order, what flows between them, and the result of a rewrite.

use crate::analysis::callgraph::CallGraph;
use crate::analysis::exit_plan::ExitPlan;
use crate::analysis::index::Index;
use crate::analysis::waiting_loops::WaitingLoops;
use crate::edit::Edits;
use crate::edit::origins::Origins;
use crate::error::{Error, ErrorKind, Result};
use crate::lowered::{Feature, LoweredFeatures, scan};
use crate::options::Options;
use crate::pass::constant_data::SpecIds;
use crate::pass::reconverge::EarlyExits;
use crate::pass::site_numbering::Sites;
use crate::pass::{abort, constant_data, loop_normalize, outline, poison, reconverge, site_numbering, strip};
use crate::spv::Id;
use crate::spv::op::addressing_model;
use crate::spv::words::header;
use rustc_hash::FxHashSet as HashSet;
use std::borrow::Cow;
use std::cell::OnceCell;
use vkabort_record::site::{ModuleHash, SiteTable};
use xxhash_rust::xxh3::Xxh3Default;

/// The passes, first to last. A pass that needs the words of the application's aborts comes before "site_numbering".
const PASSES: [Pass; 10] = [
    Pass::once("site_numbering", |s| s.keeps_aborts(), describe_kept_aborts),
    Pass::once("constant_data", |s| s.lowers(Feature::ConstantData), specialize_data),
    Pass::once(
        "poison",
        |s| s.lowers(Feature::PoisonFreeze),
        |_, m| poison::lower(&m.index),
    ),
    Pass::once("site_numbering", |s| s.lowers_aborts(), number_sites),
    Pass::repeated("loop_normalize", |s| s.lowers_aborts(), normalize_loops),
    Pass::repeated("outline", |s| s.lowers_aborts(), outline_constructs),
    Pass::once("abort", |s| s.lowers_aborts(), lower_aborts),
    Pass::once("reconverge", |s| s.exits.is_some(), reconverge_exits),
    Pass::once("strip", |s| s.lowers_no_aborts(), strip_features),
    // Constant data that only messages used is gone; the rest becomes ordinary constants.
    Pass::once("constant_data", |s| s.uses_constant_data, lower_data),
];

/// Limit on edits by repeated passes: two for every level of loops nested in continue constructs.
const MAX_ROUNDS: u32 = 256;

/// The result of a rewrite.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The module declares none of the capabilities that [`Options::lowers`] selects. Use it unchanged.
    Unchanged,
    /// The module was rewritten.
    Instrumented(Instrumented),
}

/// A rewritten module.
#[derive(Clone, Debug, PartialEq)]
pub struct Instrumented {
    /// The new module.
    pub words: Vec<u32>,
    /// Hash of the original module, as in records.
    pub module_hash: ModuleHash,
    /// Its abort sites.
    pub sites: SiteTable,
    /// `SpecId`s of the `OpSpecConstantDataKHR` in the module, which the new module lacks. A pipeline that specialises one of
    /// them needs another rewrite with all its constants in `Options::specialization`.
    pub data_spec_ids: Vec<u32>,
    /// `SpecId`s of the constants that lengths of constant data depend on. A pipeline that specialises one of them needs
    /// another rewrite too.
    pub length_spec_ids: Vec<u32>,
    /// `SpecId` of the added constant that records carry: the key of the pipeline's specialisation. `None` if the module has no
    /// other constants to specialise.
    pub key_spec_id: Option<u32>,
}

/// Called after each pass with its name and the words of the module.
pub type AfterPass<'a> = dyn FnMut(&'static str, &[u32]) + 'a;
/// Stores words where the device can read them, and returns their device address.
pub type Place<'a> = dyn FnMut(&[u32]) -> Option<u64> + 'a;

/// Functions that a rewrite calls, if they are set.
#[derive(Default)]
pub struct Hooks<'a> {
    /// Called after each pass that edits the module.
    pub after_pass: Option<&'a mut AfterPass<'a>>,
    /// Stores the words of large constant data. The address must be a multiple of 4. Data without an address becomes a
    /// constant, which many drivers take minutes to compile.
    pub place: Option<&'a mut Place<'a>>,
}

/// A row of the table of passes.
#[derive(Clone, Copy)]
struct Pass {
    /// Its name in errors and dumps.
    name: &'static str,
    /// Whether it runs on a module in this state. A module for which none does at the start is unchanged.
    applies: fn(&State<'_, '_>) -> bool,
    run: fn(&mut State<'_, '_>, &Module<'_>) -> Result<Edits>,
    /// Whether it runs until it gives no edits. Adjacent repeated passes repeat together: each edit leads back to the first.
    is_repeated: bool,
}

impl Pass {
    const fn once(
        name: &'static str,
        applies: fn(&State<'_, '_>) -> bool,
        run: fn(&mut State<'_, '_>, &Module<'_>) -> Result<Edits>,
    ) -> Self {
        Self {
            name,
            applies,
            run,
            is_repeated: false,
        }
    }

    const fn repeated(
        name: &'static str,
        applies: fn(&State<'_, '_>) -> bool,
        run: fn(&mut State<'_, '_>, &Module<'_>) -> Result<Edits>,
    ) -> Self {
        Self {
            name,
            applies,
            run,
            is_repeated: true,
        }
    }
}

/// A module between two edits, with what its passes share.
struct Module<'w> {
    index: Index<'w>,
    plan: OnceCell<ExitPlan>,
}

impl<'w> Module<'w> {
    fn new(words: &'w [u32]) -> Result<Self> {
        let index = Index::new(words)?;
        check(&index)?;
        Ok(Self {
            index,
            plan: OnceCell::new(),
        })
    }

    /// The sites of a module that is not edited.
    fn sites(&self, options: &Options, hash: ModuleHash) -> Result<Sites> {
        let graph = CallGraph::new(&self.index);
        site_numbering::build_sites(&self.index, &graph, options, hash, &Origins::default())
    }

    fn plan(&self, state: &State<'_, '_>) -> &ExitPlan {
        self.plan
            .get_or_init(|| ExitPlan::new(&self.index, state.options, &state.waiting_loops))
    }
}

/// What flows from pass to pass besides the words.
struct State<'a, 'h> {
    options: &'a Options,
    hooks: Hooks<'h>,
    /// Features that the module declares.
    declared: LoweredFeatures,
    /// Features that the options select. Messages contain constant data, so it is lowered with aborts.
    selected: LoweredFeatures,
    /// Leads from the module to the one whose sites were numbered, before that to the application's.
    origins: Origins,
    /// Leads from the module whose sites were numbered to the application's.
    numbered: Origins,
    sites: Sites,
    spec_ids: SpecIds,
    /// The loops before passes moved parts of them.
    waiting_loops: WaitingLoops,
    /// Functions that "outline" has made.
    outlined: HashSet<Id>,
    /// Edits of repeated passes so far.
    rounds: u32,
    /// Set by "abort" if any loop polls.
    exits: Option<EarlyExits>,
    uses_constant_data: bool,
    key_spec_id: Option<u32>,
}

impl<'a, 'h> State<'a, 'h> {
    fn new(original: &[u32], options: &'a Options, hooks: Hooks<'h>) -> Self {
        let mut selected = options.lowers;
        if selected.contains(Feature::Abort) {
            selected = selected.with(Feature::ConstantData);
        }
        Self {
            options,
            hooks,
            declared: scan(original),
            selected,
            origins: Origins::default(),
            numbered: Origins::default(),
            sites: Sites::default(),
            spec_ids: SpecIds::default(),
            waiting_loops: WaitingLoops::default(),
            outlined: HashSet::default(),
            rounds: 0,
            exits: None,
            uses_constant_data: false,
            key_spec_id: None,
        }
    }

    fn lowers(&self, feature: Feature) -> bool {
        self.declared.and(self.selected).contains(feature)
    }

    fn lowers_aborts(&self) -> bool {
        self.lowers(Feature::Abort)
    }

    fn lowers_no_aborts(&self) -> bool {
        !self.lowers_aborts() && !self.declared.and(self.selected).is_empty()
    }

    fn keeps_aborts(&self) -> bool {
        self.declared.contains(Feature::Abort) && self.lowers_no_aborts()
    }

    /// Keeps what the first plan says of the loops, once a pass edits them.
    fn keep_waiting_loops(&mut self, edits: &Edits, module: &Module<'_>) {
        if !edits.is_empty() && self.waiting_loops.is_empty() {
            self.waiting_loops = module.plan(self).waiting_loops(&module.index);
        }
    }

    /// The error with the application's word in place of the module's.
    fn locate(&self, error: Error) -> Error {
        let origin = |offset| self.numbered.of(self.origins.of(offset)?);
        Error {
            offset: error.offset.and_then(origin),
            is_specializable: !self.spec_ids.is_empty(),
            ..error
        }
    }

    /// Runs the passes from row `row` on until one edits the module, and moves `row` behind it. They share one index, which is
    /// about as large as the module and is gone before the edits are made.
    fn next_edits<'p>(
        &mut self,
        passes: &'p [Pass],
        row: &mut usize,
        words: &[u32],
    ) -> Result<Option<(&'p Pass, Edits)>> {
        let mut module = None;
        while let Some(pass) = passes.get(*row) {
            *row += 1;
            if !(pass.applies)(self) {
                continue;
            }
            let module = match &mut module {
                Some(module) => module,
                none => none.insert(Module::new(words)?),
            };
            let edits = (pass.run)(self, module)?;
            if !edits.is_empty() {
                return Ok(Some((pass, edits)));
            }
        }
        Ok(None)
    }

    /// Leads back to the first of adjacent repeated passes behind the last of which `row` is.
    fn repeat(&mut self, passes: &[Pass], row: &mut usize) -> Result<()> {
        while row
            .checked_sub(1)
            .and_then(|before| passes.get(before))
            .is_some_and(|pass| pass.is_repeated)
        {
            *row -= 1;
        }
        self.rounds += 1;
        if self.rounds <= MAX_ROUNDS {
            return Ok(());
        }
        let message = "loops are nested too deeply in continue constructs";
        Err(Error::new(ErrorKind::Limit, "outline", None, message))
    }
}

/// Runs the passes on one module.
pub(crate) fn rewrite(original: &[u32], options: &Options, hooks: Hooks<'_>) -> Result<Outcome> {
    rewrite_with(&PASSES, original, options, hooks)
}

fn rewrite_with(passes: &[Pass], original: &[u32], options: &Options, hooks: Hooks<'_>) -> Result<Outcome> {
    header(original)?;
    let mut state = State::new(original, options, hooks);
    if !passes.iter().any(|pass| (pass.applies)(&state)) {
        return Ok(Outcome::Unchanged);
    }
    state.sites.table.module_hash = module_hash(original, options);
    let words = run_passes(passes, original, &mut state).map_err(|error| state.locate(error))?;
    Ok(Outcome::Instrumented(Instrumented {
        words: words.into_owned(),
        module_hash: state.sites.table.module_hash,
        sites: state.sites.table,
        data_spec_ids: state.spec_ids.data,
        length_spec_ids: state.spec_ids.lengths,
        key_spec_id: state.key_spec_id,
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
/// The sites of aborts that the driver executes. It may support more than the layer decodes.
fn describe_kept_aborts(state: &mut State<'_, '_>, module: &Module<'_>) -> Result<Edits> {
    let hash = state.sites.table.module_hash;
    match module.sites(state.options, hash) {
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

fn number_sites(state: &mut State<'_, '_>, module: &Module<'_>) -> Result<Edits> {
    let (graph, hash) = (&module.plan(state).graph, state.sites.table.module_hash);
    state.sites = site_numbering::build_sites(&module.index, graph, state.options, hash, &state.origins)?;
    state.numbered = std::mem::take(&mut state.origins);
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
    let lowered = abort::lower(&module.index, plan, state.options, &state.sites, &state.origins)?;
    state.uses_constant_data = lowered.uses_constant_data;
    state.key_spec_id = lowered.key_spec_id;
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
    state.uses_constant_data = strip::strip_features(&module.index, state.selected, &[], &mut edits, (&[], &[]));
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
    let sites = Module::new(original)?.sites(options, module_hash(original, options))?;
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

/// Checks what the passes rely on and the index does not check.
fn check(index: &Index<'_>) -> Result<()> {
    let model = index.inst(index.sections.memory_model);
    if !matches!(
        model.addressing_model(),
        addressing_model::Logical | addressing_model::PhysicalStorageBuffer64
    ) {
        return Err(Error::new(
            ErrorKind::Unsupported,
            "scan",
            model.offset as u32,
            format!(
                "addressing model {}: Vulkan allows only Logical and PhysicalStorageBuffer64",
                model.addressing_model()
            ),
        ));
    }
    // Detects a module that is cut short between two instructions: the missing function is called or is an entry point.
    let entry_points = index
        .entry_points
        .iter()
        .map(|entry| (entry.inst.offset, entry.function));
    let calls = index.calls.values().iter().map(|call| (call.offset, call.callee));
    for (offset, function) in entry_points.chain(calls) {
        if index.function_of(function).is_none() {
            return Err(Error::new(
                ErrorKind::Invalid,
                "scan",
                offset as u32,
                format!("{function} is not a function"),
            ));
        }
    }
    Ok(())
}
