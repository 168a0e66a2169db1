//! The JSON report against its schema, and read back by the strict reader.

mod json_schema;

use json_schema::check;
use serde_json::Value as Json;
use std::path::Path;
use std::sync::Arc;
use vkabort_record::message_type::{Length, Member, Type};
use vkabort_record::print::record::PrintRecord;
use vkabort_record::records::{Contents, Record, Records};
use vkabort_record::scalar::Scalar;
use vkabort_record::scalar_type::ScalarType;
use vkabort_record::site::{
    EntryPoint, Frame, Location, ModuleHash, PrintArgument, PrintSite, Site, SiteId, SiteTable, Snippet, Span,
};
use vkabort_record::site_values::{Condition, Part, Place, SiteValues, Variable};
use vkabort_record::specialization::{LocalSize, PipelineStage, SpecConstant, Specialization};
use vkabort_report::Filter;
use vkabort_report::json::{Entry, SCHEMA, SCHEMA_VERSION, read_log};
use vkabort_report::{
    DroppedPrints, ModuleInfo, PendingCommand, PrintLine, PrintPlace, QueueProgress, QueueUse, Report, ReportOptions,
};

/// A condition with and without names, and a variable that the compiler has removed.
fn values() -> SiteValues {
    let variable = |name: &str, offset| Variable {
        name: name.into(),
        place: Some(Place {
            offset,
            ty: ScalarType::F32.into(),
        }),
    };
    let nameless = Place {
        offset: 8,
        ty: ScalarType::I32.into(),
    };
    let removed = Variable {
        name: "removed".into(),
        place: None,
    };
    SiteValues {
        condition: Some(Condition {
            text: vec![Part::Text("x < ".into()), Part::Value(nameless)],
            operands: vec![variable("x", 4)],
        }),
        variables: vec![variable("y", 0), removed],
        left_out: 3,
    }
}

fn schema() -> Json {
    serde_json::from_str(SCHEMA).expect("the schema is JSON")
}

fn location(line: u32) -> Location {
    Location {
        file: "a.slang".into(),
        line,
        column: 4,
        source: Some("abort();".into()),
    }
}

/// A message with a value of every kind.
fn message() -> Type {
    let vector = |count, component| Type::Vector { count, component };
    let mut types = vec![Type::string(4)];
    types.extend(ScalarType::ALL.iter().map(|&ty| Type::Scalar(ty)));
    types.extend([
        Type::Scalar(ScalarType::U32),
        vector(3, ScalarType::F32),
        Type::Matrix {
            columns: 2,
            rows: 2,
            component: ScalarType::F32,
            stride: 8,
            row_major: true,
        },
        Type::array(Length::Constant(2), 4, ScalarType::U32),
        Type::array(Length::Constant(2), 8, vector(2, ScalarType::I32)),
        Type::Struct {
            name: Some("Inner".into()),
            members: vec![Member::new(None, 0, ScalarType::U32)],
        },
    ]);
    let mut offset = 0;
    let members = types
        .into_iter()
        .enumerate()
        .map(|(index, ty)| {
            let member = Member {
                name: (index % 2 == 1).then(|| format!("m{index}")),
                offset,
                ty,
            };
            offset += member.ty.size();
            member
        })
        .collect();
    Type::Struct {
        name: Some("Message".into()),
        members,
    }
}

fn table() -> SiteTable {
    SiteTable {
        module_hash: ModuleHash(7),
        entry_points: [0, 2, 4, 5, 5313]
            .into_iter()
            .map(|execution_model| EntryPoint {
                name: format!("e{execution_model}"),
                execution_model,
                local_size: (execution_model == 5).then_some([2, 1, 1].map(LocalSize::Fixed)),
            })
            .collect(),
        sites: vec![Site {
            template: None,
            id: SiteId(0),
            word_offset: 99,
            function: "f".into(),
            entry_points: vec![0, 1, 2, 3, 4],
            callers: vec![
                Frame {
                    function: "main".into(),
                    location: Some(location(3)),
                },
                Frame {
                    function: "%9".into(),
                    location: None,
                },
            ],
            location: Some(location(9)),
            snippet: Some(Snippet {
                first_line: 8,
                lines: vec!["if (i > 6)".into(), "    abort();".into()],
                statement: Some(Span {
                    start: [9, 5],
                    end: [9, 13],
                }),
            }),
            message: message(),
            text: None,
            check: Some("loops".into()),
            is_of_faults: false,
            used_in: Some(Box::new(Frame {
                function: "g".into(),
                location: Some(location(12)),
            })),
            values: values(),
        }],
        constants: vec![SpecConstant {
            id: 3,
            name: Some("BLOCK".into()),
            default: Scalar::from_bits(ScalarType::U32, 64),
        }],
        ..SiteTable::default()
    }
}

