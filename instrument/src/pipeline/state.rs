//! Rows of the table of passes, and what they work on.

use crate::analysis::callgraph::CallGraph;
use crate::analysis::exit_plan::ExitPlan;
use crate::analysis::index::Index;
use crate::analysis::preconditions::check;
use crate::analysis::waiting_loops::WaitingLoops;
use crate::edit::Edits;
use crate::edit::abort_values::AbortValues;
use crate::edit::origins::Origins;
use crate::edit::planted::Planted;
use crate::error::{Error, ErrorKind, Result};
use crate::lowered::{Feature, LoweredFeatures, scan};
use crate::options::{Options, Values};
use crate::outcome::Hooks;
use crate::pass::constant_data::SpecIds;
use crate::pass::reconverge::EarlyExits;
use crate::pass::sanitize::Planting;
use crate::pass::site_numbering::{self, Sites};
use crate::spv::Id;
use rustc_hash::FxHashSet as HashSet;
use std::cell::OnceCell;
use vkabort_record::site::ModuleHash;

/// Limit on edits by repeated passes: two for every level of loops nested in continue constructs.
const MAX_ROUNDS: u32 = 256;

/// A row of the table of passes.
#[derive(Clone, Copy)]
pub(super) struct Pass {
    /// Its name in errors and dumps.
    pub(super) name: &'static str,
    /// Whether it runs. A module for which no pass does at the start is unchanged.
    pub(super) applies: fn(&Needs) -> bool,
    pub(super) run: fn(&mut State<'_, '_>, &Module<'_>) -> Result<Edits>,
    /// Whether it runs until it gives no edits. Adjacent repeated passes repeat together: each edit leads back to the first.
    pub(super) is_repeated: bool,
}

impl Pass {
    pub(super) const fn new(
        name: &'static str,
        applies: fn(&Needs) -> bool,
        run: fn(&mut State<'_, '_>, &Module<'_>) -> Result<Edits>,
    ) -> Self {
        Self {
            name,
            applies,
            run,
            is_repeated: false,
        }
    }

    pub(super) const fn repeated(self) -> Self {
        Self {
            is_repeated: true,
            ..self
        }
    }
}

/// A module between two edits, with what its passes share.
pub(super) struct Module<'w> {
    pub(super) index: Index<'w>,
    plan: OnceCell<ExitPlan>,
}

impl<'w> Module<'w> {
    pub(super) fn new(words: &'w [u32]) -> Result<Self> {
        let index = Index::new(words)?;
        check(&index)?;
        Ok(Self {
            index,
            plan: OnceCell::new(),
        })
    }

    /// The sites of a module that is not edited. `values`: those of its aborts.
    pub(super) fn sites(
        &self,
        options: &Options,
        hash: ModuleHash,
        origins: &Origins,
        planted: &Planted,
        values: &AbortValues,
    ) -> Result<Sites> {
        let graph = CallGraph::new(&self.index);
        site_numbering::build_sites(&self.index, &graph, options, hash, origins, planted, values)
    }

    /// The plan of how invocations leave functions, made for the first pass that needs it.
    pub(super) fn plan(&self, state: &State<'_, '_>) -> &ExitPlan {
        self.plan
            .get_or_init(|| ExitPlan::new(&self.index, state.options, &state.waiting_loops))
    }
}

/// What decides which passes run.
pub(super) struct Needs {
    /// Features that the options select. Messages contain constant data, so it is lowered with aborts.
    pub(super) selected: LoweredFeatures,
    /// Those of them that the module declares.
    lowered: LoweredFeatures,
    declares_aborts: bool,
    values: Values,
    pub(super) planting: Planting,
    /// Set by "sanitize" if it has planted aborts.
    planted: bool,
    /// Set by "abort" if any loop polls.
    pub(super) reconvergence: bool,
    /// Set by the pass that strips the module.
    pub(super) constant_data: bool,
}

impl Needs {
    pub(super) fn new(original: &[u32], options: &Options, planting: Planting) -> Self {
        let mut selected = options.lowers;
        if selected.contains(Feature::Abort) {
            selected = selected.with(Feature::ConstantData);
        }
        let declared = scan(original);
        Self {
            selected,
            lowered: declared.and(selected),
            declares_aborts: declared.contains(Feature::Abort),
            values: options.values,
            planting,
            planted: false,
            reconvergence: false,
            constant_data: false,
        }
    }

