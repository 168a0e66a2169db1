//! Rules that people write to select places in code: an action, a subject and a pattern each.
//!
//! ```text
//! ignore function=check_*; report file=cull.comp:31; ignore file=*.comp
//! ```
//!
//! `;` separates the rules. The first rule that matches a place decides; a place without a matching rule is selected. In a
//! pattern `*` matches any text and `?` any character.

use std::str::FromStr;

/// A list of rules, by subjects of type `S`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules<S>(Vec<Rule<S>>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule<S> {
    report: bool,
    subject: S,
    pattern: Pattern,
}

/// A text in which `*` stands for any text and `?` for any character.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern(String);

/// The property of a place that a rule compares with its pattern.
pub trait Subject: Copy + 'static {
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
    pub fn reports(&self, texts: impl Fn(S) -> Vec<String>) -> bool {
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
            pattern: Pattern(pattern.trim().to_owned()),
        })
    }
}

impl Pattern {
    /// Whether the pattern matches the whole text. O(characters of the pattern * characters of the text).
    fn matches(&self, text: &str) -> bool {
        let (mut pattern, mut text) = (self.0.chars(), text.chars());
        // The characters behind the last `*`, and those behind the text that it stands for.
        let mut last_star = None;
        loop {
            let at = text.clone();
            match (pattern.next(), text.next()) {
                (None, None) => return true,
                (Some('*'), _) => {
                    text = at;
                    last_star = Some((pattern.clone(), text.clone()));
                }
                (Some(expected), Some(found)) if expected == '?' || expected == found => {}
                _ => {
                    let Some((behind, rest)) = &mut last_star else {
                        return false;
                    };
                    if rest.next().is_none() {
                        return false;
                    }
                    (pattern, text) = (behind.clone(), rest.clone());
                }
            }
        }
    }
}

/// The texts of a source position: the path and the file name, alone and with `:line`.
pub fn file_texts(file: &str, line: u32) -> Vec<String> {
    let name = file.rsplit(['/', '\\']).next().unwrap_or_default();
    let with_line = [file, name].map(|file| format!("{file}:{line}"));
    [file, name].map(str::to_owned).into_iter().chain(with_line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_texts() {
        let m = |pattern: &str, text: &str| Pattern(pattern.to_owned()).matches(text);
        assert!(m("", "") && m("*", "") && m("**", "abc") && m("a*c", "abbc") && m("*b*b*", "abab"));
        assert!(m("a?c", "aéc") && m("*aab", "aaaaab") && m("a*b?", "axbbx"));
        assert!(!m("", "a") && !m("a", "") && !m("a*c", "abcd") && !m("?", "") && !m("*ab", "aba"));
        let many = "a".repeat(3000);
        assert!(!m(&format!("{}b", "*a".repeat(50)), &many), "ends soon");
    }
}
