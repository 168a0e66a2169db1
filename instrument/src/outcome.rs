//! The result of a rewrite.

use vkabort_record::site::{ModuleHash, SiteTable};

/// The result of a rewrite.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The module declares none of the lowered capabilities. Use it unchanged.
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
    /// `SpecId`s of the `OpSpecConstantDataKHR` in the module. A pipeline that specialises one of them needs another rewrite
    /// with the data in `Options::specialization`.
    pub data_spec_ids: Vec<u32>,
}
