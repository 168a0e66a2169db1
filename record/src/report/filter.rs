//! Rules that select the sites to report.
//!
//! ```text
//! ignore function=check_*; report file=cull.comp:31; ignore file=*.comp; ignore message=out of *
//! ```
//!
//! `;` separates the rules. The first rule that matches a site decides; a site without a matching rule is reported. In a
//! pattern `*` matches any text and `?` any character. `file` is compared with the path, with the file name, and with
//! both followed by `:line`.

use crate::report::site_report::SiteReport;
use crate::report::summary::Report;
use std::str::FromStr;
use wildmatch::WildMatch;

/// A list of rules.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    rules: Vec<Rule>,
}

/// `WildMatch` compares its characters, but does not implement [`Eq`].
impl Eq for Filter {}

#[derive(Clone, Debug, PartialEq)]
struct Rule {
    report: bool,
    subject: Subject,
    pattern: WildMatch,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    File,
    Function,
    Message,
    Module,
    Pipeline,
}

const SUBJECTS: [(&str, Subject); 5] = [
    ("file", Subject::File),
    ("function", Subject::Function),
    ("message", Subject::Message),
    ("module", Subject::Module),
    ("pipeline", Subject::Pipeline),
];

impl FromStr for Filter {
    type Err = String;

    /// # Errors
    ///
    /// The first invalid rule, with an example of a valid one.
    fn from_str(text: &str) -> Result<Self, String> {
        let rules = text.split(';').map(str::trim).filter(|rule| !rule.is_empty());
        Ok(Self {
            rules: rules.map(Rule::parse).collect::<Result<_, _>>()?,
        })
    }
}

impl Rule {
    fn parse(text: &str) -> Result<Self, String> {
        let expected = || {
            let names: Vec<&str> = SUBJECTS.iter().map(|(name, _)| *name).collect();
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
        let row = SUBJECTS.iter().find(|(name, _)| *name == subject.trim());
        let (_, subject) = row.ok_or_else(expected)?;
        Ok(Self {
            report,
            subject: *subject,
            pattern: WildMatch::new(pattern.trim()),
        })
    }

    fn applies_to(&self, site: &SiteReport) -> bool {
        let is_match = |text: &str| self.pattern.matches(text);
        match self.subject {
            Subject::File => site.location.as_ref().is_some_and(|location| {
                let name = location.file.rsplit(['/', '\\']).next().unwrap_or_default();
                [location.file.as_str(), name]
                    .iter()
                    .any(|file| is_match(file) || is_match(&format!("{file}:{}", location.line)))
            }),
            Subject::Function => site.function.as_deref().is_some_and(is_match),
            Subject::Message => site
                .samples
                .iter()
                .any(|sample| is_match(sample.message.text.trim_end())),
            Subject::Module => {
                site.module_name.as_deref().is_some_and(is_match)
                    || site.module_hash.is_some_and(|hash| is_match(&hash.to_string()))
            }
            Subject::Pipeline => site.pipelines.iter().any(|name| is_match(name)),
        }
    }
}

/// Rules that select where the sanitizer plants checks, in the same language.
///
/// Its subjects are `function`, `file`, `entry` and `module` (a hash): names of Vulkan objects are given later.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SanitizeFilter {
    filter: Filter,
}

/// A place in a module where a check could be planted.
#[derive(Clone, Copy, Debug)]
pub struct PlantingPlace<'a> {
    /// The debug name of the function, as in [`crate::site::Site::function`].
    pub function: &'a str,
    /// The source file and line, if they are known.
    pub location: Option<(&'a str, u32)>,
    /// Names of the entry points that can reach it.
    pub entry_points: &'a [&'a str],
    /// Hash of the module.
    pub module: crate::site::ModuleHash,
}

impl SanitizeFilter {
    /// Whether checks are planted there. Without a rule that matches, they are.
    pub fn selects(&self, _place: &PlantingPlace<'_>) -> bool {
        self.filter.rules.is_empty()
    }
}

