//! Modules that the driver gets as they are.

use super::rewrite::Rewritten;
use crate::device::state::Module;
use crate::device::{AbortState, Device};
use crate::log::Level;
use std::sync::Arc;
use vkabort_instrument::{Feature, LoweredFeatures, Options, sites};

impl Device {
    /// A module that the driver gets as it is.
    pub(super) fn unchanged(&self, state: &AbortState, words: &[u32], features: LoweredFeatures) -> Rewritten {
        let native = features.contains(Feature::Abort) && state.enabled.abort && !state.emulated.abort;
        let module = native.then(|| self.native_module(words)).flatten();
        module.map_or(Rewritten::Unchanged, |module| Rewritten::Native { module })
    }

    /// The module, for decoding the messages of aborts that the driver executes.
    fn native_module(&self, words: &[u32]) -> Option<Arc<Module>> {
        let log = &self.instance.log;
        let options = Options {
            // The driver has its own limit.
            max_message_bytes: u32::MAX,
            ..Options::default()
        };
        match sites(words, &options) {
            Ok(table) => {
                let table = table?;
                let module = Arc::new(Module {
                    sites: Arc::new(table),
                    original: self.instance.settings.dump_dir.is_some().then(|| words.to_vec()),
                    ..Module::default()
                });
                self.warn(&module);
                if log.is_enabled(Level::Debug) {
                    let (hash, count) = (module.sites.module_hash, module.sites.sites.len());
                    log.line(
                        Level::Debug,
                        &format!("module {hash}: executed by the driver, {count} abort sites"),
                    );
                }
                Some(module)
            }
            Err(error) => {
                let text = format!("cannot decode the messages of a shader module that the driver executes: {error}");
                log.line(Level::Warning, &text);
                None
            }
        }
    }
}
