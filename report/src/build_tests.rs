//! Tests of [`super`].

use super::*;
use crate::data::Extent;
use std::sync::Arc;
use vkabort_record::invocation::Invocation;
use vkabort_record::message_type::{Member, Type};
use vkabort_record::scalar_type::ScalarType;
use vkabort_record::site::{EntryPoint, ModuleHash, Site, SiteTable};
use vkabort_record::specialization::LocalSize;

const HASH: ModuleHash = ModuleHash(0x1234_5678_9abc_def0);

fn table() -> Arc<SiteTable> {
    let site = |id, function: &str, entry_points: Vec<u32>| Site {
        id: SiteId(id),
        word_offset: 100 + id,
        function: function.to_owned(),
        entry_points,
        message: Type::structure([
            Member::new(None, 0, Type::string(8)),
            Member::new(Some("i"), 8, ScalarType::U32),
        ]),
        text: Some("bad %u".into()),
        ..Site::default()
    };
    let entry = |name: &str, execution_model, size: Option<_>| EntryPoint {
        name: name.to_owned(),
        execution_model,
        local_size: size.map(|size: [u32; 3]| size.map(LocalSize::Fixed)),
    };
    Arc::new(SiteTable {
        module_hash: HASH,
        entry_points: vec![entry("main", 5, Some([4, 2, 1])), entry("fs", 4, None)],
        sites: vec![site(0, "main", vec![0]), site(1, "check", vec![0, 1])],
        ..SiteTable::default()
    })
}

fn record(unit: u32, site: u32, execution_model: u32, identity: [u32; 4], value: u32) -> Record {
    Record {
        unit,
        units: 4,
        code: HASH.into(),
        site: SiteId(site),
        execution_model,
        specialization: 0,
        identity,
        contents: [b"bad %u\0\0".as_slice(), &value.to_le_bytes()].concat().into(),
    }
}

fn modules(_: CodeHash) -> ModuleInfo {
    ModuleInfo {
        sites: Some(table()),
        name: Some("cull".into()),
        ..ModuleInfo::default()
    }
}

fn records(records: Vec<Record>) -> Records {
    Records {
        records,
        ..Records::default()
    }
}

#[test]
fn sites_come_in_the_order_of_their_first_aborts_with_their_counts() {
    let found = records(vec![
        record(0, 1, 4, [10, 20, 0, 0], 5),
        record(1, 0, 5, [5, 1, 0, 5], 7),
        record(2, 1, 5, [0, 0, 0, 0], 5),
        record(3, 0, 5, [9, 3, 0, 5], 8),
        record(4, 0, 5, [4, 2, 0, 0], 7),
    ]);
    let report = Report::build(&found, &modules, &ReportOptions::default());
    assert_eq!(
        report.sites.iter().map(|s| s.site).collect::<Vec<_>>(),
        [Some(SiteId(1)), Some(SiteId(0))]
    );
    let shared = &report.sites[0];
    let stages: Vec<(&str, &[String], u64)> = shared
        .stages
        .iter()
        .map(|s| (s.stage.as_str(), s.entry_points.as_slice(), s.invocations))
        .collect();
    assert_eq!(
        stages,
        [
            ("fragment", &["fs".to_owned()][..], 1),
            ("compute", &["main".to_owned()][..], 1)
        ]
    );
    assert_eq!(shared.extent, None, "pixels and invocation ids have no common bounds");
    let main = &report.sites[1];
    assert_eq!((main.invocations, main.distinct_messages), (3, 2));
    assert_eq!(
        main.extent,
        Some(Extent {
            min: [4, 1, 0],
            max: [9, 3, 0]
        })
    );
    let texts: Vec<&str> = main.samples.iter().map(|s| s.message.text.as_str()).collect();
    assert_eq!(texts, ["bad 7", "bad 8", "bad 7"]);
    let numbers: Vec<_> = main.samples.iter().map(|s| s.number).collect();
    assert_eq!(numbers, [Some(1), Some(2), Some(3)]);
    assert_eq!(report.first_message().as_deref(), Some("bad 5"));
    assert_eq!(report.summary.invocations, 5);
}