/// Pipelines with and without a name, of which one specialises a constant.
fn stages() -> Vec<PipelineStage> {
    let stage = |object, name: &str, key| PipelineStage {
        object: Some(object),
        name: name.into(),
        execution_model: 5,
        entry_point: "e5".into(),
        specialization: Specialization {
            key,
            values: match key {
                0 => vec![],
                _ => vec![Scalar::from_bits(ScalarType::U32, 32)],
            },
        },
    };
    vec![stage(0, "p", 0), stage(1, "q", 9), stage(2, "", 0)]
}

fn reports() -> Vec<Report> {
    let size = message().size() as usize;
    let payload = |fill: u8, cut: usize| {
        let mut bytes = b"%u\0\0".to_vec();
        bytes.resize(size - cut, fill);
        bytes
    };
    let record = |model: u32, site, payload| Record {
        unit: 0,
        units: 4,
        code: ModuleHash(7).into(),
        site: SiteId(site),
        execution_model: model,
        specialization: 0,
        identity: [3, 4, 5, 1],
        contents: Contents::from(payload),
    };
    let records = Records {
        records: vec![
            record(5, 0, payload(0xff, 0)),
            record(0, 0, payload(0x3e, 0)),
            record(2, 0, payload(0x7f, 9)),
            record(4, 0, payload(0x81, 2)),
            record(5313, 0, payload(0, 0)),
            record(999, 1, b"limit %f\0\0\0\0\x01\0\0\0".to_vec()),
            record(5, 2, vec![1, 2, 3, 4, 5, 6, 7, 8, 9]),
            record(5, 2, vec![]),
            Record {
                specialization: 9,
                ..record(5, 0, payload(0xff, 0))
            },
        ],
        unfinished: 1,
        dropped: 2,
        ended: 3,
        control_lost: true,
        ..Records::default()
    };
    let table = Arc::new(table());
    let command = PendingCommand {
        name: "vkCmdDispatch",
        arguments: vec![("group_count_x", 4000)],
        stages: [(5, 0)].into(),
        number: 12,
        ..PendingCommand::default()
    };
    let progress = QueueProgress {
        queue: "graphics".into(),
        ended: Some(command.report()),
        begun: command.report(),
    };
    let info = move |_| ModuleInfo {
        sites: Some(table.clone()),
        name: Some("module \"x\"".into()),
        stages: stages(),
        commands: vec![command.clone()],
    };
    let options = ReportOptions {
        samples: 8,
        arena_bytes: Some(1 << 20),
        device: Some("llvmpipe".into()),
        queues: ["graphics", "(family 1, index 0)"]
            .map(|name| QueueUse {
                name: name.into(),
                graphics: true,
                compute: true,
                ..QueueUse::default()
            })
            .to_vec(),
    };
    let mut filtered = Report::build(&records, &info, &options);
    let filter: Filter = "ignore function=f".parse().expect("a rule");
    filter.apply(&mut filtered);
    filtered.summary.driver = vec!["page fault".into(), "watchdog (code 7, data 77)".into()];
    filtered.summary.pending = vec!["command buffer \"frame\" with 2 commands (labels: shadows)".into()];
    let of_other = QueueProgress {
        queue: "(family 1, index 0)".into(),
        ended: None,
        ..progress.clone()
    };
    filtered.summary.progress = vec![progress, of_other];
    filtered.summary.dump = Some("/tmp/abort-1".into());
    filtered.sites[0].repeats = Some(78);
    filtered.sites[0].command_buffer = Some("frame 7".into());
    filtered.sites[0].queue_labels = vec!["frame".into(), "shadows".into()];
    vec![
        filtered,
        Report::build(&records, &info, &options),
        Report::build(&records, &|_| ModuleInfo::default(), &ReportOptions::default()),
        Report::from_payloads(
            [payload(1, 0).as_slice(), b"text\0\0\0\0".as_slice(), &[9; 4]],
            &[info(ModuleHash(7).into())],
            &options,
        ),
        Report::from_payloads(
            [payload(1, 0).as_slice()],
            &[info(ModuleHash(7).into()), info(ModuleHash(7).into())],
            &options,
        ),
        Report::default(),
    ]
}

