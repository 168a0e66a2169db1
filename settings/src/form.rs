//! Forms of a setting's text, and the types that it is parsed into.

use crate::choice::{Choice, Named};
use crate::value::{bytes, number};
use std::path::PathBuf;
use std::time::Duration;
use vkabort_instrument::{Checks, SanitizeFilter};
use vkabort_report::Filter;

/// A time limit of at most 10 minutes.
pub(crate) const TIMEOUT: Form = Form::Milliseconds { min: 1, max: 600_000 };

/// Form of a setting's text.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// One name of a list.
    Choice(fn() -> Vec<Named>),
    /// Names of a list, separated by commas, or `off`.
    List(fn() -> Vec<Named>),
    /// A whole number, decimal or hexadecimal.
    Number {
        /// The least.
        min: u32,
        /// The largest.
        max: u32,
    },
    /// A number of bytes, which may end with K or M.
    Bytes {
        /// The least.
        min: u32,
        /// The largest.
        max: u32,
    },
    /// A number of milliseconds.
    Milliseconds {
        /// The least.
        min: u32,
        /// The largest.
        max: u32,
    },
    /// A whole number, or a word in its place.
    NumberOr {
        /// The word.
        word: &'static str,
        /// The least number.
        min: u32,
        /// The largest number.
        max: u32,
    },
    /// Rules of a filter.
    Rules,
    /// A file that the layer writes.
    File,
    /// A folder that the layer writes.
    Folder,
    /// A folder that the layer reads.
    InputFolder,
}

impl Form {
    /// The names of a list; none for other forms.
    pub fn names(&self) -> Vec<Named> {
        match self {
            Self::Choice(list) | Self::List(list) => list(),
            _ => Vec::new(),
        }
    }

    /// The least and the largest number, for forms that are numbers only.
    pub fn range(&self) -> Option<(u32, u32)> {
        match *self {
            Self::Number { min, max } | Self::Bytes { min, max } | Self::Milliseconds { min, max } => Some((min, max)),
            _ => None,
        }
    }

    /// The unit of a number.
    pub fn unit(&self) -> Option<&'static str> {
        match self {
            Self::Bytes { .. } => Some("bytes"),
            Self::Milliseconds { .. } => Some("ms"),
            _ => None,
        }
    }

    /// Whether the text is a path.
    pub fn is_path(&self) -> bool {
        matches!(self, Self::File | Self::Folder | Self::InputFolder)
    }

    /// The valid texts, for people: `lose, continue`, or `1 to 600000 ms`.
    pub fn describe(&self) -> String {
        let names = || self.names().iter().map(|row| row.name).collect::<Vec<_>>().join(", ");
        match self {
            Self::Choice(_) => names(),
            Self::List(_) => format!("{}; or off", names()),
            Self::Number { min, max } => format!("{min} to {max}"),
            Self::Bytes { min, max } => format!("{min} to {max} bytes, also as 64K or 1M"),
            Self::Milliseconds { min, max } => format!("{min} to {max} ms"),
            Self::NumberOr { word, min, max } => format!("{word}, or {min} to {max}"),
            Self::Rules => "rules, separated by semicolons".to_owned(),
            Self::File => "a file".to_owned(),
            Self::Folder | Self::InputFolder => "a folder".to_owned(),
        }
    }
}

/// A type of settings.
pub(crate) trait SettingValue: Sized {
    /// Reads a text. An empty one is a path, and means none.
    ///
    /// # Errors
    ///
    /// The text is not valid. The error says more than the form does, or is empty.
    fn parse(text: &str, form: &Form) -> Result<Self, String>;

    /// The text of a default or of a value that another setting implies.
    fn text(&self, form: &Form) -> String;
}

impl<T: Choice> SettingValue for T {
    fn parse(text: &str, _: &Form) -> Result<Self, String> {
        Self::of(text).ok_or_else(String::new)
    }

    fn text(&self, _: &Form) -> String {
        self.name().to_owned()
    }
}

impl SettingValue for u32 {
    fn parse(text: &str, form: &Form) -> Result<Self, String> {
        let parsed = match form {
            Form::Bytes { .. } => bytes(text),
            _ => number(text),
        };
        let parsed = parsed.and_then(|number| Self::try_from(number).ok());
        let (min, max) = form.range().unwrap_or((0, Self::MAX));
        parsed
            .filter(|number| (min..=max).contains(number))
            .ok_or_else(String::new)
    }

    fn text(&self, _: &Form) -> String {
        self.to_string()
    }
}

impl SettingValue for Duration {
    fn parse(text: &str, form: &Form) -> Result<Self, String> {
        u32::parse(text, form).map(|ms| Self::from_millis(u64::from(ms)))
    }

    fn text(&self, _: &Form) -> String {
        self.as_millis().to_string()
    }
}

/// `None`: the word of [`Form::NumberOr`].
impl SettingValue for Option<u32> {
    fn parse(text: &str, form: &Form) -> Result<Self, String> {
        let Form::NumberOr { word, min, max } = *form else {
            return Err(String::new());
        };
        match text.eq_ignore_ascii_case(word) {
            true => Ok(None),
            false => u32::parse(text, &Form::Number { min, max }).map(Some),
        }
    }

    fn text(&self, form: &Form) -> String {
        match (self, form) {
            (None, Form::NumberOr { word, .. }) => (*word).to_owned(),
            _ => self.map(|number| number.to_string()).unwrap_or_default(),
        }
    }
}

impl SettingValue for Option<PathBuf> {
    fn parse(text: &str, _: &Form) -> Result<Self, String> {
        Ok(Some(text).filter(|text| !text.is_empty()).map(PathBuf::from))
    }

    fn text(&self, _: &Form) -> String {
        let path = self.as_ref().map(|path| path.to_string_lossy().into_owned());
        path.unwrap_or_default()
    }
}

impl SettingValue for Checks {
    fn parse(text: &str, _: &Form) -> Result<Self, String> {
        // The form names the valid ones.
        text.parse().map_err(|_| String::new())
    }

    fn text(&self, _: &Form) -> String {
        self.to_string()
    }
}

/// Implements [`SettingValue`] for types of rules, whose default is empty.
macro_rules! rules {
    ($($type:ty),*) => {$(
        impl SettingValue for $type {
            fn parse(text: &str, _: &Form) -> Result<Self, String> {
                text.parse()
            }

            fn text(&self, _: &Form) -> String {
                String::new()
            }
        }
    )*};
}
rules!(Filter, SanitizeFilter);