#[test]
fn the_first_record_is_the_headline_whatever_its_ids() {
    let found = records(vec![
        record(0, 0, 5, [9, 0, 0, 1], 1),
        record(1, 0, 5, [8, 0, 0, 0], 1),
        record(2, 0, 5, [2, 0, 0, 2], 3),
        record(3, 0, 5, [5, 0, 0, 1], 2),
    ]);
    let options = ReportOptions {
        samples: 3,
        ..ReportOptions::default()
    };
    let text = Report::build(&found, &modules, &options).text(false);
    assert!(text.starts_with("vkabort: shader aborted: bad 1\n"), "{text}");
    assert!(text.contains("= invocation global (9, 0, 0), local"), "{text}");
    let counts = "= 4 invocations aborted here, ids (2, 0, 0) to (9, 0, 0), 3 different messages
   3: bad 3  [global (2, 0, 0), local (2, 0, 0) in workgroup (0, 0, 0)]
   4: bad 2  [global (5, 0, 0), local (1, 0, 0) in workgroup (1, 0, 0)]
";
    assert!(text.contains(counts), "{text}");
    let report = Report::build(&found, &modules, &options);
    assert_eq!(Report::read_json_lines(&report.json_lines()).expect("reads"), [report]);
}

#[test]
fn local_and_workgroup_ids_follow_from_a_consistent_workgroup_size() {
    let found = records(vec![record(0, 0, 5, [5, 3, 0, 5], 1), record(1, 0, 5, [5, 3, 0, 6], 2)]);
    let report = Report::build(&found, &modules, &ReportOptions::default());
    let invocation = |index: usize| report.sites[0].samples[index].invocation;
    assert_eq!(
        invocation(0),
        Some(Invocation::Global {
            global: [5, 3, 0],
            local_index: 5,
            local: Some([1, 1, 0]),
            workgroup: Some([1, 1, 0])
        })
    );
    assert_eq!(
        invocation(1),
        Some(Invocation::Global {
            global: [5, 3, 0],
            local_index: 6,
            local: None,
            workgroup: None
        }),
        "the size contradicts the local index"
    );
    assert_eq!(
        Invocation::from_words(5, [1, 1, 1, 0]).with_workgroup_size(Some([0, 1, 1])),
        Invocation::Global {
            global: [1, 1, 1],
            local_index: 0,
            local: None,
            workgroup: None
        }
    );
}

#[test]
fn unknown_modules_and_sites_out_of_range_are_reported_by_their_bytes() {
    let found = records(vec![record(0, 99, 5, [0; 4], 7)]);
    let wrong_site = Report::build(&found, &modules, &ReportOptions::default());
    assert_eq!(wrong_site.sites[0].function, None);
    assert_eq!(wrong_site.first_message().as_deref(), Some("bad 7"), "by convention");
    let no_module = Report::build(&found, &|_| ModuleInfo::default(), &ReportOptions::default());
    assert_eq!(no_module.sites[0].module_hash, Some(HASH));
    assert_eq!(no_module.sites[0].stages[0].stage, "compute");
}

#[test]
fn payloads_find_their_site_or_all_possible_ones() {
    let payload = |text: &[u8], value: u32| [text, b"\0\0", &value.to_le_bytes()].concat();
    let payloads = [payload(b"bad %u", 1), payload(b"bad %u", 2), payload(b"odd %u", 3)];
    let module = modules(HASH.into());
    let report = Report::from_payloads(
        payloads.iter().map(Vec::as_slice),
        std::slice::from_ref(&module),
        &ReportOptions::default(),
    );
    assert_eq!(report.sites.len(), 2);
    let bad = &report.sites[0];
    assert_eq!(
        (bad.invocations, bad.function.as_deref(), bad.also_possible.len()),
        (2, None, 2)
    );
    assert_eq!(bad.samples[0].message.text, "bad 1");
    assert_eq!(bad.samples[0].message.decoding, crate::message::Decoding::Typed);
    assert_eq!(report.sites[1].samples[0].message.text, "odd 3");
    let mut one = (*table()).clone();
    one.sites.truncate(1);
    let module = ModuleInfo {
        sites: Some(Arc::new(one)),
        ..ModuleInfo::default()
    };
    let report = Report::from_payloads([payloads[0].as_slice()], &[module], &ReportOptions::default());
    assert_eq!(report.sites[0].function.as_deref(), Some("main"));
    assert_eq!(report.sites[0].stages[0].stage, "compute");
}

#[test]
fn a_storm_shows_few_samples_and_counts_all() {
    let found = records(
        (0..10_000)
            .map(|i| record(i, 0, 5, [i, 0, 0, i % 4], i % 100))
            .collect(),
    );
    let report = Report::build(&found, &modules, &ReportOptions::default());
    let site = &report.sites[0];
    assert_eq!(
        (site.invocations, site.distinct_messages, site.samples.len()),
        (10_000, 100, 4)
    );
    assert_eq!(site.extent.map(|e| e.max), Some([9_999, 0, 0]));
}
