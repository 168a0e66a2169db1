//! The outcome of a run as JUnit XML, which continuous-integration systems show.

use std::fmt::Write;
use std::time::Duration;
use vkabort_conform::show::escape;
use vkabort_record::report::{Report, SiteReport, show_location};

/// One test case for the program and one, failed, for every site that aborted.
pub fn document(program: &str, exit: Option<&str>, time: Duration, reports: &[Report]) -> String {
    let sites: Vec<&SiteReport> = reports.iter().flat_map(|report| &report.sites).collect();
    let failures = sites.len() + usize::from(exit.is_some());
    let seconds = time.as_secs_f64();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        out,
        "<testsuites>\n  <testsuite name=\"vkabort\" tests=\"{}\" failures=\"{failures}\" errors=\"0\" time=\"{seconds:.3}\">",
        sites.len() + 1
    );
    let _ = write!(
        out,
        "    <testcase classname=\"vkabort\" name=\"{}\" time=\"{seconds:.3}\"",
        escape(program)
    );
    match exit {
        Some(exit) => {
            let _ = writeln!(
                out,
                ">\n      <failure type=\"exit\" message=\"{}\"/>\n    </testcase>",
                escape(exit)
            );
        }
        None => out.push_str("/>\n"),
    }
    for site in sites {
        let message = site
            .samples
            .first()
            .map(|s| s.message.text.as_str())
            .unwrap_or_default();
        let place = match (&site.location, &site.function, site.module_hash) {
            (Some(location), ..) => show_location(location),
            (None, Some(function), _) => function.clone(),
            (None, None, Some(hash)) => format!("module {hash}"),
            _ => "unknown place".to_owned(),
        };
        let mut whole = Report::default();
        whole.sites.push(site.clone());
        let _ = writeln!(
            out,
            "    <testcase classname=\"vkabort.shader\" name=\"{}\">\n      \
             <failure type=\"shader-abort\" message=\"{}\">{}</failure>\n    </testcase>",
            escape(&place),
            escape(message),
            escape(&whole.text(false))
        );
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkabort_record::message::Message;
    use vkabort_record::report::Sample;

    #[test]
    fn every_site_is_a_failed_test() {
        let mut report = Report::default();
        report.sites.push(SiteReport {
            function: Some("check<T>".into()),
            samples: vec![Sample {
                invocation: None,
                message: Message::untyped(b"a < b & \"c\""),
            }],
            ..SiteReport::default()
        });
        let text = document("app --x", None, Duration::from_millis(1500), &[report]);
        assert!(
            text.contains("tests=\"2\" failures=\"1\" errors=\"0\" time=\"1.500\""),
            "{text}"
        );
        assert!(text.contains("<testcase classname=\"vkabort\" name=\"app --x\" time=\"1.500\"/>"));
        assert!(text.contains("name=\"check&lt;T&gt;\""));
        assert!(text.contains("message=\"a &lt; b &amp; &quot;c&quot;\""));
        let quiet = document("app", Some("exit code 3"), Duration::ZERO, &[]);
        assert!(quiet.contains("failures=\"1\""));
        assert!(quiet.contains("<failure type=\"exit\" message=\"exit code 3\"/>"));
    }
}
