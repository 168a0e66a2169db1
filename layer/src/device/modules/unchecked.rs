//! Modules and workgroups that run without checks, although the setting `sanitize` selects some.
//!
//! A program must not fail because of checks that it has not asked for. So a module runs without them if they cannot be planted,
//! if the rewriter or the driver refuses the result, or if the layer does not see its SPIR-V; the log says so once.

use super::rewrite::Source;
use crate::device::state::{Module, Opaque};
use crate::device::{AbortState, Device};
use crate::locks::lock;
use crate::log::Level;
use ash::vk;
use std::borrow::Cow;
use std::sync::Arc;
use vkabort_instrument::{Options, Sanitize, module_hash};
use vkabort_record::site::ModuleHash;

impl Device {
    /// The options of a rewrite. It has no checks and prints if the module is known to run without them.
    pub(super) fn rewrite_options<'a>(&self, state: &'a AbortState, source: &Source<'_>) -> Cow<'a, Options> {
        let mut options = Cow::Borrowed(&state.options);
        if !source.specialization.is_empty() {
            options.to_mut().specialization.clone_from(&source.specialization);
        }
        // The hash of a specialised module is another one.
        if (state.sanitizes() || state.prints.is_some())
            && [&Options::default(), &*options]
                .iter()
                .any(|options| self.runs_without_checks(module_hash(source.words, options)))
        {
            let options = options.to_mut();
            (options.sanitize, options.prints) = (Sanitize::default(), None);
        }
        options
    }

    /// Logs how many workgroups the check `races` had no memory for.
    pub fn log_missed_workgroups(&self) {
        let state = self.state.as_ref().filter(|_| !self.is_inherited());
        if let Some(shadow) = state.and_then(|state| state.shadow.as_ref()) {
            shadow.log_missed_workgroups(&self.instance.log);
        }
    }

    /// Whether a module is known to run without checks and records of prints.
    pub fn runs_without_checks(&self, module: ModuleHash) -> bool {
        lock(&self.instance.unchecked_modules).contains(&module)
    }

    /// Makes a module run without checks from now on, and logs why. False if it already does.
    pub fn give_up_checks(&self, module: ModuleHash, reason: &str) -> bool {
        self.give_up_additions(
            module,
            &format!("sanitize: module {module} runs without checks: {reason}"),
        )
    }

    /// Makes a module run without checks and records of prints, with this text for the log. False if it already does.
    fn give_up_additions(&self, module: ModuleHash, text: &str) -> bool {
        let is_first = lock(&self.instance.unchecked_modules).insert(module);
        if is_first {
            self.instance.module_files.forget(module);
            self.instance.log.line(Level::Warning, text);
        }
        is_first
    }

    /// Makes the modules of a command that the driver refused run without checks and records of prints from now on. Whether the
    /// command may succeed if it is repeated with them.
    pub fn give_up_refused<'a>(
        &self,
        command: &str,
        result: vk::Result,
        modules: impl IntoIterator<Item = &'a Arc<Module>>,
    ) -> bool {
        if result.as_raw() >= 0 {
            return false;
        }
        let reason = format!("with them the driver's {command} returned {result:?}");
        // It may refuse them without, too.
        let again = |hash| format!("sanitize: module {hash} is created again without checks: {reason}");
        let extended = modules.into_iter().filter(|module| module.has_additions());
        // Every module, not only the first.
        extended.fold(false, |repeat, module| {
            let hash = module.sites.module_hash;
            let is_new = match module.has_checks() {
                true => self.give_up_additions(hash, &again(hash)),
                false => {
                    let text =
                        format!("printf: module {hash} keeps its prints, which the layer does not show: {reason}");
                    self.give_up_additions(hash, &text)
                }
            };
            is_new | repeat
        })
    }

    /// Logs once that code runs without checks, since the layer does not see its SPIR-V.
    pub fn log_opaque(&self, state: &AbortState, code: Opaque) {
        if !state.sanitizes() || !lock(&self.instance.opaque_code).insert(code) {
            return;
        }
        let subject = match code {
            Opaque::Identifier => "a pipeline is created from the identifier of a module",
            Opaque::Binary => "a shader object is created from a binary",
        };
        let text = format!(
            "sanitize: {subject}, without SPIR-V: checks cannot be planted into its code. Clear the program's caches of shaders \
             to have checks in all of them"
        );
        self.instance.log.line(Level::Warning, &text);
    }
}
