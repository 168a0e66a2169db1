//! `vkabort decode`

mod common;

use common::{Run, folder, run_in, vkabort};
use serde_json::Value as Json;
use std::path::Path;
use vkabort_record::framing::message_data;
use vkabort_record::layout::{
    ABORTED_OFFSET, CONTROL_BYTES, DROPPED_OFFSET, SLOT_UNITS, commit_word, header, record_units,
};
use vkabort_record::message_type::{Member, Type};
use vkabort_record::scalar_type::ScalarType;
use vkabort_record::site::{EntryPoint, Location, ModuleHash, Site, SiteId, SiteTable};
use vkabort_record::specialization::LocalSize;
use vkabort_report::Report;

const HASH: ModuleHash = ModuleHash(0xfeed_0000_0000_0001);

fn table() -> SiteTable {
    let site = |id, length: u32, text: &str, ty| Site {
        id: SiteId(id),
        word_offset: 50 + id,
        function: "main".into(),
        entry_points: vec![0],
        location: Some(Location {
            file: "cull.comp".into(),
            line: 10 + id,
            column: 5,
            source: None,
        }),
        message: Type::structure([
            Member::new(None, 0, Type::string(length)),
            Member::new(None, length, ty),
        ]),
        text: Some(text.to_owned()),
        ..Site::default()
    };
    SiteTable {
        module_hash: HASH,
        entry_points: vec![EntryPoint {
            name: "main".into(),
            execution_model: 5,
            local_size: Some([4, 1, 1].map(LocalSize::Fixed)),
        }],
        sites: vec![
            site(0, 8, "bad %u", ScalarType::U32),
            site(1, 8, "far %u", ScalarType::F32),
        ],
        ..SiteTable::default()
    }
}

fn payload(text: &[u8; 8], value: u32) -> Vec<u8> {
    [text.as_slice(), &value.to_le_bytes()].concat()
}

/// An arena of `units` with two aborts of each site.
fn arena(units: u32) -> Vec<u8> {
    let mut words = vec![0u32; (CONTROL_BYTES / 4 + units * 4) as usize];
    let mut cursor = 0;
    let records = [
        (0, payload(b"bad %u\0\0", 7)),
        (1, payload(b"far %u\0\0", 0.5f32.to_bits())),
    ];
    for (index, (site, payload)) in records.iter().cycle().take(4).enumerate() {
        let at = (CONTROL_BYTES / 4 + cursor * 4) as usize;
        let length = record_units(payload.len() as u32);
        let mut record = vec![0; (length * 4) as usize];
        record[header::COMMIT as usize] = commit_word(cursor);
        record[header::LENGTH as usize] = length;
        record[header::SIZE as usize] = payload.len() as u32;
        record[header::SITE as usize] = *site;
        record[header::HASH_LO as usize] = HASH.0 as u32;
        record[header::HASH_HI as usize] = (HASH.0 >> 32) as u32;
        record[header::STAGE as usize] = 5;
        record[header::IDENTITY as usize] = index as u32;
        record[header::IDENTITY as usize + 3] = index as u32;
        for (word, bytes) in record[header::WORDS as usize..].iter_mut().zip(payload.chunks_exact(4)) {
            *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        words[at..at + record.len()].copy_from_slice(&record);
        cursor += length.next_multiple_of(SLOT_UNITS);
    }
    words[0] = cursor / SLOT_UNITS;
    words[(ABORTED_OFFSET / 4) as usize] = 1;
    words[(DROPPED_OFFSET / 4) as usize] = 0;
    common::little(&words)
}

fn with_table(name: &str) -> std::path::PathBuf {
    let folder = folder(name);
    std::fs::write(folder.join("sites.json"), serde_json::to_vec(&table()).expect("JSON")).expect("written");
    folder
}

/// Decodes data by the table of [`with_table`].
fn decode(folder: &Path, options: &[&str], input: &[u8]) -> Run {
    run_in(
        folder,
        &[&["decode", "-", "--sites", "sites.json"], options].concat(),
        input,
    )
}

#[test]
fn arenas_are_detected_and_decoded_by_their_sites() {
    let folder = with_table("arena");
    let run = decode(&folder, &[], &arena(64)).ok();
    assert_eq!(
        run.text(),
        "vkabort: shader aborted: bad 7
--> cull.comp:10:5
 = compute entry point `main`, workgroup size 4 x 1 x 1, module \"sites\" (feed000000000001)
 = invocation global (0, 0, 0), local (0, 0, 0) in workgroup (0, 0, 0)
 = 2 invocations aborted here, ids (0, 0, 0) to (2, 0, 0)
 = help: compile with -gVS (glslang) or -g (Slang) to see the source line

vkabort: shader aborted: far 0.5
--> cull.comp:11:5
 = compute entry point `main`, workgroup size 4 x 1 x 1, module \"sites\" (feed000000000001)
 = invocation global (1, 0, 0), local (1, 0, 0) in workgroup (0, 0, 0)
 = 2 invocations aborted here, ids (1, 0, 0) to (3, 0, 0)
 = note: the argument of `%u` is a float (f32)
 = help: compile with -gVS (glslang) or -g (Slang) to see the source line
"
    );
    assert_eq!(run.stderr, "");
}

#[test]
fn json_output_round_trips() {
    let folder = with_table("json");
    let run = decode(&folder, &["--json"], &arena(64)).ok();
    let reports = Report::read_json_lines(run.text()).expect("reads");
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].sites.len(), 2);
    assert_eq!(reports[0].summary.invocations, 4);
    let first: Json = serde_json::from_str(run.text().lines().next().expect("a line")).expect("JSON");
    assert_eq!(first["samples"][0]["message"]["text"], "bad 7");
    assert_eq!(first["module_hash"], "feed000000000001");
}

