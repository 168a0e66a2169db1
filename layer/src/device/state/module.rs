//! Shader modules with aborts.

use crate::arena::PlacedData;
use std::sync::Arc;
use vkabort_record::site::SiteTable;

/// A module that was rewritten, or whose aborts the driver executes natively.
pub struct Module {
    /// Its abort sites.
    pub sites: Arc<SiteTable>,
    /// The application's words, if a pipeline or a dump may need them.
    pub original: Option<Vec<u32>>,
    /// The words passed to the driver, if a dump may need them.
    pub rewritten: Option<Vec<u32>>,
    /// The driver gets other words than the application's.
    pub is_rewritten: bool,
    /// `SpecId`s of constant data, which the rewritten module lacks.
    pub data_spec_ids: Vec<u32>,
    /// `SpecId`s of the constants that lengths of constant data depend on.
    pub length_spec_ids: Vec<u32>,
    /// The driver has a placeholder, since only pipelines can rewrite the module: it is wrong without their specialisation.
    pub is_deferred: bool,
    /// Constant data that its shaders read from memory.
    #[expect(dead_code, reason = "the memory is in use until the module is dropped")]
    pub constants: Vec<PlacedData>,
}

impl Module {
    /// Whether a pipeline with a specialization that `specializes` a `SpecId` requires another rewrite.
    pub fn depends_on(&self, specializes: impl Fn(&u32) -> bool) -> bool {
        self.is_deferred || self.data_spec_ids.iter().chain(&self.length_spec_ids).any(specializes)
    }
}