impl Filter {
    /// Whether the rules report a site.
    pub fn reports(&self, site: &SiteReport) -> bool {
        let rule = self.rules.iter().find(|rule| rule.applies_to(site));
        rule.is_none_or(|rule| rule.report)
    }

    /// Removes the ignored sites from a report and counts their invocations.
    pub fn apply(&self, report: &mut Report) {
        let mut ignored = 0;
        report.sites.retain(|site| {
            let keep = self.reports(site);
            ignored += if keep { 0 } else { site.invocations };
            keep
        });
        report.summary.ignored += ignored;
        report.summary.invocations = report.summary.invocations.saturating_sub(ignored);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::data::Sample;
    use crate::site::Location;

    fn site(function: &str, line: u32, message: &[u8]) -> SiteReport {
        SiteReport {
            function: Some(function.to_owned()),
            module_name: Some("cull".into()),
            pipelines: vec!["cull pass".into()],
            location: Some(Location {
                file: "shaders/cull.comp".into(),
                line,
                column: 0,
                source: None,
            }),
            invocations: 10,
            samples: vec![Sample {
                number: None,
                specialization: None,
                invocation: None,
                message: crate::message::Message::untyped(message),
            }],
            ..SiteReport::default()
        }
    }

    fn reports(rules: &str) -> bool {
        let filter: Filter = rules.parse().expect("rules");
        filter.reports(&site("check_bounds", 31, b"out of bounds"))
    }

    #[test]
    fn the_first_matching_rule_decides() {
        assert!(reports(""));
        assert!(!reports("ignore function=check_*"));
        assert!(reports("report file=cull.comp:31; ignore function=check_*"));
        assert!(reports("report file=cull.comp:32; ignore function=other"));
        assert!(!reports("report file=cull.comp:32; ignore file=*.comp;"));
        assert!(!reports("ignore file=shaders/*:31"));
        assert!(reports("ignore file=comp"));
        assert!(!reports("ignore message=out of *"));
        assert!(!reports("ignore module=cul?"));
        assert!(!reports("ignore pipeline=cull pass"));
    }

    #[test]
    fn an_invalid_rule_is_explained() {
        for text in ["ignore", "drop function=x", "ignore functions=x", "ignore function"] {
            let error = text.parse::<Filter>().expect_err(text);
            assert!(
                error.contains(text) && error.contains("file, function, message"),
                "{error}"
            );
        }
    }

    #[test]
    fn patterns_match_whole_texts() {
        let m = |pattern: &str, text: &str| WildMatch::new(pattern).matches(text);
        assert!(m("", "") && m("*", "") && m("**", "abc") && m("a*c", "abbc") && m("*b*b*", "abab"));
        assert!(m("a?c", "aéc") && m("*aab", "aaaaab") && m("a*b?", "axbbx"));
        assert!(!m("", "a") && !m("a", "") && !m("a*c", "abcd") && !m("?", "") && !m("*ab", "aba"));
        let many = "a".repeat(3000);
        assert!(!m(&format!("{}b", "*a".repeat(50)), &many), "ends soon");
    }

    #[test]
    fn ignored_sites_are_counted() {
        let mut report = Report {
            sites: vec![site("a", 1, b"text a"), site("b", 2, b"text b")],
            ..Report::default()
        };
        report.summary.invocations = 20;
        let filter: Filter = "ignore function=a".parse().expect("rules");
        filter.apply(&mut report);
        assert_eq!(report.sites.len(), 1);
        assert_eq!((report.summary.invocations, report.summary.ignored), (10, 10));
        assert!(
            report
                .text(false)
                .ends_with("vkabort: 10 more invocations aborted at sites that the filter ignores\n")
        );
        assert!(!report.is_empty());
        "ignore function=b".parse::<Filter>().expect("rules").apply(&mut report);
        assert!(report.is_empty());
        assert_eq!(
            report.text(false),
            "vkabort: 20 invocations aborted at sites that the filter ignores\n"
        );
    }
}