#[test]
fn messages_are_matched_to_their_sites_in_both_framings() {
    let folder = with_table("messages");
    let payloads = [
        payload(b"bad %u\0\0", 7),
        payload(b"far %u\0\0", 0.5f32.to_bits()),
        payload(b"bad %u\0\0", 8),
    ];
    let padded = message_data(payloads.iter().map(Vec::as_slice));
    let packed: Vec<u8> = payloads
        .iter()
        .flat_map(|p| [(p.len() as u64).to_le_bytes().as_slice(), p].concat())
        .collect();
    let padded = decode(&folder, &[], &padded).ok();
    assert_eq!(
        padded.text(),
        "vkabort: shader aborted: bad 7
--> cull.comp:10:5
 = compute entry point `main`, workgroup size 4 x 1 x 1, module \"sites\" (feed000000000001)
 = 2 invocations aborted here, 2 different messages
   bad 8
 = help: compile with -gVS (glslang) or -g (Slang) to see the source line

vkabort: shader aborted: far 0.5
--> cull.comp:11:5
 = compute entry point `main`, workgroup size 4 x 1 x 1, module \"sites\" (feed000000000001)
 = note: the argument of `%u` is a float (f32)
 = help: compile with -gVS (glslang) or -g (Slang) to see the source line
"
    );
    assert_eq!(padded.stderr, "");
    let packed = decode(&folder, &[], &packed).ok();
    assert_eq!(packed.text(), padded.text());
    packed.says("not padded");
}

#[test]
fn without_sites_messages_are_guessed_and_their_bytes_shown() {
    let data = message_data([payload(b"bad %u\0\0", 7).as_slice(), &7u32.to_le_bytes()]);
    let run = vkabort(&["decode", "-"], &data).ok();
    assert_eq!(
        run.text(),
        "vkabort: shader aborted: bad 7
 |
 = note: unknown site: the types are guessed from the format
 = bytes: 62616420 25750000 07000000

vkabort: shader aborted: 7 (0x00000007)
 |
 = bytes: 07000000
"
    );
    let run = vkabort(
        &["decode", "-", "--input-format", "payload"],
        &payload(b"bad %x\0\0", 255),
    )
    .ok();
    run.begins("vkabort: shader aborted: bad ff\n");
    assert_eq!(
        vkabort(&["decode", "-"], b"").ok().text(),
        "vkabort: no shader aborted\n"
    );
}

#[test]
fn site_tables_that_match_no_message_are_noticed() {
    let folder = with_table("unmatched");
    let warning = "warning: nothing in --sites (sites.json) has the site of a message";
    let foreign = message_data([payload(b"odd %u\0\0", 7).as_slice()]);
    decode(&folder, &[], &foreign).ok().says(warning);
    let both = message_data([payload(b"odd %u\0\0", 7).as_slice(), &payload(b"bad %u\0\0", 8)]);
    assert_eq!(decode(&folder, &[], &both).ok().stderr, "");
    assert_eq!(decode(&folder, &[], b"").ok().stderr, "");
    let other = std::fs::read_to_string(folder.join("sites.json")).expect("the table");
    std::fs::write(folder.join("sites.json"), other.replace("feed", "beef")).expect("written");
    decode(&folder, &[], &arena(64)).ok().says(warning);
}

#[test]
fn truncated_and_invalid_data_is_reported() {
    let data = message_data([payload(b"bad %u\0\0", 7).as_slice(), &payload(b"bad %u\0\0", 8)]);
    let run = vkabort(&["decode", "-"], &data[..30]).ok();
    run.begins("vkabort: shader aborted: bad 7\n");
    run.says("6 bytes from offset 24 are left out");
    vkabort(&["decode", "-"], b"certainly not message data").fails(3, "standard input: not abort message data");
    // A message, then bytes that are not one.
    let mut data_with_more = data[..20].to_vec();
    data_with_more.extend(*b"????neither size nor padding");
    vkabort(&["decode", "-"], &data_with_more).fails(3, "the 8 bytes at offset 24 are not a message size");
    vkabort(&["decode", "-"], &[0; 64]).fails(3, "every byte is 0");
    vkabort(&["decode", "-"], b"vkabort: shader aborted: x\n").fails(3, "a log in text form");
    let folder = folder("wrong");
    std::fs::write(folder.join("a.spv"), common::little(&common::aborting())).expect("written");
    run_in(&folder, &["decode", "a.spv"], b"")
        .fails(3, "it is a SPIR-V module; `vkabort sites a.spv` lists its aborts");
    std::fs::write(folder.join("sites.json"), b"{\"module_hash\": 1}").expect("written");
    decode(&folder, &[], &data).fails(3, "sites.json: not a site table");
}

