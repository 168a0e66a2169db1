//! Reads the settings from their sources. Invalid values are reported and ignored. In secure execution only the application has a
//! say: the layer emulates, logs and writes nothing unless the application changes that, and it never writes a file.

use crate::choice::{Emulation, Enable, Level};
use crate::implied::IMPLICATIONS;
use crate::sources::Sources;
use crate::table::{SETTINGS, Settings, find};
use vkabort_instrument::{Arena, Checks, DEFAULT_LOOP_BUDGET, Sanitize};

impl Settings {
    /// Reads all settings. Also returns a message for each part of the sources that has no effect, and each invalid value.
    pub fn resolve(sources: &Sources) -> (Self, Vec<String>) {
        let mut problems = sources.problems(&keys());
        let mut settings = Self::default();
        if sources.only_application {
            settings.emulation = Emulation::Off;
            settings.log_level = Level::Off;
        }
        for setting in SETTINGS {
            let Some(value) = sources.value(setting.key) else {
                continue;
            };
            if let Err(invalid) = setting.set(&mut settings, &value.text) {
                let used = Some((setting.text)(&settings)).filter(|text| !text.is_empty());
                let hint = invalid.nearest.map(|name| format!(" Did you mean `{name}`?"));
                problems.push(format!(
                    "`{}` is not a valid value for {} (from {}); using {}.{} {}",
                    value.text,
                    setting.key,
                    value.origin,
                    used.as_deref().unwrap_or("none"),
                    hint.unwrap_or_default(),
                    invalid.valid
                ));
            }
        }
        settings.log_file.take_if(|path| path.as_os_str() == "stderr");
        let minimum = Arena::minimum_bytes(settings.max_message_size);
        if settings.arena_size < minimum {
            problems.push(format!(
                "arena_size = {} is too small for max_message_size = {}; using {minimum}",
                settings.arena_size, settings.max_message_size
            ));
            settings.arena_size = minimum;
        }
        if sources.only_application {
            problems.extend(settings.forget_files());
        }
        settings.imply(|key| sources.value(key).is_some());
        (settings, problems)
    }

    /// Removes the paths. Returns a message if there were any.
    fn forget_files(&mut self) -> Option<String> {
        let paths = || SETTINGS.iter().filter(|setting| setting.form.is_path());
        let before = paths().any(|setting| !(setting.text)(self).is_empty());
        for setting in paths() {
            let _ = setting.set(self, "");
        }
        let keys: Vec<&str> = paths().map(|setting| setting.key).collect();
        before.then(|| {
            format!(
                "{} have no effect: the process has more privileges than its user, so the layer reads no module and writes no file",
                keys.join(", ")
            )
        })
    }

    /// Changes the settings that others imply. Those that secure execution has switched off stay so.
    fn imply(&mut self, is_set: impl Fn(&str) -> bool) {
        for implication in IMPLICATIONS {
            let Ok(setting) = find(implication.key) else { continue };
            let text = |key: &str| find(key).map(|setting| (setting.text)(self)).unwrap_or_default();
            let is_default = text(implication.key) == setting.default();
            if implication.applies(text, &is_set) && (implication.replaces || is_default) {
                let _ = setting.set(self, implication.value);
            }
        }
    }

    /// Makes the layer leave every device as it is.
    pub fn switch_off(&mut self) {
        self.emulation = Emulation::Off;
        self.enable = Enable::Auto;
        self.sanitize = Checks::default();
        self.replace_modules = None;
        self.dump_modules = None;
    }

    /// The options of the sanitizer.
    pub fn sanitizer(&self) -> Sanitize {
        Sanitize {
            checks: self.sanitize,
            loop_budget: self.loop_budget.unwrap_or(DEFAULT_LOOP_BUDGET),
            filter: self.sanitize_filter.clone(),
            ..Sanitize::default()
        }
    }
}

/// The names of all settings.
pub(crate) fn keys() -> Vec<&'static str> {
    SETTINGS.iter().map(|setting| setting.key).collect()
}
