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
        is_rewritten: true,
        ..Module::default()
    })
}
