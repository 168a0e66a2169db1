//! A row of the table of settings.

use crate::form::Form;
use crate::implied::implied_by;
use crate::value::nearest;
use crate::{ENV_PREFIXES, FILE_PREFIX};

/// For whom tools show a setting, in the words of the Vulkan Configurator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// Everybody.
    Standard,
    /// People who look for it.
    Advanced,
    /// People who debug the layer.
    Debug,
}

/// A row of the table of settings, which are the fields of `S`.
#[derive(Debug)]
pub struct Row<S> {
    /// The name.
    pub key: &'static str,
    /// The documentation of the field.
    pub(crate) documentation: &'static str,
    /// The texts that are valid.
    pub form: Form,
    /// For whom tools show it.
    pub view: View,
    /// The text of its value.
    pub(crate) text: fn(&S) -> String,
    /// Sets it from a text that is not empty.
    pub(crate) set: fn(&mut S, &str) -> Result<(), String>,
}

/// Why a text is not valid for a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// The nearest valid name.
    pub nearest: Option<&'static str>,
    /// The valid texts, or the error.
    pub valid: String,
}

impl<S: Default> Row<S> {
    /// Its description, as Markdown.
    pub fn description(&self) -> String {
        format!("{}{}", self.documentation.trim(), implied_by(self.key))
    }

    /// The text of its default. Empty: none.
    pub fn default(&self) -> String {
        (self.text)(&S::default())
    }

    /// Its name for people: `Loop Budget`.
    pub fn label(&self) -> String {
        label(self.key)
    }

    /// Its environment variable.
    pub fn variable(&self) -> String {
        format!("{}{}", ENV_PREFIXES[0], self.key.to_ascii_uppercase())
    }

    /// Its name in a settings file.
    pub fn file_key(&self) -> String {
        format!("{FILE_PREFIX}{}", self.key)
    }

    /// Checks a text. An empty one is valid and sets nothing.
    ///
    /// # Errors
    ///
    /// The text is not valid.
    pub fn check(&self, text: &str) -> Result<(), Invalid> {
        match text.trim() {
            "" => Ok(()),
            text => self.set(&mut S::default(), text),
        }
    }

    /// Sets it from a text that is not empty.
    ///
    /// # Errors
    ///
    /// The text is not valid.
    pub(crate) fn set(&self, settings: &mut S, text: &str) -> Result<(), Invalid> {
        (self.set)(settings, text).map_err(|problem| Invalid {
            nearest: self.nearest_name(text),
            valid: match problem.is_empty() {
                true => format!("Valid values: {}", self.form.describe()),
                false => problem,
            },
        })
    }

    /// The name of the form that is most similar to the first one of the text that is not valid.
    fn nearest_name(&self, text: &str) -> Option<&'static str> {
        let names = self.form.names();
        let is_name = |text: &str| names.iter().any(|row| row.name.eq_ignore_ascii_case(text));
        let wrong = text.split(',').map(str::trim).find(|name| !is_name(name))?;
        nearest(wrong, names.iter().map(|row| row.name))
    }
}

/// A name for people from one with underscores, without a unit at its end: `trap_timeout_ms` becomes `Trap Timeout`.
pub(crate) fn label(name: &str) -> String {
    let words = name.trim_end_matches("_ms").split('_').map(|word| {
        let (first, rest) = word.split_at_checked(1).unwrap_or_default();
        first.to_ascii_uppercase() + rest
    });
    words.collect::<Vec<_>>().join(" ")
}
