//! The end-to-end cases, one file per feature.

mod abort;
mod allocated_program;
mod allocation;
mod bad_input;
mod binaries;
mod checked_body;
mod command_pool;
mod commands;
mod commands_graphics;
mod constant_data;
mod constant_data_large;
mod constant_data_special;
mod control_flow;
mod cooperative_matrix;
mod debug_info;
mod deliver;
mod descriptor_buffer;
mod device_creation;
mod device_group;
mod dump_race;
mod enable;
mod fault_queries;
#[cfg(unix)]
mod forked;
mod generated_commands;
mod geometry;
mod instance_version;
mod layout;
mod layout_matrices;
mod layout_support;
mod layout_types;
mod loop_limit;
mod lost;
mod lost_objects;
mod lost_threads;
mod lost_timeline;
mod many_aborts;
mod many_addresses;
mod many_devices;
mod mesh;
mod message;
mod module_files;
mod more_queries;
mod narrow;
mod objects;
mod pending_work;
mod pipeline_creation;
mod poison;
mod present;
mod print_room;
mod prints;
mod program_runner;
mod programs;
mod programs_checked;
mod programs_shapes;
mod queries;
mod ray;
mod ray_pipeline_creation;
mod real_trap;
mod recovery;
mod report;
mod sanitize;
mod sanitize_addresses;
mod sanitize_domain;
mod sanitize_loop_values;
mod sanitize_loops;
mod sanitize_memory;
mod sanitize_refused;
mod sanitize_stages;
mod sanitize_travel;
mod sanitize_uniforms;
mod sanitize_values;
mod sanitize_ways;
mod sanitize_workgroup;
mod self_check;
mod settings;
mod shader_binary;
mod shader_object;
mod shared_callee;
mod side_effects;
mod specialization;
mod stage;
mod storm;
mod support;
mod test_driver;
mod trap;
mod untouched;
mod values;
mod values_compilers;
mod waiting;

use crate::case::Case;
use vkabort_conform::checks;

/// Every case, the conformance checks among them.
pub fn all() -> Vec<Case> {
    let validated = |check: Case| match check.outside_valid_usage {
        true => check,
        false => check.on_top(),
    };
    let checks: Vec<Case> = checks::all().map(validated).collect();
    [
        abort::CASES,
        allocation::CASES,
        bad_input::CASES,
        binaries::CASES,
        commands::CASES,
        commands_graphics::CASES,
        constant_data::CASES,
        constant_data_large::CASES,
        constant_data_special::CASES,
        control_flow::CASES,
        cooperative_matrix::CASES,
        debug_info::CASES,
        deliver::CASES,
        descriptor_buffer::CASES,
        device_creation::CASES,
        device_group::CASES,
        dump_race::CASES,
        enable::CASES,
        fault_queries::CASES,
        #[cfg(unix)]
        forked::CASES,
        generated_commands::CASES,
        geometry::CASES,
        instance_version::CASES,
        layout::CASES,
        layout_matrices::CASES,
        layout_types::CASES,
        loop_limit::CASES,
        lost::CASES,
        lost_objects::CASES,
        lost_threads::CASES,
        lost_timeline::CASES,
        many_aborts::CASES,
        many_addresses::CASES,
        many_devices::CASES,
        mesh::CASES,
        message::CASES,
        module_files::CASES,
        more_queries::CASES,
        narrow::CASES,
        pending_work::CASES,
        poison::CASES,
        present::CASES,
        print_room::CASES,
        prints::CASES,
        programs::CASES,
        programs_checked::CASES,
        programs_shapes::CASES,
        &test_driver::all(),
        queries::CASES,
        ray::CASES,
        ray_pipeline_creation::CASES,
        real_trap::CASES,
        recovery::CASES,
        report::CASES,
        sanitize::CASES,
        sanitize_refused::CASES,
        sanitize_stages::CASES,
        sanitize_loops::CASES,
        sanitize_addresses::CASES,
        sanitize_domain::CASES,
        sanitize_loop_values::CASES,
        sanitize_memory::CASES,
        sanitize_travel::CASES,
        sanitize_uniforms::CASES,
        sanitize_values::CASES,
        sanitize_ways::CASES,
        sanitize_workgroup::CASES,
        self_check::CASES,
        settings::CASES,
        shader_binary::CASES,
        shader_object::CASES,
        shared_callee::CASES,
        side_effects::CASES,
        specialization::CASES,
        stage::CASES,
        storm::CASES,
        trap::CASES,
        untouched::CASES,
        values::CASES,
        values_compilers::CASES,
        waiting::CASES,
        pipeline_creation::CASES,
        &checks,
    ]
    .concat()
}
