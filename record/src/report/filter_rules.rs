//! Lists of rules: an action, a subject and a pattern each.

use std::str::FromStr;
use wildmatch::WildMatch;

/// A list of rules about places in code, by subjects of type `S`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rules<S>(Vec<Rule<S>>);

#[derive(Clone, Debug, PartialEq)]
struct Rule<S> {
    report: bool,
    subject: S,
    pattern: WildMatch,
}

/// What a rule compares with its pattern.
pub(super) trait Subject: Copy + 'static {
    /// The subjects by their names.
    const NAMES: &'static [(&'static str, Self)];
}

impl<S> Default for Rules<S> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<S: Subject> FromStr for Rules<S> {
    type Err = String;

    /// # Errors
    ///
    /// The first invalid rule, with an example of a valid one.
    fn from_str(text: &str) -> Result<Self, String> {
        let rules = text.split(';').map(str::trim).filter(|rule| !rule.is_empty());
        Ok(Self(rules.map(Rule::parse).collect::<Result<_, _>>()?))
    }
}

impl<S: Subject> Rules<S> {
    /// Whether the first rule that matches reports. True if none does. `texts`: the texts that a subject's pattern is compared
    /// with.
    pub(super) fn reports(&self, texts: impl Fn(S) -> Vec<String>) -> bool {
        let applies = |rule: &&Rule<S>| texts(rule.subject).iter().any(|text| rule.pattern.matches(text));
        self.0.iter().find(applies).is_none_or(|rule| rule.report)
    }
}

impl<S: Subject> Rule<S> {
    fn parse(text: &str) -> Result<Self, String> {
        let expected = || {
            let names: Vec<&str> = S::NAMES.iter().map(|(name, _)| *name).collect();
            format!(
                "`{text}` is not a valid rule: expected `ignore` or `report` and one of {} with a pattern, \
                 for example `ignore function=check_*`",
                names.join(", ")
            )
        };
        let (action, rest) = text.split_once(char::is_whitespace).ok_or_else(expected)?;
        let (subject, pattern) = rest.split_once('=').ok_or_else(expected)?;
        let report = match action {
            "report" => true,
            "ignore" => false,
            _ => return Err(expected()),
        };
        let row = S::NAMES.iter().find(|(name, _)| *name == subject.trim());
        let (_, subject) = row.ok_or_else(expected)?;
        Ok(Self {
            report,
            subject: *subject,
            pattern: WildMatch::new(pattern.trim()),
        })
    }
}

/// The texts of a source position: the path and the file name, alone and with `:line`.
pub(super) fn file_texts(file: &str, line: u32) -> Vec<String> {
    let name = file.rsplit(['/', '\\']).next().unwrap_or_default();
    let with_line = [file, name].map(|file| format!("{file}:{line}"));
    [file, name].map(str::to_owned).into_iter().chain(with_line).collect()
}
