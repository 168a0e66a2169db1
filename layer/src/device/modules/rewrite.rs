//! Rewrites the SPIR-V of modules.

use crate::arena::{ConstantMemory, PlacedData};
use crate::device::state::Module;
use crate::device::{AbortState, Device};
use crate::locks::lock;
use crate::log::Level;
use ash::vk;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::slice;
use std::sync::Arc;
use vkabort_instrument::{
    self as instrument, Feature, Hooks, Instrumented, Options, Outcome, PrintNumbers, Unplanted, has_prints,
    instrument_with, module_hash, scan,
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

/// A module to rewrite.
#[derive(Default)]
pub struct Source<'a> {
    /// The application's words.
    pub words: &'a [u32],
    /// Specialisation data by `SpecId`.
    pub specialization: BTreeMap<u32, Vec<u8>>,
    /// Memory that its shaders may read constant data from.
    pub memory: Option<&'a ConstantMemory>,
}

impl Device {
    /// Rewrites a module that uses something that the layer lowers on this device, or that gets checks.
    ///
    /// # Errors
    /// The result of the command that creates the module. The reason is logged.
    pub fn rewrite(&self, state: &AbortState, source: Source<'_>) -> Result<Rewritten, vk::Result> {
        let result = self.try_rewrite(state, source);
        result.map_err(|error| self.log_failure(error))
    }

    /// Logs why a module cannot be rewritten. Returns the result of the command that creates it.
    pub(super) fn log_failure(&self, (hash, error): (ModuleHash, instrument::Error)) -> vk::Result {
        let text = format!("cannot rewrite a shader module: {error} (module {hash})");
        self.instance.log.line(Level::Error, &text);
        vk::Result::ERROR_UNKNOWN
    }

    /// As [`Self::rewrite`], with the settings `replace_modules` and `dump_modules`.
    ///
    /// # Errors
    /// The module's hash and the reason, which is not logged.
    pub(super) fn try_rewrite(
        &self,
        state: &AbortState,
        source: Source<'_>,
    ) -> Result<Rewritten, (ModuleHash, instrument::Error)> {
        let (files, log) = (&self.instance.module_files, &self.instance.log);
        if files.is_off() {
            return self.rewrite_words(state, &source);
        }
        let original = source.words;
        let words = files.replacement(original, log).unwrap_or(original);
        let rewritten = self.rewrite_words(state, &Source { words, ..source });
        // A module whose rewrite fails is of interest, too.
        files.dump(original, None, log);
        let rewritten = match rewritten? {
            Rewritten::Changed { words, module } => Rewritten::Changed { words, module },
            unchanged if words == original => unchanged,
            unchanged => Rewritten::Changed {
                words: words.to_vec(),
                module: match unchanged {
                    Rewritten::Native { module } => module,
                    _ => Arc::new(Module::without_sites(module_hash(words, &state.options))),
                },
            },
        };
        if let Rewritten::Changed { words: new, module } = &rewritten {
            files.dump(words, Some((module.sites.module_hash, new)), log);
        }
        Ok(rewritten)
    }

