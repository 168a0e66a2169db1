//! Tests of [`super`]: whole reports as expected text.

use super::*;
use crate::data::{ModuleInfo, QueueUse, ReportOptions};
use std::sync::Arc;
use vkabort_record::message_type::{Member, Type};
use vkabort_record::records::{Record, Records};
use vkabort_record::scalar::Scalar;
use vkabort_record::scalar_type::ScalarType;
use vkabort_record::site::{EntryPoint, Frame, Location, ModuleHash, Site, SiteId, SiteTable, Snippet, Span};
use vkabort_record::specialization::{LocalSize, PipelineStage};

#[path = "text_count_tests.rs"]
mod count;
#[path = "text_queue_tests.rs"]
mod queue;
#[path = "text_specialization_tests.rs"]
mod specialization;
#[path = "text_statement_tests.rs"]
mod statement;

const HASH: ModuleHash = ModuleHash(0x5a6b_0000_0000_0001);

fn location(line: u32, column: u32, source: Option<&str>) -> Location {
    Location {
        file: "shaders/cull.comp".into(),
        line,
        column,
        source: source.map(str::to_owned),
    }
}

fn table() -> SiteTable {
    SiteTable {
        module_hash: HASH,
        entry_points: vec![EntryPoint {
            name: "main".into(),
            execution_model: 5,
            local_size: Some([8, 1, 1].map(LocalSize::Fixed)),
        }],
        sites: vec![Site {
            id: SiteId(0),
            word_offset: 321,
            function: "check".into(),
            entry_points: vec![0],
            callers: vec![Frame {
                function: "main".into(),
                location: Some(location(52, 0, None)),
            }],
            location: Some(location(31, 9, Some("\tif (i > 6) abortEXT(\"bad index %u\", i);"))),
            snippet: None,
            message: Type::structure([
                Member::new(None, 0, Type::string(16)),
                Member::new(Some("i"), 16, ScalarType::U32),
            ]),
            text: Some("bad index %u".into()),
            ..Site::default()
        }],
        ..SiteTable::default()
    }
}

fn message(index: u32) -> Vec<u8> {
    [b"bad index %u\0\0\0\0".as_slice(), &index.to_le_bytes()].concat()
}

fn record(global: u32, index: u32) -> Record {
    Record {
        unit: 0,
        units: 4,
        code: HASH.into(),
        site: SiteId(0),
        execution_model: 5,
        specialization: 0,
        identity: [global, 0, 0, global % 8],
        contents: message(index).into(),
    }
}

fn text(records: Vec<Record>, has_module: bool) -> String {
    let table = Arc::new(table());
    let info = move |_| match has_module {
        true => ModuleInfo {
            sites: Some(table.clone()),
            name: Some("cull".into()),
            stages: vec![PipelineStage {
                object: Some(1),
                name: "cull pass".into(),
                execution_model: 5,
                entry_point: "main".into(),
                ..PipelineStage::default()
            }],
            ..ModuleInfo::default()
        },
        false => ModuleInfo::default(),
    };
    let records = Records {
        records,
        ..Records::default()
    };
    let options = ReportOptions {
        queues: vec![queue("render", true, false), queue("compute", false, true)],
        ..ReportOptions::default()
    };
    Report::build(&records, &info, &options).text(false)
}

fn queue(name: &str, graphics: bool, compute: bool) -> QueueUse {
    QueueUse {
        name: name.into(),
        graphics,
        compute,
        ..QueueUse::default()
    }
}

#[test]
fn one_abort_of_a_module_with_debug_info() {
    assert_eq!(
        text(vec![record(15, 7)], true),
        r#"vkabort: shader aborted: bad index 7
  --> shaders/cull.comp:31:9
   |
31 |     if (i > 6) abortEXT("bad index %u", i);
   |            ^
   |
   = compute entry point `main`, workgroup size 8 x 1 x 1, module "cull" (5a6b000000000001), function `check` called from `main` (shaders/cull.comp:52)
   = pipeline "cull pass", queue "compute"
   = invocation global (15, 0, 0), local (7, 0, 0) in workgroup (1, 0, 0)
"#
    );
}

#[test]
fn the_check_that_planted_an_abort_is_named() {
    let mut table = table();
    table.sites[0].check = Some("loops".into());
    table.sites.push(Site {
        id: SiteId(1),
        check: Some("breaks".into()),
        ..table.sites[0].clone()
    });
    let module = ModuleInfo {
        sites: Some(Arc::new(table)),
        ..ModuleInfo::default()
    };
    let report = Report::build(
        &Records {
            records: vec![record(3, 7)],
            ..Records::default()
        },
        &|_| module.clone(),
        &ReportOptions::default(),
    );
    assert!(
        report
            .text(false)
            .contains("\n   = check: loops\n   = compute entry point `main`"),
        "{}",
        report.text(false)
    );
    // The driver's message does not say which of the sites sent it; the check is known if they agree.
    let message = message(7);
    let of_driver = |module| Report::from_payloads([message.as_slice()], &[module], &ReportOptions::default());
    let report = of_driver(module.clone());
    assert_eq!(
        (report.sites[0].check.as_deref(), report.sites[0].also_possible.len()),
        (None, 2)
    );
    let mut table = module.sites.as_deref().expect("a table").clone();
    table.sites[1].check = Some("loops".into());
    let report = of_driver(ModuleInfo {
        sites: Some(Arc::new(table)),
        ..module
    });
    assert_eq!(report.sites[0].check.as_deref(), Some("loops"));
}

