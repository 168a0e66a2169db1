//! Tests of the commands that are candidates, and of the lines about them.

use super::*;

const VERTEX: u32 = 0;
const FRAGMENT: u32 = 4;
const COMPUTE: u32 = 5;

fn command(name: &'static str, arguments: &[(&'static str, i64)], models: &[u32]) -> PendingCommand {
    PendingCommand {
        name,
        arguments: arguments.to_vec(),
        stages: models.iter().map(|model| (*model, 0)).collect(),
        number: 1,
        ..PendingCommand::default()
    }
}

fn dispatch(count: i64) -> PendingCommand {
    let arguments = [("group_count_x", count), ("group_count_y", 1), ("group_count_z", 1)];
    command("vkCmdDispatch", &arguments, &[COMPUTE])
}

fn draw(first_vertex: i64, first_instance: i64) -> PendingCommand {
    let arguments = [
        ("vertex_count", 3),
        ("instance_count", 2),
        ("first_vertex", first_vertex),
        ("first_instance", first_instance),
    ];
    command("vkCmdDraw", &arguments, &[VERTEX, FRAGMENT])
}

fn workgroup(x: u32) -> Invocation {
    Invocation::Global {
        global: [x * 64, 0, 0],
        local_index: 0,
        local: Some([0; 3]),
        workgroup: Some([x, 0, 0]),
    }
}

fn admits(command: &PendingCommand, model: u32, invocation: Invocation) -> bool {
    candidates(std::slice::from_ref(command), &[model], Some(0), Some(&invocation)).count == 1
}

#[test]
fn groups_admit_the_invocations_of_their_range() {
    assert!(admits(&dispatch(4), COMPUTE, workgroup(3)));
    assert!(!admits(&dispatch(4), COMPUTE, workgroup(4)));
    assert!(!admits(&dispatch(0), COMPUTE, workgroup(0)));
    let mut based = dispatch(4);
    based.arguments.push(("base_group_x", 10));
    assert!(admits(&based, COMPUTE, workgroup(13)) && !admits(&based, COMPUTE, workgroup(3)));
    let unknown_size = Invocation::Global {
        global: [9999, 0, 0],
        local_index: 0,
        local: None,
        workgroup: None,
    };
    assert!(admits(&dispatch(4), COMPUTE, unknown_size), "without a workgroup size");
    let indirect = command("vkCmdDispatchIndirect", &[("offset", 0)], &[COMPUTE]);
    assert!(admits(&indirect, COMPUTE, workgroup(9)));
    let tasks = command("vkCmdDrawMeshTasksNV", &[("task_count", 2), ("first_task", 5)], &[5267]);
    assert!(admits(&tasks, 5267, workgroup(6)) && !admits(&tasks, 5267, workgroup(1)));
    let mesh = command("vkCmdDrawMeshTasksEXT", &[("group_count_x", 1)], &[5365]);
    assert!(
        admits(&mesh, 5365, workgroup(9)),
        "a task shader chooses the workgroups"
    );
    let rays = command(
        "vkCmdTraceRaysKHR",
        &[("width", 4), ("height", 4), ("depth", 1)],
        &[5313],
    );
    let launch = |id| Invocation::Launch { id };
    assert!(admits(&rays, 5313, launch([3, 3, 0])) && !admits(&rays, 5313, launch([4, 0, 0])));
}

#[test]
fn draws_admit_vertices_instances_and_pixels_of_their_range() {
    let vertex = |vertex, instance| Invocation::Vertex { vertex, instance };
    assert!(admits(&draw(6, 0), VERTEX, vertex(8, 1)));
    for outside in [vertex(5, 0), vertex(9, 0), vertex(6, 2)] {
        assert!(!admits(&draw(6, 0), VERTEX, outside), "{outside:?}");
    }
    assert!(admits(&draw(0, 7), VERTEX, vertex(0, 8)));
    let indexed = command(
        "vkCmdDrawIndexed",
        &[("index_count", 3), ("vertex_offset", 100)],
        &[VERTEX],
    );
    assert!(admits(&indexed, VERTEX, vertex(5000, 0)) && !admits(&indexed, VERTEX, vertex(99, 0)));
    let multi = PendingCommand {
        draws: vec![[0, 3], [10, 3]],
        ..command("vkCmdDrawMultiEXT", &[("draw_count", 2)], &[VERTEX])
    };
    assert!(admits(&multi, VERTEX, vertex(12, 0)) && !admits(&multi, VERTEX, vertex(5, 0)));
    let scissored = PendingCommand {
        area: Some(([8, 8], [16, 16])),
        ..draw(0, 0)
    };
    let pixel = |x, y| Invocation::Fragment { pixel: [x, y] };
    assert!(admits(&scissored, FRAGMENT, pixel(23, 8)));
    assert!(!admits(&scissored, FRAGMENT, pixel(24, 8)) && !admits(&scissored, FRAGMENT, pixel(8, 7)));
    let primitive = |primitive| Invocation::Primitive {
        primitive,
        invocation: 0,
    };
    let geometry = command("vkCmdDraw", &[("vertex_count", 3)], &[3]);
    assert!(admits(&geometry, 3, primitive(2)) && !admits(&geometry, 3, primitive(3)));
}

#[test]
fn stage_and_specialization_are_those_of_the_record() {
    assert!(!admits(&dispatch(1), VERTEX, workgroup(0)));
    let count = |key| candidates(&[dispatch(1)], &[COMPUTE], key, None).count;
    assert_eq!(count(Some(7)), 0);
    assert_eq!(count(None), 1, "a driver's message does not tell the specialisation");
}

#[test]
fn the_labels_are_those_that_all_candidates_share() {
    let at = |labels: &[&str]| PendingCommand {
        place: Arc::new(CommandPlace {
            labels: labels.iter().map(ToString::to_string).collect(),
            ..CommandPlace::default()
        }),
        ..dispatch(8)
    };
    let other = draw(0, 0);
    let labels = |pending: &[PendingCommand]| candidates(pending, &[COMPUTE], Some(0), None).labels;
    assert_eq!(labels(&[at(&["shadows", "cull"]), other.clone()]), ["shadows", "cull"]);
    assert_eq!(
        labels(&[at(&["shadows", "cull"]), at(&["shadows"]), other]),
        ["shadows"]
    );
    let many = vec![at(&[]); 5];
    let found = candidates(&many, &[COMPUTE], Some(0), None);
    assert_eq!((found.count, found.commands.len()), (5, SHOWN_COMMANDS));
    assert_eq!(found.commands[0].arguments[0].name, "groupCountX");
}
