use super::*;
use crate::device::state::testing::module;

const PIPELINE: ObjectType = ObjectType::PIPELINE;
const MODULE: ObjectType = ObjectType::SHADER_MODULE;

fn named(kind: ObjectType, handle: u64, modules: Vec<Arc<Module>>, name: &str, objects: &Objects) {
    let uses = modules.into_iter().map(|module| ModuleUse {
        stage: (kind != MODULE).then(PipelineStage::default),
        ..module.into()
    });
    objects.add(kind, handle, uses.collect::<Vec<_>>());
    objects.set_name(kind, handle, name.to_owned());
}

/// The names of the pipelines that run module 1.
fn pipelines(objects: &Objects) -> Vec<String> {
    let stages = objects.stages(ModuleHash(1).into()).into_iter();
    stages.map(|stage| stage.name).collect()
}

#[test]
fn a_reused_handle_does_not_have_the_name_of_the_destroyed_object() {
    let objects = Objects::default();
    for kind in [MODULE, PIPELINE, ObjectType::SHADER_EXT] {
        named(kind, 7, vec![module(1)], "old", &objects);
        assert_eq!(objects.name(kind, 7).as_deref(), Some("old"));
        objects.remove(kind, 7, false);
        assert_eq!(objects.name(kind, 7), None);
        objects.add(kind, 7, vec![module(2)]);
        assert_eq!(objects.name(kind, 7), None);
        assert_eq!(objects.module_name(ModuleHash(2)), None);
        assert!(objects.find(ModuleHash(1).into()).is_none(), "nothing can report it");
        objects.remove(kind, 7, false);
    }
    assert!(objects.all().is_empty());
}

#[test]
fn a_module_is_kept_as_long_as_a_pipeline_can_report_it() {
    let objects = Objects::default();
    let shared = module(1);
    named(MODULE, 7, vec![Arc::clone(&shared)], "shader", &objects);
    named(PIPELINE, 8, vec![Arc::clone(&shared), shared], "pipeline", &objects);
    objects.remove(MODULE, 7, false);
    assert_eq!(objects.module_name(ModuleHash(1)).as_deref(), Some("shader"));
    assert_eq!(pipelines(&objects), ["pipeline"]);
    objects.remove(PIPELINE, 8, false);
    assert!(objects.find(ModuleHash(1).into()).is_none() && objects.module_name(ModuleHash(1)).is_none());
}

#[test]
fn a_module_whose_code_left_the_layers_sight_is_kept() {
    let objects = Objects::default();
    objects.add(MODULE, 7, vec![module(1)]);
    objects.export(objects.modules_of(MODULE, 7));
    objects.remove(MODULE, 7, false);
    assert!(objects.find(ModuleHash(1).into()).is_some());
}

#[test]
fn a_pipeline_destroyed_before_its_abort_is_reported_is_named_until_then() {
    let objects = Objects::default();
    named(PIPELINE, 7, vec![module(1)], "aborted", &objects);
    let covered = {
        objects.remove(PIPELINE, 7, true);
        objects.destroyed()
    };
    // The handle is reused, and its pipeline destroyed while the report is being built.
    named(PIPELINE, 7, vec![module(1)], "later", &objects);
    assert_eq!(pipelines(&objects), ["later", "aborted"]);
    objects.remove(PIPELINE, 7, true);
    objects.forget_destroyed(covered);
    assert_eq!(pipelines(&objects), ["later"]);
    objects.forget_destroyed(objects.destroyed());
    assert!(objects.find(ModuleHash(1).into()).is_none());
}

#[test]
fn objects_that_reports_do_not_name_take_no_memory() {
    let objects = Objects::default();
    for handle in 1..100 {
        objects.set_name(ObjectType::IMAGE, handle, "image".to_owned());
        objects.set_name(PIPELINE, handle, String::new());
    }
    assert!(objects.read(|tables| tables.objects.is_empty()));
    objects.set_name(ObjectType::QUEUE, 1, "queue".to_owned());
    assert_eq!(objects.name(ObjectType::QUEUE, 1).as_deref(), Some("queue"));
    objects.set_name(ObjectType::QUEUE, 1, String::new());
    assert!(objects.read(|tables| tables.objects.is_empty()));
}

#[test]
fn one_of_the_codes_with_a_short_hash_has_compact_records() {
    let objects = Objects::default();
    let alike = 1 | 1 << 40;
    objects.add(MODULE, 7, vec![module(alike), module(1), module(2)]);
    let claim = |hash| objects.claim_compact(ModuleHash(hash).into());
    assert!(claim(alike) && claim(2) && !claim(1));
    assert!(claim(alike), "again, for another object of the module");
    let found = |hash| {
        objects
            .find_sites(CodeHash(ModuleHash(hash)).into())
            .map(|sites| sites.module_hash)
    };
    assert_eq!(
        [1, 2, 3].map(found),
        [Some(ModuleHash(alike)), Some(ModuleHash(2)), None]
    );
}
