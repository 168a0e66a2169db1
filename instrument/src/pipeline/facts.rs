//! The facts that passes find, for the passes after them and for the host.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::collections::BTreeMap;
use vkabort_lower::constant_data::SpecIds;
use vkabort_lower::reconverge::EarlyExits;
use vkabort_lower::site_numbering::Sites;
use vkabort_record::site::{PrintSite, SiteId, SiteTable};
use vkabort_record::template::Template;
use vkabort_spirv::Id;
use vkabort_spirv::edit::Edits;
use vkabort_spirv::edit::abort_values::AbortValues;
use vkabort_spirv::edit::planted_aborts::PlantedAborts;

/// Result of a pass: edits of the module, and a fact for the passes after it.
pub(super) type PassResult = (Edits, Option<Fact>);

/// A fact that a pass finds.
pub(super) enum Fact {
    /// The aborts that checks are.
    Planted(PlantedAborts),
    /// The function that is to return true.
    Holds(Id),
    /// The sites of a module whose aborts stay.
    Sites(Sites),
    /// The sites of the module as it is now. Origins lead to it from then on.
    Numbered(Sites),
    SpecIds(SpecIds),
    Values(AbortValues),
    /// Functions for continue constructs.
    Outlined(Vec<Id>),
    LoweredAborts(LoweredAborts),
    /// The blocks in which exits are now, by the labels of those in which they were.
    MovedExits(HashMap<Id, Id>),
    /// Whether the module still uses constant data.
    UsesConstantData(bool),
    /// The prints of the application's module, and a table for modules without aborts.
    Prints(Vec<PrintSite>, SiteTable),
    /// Warnings for the site table.
    Warnings(Vec<String>),
    /// A warning for the site table.
    Warning(String),
}

/// Results of the lowering of aborts for other passes and the host.
pub(super) struct LoweredAborts {
    pub(super) uses_constant_data: bool,
    pub(super) key_spec_id: Option<u32>,
    pub(super) templates: BTreeMap<SiteId, Template>,
    /// `None`: no loop polls.
    pub(super) exits: Option<EarlyExits>,
    /// Labels of the first blocks of the functions that invocations may leave early.
    pub(super) left_early: HashSet<Id>,
}

/// The facts that passes have found so far.
#[derive(Default)]
pub(super) struct Facts {
    /// Whether checks were planted.
    pub(super) has_checks: bool,
    pub(super) planted: PlantedAborts,
    /// The prints of the application's module.
    pub(super) prints: Vec<PrintSite>,
    pub(super) spec_ids: SpecIds,
    pub(super) values: AbortValues,
    pub(super) sites: Sites,
    pub(super) outlined: HashSet<Id>,
    pub(super) uses_constant_data: bool,
    pub(super) key_spec_id: Option<u32>,
    pub(super) exits: Option<EarlyExits>,
    pub(super) left_early: HashSet<Id>,
}

impl Facts {
    /// Keeps the fact that a pass has found beside its edits.
    pub(super) fn add(&mut self, fact: Option<Fact>, edits: &Edits) {
        match fact {
            Some(Fact::Planted(planted)) => (self.planted, self.has_checks) = (planted, !edits.is_empty()),
            Some(Fact::Holds(function)) => self.planted.hooks.holds = Some(function),
            Some(Fact::Sites(sites) | Fact::Numbered(sites)) => {
                self.sites = sites;
                let warnings = &mut self.sites.table.warnings;
                warnings.append(&mut self.planted.warnings);
                warnings.append(&mut self.values.warnings);
            }
            Some(Fact::SpecIds(spec_ids)) => self.spec_ids = spec_ids,
            Some(Fact::Values(values)) => self.values = values,
            Some(Fact::Outlined(functions)) => self.outlined.extend(functions),
            Some(Fact::LoweredAborts(mut lowered)) => {
                self.uses_constant_data = lowered.uses_constant_data;
                self.key_spec_id = lowered.key_spec_id;
                self.exits = lowered.exits;
                self.left_early = lowered.left_early;
                for site in &mut self.sites.table.sites {
                    site.template = lowered.templates.remove(&site.id);
                }
            }
            Some(Fact::MovedExits(moved)) => {
                if let Some(exits) = &mut self.exits {
                    exits.move_to(&moved);
                }
            }
            Some(Fact::UsesConstantData(uses_data)) => self.uses_constant_data = uses_data,
            Some(Fact::Prints(prints, table)) => {
                self.prints = prints;
                self.sites.table = table;
            }
            Some(Fact::Warnings(mut warnings)) => self.sites.table.warnings.append(&mut warnings),
            Some(Fact::Warning(warning)) => self.sites.table.warnings.push(warning),
            None => {}
        }
    }
}
