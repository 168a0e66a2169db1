//! Rewrites the SPIR-V of modules.

use crate::arena::ConstantMemory;
use crate::device::state::{AbortState, Device, Module};
use crate::log::Level;
use ash::vk;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::slice;
use std::sync::Arc;
use vkabort_instrument::{
    self as instrument, Feature, Hooks, Options, Outcome, instrument_with, module_hash, scan, sites,
};
use vkabort_record::site::ModuleHash;

/// The code that the driver gets for a module.
pub enum Rewritten {
    /// The application's words.
    Unchanged,
    /// The application's words, whose aborts the driver executes itself.
    Native {
        /// The module, for decoding its messages.
        module: Arc<Module>,
    },
    /// Rewritten words.
    Changed {
        /// The rewritten words.
        words: Vec<u32>,
        /// The module, for decoding its messages.
        module: Arc<Module>,
    },
}

impl Device {
    /// Rewrites a module that uses something that the layer lowers on this device. `specialization`: data by `SpecId`.
    /// `memory`: its shaders may read constant data from there.
    ///
    /// # Errors
    /// The result of the command that creates the module. The reason is logged.
    pub fn rewrite(
        &self,
        state: &AbortState,
        words: &[u32],
        specialization: BTreeMap<u32, Vec<u8>>,
        memory: Option<&ConstantMemory>,
    ) -> Result<Rewritten, vk::Result> {
        let result = self.try_rewrite(state, words, specialization, memory);
        result.map_err(|error| self.log_failure(error))
    }

    /// Logs why a module cannot be rewritten. Returns the result of the command that creates it.
    pub(super) fn log_failure(&self, (hash, error): (ModuleHash, instrument::Error)) -> vk::Result {
        let text = format!("cannot rewrite a shader module: {error} (module {hash})");
        self.instance.log.line(Level::Error, &text);
        vk::Result::ERROR_UNKNOWN
    }

    /// As [`Self::rewrite`].
    ///
    /// # Errors
    /// The module's hash and the reason, which is not logged.
    pub(super) fn try_rewrite(
        &self,
        state: &AbortState,
        words: &[u32],
        specialization: BTreeMap<u32, Vec<u8>>,
        memory: Option<&ConstantMemory>,
    ) -> Result<Rewritten, (ModuleHash, instrument::Error)> {
        let features = scan(words);
        if features.contains(Feature::Abort) && !state.enabled.abort {
            self.report_unused_aborts(words);
        }
        if features.and(state.options.lowers).is_empty() {
            let native = features.contains(Feature::Abort) && state.enabled.abort && !state.emulated.abort;
            let module = native.then(|| self.native_module(words)).flatten();
            return Ok(module.map_or(Rewritten::Unchanged, |module| Rewritten::Native { module }));
        }
        let options = if specialization.is_empty() {
            Cow::Borrowed(&state.options)
        } else {
            Cow::Owned(Options {
                specialization,
                ..state.options.clone()
            })
        };
        let (mut placed, mut is_full) = (Vec::new(), false);
        let mut place = |words: &[u32]| {
            let data = memory?.place(words);
            is_full |= data.is_none();
            let data = data?;
            let address = data.address();
            placed.push(data);
            Some(address)
        };
        let hooks = Hooks {
            after_pass: None,
            place: Some(&mut place),
            ..Hooks::default()
        };
        match instrument_with(words, &options, hooks) {
            Ok(Outcome::Unchanged) => Ok(Rewritten::Unchanged),
            Ok(Outcome::Instrumented(new)) => {
                let dump = self.instance.settings.dump_dir.is_some();
                let specializable = !new.data_spec_ids.is_empty() || !new.length_spec_ids.is_empty();
                if self.instance.log.is_enabled(Level::Debug) {
                    self.instance.log.line(
                        Level::Debug,
                        &format!(
                            "module {}: rewritten from {} to {} words, {} abort sites",
                            new.module_hash,
                            words.len(),
                            new.words.len(),
                            new.sites.sites.len()
                        ),
                    );
                }
                if is_full {
                    let text = format!(
                        "module {}: no memory is left for its constant data: the driver may take minutes to compile it",
                        new.module_hash
                    );
                    self.instance.log.line(Level::Warning, &text);
                }
                let module = Arc::new(Module {
                    sites: Arc::new(new.sites),
                    original: (dump || specializable).then(|| words.to_vec()),
                    rewritten: dump.then(|| new.words.clone()),
                    is_rewritten: true,
                    data_spec_ids: new.data_spec_ids,
                    length_spec_ids: new.length_spec_ids,
                    key_spec_id: new.key_spec_id,
                    is_deferred: false,
                    constants: placed,
                });
                // A rewrite for the specialisation of a pipeline would repeat them.
                if options.specialization.is_empty() {
                    self.warn(&module);
                }
                Ok(Rewritten::Changed {
                    words: new.words,
                    module,
                })
            }
            Err(error) => Err((module_hash(words, &options), error)),
        }
    }

    /// Logs that the driver refused rewritten code: the application may print no more than the result.
    pub fn log_refusal<'a>(
        &self,
        command: &str,
        result: vk::Result,
        modules: impl IntoIterator<Item = &'a Arc<Module>>,
    ) {
        if result.as_raw() >= 0 {
            return;
        }
        let hashes: Vec<String> = modules
            .into_iter()
            .filter(|module| module.is_rewritten)
            .map(|module| module.sites.module_hash.to_string())
            .collect();
        if !hashes.is_empty() {
            let hashes = hashes.join(", ");
            self.instance.log.line(
                Level::Warning,
                &format!("the driver's {command} returned {result:?} for rewritten modules: {hashes}"),
            );
        }
    }

    /// Logs the faults of a module that do not prevent its use.
    fn warn(&self, module: &Module) {
        for warning in &module.sites.warnings {
            let line = format!("module {}: {warning}", module.sites.module_hash);
            self.instance.log.line(Level::Warning, &line);
        }
        self.report_missing_feature(module);
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

impl AbortState {
    /// Memory for the constant data of modules.
    pub fn constants(&self) -> Option<&ConstantMemory> {
        self.arena.as_ref().or(self.constants_only.as_ref())?.constants()
    }
}

/// The words of a shader's code. Ignores bytes beyond the last whole word.
///
/// # Safety
/// `code` must be null or have `bytes` bytes, which outlive the result.
pub unsafe fn words_of<'a>(code: *const u32, bytes: usize) -> Cow<'a, [u32]> {
    if code.is_null() {
        return Cow::Borrowed(&[]);
    }
    if code.is_aligned() {
        // SAFETY: `bytes` bytes (the caller's contract), and aligned.
        return Cow::Borrowed(unsafe { slice::from_raw_parts(code, bytes / 4) });
    }
    // SAFETY: `bytes` bytes (the caller's contract); unaligned reads need no alignment.
    Cow::Owned(
        (0..bytes / 4)
            .map(|i| unsafe { code.add(i).read_unaligned() })
            .collect(),
    )
}