#[test]
fn every_line_fits_the_schema_and_reads_back_unchanged() {
    let schema = schema();
    let log_line = r#"{"type":"log","level":"info","message":"hello"}"#;
    let json: Json = serde_json::from_str(log_line).expect("a line is JSON");
    check(&schema, &json, &schema).expect("log lines fit");
    let mut log = format!("output of the application\n{log_line}\n");
    let mut lines = 0;
    for report in reports() {
        let text = report.json_lines();
        for line in text.lines() {
            let json: Json = serde_json::from_str(line).expect("a line is JSON");
            check(&schema, &json, &schema).unwrap_or_else(|e| panic!("{line}\n{e}"));
            assert!(line.starts_with("{\"type\":\""), "{line}");
            lines += 1;
        }
        log.push_str(&text);
        log.push_str("more output\n\n");
    }
    assert_eq!(lines, 3 + 4 + 4 + 4 + 2 + 1);
    assert_eq!(Report::read_json_lines(&log).expect("reads back"), reports());
}

#[test]
fn prints_fit_the_schema_and_read_back_unchanged() {
    let schema = schema();
    let mut table = table();
    table.prints = vec![PrintSite {
        function: "f".into(),
        location: Some(location(9)),
        format: "%u %s".into(),
        arguments: vec![PrintArgument::Value(ScalarType::U32.into()), PrintArgument::Unknown],
        ..PrintSite::default()
    }];
    let record = |site| PrintRecord {
        code: Some(ModuleHash(7).into()),
        site,
        execution_model: 5,
        identity: [3, 4, 5, 1],
        payload: [1].into(),
    };
    let place = PrintPlace::of(&table, &table.prints[0]);
    let prints = [0, 1].map(|site| PrintLine::new(&record(site), Some(&table)));
    let dropped = [(place, 4), (PrintPlace::default(), 5)].map(|(place, count)| DroppedPrints { place, count });
    let lines: Vec<String> = prints
        .iter()
        .map(PrintLine::json_line)
        .chain(dropped.iter().map(DroppedPrints::json_line))
        .collect();
    for line in &lines {
        let json: Json = serde_json::from_str(line).expect("a line is JSON");
        check(&schema, &json, &schema).unwrap_or_else(|e| panic!("{line}\n{e}"));
        let mut extended = json.clone();
        extended["extra"] = 1.into();
        assert!(check(&schema, &extended, &schema).is_err() && read_log(&extended.to_string()).is_err());
    }
    let entries = prints.into_iter().map(|print| Entry::Print(Box::new(print)));
    let entries: Vec<Entry> = entries.chain(dropped.into_iter().map(Entry::DroppedPrints)).collect();
    assert_eq!(read_log(&lines.concat()).expect("reads back"), entries);
    assert_eq!(Report::read_json_lines(&lines.concat()).expect("skips them"), []);
}

/// Folder with a file for each version: a line with the hash of its schema, and a report.
const VERSIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reports");

