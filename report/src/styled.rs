//! Text for a terminal.

use vkabort_record::escape::printable;

/// Text for a terminal: escaped, so that its only control characters are line feeds, tabs and the styles that this program adds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Styled(String);

impl Styled {
    /// [`printable`] text without a style.
    pub fn plain(text: &str) -> Self {
        Self(printable(text))
    }

    /// [`printable`] text, in a style if `color`: the parameters of Select Graphic Rendition (ECMA-48, 8.3.117), such as `1;31`.
    pub fn new(style: &'static str, text: &str, color: bool) -> Self {
        let text = printable(text);
        Self(match color {
            true => format!("\x1b[{style}m{text}\x1b[0m"),
            false => text,
        })
    }

    /// The output of a renderer that got escaped text only.
    pub(crate) fn of_escaped(text: String) -> Self {
        Self(text)
    }

    /// Appends a text.
    pub fn push(&mut self, text: &Self) {
        self.0.push_str(text);
    }
}

impl std::ops::Deref for Styled {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Styled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self)
    }
}

impl From<Styled> for String {
    fn from(text: Styled) -> Self {
        text.0
    }
}
