//! Tests of [`super`]: the pipelines and shader objects that are bound at an action, and its place.

use super::*;
use crate::device::features::recordings::action::ActionNumber;
use crate::device::state::{Module, ModuleUse};
use ash::vk;
use vkabort_record::site::{ModuleHash, SiteTable};
use vkabort_record::specialization::{PipelineStage, Specialization};

const CODE: CodeHash = CodeHash(ModuleHash(7));

fn objects(kinds: &[(ObjectType, u64, u32, u32)]) -> Objects {
    let objects = Objects::default();
    let module = Arc::new(Module {
        sites: Arc::new(SiteTable {
            module_hash: CODE.0,
            ..SiteTable::default()
        }),
        ..Module::default()
    });
    for (kind, handle, execution_model, key) in kinds {
        let stage = PipelineStage {
            execution_model: *execution_model,
            specialization: Specialization {
                key: *key,
                values: Vec::new(),
            },
            ..PipelineStage::default()
        };
        let used = ModuleUse {
            stage: Some(stage),
            ..Arc::clone(&module).into()
        };
        objects.add(*kind, *handle, vec![used]);
    }
    objects
}

fn recording(buffer: u64, record: impl FnOnce(&mut Recording)) -> Arc<Recording> {
    let mut recording = Recording::default();
    recording.buffer = vk::CommandBuffer::from_raw(buffer);
    record(&mut recording);
    Arc::new(recording)
}

fn dispatch(recording: &mut Recording, x: u32) {
    recording.action(ActionNumber::vkCmdDispatch, |words| words.extend([x, 1, 1]));
}

fn bind(recording: &mut Recording, point: Point, pipeline: u64) {
    recording.bind_pipeline(point, vk::Pipeline::from_raw(pipeline));
}

/// Number, first argument, and labels of each command.
fn found(objects: &Objects, pending: &[Arc<Recording>]) -> Vec<(u64, i64, String)> {
    let commands = pending_commands(objects, pending, CODE).into_iter();
    let row = |command: PendingCommand| (command.number, command.arguments[0].1, command.place.labels.join(">"));
    commands.map(row).collect()
}

#[test]
fn the_commands_of_other_pipelines_are_left_out() {
    let objects = objects(&[(ObjectType::PIPELINE, 1, 5, 9)]);
    let pending = [recording(3, |r| {
        dispatch(r, 1);
        bind(r, Point::COMPUTE, 1);
        dispatch(r, 2);
        bind(r, Point::GRAPHICS, 8);
        dispatch(r, 3);
        bind(r, Point::COMPUTE, 2);
        dispatch(r, 4);
    })];
    assert_eq!(
        found(&objects, &pending),
        [(2, 2, String::new()), (3, 3, String::new())]
    );
    let commands = pending_commands(&objects, &pending, CODE);
    assert_eq!(commands[0].stages[..], [(5, 9)]);
    assert!(pending_commands(&objects, &pending, CodeHash(ModuleHash(8))).is_empty());
}

#[test]
fn labels_are_those_that_are_open() {
    let objects = objects(&[(ObjectType::PIPELINE, 1, 5, 0)]);
    let pending = [recording(3, |r| {
        r.end_label();
        bind(r, Point::COMPUTE, 1);
        r.begin_label("frame");
        r.insert_label("marker");
        dispatch(r, 1);
        r.begin_label("cull");
        dispatch(r, 2);
        r.end_label();
        dispatch(r, 3);
        r.end_label();
        dispatch(r, 4);
    })];
    let labels: Vec<String> = found(&objects, &pending).into_iter().map(|row| row.2).collect();
    assert_eq!(labels, ["frame>marker", "frame>cull", "frame", ""]);
}

#[test]
fn secondary_command_buffers_begin_without_a_pipeline_but_with_labels_and_area() {
    let objects = objects(&[(ObjectType::PIPELINE, 1, 4, 0)]);
    objects.set_name(ObjectType::COMMAND_BUFFER, 3, "frame".into());
    objects.set_name(ObjectType::COMMAND_BUFFER, 4, "shadows".into());
    let draw = |r: &mut Recording, count: u32| {
        r.action(ActionNumber::vkCmdDraw, |words| words.extend([count, 1, 0, 0]));
    };
    let secondary = recording(4, |r| {
        draw(r, 1);
        bind(r, Point::GRAPHICS, 1);
        r.begin_label("inner");
        draw(r, 2);
        r.end_label();
        r.end_label();
        draw(r, 3);
    });
    let area = vk::Rect2D::default().extent(vk::Extent2D::default().width(64).height(32));
    let pending = [recording(3, |r| {
        bind(r, Point::GRAPHICS, 1);
        r.begin_label("outer");
        r.begin_rendering(area);
        r.execute([Arc::clone(&secondary), Arc::clone(&secondary)].into_iter());
        draw(r, 4);
    })];
    let inner = [(2, 2, "outer>inner".to_owned()), (3, 3, "outer".to_owned())];
    let expected = [&inner[..], &inner, &[(1, 4, "outer".to_owned())]].concat();
    assert_eq!(found(&objects, &pending), expected);
    let first = &pending_commands(&objects, &pending, CODE)[0];
    assert_eq!(first.place.command_buffers, ["frame", "shadows"]);
    assert_eq!(first.area, Some(([0, 0], [64, 32])));
}

#[test]
fn pipelines_and_shader_objects_replace_each_other() {
    let objects = objects(&[(ObjectType::SHADER_EXT, 1, 5, 0)]);
    let shader = |r: &mut Recording, handle| r.bind_shader(Stages::COMPUTE, vk::ShaderEXT::from_raw(handle));
    let pending = [recording(3, |r| {
        shader(r, 1);
        dispatch(r, 1);
        bind(r, Point::GRAPHICS, 2);
        dispatch(r, 2);
        bind(r, Point::COMPUTE, 2);
        dispatch(r, 3);
        shader(r, 1);
        dispatch(r, 4);
        shader(r, 0);
        dispatch(r, 5);
    })];
    let numbers: Vec<u64> = found(&objects, &pending).into_iter().map(|row| row.0).collect();
    assert_eq!(numbers, [1, 2, 4]);
}

#[test]
fn objects_without_known_modules_may_run_binaries() {
    let objects = objects(&[(ObjectType::PIPELINE, 1, 5, 0)]);
    let pending = [recording(3, |r| {
        bind(r, Point::COMPUTE, 2);
        dispatch(r, 1);
    })];
    assert!(found(&objects, &pending).is_empty());
    objects.export(objects.modules_of(ObjectType::PIPELINE, 1));
    assert_eq!(found(&objects, &pending).len(), 1);
}

#[test]
fn generated_commands_may_run_any_pipeline() {
    let objects = objects(&[(ObjectType::PIPELINE, 1, 5, 0)]);
    let pending = [recording(3, |r| {
        r.action(ActionNumber::vkCmdExecuteGeneratedCommandsEXT, |words| words.push(0));
    })];
    assert_eq!(found(&objects, &pending).len(), 1);
}
