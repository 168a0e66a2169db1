//! Tests of reports that tell the pipelines of one module apart.

use super::*;
use vkabort_record::specialization::{SpecConstant, Specialization};

fn specialized_text(keys: &[u32], values: bool) -> String {
    let side = LocalSize::Specialized {
        spec_id: Some(0),
        default: 8,
    };
    let constant = |id, name: Option<&str>, default| SpecConstant {
        id,
        name: name.map(str::to_owned),
        default,
    };
    let uint = |value| Scalar::from_bits(ScalarType::U32, value);
    let half = Scalar::from_bits(ScalarType::F32, 0.5f32.to_bits().into());
    let mut table = table();
    table.constants = vec![constant(0, Some("BLOCK"), uint(8)), constant(3, None, half)];
    for entry in &mut table.entry_points {
        entry.local_size = Some([side, LocalSize::Fixed(1), LocalSize::Fixed(1)]);
    }
    let table = Arc::new(table);
    let stage = |object, name: &str, key| PipelineStage {
        object: Some(object),
        name: name.into(),
        execution_model: 5,
        entry_point: "main".into(),
        specialization: Specialization {
            key,
            values: match (key, values) {
                (0, _) | (_, false) => vec![],
                _ => vec![uint(key.into()), half],
            },
        },
    };
    let stages = vec![
        stage(0, "plain", 0),
        stage(1, "four", 4),
        stage(2, "", 4),
        stage(3, "two", 2),
        PipelineStage {
            entry_point: "other".into(),
            ..stage(4, "another entry point", 4)
        },
    ];
    let info = move |_| ModuleInfo {
        sites: Some(table.clone()),
        name: None,
        stages: stages.clone(),
        ..ModuleInfo::default()
    };
    let records = keys.iter().zip(15..).map(|(key, global)| {
        let size = if let 2 | 4 = key { *key } else { 8 };
        Record {
            specialization: *key,
            identity: [global, 0, 0, global % size],
            ..record(global, 7)
        }
    });
    let records = Records {
        records: records.collect(),
        ..Records::default()
    };
    let text = Report::build(&records, &info, &ReportOptions::default()).text(false);
    let facts = text.lines().skip_while(|line| !line.starts_with("   = "));
    facts.skip(1).map(|line| format!("{line}\n")).collect()
}

#[test]
fn only_the_pipelines_that_fit_are_named_with_their_values() {
    assert_eq!(
        specialized_text(&[4], true),
        r#"   = pipeline "four" or 1 pipeline without a name
   = invocation global (15, 0, 0), local (3, 0, 0) in workgroup (3, 0, 0)
   = specialization: BLOCK = 4, constant 3 = 0.5
"#
    );
    assert_eq!(
        specialized_text(&[0], true),
        r#"   = pipeline "plain"
   = invocation global (15, 0, 0), local (7, 0, 0) in workgroup (1, 0, 0)
   = specialization: BLOCK = 8, constant 3 = 0.5
"#
    );
    assert_eq!(
        specialized_text(&[77], true),
        r#"   = invocation global (15, 0, 0), local index 7
   = specialization: unknown values (key 0000004d)
"#
    );
    assert!(specialized_text(&[4], false).contains("specialization: unknown values (key 00000004)"));
}

#[test]
fn aborts_of_several_specializations_are_told_apart() {
    assert_eq!(
        specialized_text(&[4, 2, 4], true),
        r#"   = pipelines "four", "two" or 1 pipeline without a name
   = invocation global (15, 0, 0), local (3, 0, 0) in workgroup (3, 0, 0)
   = 2 specializations:
     BLOCK = 2, constant 3 = 0.5: 1 invocation (workgroup size 2 x 1 x 1, pipeline "two")
     BLOCK = 4, constant 3 = 0.5: 2 invocations (workgroup size 4 x 1 x 1, pipeline "four" or 1 pipeline without a name)
   = 3 invocations aborted here, ids (15, 0, 0) to (17, 0, 0)
"#
    );
}

#[test]
fn specializations_that_are_not_shown_are_counted() {
    let text = specialized_text(&[10, 11, 12, 13, 14, 15, 16, 17, 18, 19], true);
    assert!(
        text.contains("(key 00000011): 1 invocation\n     ... 2 more\n"),
        "{text}"
    );
}
