//! The outcome of `vkabort run` as JUnit XML, which continuous-integration systems display.

use quick_junit::{NonSuccessKind, Report as Document, TestCase, TestCaseStatus, TestSuite};
use std::time::Duration;
use vkabort_record::escape::one_line;
use vkabort_record::site::Location;
use vkabort_report::{Report, SiteReport, Totals, show_location};

/// One test case for the program, failed if `exit` describes an unsuccessful end, and one failed test case for every
/// site that aborted, however often it was reported.
pub fn document(program: &str, exit: Option<&str>, time: Duration, reports: &[Report]) -> String {
    let mut own = match exit {
        Some(exit) => failed("exit", exit, program),
        None => TestCase::new(program, TestCaseStatus::success()),
    };
    own.set_classname("vkabort").set_time(time);
    let sites = Totals::of(reports).sites.into_iter().map(|total| {
        let site = total.first;
        let message = site.samples.first().map(|sample| sample.message.text.as_str());
        let kind = match &site.check {
            Some(check) => format!("shader-check-{check}"),
            None => "shader-abort".to_owned(),
        };
        let mut case = failed(&kind, message.unwrap_or_default(), &place(&site));
        let mut whole = Report::default();
        if total.submits > 1 {
            whole.sites.push(SiteReport {
                invocations: total.invocations.saturating_sub(site.invocations),
                repeats: Some(total.submits - 1),
                ..site.clone()
            });
        }
        whole.sites.insert(0, site);
        case.status.set_description(whole.text(false));
        case.set_classname("vkabort.shader");
        case
    });
    let mut suite = TestSuite::new("vkabort");
    suite.set_time(time).add_test_case(own).add_test_cases(sites);
    let mut document = Document::unnamed();
    document.add_test_suite(suite);
    // Writing into memory does not fail.
    document.to_string().unwrap_or_default()
}

fn failed(kind: &str, message: &str, name: &str) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_type(kind).set_message(message);
    TestCase::new(name, status)
}

/// Source line, function or module of a site. Without a column: some compilers give none, and test names should last.
fn place(site: &SiteReport) -> String {
    let place = match (&site.location, &site.function, site.module_hash) {
        (Some(location), ..) => show_location(&Location {
            column: 0,
            ..location.clone()
        }),
        (None, Some(function), _) => function.clone(),
        (None, None, Some(hash)) => format!("module {hash}"),
        _ => "unknown place".to_owned(),
    };
    one_line(&place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkabort_report::Message;
    use vkabort_report::{ConditionReport, Sample};

    #[test]
    fn characters_that_xml_does_not_allow_are_escaped() {
        let hostile = "a\u{1b}[31m\u{fffe}\u{9b}\0b";
        let mut report = Report::default();
        report.sites.push(SiteReport {
            function: Some(hostile.into()),
            module_name: Some(hostile.into()),
            samples: vec![Sample::new(Message::untyped(hostile.as_bytes()))],
            ..SiteReport::default()
        });
        let text = document("app", None, Duration::ZERO, &[report]);
        let raw = |c: char| (c.is_control() && c != '\n') || c == '\u{fffe}';
        assert!(!text.contains(raw), "{text:?}");
        assert!(text.contains("name=\"a\\x1b[31m\\u{fffe}\\u{9b}\\x00b\""), "{text}");
    }

    #[test]
    fn every_site_is_a_failed_test() {
        let mut report = Report::default();
        report.sites.push(SiteReport {
            function: Some("check<T>".into()),
            samples: vec![Sample::new(Message::untyped(b"a < b & \"c\""))],
            ..SiteReport::default()
        });
        let text = document("app --x", None, Duration::from_millis(1500), &[report.clone()]);
        assert!(
            text.contains("tests=\"2\" skipped=\"0\" errors=\"0\" failures=\"1\" time=\"1.500\""),
            "{text}"
        );
        assert!(text.contains("<testcase name=\"app --x\" classname=\"vkabort\" time=\"1.500\"/>"));
        assert!(text.contains("name=\"check&lt;T&gt;\""));
        let again = [report.clone(), report.clone()];
        let again = document("app", None, Duration::ZERO, &again);
        assert!(
            again.contains("failures=\"1\"") && again.contains("in another submit"),
            "{again}"
        );
        assert!(text.contains("message=\"a &lt; b &amp; &quot;c&quot;\""));
        report.sites[0].samples[0].condition = Some(ConditionReport {
            text: "index >= count".to_owned(),
            values: Vec::new(),
        });
        let with_condition = document("app", None, Duration::ZERO, &[report.clone()]);
        assert!(
            with_condition.contains("= condition: index &gt;= count"),
            "{with_condition}"
        );
        report.sites[0].check = Some("loops".to_owned());
        let planted = document("app", None, Duration::ZERO, &[report]);
        assert!(
            planted.contains("type=\"shader-check-loops\"") && planted.contains("= check: loops"),
            "{planted}"
        );
        let text = document("app", Some("exit code 3"), Duration::ZERO, &[]);
        assert!(text.contains("failures=\"1\""));
        assert!(
            text.contains("<failure message=\"exit code 3\" type=\"exit\"/>"),
            "{text}"
        );
    }
}
