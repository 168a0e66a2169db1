//! Repeated aborts, and aborts that the report does not show.

use super::*;

#[test]
fn repeated_aborts_are_one_line() {
    let again = |invocations, repeats| {
        text_of(SiteReport {
            invocations,
            repeats: Some(repeats),
            ..over_three_lines(3)
        })
    };
    assert_eq!(
        again(312, 78),
        "vkabort: again: 312 invocations in at least 78 more submits at shaders/cull.comp:31:3\n"
    );
    assert!(again(1, 1).contains("again: 1 invocation in another submit at"));
}

#[test]
fn a_lost_count_and_the_drivers_description_are_at_the_end() {
    let records = Records {
        control_lost: true,
        ..Records::default()
    };
    let mut report = Report::build(&records, &|_| ModuleInfo::default(), &ReportOptions::default());
    report.summary.driver = vec!["page fault\nat 0x10".into()];
    let text = report.text(false);
    let expected = "vkabort: the abort count was lost with the device: there may have been more aborts\n\
        vkabort: the driver reports: page fault\\nat 0x10\n";
    assert!(text.starts_with(expected), "{text}");
}

#[test]
fn invocations_that_were_ended_for_another_are_named() {
    for (ended, expected) in [
        (
            1,
            "1 more invocation was ended, in a loop that may wait for one that aborted",
        ),
        (
            31,
            "31 more invocations were ended, in loops that may wait for one that aborted",
        ),
    ] {
        let mut report = Report::default();
        report.summary.ended = ended;
        assert!(report.text(false).contains(expected), "{}", report.text(false));
    }
    assert!(!Report::default().text(false).contains("ended"));
}

#[test]
fn a_full_arena_names_the_setting_to_raise() {
    let records = Records {
        unfinished: 2,
        dropped: 5,
        ..Records::default()
    };
    let options = ReportOptions {
        arena_bytes: Some(1 << 20),
        ..ReportOptions::default()
    };
    let report = Report::build(&records, &|_| ModuleInfo::default(), &options);
    assert!(!report.is_empty() && report.sites.is_empty());
    assert_eq!(
        report.text(false),
        "vkabort: 5 more aborts did not fit into the arena of 1048576 bytes: raise the setting `arena_size` to see them
vkabort: 2 messages were started but not completed
"
    );
    let empty = Report::build(&Records::default(), &|_| ModuleInfo::default(), &options);
    assert!(empty.is_empty());
    assert_eq!(empty.text(false), "vkabort: no shader aborted\n");
}
