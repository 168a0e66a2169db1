//! A finding with its place.

use vkabort_instrument::{Checked, Error, Rule};
use vkabort_record::site::{Location, Site};

/// A fault of a module.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Finding {
    /// Its kind.
    pub rule: Rule,
    /// Whether it is an error, rather than a warning.
    pub is_error: bool,
    /// The source file, or the module if the source is unknown.
    pub file: String,
    /// Line of the source file, from 1.
    pub line: Option<u32>,
    /// Column of the line, from 1.
    pub column: Option<u32>,
    /// The problem and its remedy.
    pub message: String,
    /// The check of the sanitizer that planted the abort.
    pub check: Option<String>,
}

impl Finding {
    /// The findings of a module.
    pub fn all_of(module: &str, checked: &Checked) -> impl Iterator<Item = Self> {
        checked.findings.iter().map(move |finding| {
            let site = finding.site.and_then(|site| checked.sites.site(site));
            Self::new(finding.rule, module, site, &finding.message)
        })
    }

    /// The finding that a module cannot be analysed.
    pub fn refused(module: &str, error: &Error) -> Self {
        Self::new(
            Rule::Refused,
            module,
            None,
            &format!("the layer refuses the module: {error}"),
        )
    }

    fn new(rule: Rule, module: &str, site: Option<&Site>, message: &str) -> Self {
        let number = |number: u32| (number > 0).then_some(number);
        let of_module = Self {
            rule,
            is_error: rule.is_error(),
            file: module.to_owned(),
            line: None,
            column: None,
            message: message.to_owned(),
            check: None,
        };
        let Some(site) = site else { return of_module };
        let finding = match &site.location {
            Some(Location { file, line, column, .. }) => Self {
                file: file.clone(),
                line: number(*line),
                column: number(*line).and(number(*column)),
                ..of_module
            },
            // Without a line, the function is the best description of the place.
            None => Self {
                message: format!("abort in `{}`: {message}", site.function),
                ..of_module
            },
        };
        match &site.check {
            Some(check) => Self {
                message: format!("check {check}: {}", finding.message),
                check: Some(check.clone()),
                ..finding
            },
            None => finding,
        }
    }

    /// `error` or `warning`.
    pub fn level(&self) -> &'static str {
        if self.is_error { "error" } else { "warning" }
    }
}

/// Findings for the tests of the formats.
#[cfg(test)]
pub fn examples() -> [Finding; 2] {
    let warning = Finding {
        rule: Rule::Format,
        is_error: false,
        file: "a,b.comp".to_owned(),
        line: Some(7),
        column: Some(5),
        message: "100% wrong:\na second line".to_owned(),
        check: Some("loops".to_owned()),
    };
    let error = Finding {
        rule: Rule::Size,
        is_error: true,
        file: "a.spv".to_owned(),
        line: None,
        column: None,
        message: "too large".to_owned(),
        check: None,
    };
    [warning, error]
}
