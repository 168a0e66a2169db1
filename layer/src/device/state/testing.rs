//! State for unit tests.

use super::module::Module;
use std::sync::Arc;
use vkabort_record::site::{ModuleHash, SiteTable};

/// A module without sites.
pub fn module(hash: u64) -> Arc<Module> {
    Arc::new(Module {
        sites: Arc::new(SiteTable {
            module_hash: ModuleHash(hash),
            ..SiteTable::default()
        }),
        original: None,
        rewritten: None,
        is_rewritten: true,
        data_spec_ids: Vec::new(),
        length_spec_ids: Vec::new(),
        key_spec_id: None,
        is_deferred: false,
        constants: Vec::new(),
    })
}