    /// As [`Self::try_rewrite`], of the words that are to run.
    fn rewrite_words(
        &self,
        state: &AbortState,
        source: &Source<'_>,
    ) -> Result<Rewritten, (ModuleHash, instrument::Error)> {
        let Source { words, memory, .. } = *source;
        let features = scan(words);
        if features.contains(Feature::Abort) && !state.enabled.abort {
            self.report_unused_aborts(words);
        }
        let options = self.rewrite_options(state, source);
        let prints = state
            .prints
            .as_ref()
            .filter(|_| options.prints.is_some() && has_prints(words));
        if features.and(options.lowers).is_empty() && options.sanitize.checks.is_empty() && prints.is_none() {
            return Ok(self.unchanged(state, words, features));
        }
        let (mut placed, mut is_full, mut not_sanitized) = (Vec::new(), false, None);
        let mut place = |words: &[u32]| {
            let data = memory?.place(words);
            is_full |= data.is_none();
            let data = data?;
            let address = data.address();
            placed.push(data);
            Some(address)
        };
        let mut claim_compact = |code| state.objects.claim_compact(code);
        let mut claim_prints = |code, count| {
            let Some(prints) = prints else {
                return PrintNumbers {
                    first: 0,
                    counter: None,
                };
            };
            let numbers = lock(&prints.tables).claim(code, count);
            if numbers.counter.is_none() {
                let text =
                    "printf: prints without room of some shaders are counted together: there are too many prints";
                self.instance.log.line(Level::Warning, text);
            }
            numbers
        };
        let mut log_not_printed = |reason: &str| {
            let hash = module_hash(words, &options);
            let text = format!("printf: module {hash} keeps its prints, which the layer does not show: {reason}");
            self.instance.log.line(Level::Warning, &text);
        };
        let mut keep_reason = |reason: Unplanted<'_>| not_sanitized = Some(reason.to_string());
        let hooks = Hooks {
            place: Some(&mut place),
            claim_compact: Some(&mut claim_compact),
            not_sanitized: Some(&mut keep_reason),
            claim_prints: Some(&mut claim_prints),
            not_printed: Some(&mut log_not_printed),
            ..Hooks::default()
        };
        let outcome = instrument_with(words, &options, hooks);
        if let Some(reason) = not_sanitized {
            self.give_up_checks(module_hash(words, &Options::default()), &reason);
        }
        match outcome {
            Ok(Outcome::Unchanged) => Ok(self.unchanged(state, words, features)),
            Ok(Outcome::Instrumented(new)) => {
                if let Some(clock) = state.loop_clock.as_ref().filter(|_| new.reads_ticks) {
                    clock.enable();
                }
                if is_full {
                    let text = format!(
                        "module {}: no memory is left for its constant data: the driver may take minutes to compile it",
                        new.sites.module_hash
                    );
                    self.instance.log.line(Level::Warning, &text);
                }
                let changed = self.changed(words, &options, new, placed);
                if let (Some(prints), Rewritten::Changed { module, .. }) = (prints, &changed) {
                    lock(&prints.tables).keep(&module.sites);
                }
                Ok(changed)
            }
            Err(error) => Err((module_hash(words, &options), error)),
        }
    }

    /// A module that was rewritten with these options.
    fn changed(&self, words: &[u32], options: &Options, new: Instrumented, constants: Vec<PlacedData>) -> Rewritten {
        let dump = self.instance.settings.dump_dir.is_some();
        let specializable = !new.data_spec_ids.is_empty() || !new.length_spec_ids.is_empty();
        if self.instance.log.is_enabled(Level::Debug) {
            self.instance.log.line(
                Level::Debug,
                &format!(
                    "module {}: rewritten from {} to {} words, {} abort sites",
                    new.sites.module_hash,
                    words.len(),
                    new.words.len(),
                    new.sites.sites.len()
                ),
            );
        }
        let mut module = Module {
            sites: Arc::new(new.sites),
            rewritten: dump.then(|| new.words.clone()),
            is_rewritten: true,
            data_spec_ids: new.data_spec_ids,
            length_spec_ids: new.length_spec_ids,
            key_spec_id: new.key_spec_id,
            constants,
            ..Module::default()
        };
        module.original = (dump || specializable || module.has_additions()).then(|| words.to_vec());
        // A rewrite for the specialisation of a pipeline would repeat them.
        if options.specialization.is_empty() {
            self.warn(&module);
        }
        Rewritten::Changed {
            words: new.words,
            module: Arc::new(module),
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
        let modules: Vec<&Arc<Module>> = modules.into_iter().collect();
        for module in modules.iter().filter(|module| !module.has_additions()) {
            self.log_refusal_without_checks(command, result, module.sites.module_hash);
        }
        let mut hashes: Vec<String> = modules
            .into_iter()
            .filter(|module| module.is_rewritten)
            .map(|module| module.sites.module_hash.to_string())
            .collect();
        // A module and the one that replaces it.
        hashes.dedup();
        if !hashes.is_empty() {
            let hashes = hashes.join(", ");
            self.instance.log.line(
                Level::Warning,
                &format!("the driver's {command} returned {result:?} for rewritten modules: {hashes}"),
            );
        }
    }

    /// Logs that the driver refused a module with checks and refuses it without.
    pub fn log_refusal_without_checks(&self, command: &str, result: vk::Result, module: ModuleHash) {
        if result.as_raw() < 0 && self.runs_without_checks(module) {
            let text = format!("the driver's {command} returned {result:?} for module {module} without checks, too");
            self.instance.log.line(Level::Warning, &text);
        }
    }

    /// Logs the faults of a module that do not prevent its use.
    pub(super) fn warn(&self, module: &Module) {
        for warning in &module.sites.warnings {
            let line = format!("module {}: {warning}", module.sites.module_hash);
            self.instance.log.line(Level::Warning, &line);
        }
        self.report_missing_feature(module);
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
