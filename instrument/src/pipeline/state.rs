//! Rows of the table of passes, and the state that they work on.

use super::facts::{Fact, Facts, PassResult};
use crate::outcome::Hooks;
use std::cell::OnceCell;
use std::mem;
use vkabort_analysis::callgraph::CallGraph;
use vkabort_analysis::exit_plan::ExitPlan;
use vkabort_analysis::preconditions::check;
use vkabort_analysis::waiting_loops::WaitingLoops;
use vkabort_checks::Planting;
use vkabort_lower::site_numbering::{self, SiteInputs, Sites};
use vkabort_options::{Options, Values};
use vkabort_record::site::ModuleHash;
use vkabort_spirv::Id;
use vkabort_spirv::edit::Edits;
use vkabort_spirv::edit::origins::Origins;
use vkabort_spirv::error::{Error, ErrorKind, Result};
use vkabort_spirv::index::Index;
use vkabort_spirv::lowered::{Feature, LoweredFeatures, has_prints, scan};
use vkabort_spirv::words::BOUND;

/// Limit on edits by repeated passes: two for every level of loops nested in continue constructs.
const MAX_ROUNDS: u32 = 256;

/// The function of a pass. `State` has the facts that the passes before have found.
type Run = fn(&State<'_>, &Module<'_>, &mut Hooks<'_>) -> Result<PassResult>;

/// A row of the table of passes.
#[derive(Clone, Copy)]
pub(super) struct Pass {
    /// Its name in errors and dumps.
    pub(super) name: &'static str,
    /// Whether it runs. A module for which no pass does at the start is unchanged.
    pub(super) applies: fn(&State<'_>) -> bool,
    run: Run,
    /// Whether it runs until it gives no edits. Adjacent repeated passes repeat together: each edit leads back to the first.
    pub(super) is_repeated: bool,
    /// How often it edits the module at most, otherwise.
    most_runs: u32,
}

impl Pass {
    pub(super) const fn new(name: &'static str, applies: fn(&State<'_>) -> bool, run: Run) -> Self {
        Self {
            name,
            applies,
            run,
            is_repeated: false,
            most_runs: 1,
        }
    }

    /// Runs until it gives no edits, or has edited the module so often.
    pub(super) const fn up_to(self, most_runs: u32) -> Self {
        Self { most_runs, ..self }
    }

    pub(super) const fn repeated(self) -> Self {
        Self {
            is_repeated: true,
            ..self
        }
    }
}

/// A module between two edits, with the state that its passes share.
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

    /// The sites of a module that is not edited.
    pub(super) fn sites(&self, inputs: SiteInputs<'_>) -> Result<Sites> {
        site_numbering::build_sites(&self.index, &CallGraph::new(&self.index), inputs)
    }

    /// The plan of how invocations leave functions, made for the first pass that needs it.
    pub(super) fn plan(&self, state: &State<'_>) -> &ExitPlan {
        self.plan
            .get_or_init(|| ExitPlan::new(&self.index, state.options, &state.waiting_loops))
    }
}

/// The features that options select. Messages contain constant data, so it is lowered with aborts.
pub(super) fn selected(options: &Options) -> LoweredFeatures {
    match options.lowers.contains(Feature::Abort) {
        true => options.lowers.with(Feature::ConstantData),
        false => options.lowers,
    }
}

/// State that flows from pass to pass besides the words.
pub(super) struct State<'a> {
    pub(super) options: &'a Options,
    pub(super) planting: Planting,
    /// Those of [`selected`].
    pub(super) selected: LoweredFeatures,
    /// The lowered features that the application's module declares.
    declared: LoweredFeatures,
    /// The bound of the ids of the application's module.
    pub(super) bound: Id,
    /// The options select prints, and the module declares them.
    pub(super) lowers_prints: bool,
    /// Hash of the module without specialisation data.
    pub(super) created_hash: ModuleHash,
    pub(super) facts: Facts,
    /// Leads from the module to the one whose sites were numbered, before that to the application's.
    pub(super) origins: Origins,
    /// Leads from the module whose sites were numbered to the application's.
    numbered: Origins,
    /// The loops before repeated passes moved parts of them.
    waiting_loops: WaitingLoops,
    /// Edits of repeated passes so far.
    rounds: u32,
    /// Edits of the pass that runs several times.
    pub(super) runs: u32,
}

impl<'a> State<'a> {
    pub(super) fn new(original: &[u32], options: &'a Options, planting: Planting) -> Self {
        Self {
            options,
            planting,
            selected: selected(options),
            declared: scan(original),
            bound: Id::new(original.get(BOUND).copied().unwrap_or_default()),
            lowers_prints: options.prints.is_some() && has_prints(original),
            created_hash: ModuleHash::default(),
            facts: Facts::default(),
            origins: Origins::default(),
            numbered: Origins::default(),
            waiting_loops: WaitingLoops::default(),
            rounds: 0,
            runs: 0,
        }
    }

    fn declares_aborts(&self) -> bool {
        self.facts.has_checks || self.declared.contains(Feature::Abort)
    }

    pub(super) fn lowers(&self, feature: Feature) -> bool {
        let declares = match feature {
            Feature::Abort => self.declares_aborts(),
            _ => self.declared.contains(feature),
        };
        declares && self.selected.contains(feature)
    }

    pub(super) fn lowers_aborts(&self) -> bool {
        self.lowers(Feature::Abort)
    }

    pub(super) fn sends_values(&self) -> bool {
        self.lowers_aborts() && self.options.values != Values::Off
    }

    pub(super) fn lowers_no_aborts(&self) -> bool {
        !self.lowers_aborts() && !self.declared.and(self.selected).is_empty()
    }

    pub(super) fn keeps_aborts(&self) -> bool {
        self.declares_aborts() && !self.lowers_aborts() && self.changes_module()
    }

    /// Whether the module is not the application's at the end.
    pub(super) fn changes_module(&self) -> bool {
        self.facts.has_checks || !self.facts.prints.is_empty() || !self.declared.and(self.selected).is_empty()
    }

    /// The word of the application's module that an instruction of the present one comes from.
    pub(super) fn origin(&self, offset: u32) -> Option<u32> {
        self.numbered.of(self.origins.of(offset)?)
    }

    /// Inputs of the site table besides the module.
    pub(super) fn site_inputs(&self) -> SiteInputs<'_> {
        SiteInputs {
            options: self.options,
            hash: self.facts.sites.table.module_hash,
            origins: &self.origins,
            planted: &self.facts.planted,
            values: &self.facts.values,
        }
    }

    /// The error at the application's word in place of the module's.
    pub(super) fn locate(&self, error: Error) -> Error {
        Error {
            offset: error.offset.and_then(|offset| self.origin(offset)),
            is_specializable: !self.facts.spec_ids.is_empty(),
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
        hooks: &mut Hooks<'_>,
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
            let (edits, fact) = (pass.run)(self, module, hooks)?;
            if matches!(fact, Some(Fact::Numbered(_))) {
                self.numbered = mem::take(&mut self.origins);
            }
            self.facts.add(fact, &edits);
            if !edits.is_empty() {
                if pass.is_repeated && self.waiting_loops.is_empty() {
                    self.waiting_loops = module.plan(self).waiting_loops(&module.index);
                }
                return Ok(Some((pass, edits)));
            }
        }
        Ok(None)
    }

    /// Whether a pass that has edited the module runs again.
    pub(super) fn runs_again(&mut self, pass: &Pass) -> bool {
        let may_repeat = pass.most_runs > 1;
        self.runs += u32::from(may_repeat);
        may_repeat && self.runs < pass.most_runs
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
