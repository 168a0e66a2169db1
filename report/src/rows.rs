//! The rows of a report: each is a field, its JSON key and its part of the text.

use vkabort_record::escape::one_line;

/// Declares the contents of a line of JSON, a row for each key:
///
/// ```text
/// /// Debug-utils name of the command buffer, if only one can have aborted.
/// command_buffer: Option<String> [absent if "Option::is_none"]
///     [line 2: |site| list("command buffer", site.command_buffer.as_slice())];
/// ```
///
/// The name of the field is the JSON key. The writer and the reader follow the rows, in their order. `absent if` names the
/// function that decides for which values the writer omits the key. `line` has a position in the text and a function of the
/// owner that returns an `Option` or a list of texts, which [`lines`] escapes. Texts of several rows with the same position form
/// one line, separated by commas; each text of a single row is a line, or a [`Lines`].
macro_rules! report_rows {
    (
        $(#[$meta:meta])* $name:ident, with lines of $owner:ty: $(
            $(#[$doc:meta])* $key:ident: $ty:ty $([absent if $absent:literal])? $([line $line:literal: $text:expr])*;
        )*
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$doc])* $(#[serde(default, skip_serializing_if = $absent)])? pub $key: $ty,)*
        }

        impl $name {
            /// The texts of the rows, each with its line.
            pub(crate) const TEXTS: &[crate::rows::Row<$owner>] =
                &[$($(($line, |owner| crate::rows::texts(owner, $text)),)*)*];
        }
    };
}
pub(crate) use report_rows;

/// A text of several lines, of which all but the first are continuations.
pub(crate) struct Lines(pub(crate) Vec<String>);

impl From<String> for Lines {
    fn from(line: String) -> Self {
        Self(vec![line])
    }
}

impl Lines {
    /// The lines as text. Names and messages in a line are not trusted: none makes a line of its own or controls a terminal.
    fn escaped(&self) -> String {
        self.0.iter().map(|line| one_line(line)).collect::<Vec<_>>().join("\n")
    }
}

/// Position of a line of the text, and the texts that a row adds to it.
pub(crate) type Row<T> = (u8, fn(&T) -> Vec<Lines>);

/// The texts that a row adds.
pub(crate) fn texts<T, I: IntoIterator<Item: Into<Lines>>>(owner: &T, text: impl Fn(&T) -> I) -> Vec<Lines> {
    text(owner).into_iter().map(Into::into).collect()
}

/// The lines of the text, safe to print.
pub(crate) fn lines<T>(rows: &[Row<T>], owner: &T) -> Vec<String> {
    let mut rows = rows.to_vec();
    rows.sort_by_key(|(line, _)| *line);
    let escaped = |texts: &fn(&T) -> Vec<Lines>| -> Vec<String> { texts(owner).iter().map(Lines::escaped).collect() };
    let lines = rows.chunk_by(|(a, _), (b, _)| a == b).map(|row| match row {
        [(_, texts)] => escaped(texts),
        parts => {
            let parts: Vec<String> = parts.iter().flat_map(|(_, texts)| escaped(texts)).collect();
            Vec::from_iter((!parts.is_empty()).then(|| parts.join(", ")))
        }
    });
    lines.flatten().collect()
}

pub(crate) fn is_zero(count: &u64) -> bool {
    *count == 0
}

pub(crate) fn is_false(flag: &bool) -> bool {
    !flag
}