#[test]
fn reports_of_every_version_fit_the_schema_and_are_read() {
    let schema = schema();
    for entry in std::fs::read_dir(VERSIONS).expect("the folder") {
        let path = entry.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("text");
        for line in text.lines().filter(|line| line.starts_with('{')) {
            let json: Json = serde_json::from_str(line).expect("a line is JSON");
            check(&schema, &json, &schema).unwrap_or_else(|e| panic!("{}: {line}\n{e}", path.display()));
        }
        let reports = Report::read_json_lines(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let has_sites = |report: &Report| !report.sites.is_empty();
        assert!(
            !reports.is_empty() && reports.iter().all(has_sites),
            "{}",
            path.display()
        );
    }
}

/// `VKABORT_BLESS=1` writes the file of a new version.
#[test]
fn the_schema_changes_only_with_its_version() {
    let schema = schema();
    assert_eq!(schema["$id"], format!("urn:vkabort:report:{SCHEMA_VERSION}"));
    let hash = xxhash_rust::xxh3::xxh3_64(without_descriptions(&schema).as_bytes());
    let path = format!("{VERSIONS}/{SCHEMA_VERSION}.jsonl");
    if std::env::var_os("VKABORT_BLESS").is_some() && !Path::new(&path).exists() {
        let text = format!("schema {hash:016x}\n{}", reports()[3].json_lines());
        std::fs::write(&path, text).expect("writes");
    }
    let text = std::fs::read_to_string(&path).expect("VKABORT_BLESS=1 writes the file of a new version");
    assert_eq!(
        text.lines().next(),
        Some(format!("schema {hash:016x}").as_str()),
        "the schema has changed: raise the version in its $id"
    );
}

/// The schema as text, whatever the order of its keys.
fn without_descriptions(schema: &Json) -> String {
    match schema {
        Json::Object(keys) => {
            let keys = keys
                .iter()
                .filter(|(key, value)| *key != "description" || !value.is_string());
            let mut keys: Vec<String> = keys
                .map(|(key, value)| format!("{key}:{}", without_descriptions(value)))
                .collect();
            keys.sort();
            format!("{{{}}}", keys.join(","))
        }
        Json::Array(items) => {
            let items: Vec<String> = items.iter().map(without_descriptions).collect();
            format!("[{}]", items.join(","))
        }
        other => other.to_string(),
    }
}

#[test]
fn every_kind_of_value_and_invocation_occurs() {
    let text: String = reports().iter().map(Report::json_lines).collect();
    let scalars = ScalarType::ALL.iter().map(|ty| ty.name());
    for needed in scalars.chain(["string", "vector", "matrix", "array", "struct", "missing"]) {
        assert!(text.contains(&format!("\"type\":\"{needed}\"")), "{needed}");
    }
    for needed in ["global", "vertex", "fragment", "primitive", "launch", "unknown"] {
        assert!(text.contains(&format!("\"by\":\"{needed}\"")), "{needed}");
    }
    for needed in ["typed", "convention", "raw"] {
        assert!(text.contains(&format!("\"decoding\":\"{needed}\"")), "{needed}");
    }
    assert!(text.contains("\"nan\""));
    let (of_numbers, of_objects) = (
        r#""component":"u32","offset""#,
        r#"[{"component":"i32","type":"vector""#,
    );
    assert!(
        text.contains(of_numbers) && text.contains(of_objects),
        "both kinds of arrays"
    );
}

/// `VKABORT_BLESS=1` writes the names of the table into the schema.
#[test]
fn the_schema_names_every_scalar_type() {
    let names: Vec<String> = ScalarType::ALL
        .iter()
        .map(|ty| format!("        \"{}\"", ty.name()))
        .collect();
    let (before, list) = SCHEMA
        .split_once("  \"scalar_type\": {")
        .expect("the schema has scalar types");
    let (start, list) = list.split_once("\"enum\": [\n").expect("they are an enumeration");
    let (_, after) = list.split_once("\n      ]").expect("it ends");
    let generated = format!(
        "{before}  \"scalar_type\": {{{start}\"enum\": [\n{}\n      ]{after}",
        names.join(",\n")
    );
    if std::env::var_os("VKABORT_BLESS").is_some() {
        std::fs::write(
            concat!(env!("CARGO_MANIFEST_DIR"), "/schema/report.schema.json"),
            generated,
        )
        .expect("writes");
    } else {
        assert_eq!(generated, SCHEMA, "VKABORT_BLESS=1 writes the schema");
    }
}

#[test]
fn schema_and_reader_refuse_wrong_lines() {
    let schema = schema();
    let line = reports()[1].json_lines().lines().next().expect("a line").to_owned();
    let original: Json = serde_json::from_str(&line).expect("JSON");
    let broken = |edit: &dyn Fn(&mut Json)| {
        let mut json = original.clone();
        edit(&mut json);
        check(&schema, &json, &schema).is_err() && Report::read_json_lines(&json.to_string()).is_err()
    };
    assert!(!broken(&|_| {}));
    assert!(broken(&|j| j["extra"] = Json::Null));
    assert!(broken(&|j| j["version"] = "2.0.0".into()));
    assert!(broken(&|j| j["type"] = "other".into()));
    assert!(broken(&|j| j["type"] = "log".into()));
    assert!(broken(&|j| j["module_hash"] = "xyz".into()));
    assert!(broken(&|j| j["samples"][0]["invocation"]["extra"] = 1.into()));
    assert!(broken(&|j| j["samples"][0]["message"]["bytes"] = "abc".into()));
    assert!(broken(
        &|j| j["samples"][0]["message"]["value"]["members"][0]["offset"] = "0".into()
    ));
    assert!(broken(
        &|j| j["samples"][0]["message"]["value"]["members"][1]["extra"] = 0.into()
    ));
    assert!(broken(&|j| {
        j.as_object_mut().expect("an object").remove("stages");
    }));
}

#[test]
fn a_log_that_ends_early_keeps_its_sites_and_errors_name_their_line() {
    let text = reports()[1].json_lines();
    let without_summary: String = text.lines().take(2).map(|l| format!("{l}\n")).collect();
    let read = Report::read_json_lines(&without_summary).expect("reads");
    assert_eq!(read.len(), 1);
    assert_eq!(read[0].sites.len(), 2);
    assert_eq!(read[0].summary.invocations, 7);
    let error = Report::read_json_lines("\n{\"type\":\"abort\"}\n").expect_err("no version");
    assert_eq!(error.line, 2);
    assert!(Report::read_json_lines("{\n").is_err());
}
