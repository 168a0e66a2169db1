//! Settings that others imply: a program that gets planted checks does not expect aborts. It may have enabled no extension, and does not
//! expect a loss by a check.

/// A value that a setting has because of another one.
#[derive(Debug)]
pub struct Implication {
    /// The setting that implies it, unless it is empty or off.
    pub by: &'static str,
    /// The setting that is implied.
    pub key: &'static str,
    /// Its value.
    pub value: &'static str,
    /// Whether a value that the user has set is replaced.
    pub replaces: bool,
}

/// All of them.
pub const IMPLICATIONS: &[Implication] = &[
    implication("sanitize", "enable", "always", true),
    implication("replace_modules", "enable", "always", true),
    implication("printf", "enable", "always", true),
    implication("printf", "emulation", "partial", false),
    implication("sanitize", "on_abort", "continue_checks", false),
    implication("sanitize", "emulation", "partial", false),
];

const fn implication(by: &'static str, key: &'static str, value: &'static str, replaces: bool) -> Implication {
    Implication {
        by,
        key,
        value,
        replaces,
    }
}

impl Implication {
    /// Whether it takes effect. `text`: the texts of settings; `is_set`: whether a source has a setting.
    pub fn applies(&self, text: impl Fn(&str) -> String, is_set: impl Fn(&str) -> bool) -> bool {
        let by = text(self.by);
        let is_on = !by.is_empty() && !by.eq_ignore_ascii_case("off");
        is_on && (self.replaces || !is_set(self.key))
    }
}

/// Settings that a setting implies, as a sentence behind its description; empty if there are none.
pub(crate) fn implied_by(key: &str) -> String {
    let values = |replaces: bool| {
        let rows = IMPLICATIONS
            .iter()
            .filter(|row| row.by == key && row.replaces == replaces);
        let values = rows.map(|row| format!("`{} = {}`", row.key, row.value));
        values.collect::<Vec<_>>().join(" and ")
    };
    match (values(true), values(false)) {
        (always, unless_set) if always.is_empty() && unless_set.is_empty() => String::new(),
        (always, unless_set) if unless_set.is_empty() => format!(" Implies {always}."),
        (always, unless_set) if always.is_empty() => format!(" Implies, unless they are set, {unless_set}."),
        (always, unless_set) => format!(" Implies {always} and, unless they are set, {unless_set}."),
    }
}
