//! Rules that select the sites to report, and those that select where the sanitizer plants checks.
//!
//! ```text
//! ignore function=check_*; report file=cull.comp:31; ignore file=*.comp; ignore message=out of *
//! ```
//!
//! `;` separates the rules. The first rule that matches a site decides; a site without a matching rule is reported. In a
//! pattern `*` matches any text and `?` any character. `file` is compared with the path, with the file name, and with
//! both followed by `:line`.

use crate::report::filter_rules::{Rules, Subject, file_texts};
use crate::report::site_report::SiteReport;
use crate::report::summary::Report;
use crate::site::ModuleHash;
use std::str::FromStr;

/// Rules that select the sites to report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter(Rules<SiteSubject>);

/// `WildMatch` compares its characters, but does not implement [`Eq`].
impl Eq for Filter {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SiteSubject {
    File,
    Function,
    Message,
    Module,
    Pipeline,
}

impl Subject for SiteSubject {
    const NAMES: &'static [(&'static str, Self)] = &[
        ("file", Self::File),
        ("function", Self::Function),
        ("message", Self::Message),
        ("module", Self::Module),
        ("pipeline", Self::Pipeline),
    ];
}

impl FromStr for Filter {
    type Err = String;

    /// # Errors
    ///
    /// The first invalid rule, with an example of a valid one.
    fn from_str(text: &str) -> Result<Self, String> {
        text.parse().map(Self)
    }
}

impl Filter {
    /// Whether the rules report a site.
    pub fn reports(&self, site: &SiteReport) -> bool {
        self.0.reports(|subject| match subject {
            SiteSubject::File => {
                let location = site.location.as_ref();
                location.map_or_else(Vec::new, |location| file_texts(&location.file, location.line))
            }
            SiteSubject::Function => site.function.iter().cloned().collect(),
            SiteSubject::Message => {
                let texts = site.samples.iter().map(|sample| sample.message.text.trim_end());
                texts.map(str::to_owned).collect()
            }
            SiteSubject::Module => {
                let hash = site.module_hash.map(|hash| hash.to_string());
                site.module_name.iter().cloned().chain(hash).collect()
            }
            SiteSubject::Pipeline => site.pipelines.clone(),
        })
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

/// Rules that select where the sanitizer plants checks.
///
/// Names of Vulkan objects are given after their modules are rewritten, so they cannot select.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SanitizeFilter(Rules<PlaceSubject>);

impl Eq for SanitizeFilter {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlaceSubject {
    Entry,
    File,
    Function,
    Module,
}

impl Subject for PlaceSubject {
    const NAMES: &'static [(&'static str, Self)] = &[
        ("entry", Self::Entry),
        ("file", Self::File),
        ("function", Self::Function),
        ("module", Self::Module),
    ];
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
    pub module: ModuleHash,
}

impl FromStr for SanitizeFilter {
    type Err = String;

    /// # Errors
    ///
    /// The first invalid rule, with an example of a valid one.
    fn from_str(text: &str) -> Result<Self, String> {
        text.parse().map(Self)
    }
}

impl SanitizeFilter {
    /// Whether checks are planted there.
    pub fn selects(&self, place: &PlantingPlace<'_>) -> bool {
        self.0.reports(|subject| match subject {
            PlaceSubject::Entry => place.entry_points.iter().map(|name| (*name).to_owned()).collect(),
            PlaceSubject::File => place
                .location
                .map_or_else(Vec::new, |(file, line)| file_texts(file, line)),
            PlaceSubject::Function => vec![place.function.to_owned()],
            PlaceSubject::Module => vec![place.module.to_string()],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::data::Sample;
    use crate::site::Location;
    use wildmatch::WildMatch;

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
            samples: vec![Sample::new(crate::message::Message::untyped(message))],
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
    fn checks_are_planted_where_the_first_matching_rule_selects() {
        let place = PlantingPlace {
            function: "walk",
            location: Some(("shaders/bvh.comp", 31)),
            entry_points: &["main", "trace"],
            module: ModuleHash(0xab),
        };
        let selects = |rules: &str| {
            let filter: SanitizeFilter = rules.parse().expect("rules");
            filter.selects(&place)
        };
        assert!(selects(""));
        assert!(!selects("ignore function=w*"));
        assert!(selects("report entry=trace; ignore function=*"));
        assert!(!selects("report entry=other; ignore file=bvh.comp:31"));
        assert!(selects("ignore file=bvh.comp:32"));
        assert!(!selects("ignore module=00000000000000ab"));
        let error = "ignore pipeline=x"
            .parse::<SanitizeFilter>()
            .expect_err("not a subject");
        assert!(error.contains("one of entry, file, function, module"), "{error}");
        let nowhere = PlantingPlace {
            location: None,
            ..place
        };
        let filter: SanitizeFilter = "ignore file=*".parse().expect("rules");
        assert!(filter.selects(&nowhere));
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