#[test]
fn many_aborts_at_one_site() {
    let records = (3..15).map(|i| record(i, i % 5)).collect();
    assert_eq!(
        text(records, true),
        r#"vkabort: shader aborted: bad index 3
  --> shaders/cull.comp:31:9
   |
31 |     if (i > 6) abortEXT("bad index %u", i);
   |            ^
   |
   = compute entry point `main`, workgroup size 8 x 1 x 1, module "cull" (5a6b000000000001), function `check` called from `main` (shaders/cull.comp:52)
   = pipeline "cull pass", queue "compute"
   = invocation global (3, 0, 0), local (3, 0, 0) in workgroup (0, 0, 0)
   = 12 invocations aborted here, ids (3, 0, 0) to (14, 0, 0), 5 different messages
     2: bad index 4  [global (4, 0, 0), local (4, 0, 0) in workgroup (0, 0, 0)]
     3: bad index 0  [global (5, 0, 0), local (5, 0, 0) in workgroup (0, 0, 0)]
     4: bad index 1  [global (6, 0, 0), local (6, 0, 0) in workgroup (0, 0, 0)]
     ...
"#
    );
}

#[test]
fn an_abort_of_an_unknown_module() {
    assert_eq!(
        text(vec![record(15, 7)], false),
        r#"vkabort: shader aborted: bad index 7
 |
 = compute shader, module 5a6b000000000001
 = queue "compute"
 = invocation global (15, 0, 0), local index 7
 = note: unknown site: the types are guessed from the format
 = bytes: 62616420 696e6465 78202575 00000000 07000000
"#
    );
}

#[test]
fn an_abort_in_a_module_without_debug_info() {
    let mut table = table();
    for site in &mut table.sites {
        site.location = None;
        site.callers.clear();
        site.function = "%12".into();
    }
    let table = Arc::new(table);
    let info = |_| ModuleInfo {
        sites: Some(table.clone()),
        ..ModuleInfo::default()
    };
    let records = Records {
        records: vec![record(0, 9)],
        ..Records::default()
    };
    assert_eq!(
        Report::build(&records, &info, &ReportOptions::default()).text(false),
        "vkabort: shader aborted: bad index 9
--> module 5a6b000000000001, word 321
 = compute entry point `main`, workgroup size 8 x 1 x 1, function `%12`
 = invocation global (0, 0, 0), local (0, 0, 0) in workgroup (0, 0, 0)
 = help: compile with -gVS (glslang) or -g (Slang) to see the source line
"
    );
}

/// A site with an abort over three lines in line 31 to 33 of a source.
fn over_three_lines(column: u32) -> SiteReport {
    let lines = [
        "\tif (i > 6) {",
        "\t\tabortEXT(\"bad index %u\",",
        "\t\t\ti",
        "\t\t);",
        "\t}",
    ];
    SiteReport {
        location: Some(location(31, column, Some(lines[1]))),
        snippet: Some(Snippet {
            first_line: 30,
            lines: lines.map(str::to_owned).to_vec(),
            statement: Some(Span {
                start: [31, 3],
                end: [33, 5],
            }),
        }),
        word_offset: Some(321),
        ..SiteReport::default()
    }
}

fn text_of(site: SiteReport) -> String {
    let report = Report {
        sites: vec![site],
        ..Report::default()
    };
    report.text(false)
}

#[test]
fn the_dump_is_named_once_below_the_last_site() {
    let mut report = Report {
        sites: vec![over_three_lines(3), over_three_lines(3)],
        ..Report::default()
    };
    assert!(!report.text(false).contains("dump"));
    report.summary.dump = Some("/tmp/abort-1-2-0".into());
    let text = report.text(false);
    assert!(
        text.ends_with("   = dump: /tmp/abort-1-2-0\n") && text.matches("dump").count() == 1,
        "{text}"
    );
    report.sites.clear();
    report.summary.dropped = 1;
    report.summary.full = true;
    assert!(report.text(false).ends_with("vkabort: dump: /tmp/abort-1-2-0\n"));
}

#[test]
fn colours_do_not_change_the_text() {
    let mut report = Report::default();
    report.sites.push(SiteReport {
        location: Some(location(5, 3, Some("a b c"))),
        ..SiteReport::default()
    });
    let colored = report.text(true);
    let mut plain = String::new();
    let mut rest = colored.as_str();
    while let Some((before, after)) = rest.split_once('\x1b') {
        plain.push_str(before);
        rest = after.split_once('m').map_or("", |(_, tail)| tail);
    }
    plain.push_str(rest);
    assert!(colored.len() > plain.len());
    assert_eq!(plain, report.text(false));
    assert!(
        plain.starts_with("vkabort: shader aborted: (empty message)\n"),
        "{plain}"
    );
}