#[test]
fn a_dump_of_a_full_arena_says_how_many_aborts_did_not_fit() {
    let mut bytes = arena(16);
    let sized = |bytes: &[u8]| vkabort(&["decode", "-", "--arena-size", "16M"], bytes).ok();
    let used = sized(&bytes);
    assert!(!used.text().contains("did not fit"), "{}", used.text());
    bytes[DROPPED_OFFSET as usize] = 3;
    sized(&bytes).prints("3 more aborts did not fit into the arena of 16777216 bytes: raise the setting `arena_size`");
}

#[test]
fn reports_and_dump_folders_are_decoded_again() {
    let folder = with_table("again");
    let json = decode(&folder, &["--json"], &arena(64)).ok();
    let text = decode(&folder, &[], &arena(64)).ok();
    std::fs::create_dir(folder.join("abort-1")).expect("a folder");
    std::fs::write(folder.join("abort-1/report.jsonl"), &json.stdout).expect("written");
    assert_eq!(run_in(&folder, &["decode", "abort-1"], b"").ok().text(), text.text());
    assert_eq!(run_in(&folder, &["decode", "-"], &json.stdout).ok().text(), text.text());
    assert_eq!(
        run_in(&folder, &["decode", "-", "--json"], &json.stdout).ok().text(),
        json.text()
    );
    let run = run_in(
        &folder,
        &["decode", "-", "--filter", "ignore file=cull.comp:10"],
        &json.stdout,
    )
    .ok();
    run.begins("vkabort: shader aborted: far 0.5\n");
    assert!(
        run.text()
            .ends_with("vkabort: 2 more invocations aborted at sites that the filter ignores\n")
    );
    let printed = [common::prints().as_bytes(), &json.stdout].concat();
    let run = run_in(&folder, &["decode", "-"], &printed).ok();
    run.begins("a.comp:9: [compute pixel (3, 4)] x = 5\nvkabort: 3 prints of a.comp:9 have no room");
    assert!(run.text().ends_with(text.text()), "{}", run.text());
    assert_eq!(
        run_in(&folder, &["decode", "-", "--json"], &printed).ok().stdout,
        printed
    );
    // The newest of several dumps.
    std::fs::create_dir(folder.join("abort-0")).expect("a folder");
    let newer = folder.join("abort-0/report.jsonl");
    std::fs::write(&newer, common::report(b"newer")).expect("written");
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(10);
    let file = std::fs::File::options().write(true).open(&newer).expect("opened");
    file.set_modified(later).expect("set");
    let run = run_in(&folder, &["decode", "."], b"").ok();
    run.begins("vkabort: shader aborted: newer\n");
    std::fs::create_dir(folder.join("empty")).expect("a folder");
    run_in(&folder, &["decode", "empty"], b"").fails(3, "no report.jsonl");
    run_in(&folder, &["decode", "-"], b"{\"type\":\"abort\"}\n").fails(3, "not a report: line 1");
}

#[test]
fn samples_limit_the_messages_of_reports_too() {
    let folder = with_table("samples");
    let payloads = [7, 8, 9].map(|value| payload(b"bad %u\0\0", value));
    let data = message_data(payloads.iter().map(Vec::as_slice));
    let json = decode(&folder, &["--json"], &data).ok();
    let shown = |samples: &str| {
        let text = run_in(&folder, &["decode", "-", "--samples", samples], &json.stdout).ok();
        let of_data = decode(&folder, &["--samples", samples], &data).ok();
        assert_eq!(text.text(), of_data.text());
        ["bad 7", "bad 8", "bad 9", "..."].map(|words| text.text().contains(words))
    };
    assert_eq!(shown("1"), [true, false, false, true]);
    assert_eq!(shown("2"), [true, true, false, true]);
    assert_eq!(shown("9"), [true, true, true, false]);
}

#[test]
fn options_without_an_effect_are_refused() {
    let folder = with_table("no_effect");
    let report = common::report(b"x");
    decode(&folder, &[], report.as_bytes()).fails(2, "--sites has no effect on standard input, a report in JSON lines");
    let data = message_data([&payload(b"bad %u\0\0", 7)[..]]);
    for input in [&data[..], report.as_bytes()] {
        run_in(&folder, &["decode", "-", "--arena-size", "16M"], input).fails(2, "not a dump of an arena");
    }
}
