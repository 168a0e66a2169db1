//! The rows of a report: each is a field, its JSON key and its part of the text.

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
/// owner that returns an `Option` or a list of texts. Texts of several rows with the same position form one line, separated by
/// commas; each text of a single row is a line.
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
            pub(crate) const TEXTS: &[crate::report::rows::Row<$owner>] =
                &[$($(($line, |owner| crate::report::rows::texts(owner, $text)),)*)*];
        }
    };
}
pub(crate) use report_rows;

/// Position of a line of the text, and the texts that a row adds to it.
pub(crate) type Row<T> = (u8, fn(&T) -> Vec<String>);

/// The texts that a row adds.
pub(crate) fn texts<T, I: IntoIterator<Item = String>>(owner: &T, text: impl Fn(&T) -> I) -> Vec<String> {
    text(owner).into_iter().collect()
}

/// The lines of the text.
pub(crate) fn lines<T>(rows: &[Row<T>], owner: &T) -> Vec<String> {
    let mut rows = rows.to_vec();
    rows.sort_by_key(|(line, _)| *line);
    let lines = rows.chunk_by(|(a, _), (b, _)| a == b).map(|row| match row {
        [(_, texts)] => texts(owner),
        parts => {
            let parts: Vec<String> = parts.iter().flat_map(|(_, texts)| texts(owner)).collect();
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
