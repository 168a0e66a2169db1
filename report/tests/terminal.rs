//! Control characters in names and texts of shaders and drivers reach no terminal, break no line and keep JSON valid.

use vkabort_record::scalar::Scalar;
use vkabort_record::scalar_type::ScalarType;
use vkabort_record::site::{Frame, Location, ModuleHash, Snippet, Span};
use vkabort_report::Message;
use vkabort_report::{
    CommandReport, ConstantValue, QueueProgress, Report, Sample, SiteReport, SpecializationReport, StageReport,
    Summary, Totals,
};

/// A report in which every string contains `hostile`.
fn report(hostile: &str) -> Report {
    let text = format!("a{hostile}b");
    let location = Location {
        file: text.clone(),
        line: 3,
        column: 1,
        source: Some(text.clone()),
    };
    let site = SiteReport {
        module_hash: Some(ModuleHash(1)),
        module_name: Some(text.clone()),
        check: Some(text.clone()),
        function: Some(text.clone()),
        callers: vec![Frame {
            function: text.clone(),
            location: Some(location.clone()),
        }],
        location: Some(location),
        snippet: Some(Snippet {
            first_line: 2,
            lines: vec![text.clone(), text.clone()],
            statement: Some(Span {
                start: [3, 1],
                end: [3, 4],
            }),
        }),
        stages: vec![StageReport {
            workgroup_size: None,
            execution_model: 5,
            stage: text.clone(),
            entry_points: vec![text.clone()],
            invocations: 1,
        }],
        pipelines: vec![text.clone()],
        queues: vec![text.clone()],
        queue_labels: vec![text.clone()],
        commands: vec![CommandReport {
            command: text.clone(),
            arguments: vec![],
            has_other_arguments: false,
            number: 1,
            command_buffers: vec![text.clone()],
            labels: vec![text.clone()],
        }],
        labels: vec![text.clone()],
        specializations: vec![SpecializationReport {
            constants: vec![ConstantValue {
                id: 1,
                name: Some(text.clone()),
                value: Scalar::from_bits(ScalarType::U32, 7),
            }],
            pipelines: vec![text.clone()],
            ..SpecializationReport::default()
        }],
        command_buffer: Some(text.clone()),
        invocations: 1,
        distinct_messages: 1,
        samples: vec![Sample::new(Message::untyped(text.as_bytes()))],
        also_possible: vec![text.clone()],
        ..SiteReport::default()
    };
    Report {
        sites: vec![site],
        summary: Summary {
            device: Some(text.clone()),
            invocations: 1,
            driver: vec![text.clone()],
            pending: vec![text.clone()],
            progress: vec![QueueProgress {
                queue: text.clone(),
                begun: CommandReport {
                    labels: vec![text.clone()],
                    ..CommandReport::default()
                },
                ..QueueProgress::default()
            }],
            dump: Some(text.clone()),
            full: true,
            raise: Some(text.clone()),
            ..Summary::default()
        },
    }
}

fn hostile() -> impl Iterator<Item = char> {
    let controls = ('\0'..='\u{1f}').chain('\u{7f}'..='\u{9f}');
    // Bidirectional formatting, and characters that XML does not allow.
    controls.chain(['\u{202e}', '\u{2066}', '\u{fffe}', '\u{ffff}'])
}

#[test]
fn text_for_a_terminal_has_no_control_characters() {
    let lines = report("").text(false).lines().count();
    for c in hostile() {
        let text = report(&c.to_string()).text(false);
        let raw = text.contains(|found: char| found == c && found != '\n' && found != '\t');
        assert!(!raw, "{c:?} in {text:?}");
        // A message may have several lines; nothing else may.
        if c != '\n' {
            assert_eq!(text.lines().count(), lines, "{c:?} in {text:?}");
        }
    }
}

#[test]
fn counts_of_repeated_aborts_have_no_control_characters() {
    for c in hostile() {
        let mut report = report(&c.to_string());
        for site in &mut report.sites {
            site.repeats = Some(2);
        }
        for text in [report.text(false), Totals::of([&report]).table(false).into()] {
            let raw = text.contains(|found: char| found == c && found != '\n');
            assert!(!raw, "{c:?} in {text:?}");
            assert!(text.lines().count() <= 5, "{c:?} in {text:?}");
        }
    }
}

#[test]
fn json_lines_have_no_control_characters_and_keep_every_string() {
    for c in hostile() {
        let report = report(&c.to_string());
        let json = report.json_lines();
        let raw = json.contains(|found: char| found == c && found != '\n');
        assert!(!raw, "{c:?} in {json:?}");
        assert_eq!(json.lines().count(), 2, "{c:?} in {json:?}");
        let read = Report::read_json_lines(&json).expect("valid lines");
        assert_eq!(read, [report]);
    }
}