    pub(super) fn lowers(&self, feature: Feature) -> bool {
        self.lowered.contains(feature)
    }

    pub(super) fn lowers_aborts(&self) -> bool {
        self.lowers(Feature::Abort)
    }

    pub(super) fn sends_values(&self) -> bool {
        self.lowers_aborts() && self.values != Values::Off
    }

    pub(super) fn lowers_no_aborts(&self) -> bool {
        !self.lowers_aborts() && !self.lowered.is_empty()
    }

    pub(super) fn keeps_aborts(&self) -> bool {
        self.declares_aborts && !self.lowers_aborts() && self.changes_module()
    }

    /// Whether the module is not the application's at the end.
    pub(super) fn changes_module(&self) -> bool {
        self.planted || !self.lowered.is_empty()
    }

    /// Aborts were planted.
    pub(super) fn add_aborts(&mut self) {
        (self.declares_aborts, self.planted) = (true, true);
        if self.selected.contains(Feature::Abort) {
            self.lowered = self.lowered.with(Feature::Abort);
        }
    }
}

/// What flows from pass to pass besides the words.
pub(super) struct State<'a, 'h> {
    pub(super) options: &'a Options,
    pub(super) hooks: &'a mut Hooks<'h>,
    pub(super) needs: Needs,
    /// Leads from the module to the one whose sites were numbered, before that to the application's.
    pub(super) origins: Origins,
    /// Leads from the module whose sites were numbered to the application's.
    pub(super) numbered: Origins,
    pub(super) sites: Sites,
    pub(super) planted: Planted,
    pub(super) values: AbortValues,
    pub(super) spec_ids: SpecIds,
    /// The loops before passes moved parts of them.
    pub(super) waiting_loops: WaitingLoops,
    /// Functions that "outline" has made.
    pub(super) outlined: HashSet<Id>,
    /// Edits of repeated passes so far.
    pub(super) rounds: u32,
    /// Set by "abort" if any loop polls.
    pub(super) exits: Option<EarlyExits>,
    /// Labels of the first blocks of the functions that invocations may leave early.
    pub(super) left_early: HashSet<Id>,
    pub(super) key_spec_id: Option<u32>,
}

impl<'a, 'h> State<'a, 'h> {
    pub(super) fn new(needs: Needs, options: &'a Options, hooks: &'a mut Hooks<'h>) -> Self {
        Self {
            options,
            hooks,
            needs,
            origins: Origins::default(),
            numbered: Origins::default(),
            sites: Sites::default(),
            planted: Planted::default(),
            values: AbortValues::default(),
            spec_ids: SpecIds::default(),
            waiting_loops: WaitingLoops::default(),
            outlined: HashSet::default(),
            rounds: 0,
            exits: None,
            left_early: HashSet::default(),
            key_spec_id: None,
        }
    }

    /// Keeps the first plan's waiting loops once a pass edits them.
    pub(super) fn keep_waiting_loops(&mut self, edits: &Edits, module: &Module<'_>) {
        if !edits.is_empty() && self.waiting_loops.is_empty() {
            self.waiting_loops = module.plan(self).waiting_loops(&module.index);
        }
    }

    /// The error at the application's word in place of the module's.
    pub(super) fn locate(&self, error: Error) -> Error {
        let origin = |offset| self.numbered.of(self.origins.of(offset)?);
        Error {
            offset: error.offset.and_then(origin),
            is_specializable: !self.spec_ids.is_empty(),
            ..error
        }
    }

    /// Runs the passes from row `row` on until one edits the module, and moves `row` behind it. They share one index, which is
    /// about as large as the module and is gone before the edits are made.
    pub(super) fn next_edits<'p>(
        &mut self,
        passes: &'p [Pass],
        row: &mut usize,
        words: &[u32],
    ) -> Result<Option<(&'p Pass, Edits)>> {
        let mut module = None;
        while let Some(pass) = passes.get(*row) {
            *row += 1;
            if !(pass.applies)(&self.needs) {
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

    /// Moves `row` back to the first of the adjacent repeated passes that end before it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Limit`] after [`MAX_ROUNDS`] edits.
    pub(super) fn repeat(&mut self, passes: &[Pass], row: &mut usize) -> Result<()> {
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
