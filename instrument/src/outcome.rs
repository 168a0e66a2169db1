//! The result of a rewrite.

use vkabort_record::site::{ModuleHash, SiteTable};

/// What became of a module.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The module declares none of the capabilities that are lowered: pass it on as it is.
    Unchanged,
    /// The module was rewritten.
    Instrumented(Instrumented),
}

/// A rewritten module.
#[derive(Clone, Debug, PartialEq)]
pub struct Instrumented {
    /// The new module.
    pub words: Vec<u32>,
    /// Hash of the module as given, as it stands in records.
    pub module_hash: ModuleHash,
    /// Its abort sites.
    pub sites: SiteTable,
    /// `SpecId`s of the `OpSpecConstantDataKHR` in the module: if a pipeline specialises one of them, the module has to
    /// be rewritten again with that data in [`Options::specialization`].
    pub data_spec_ids: Vec<u32>,
}
