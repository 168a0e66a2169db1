//! Queues and command buffers that may have run the shader.

use super::*;

/// The report of one abort while `queues` had pending work.
fn text_with(queues: Vec<QueueUse>, has_module: bool) -> String {
    let table = Arc::new(table());
    let info = move |_| ModuleInfo {
        sites: has_module.then(|| table.clone()),
        ..ModuleInfo::default()
    };
    let records = Records {
        records: vec![record(15, 7)],
        ..Records::default()
    };
    let options = ReportOptions {
        queues,
        ..ReportOptions::default()
    };
    Report::build(&records, &info, &options).text(false)
}

#[test]
fn all_queues_that_may_have_run_the_shader_are_named() {
    let objects = |queues, has_module| {
        let text = text_with(queues, has_module);
        let line = text.lines().find(|line| line.contains("= queue"));
        line.map(|line| line.trim().to_owned())
    };
    let unnamed = queue("(family 0, index 1)", true, true);
    assert_eq!(objects(vec![], true), None);
    assert_eq!(
        objects(vec![unnamed.clone()], false).as_deref(),
        Some("= queue (family 0, index 1)")
    );
    // A compute shader aborted, which the render queue cannot run.
    let all = vec![
        queue("a", true, true),
        queue("render", true, false),
        queue("b", false, true),
    ];
    assert_eq!(
        objects(all.clone(), true).as_deref(),
        Some("= queue \"a\" or \"b\" (each had pending work)")
    );
    let with_unnamed = [all, vec![unnamed]].concat();
    assert_eq!(
        objects(with_unnamed, false).as_deref(),
        Some("= queue \"a\", \"b\" or (family 0, index 1) (each had pending work)")
    );
}

#[test]
fn a_command_buffer_is_named_if_one_queue_is_left() {
    let named = |name: &str, compute: bool| QueueUse {
        command_buffer: Some(format!("of {name}")),
        ..queue(name, !compute, compute)
    };
    let text = |queues| text_with(queues, true);
    let found = text(vec![named("render", false), named("async", true)]);
    assert!(
        found.contains("= command buffer \"of async\", queue \"async\"\n"),
        "{found}"
    );
    let found = text(vec![named("a", true), named("b", true)]);
    assert!(!found.contains("command buffer"), "{found}");
}
