//! [Rules](vkabort_record::rules) that select the sites to report.
//!
//! ```text
//! ignore function=check_*; report file=cull.comp:31; ignore file=*.comp; ignore message=out of *
//! ```

use crate::site_report::SiteReport;
use crate::summary::Report;
use std::str::FromStr;
use vkabort_record::rules::{Rules, Subject, file_texts};

/// Rules that select the sites to report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter(Rules<SiteSubject>);

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Sample;
    use vkabort_record::site::Location;

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
