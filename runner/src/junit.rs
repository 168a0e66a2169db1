//! Results as JUnit XML.

use crate::{CaseResult, Outcome};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

/// A document with one test case for every result. `suite` is a name of words, the first part of the classes' names.
pub fn document(suite: &str, all: &[CaseResult]) -> String {
    let class = suite.replace(' ', ".");
    let mut suite = TestSuite::new(suite);
    suite.set_time(all.iter().map(|result| result.time).sum());
    suite.add_test_cases(all.iter().map(|result| test_case(&class, result)));
    let mut report = Report::unnamed();
    report.add_test_suite(suite);
    // Writing into memory does not fail.
    report.to_string().unwrap_or_default()
}

fn test_case(class: &str, result: &CaseResult) -> TestCase {
    let (group, name) = result.case.name.split_once('.').unwrap_or(("", result.case.name));
    let (outcome, detail) = (result.verdict.outcome, &result.verdict.detail);
    let rule = result.case.rule;
    let rule = rule.map_or_else(String::new, |rule| format!("{}: \"{}\"", rule.section, rule.sentence));
    let status = match outcome {
        Outcome::Pass | Outcome::Warn => TestCaseStatus::success(),
        Outcome::Skip => TestCaseStatus::skipped(),
        Outcome::Fail => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Outcome::Crash | Outcome::Hang => TestCaseStatus::non_success(NonSuccessKind::Error),
    };
    let mut case = TestCase::new(name, status);
    case.set_classname(format!("{class}.{group}")).set_time(result.time);
    match outcome {
        Outcome::Pass if detail.is_empty() => {}
        Outcome::Pass => {
            case.set_system_out(detail);
        }
        Outcome::Warn => {
            case.set_system_out(format!("warning: {detail} ({rule})"));
        }
        Outcome::Skip => {
            case.status.set_message(detail);
        }
        Outcome::Fail => {
            case.status
                .set_type("conformance")
                .set_message(detail)
                .set_description(rule);
        }
        Outcome::Crash | Outcome::Hang => {
            case.status
                .set_type(outcome.name())
                .set_message(detail)
                .set_description(rule);
        }
    }
    case
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::one_of_each;

    #[test]
    fn every_check_is_a_test_case() {
        let xml = document("vkabort conform", &one_of_each());
        let counts = "tests=\"6\" skipped=\"1\" errors=\"2\" failures=\"1\" time=\"9.000\"";
        assert!(xml.contains(counts), "{xml}");
        assert_eq!(xml.matches("<testcase ").count(), 6);
        assert!(xml.contains("<skipped message=\"a &lt; skip\"/>"), "{xml}");
        assert!(xml.contains("<error message=\"a &lt; hang\" type=\"hang\">"), "{xml}");
    }
}
