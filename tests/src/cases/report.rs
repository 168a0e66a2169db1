//! Complete reports, as text and as JSON lines, of shaders with debug information. Expected reports are in `reports/`.

use super::deliver::lose_named;
use super::support::{MARK, expect_lost, expect_success, marked};
use crate::case::{Case, Skip, cases};
use crate::glsl_debug::{self, Form};
use crate::slang::Slang;
use crate::vk::{Buffer, Device, Gpu, Image, Kernel, Pass, WordKernel};
use anyhow::{Result, ensure};
use vkabort_runner::Verdict;

const JSON: &[(&str, &str)] = &[("log_format", "json")];

pub(super) const CASES: &[Case] = cases! {
    "report::of_glsl_with_lines" => run_bounds(gpu, Form::Lines, &marked(&[5])), alone(), reports("glsl_lines");
    "report::of_glsl_with_lines_as_json" => run_bounds(gpu, Form::Lines, &marked(&[5])),
        alone(), set(JSON), reports("glsl_lines");
    "report::of_glsl_with_debug_info" => run_bounds(gpu, Form::NonSemantic, &marked(&[5])), reports("glsl_debug_info");
    "report::of_glsl_with_debug_info_as_json" => run_bounds(gpu, Form::NonSemantic, &marked(&[5])),
        alone(), set(JSON), reports("glsl_debug_info");
    "report::of_slang" => slang(gpu), alone(), reports("slang");
    "report::of_slang_as_json" => slang(gpu), alone(), set(JSON), reports("slang");
    "report::of_many_invocations" => many(gpu), alone(), reports("many");
    "report::of_many_invocations_as_json" => many(gpu), alone(), set(JSON), reports("many");
    "report::of_a_statement_over_several_lines" => statement(gpu, Form::NonSemantic), alone(), reports("statement");
    "report::of_a_statement_with_lines" => statement(gpu, Form::Lines), alone(), reports("statement_lines");
    "report::of_a_statement_in_slang" => slang_file(gpu, "report/statement.slang", &["-g2"]), alone(), reports("statement_slang");
    "report::of_a_statement_in_slang_as_json" => slang_file(gpu, "report/statement.slang", &["-g2"]),
        alone(), set(JSON), reports("statement_slang");
    "report::of_a_release_build" => stripped(gpu), alone(), reports("stripped");
    "report::without_debug_info_and_names" => bare(gpu), alone(), reports("bare");
    "report::of_messages_that_a_native_driver_recorded" => run_bounds(gpu, Form::NonSemantic, &marked(&[5])),
        on_native(), reports("native");
    "report::of_a_native_driver_with_emulation_off" => run_bounds(gpu, Form::NonSemantic, &marked(&[5])),
        on_native(), set(&[("emulation", "off")]), reports("native");
    "report::of_a_pixel" => pixel(device), alone(), reports("pixel");
    "report::of_a_vertex" => vertex(device),
        alone(), logs(&["vertex 1 of instance 0", "stage/vertex.vert:11", "= invocation vertex 1, instance 0"]);
    "report::of_more_than_fits" => storm(device),
        alone(), set(&[("arena_size", "131072"), ("values", "off")]),
        logs(&[
            // 1024 workgroups of 64 invocations, and room for 2031 records of 64 bytes behind the control block.
            "63505 more aborts did not fit into the arena of 131072 bytes: raise the setting `arena_size` to see them",
            "different messages",
        ]);
    "report::of_messages_that_a_native_driver_recorded_as_json" => run_bounds(gpu, Form::NonSemantic, &marked(&[5])),
        on_native(), set(JSON), reports("native");
    "report::without_the_sites_that_the_filter_ignores" => two_sites(gpu),
        alone(), set(&[("filter", "report file=bounds.comp:13; ignore function=main")]), reports("filtered");
    "report::of_a_message_that_a_pattern_selects" => two_sites(gpu),
        alone(), set(&[("filter", "report message=*is eight; ignore message=*")]), reports("selected");
    "report::empty_when_the_filter_ignores_everything" => two_sites(gpu),
        alone(), set(&[("filter", "ignore file=report/*")]), silent();
    "report::without_the_names_of_destroyed_objects" => renamed(device),
        alone(), set(&[("log_file", "layer.log")]), silent();
    "report::on_a_device_that_continues" => continues(device),
        alone(), set(&[("on_abort", "continue")]), reports("continue");
    "report::on_a_device_that_continues_as_json" => continues(device),
        alone(), set(&[("on_abort", "continue"), ("log_format", "json")]), reports("continue_json");
    "report::as_often_as_the_duplicate_limit_allows" => continues(device),
        alone(), set(&[("on_abort", "continue"), ("duplicate_limit", "2")]), reports("continue_twice");
    "report::of_repeated_aborts_that_the_filter_ignores" => continues(device),
        alone(), set(&[("on_abort", "continue"), ("filter", "ignore file=bounds.comp")]), silent();
    "report::without_a_table_when_nothing_aborts" => nothing_aborts(device),
        alone(), set(&[("on_abort", "continue")]), silent();
    "report::at_the_end_of_a_process_that_keeps_its_device" => keeps_its_device(gpu),
        alone(), in_own_process(), set(&[("on_abort", "continue")]), reports("continue");
};

/// Runs a module with all objects named, in one workgroup, whose invocations abort in order on every driver.
fn run(gpu: &Gpu, spirv: &[u32], words: &[u32]) -> Result<()> {
    lose_named(gpu, spirv, words, |_| Ok(()))
}

fn run_bounds(gpu: &Gpu, form: Form, words: &[u32]) -> Result<()> {
    run(gpu, &glsl_debug::compile("report/bounds.comp", form)?, words)
}

fn statement(gpu: &Gpu, form: Form) -> Result<()> {
    run(gpu, &glsl_debug::compile("report/statement.comp", form)?, &marked(&[5]))
}

/// A module without names, as release builds ship it.
fn stripped(gpu: &Gpu) -> Result<()> {
    let words = crate::glsl::compile("report/bounds.comp")?;
    let (header, mut rest) = words.split_at(5);
    let mut stripped = header.to_vec();
    while let Some(first) = rest.first() {
        let (inst, next) = rest.split_at(*first as usize >> 16);
        // OpName and OpMemberName.
        if ![5, 6].contains(&(first & 0xffff)) {
            stripped.extend(inst);
        }
        rest = next;
    }
    let mut words = marked(&[]);
    words[4] = 8;
    run(gpu, &stripped, &words)
}

fn slang(gpu: &Gpu) -> Result<()> {
    slang_file(gpu, "report/bounds.slang", &["-g2"])
}

/// Runs a shader that Slang compiles with these options; one of its invocations aborts.
pub(super) fn slang_file(gpu: &Gpu, file: &str, options: &[&str]) -> Result<()> {
    let slang = Slang::find().map_err(|error| match error.downcast::<Skip>() {
        Ok(skip) => skip,
        Err(error) => Skip(format!("{error:#}")),
    })?;
    let source = std::fs::read_to_string(crate::glsl::folder().join(file))?;
    run(gpu, &slang.compile(file, &source, options)?, &marked(&[5]))
}

fn many(gpu: &Gpu) -> Result<()> {
    let mut words = marked(&[]);
    words[8..20].fill(8);
    run_bounds(gpu, Form::NonSemantic, &words)
}

/// Aborts at two sites, one invocation each.
fn two_sites(gpu: &Gpu) -> Result<()> {
    let mut words = marked(&[5]);
    words[20] = 8;
    run_bounds(gpu, Form::Lines, &words)
}

fn bare(gpu: &Gpu) -> Result<()> {
    super::support::run_to_loss(gpu, "abort/entry_point.comp", &marked(&[5])).map(drop)
}

/// Draws with one aborting invocation.
fn draw(device: &Device<'_>, vertex: &[u32], fragment: &[u32], push: [u32; 2]) -> Result<()> {
    device.name(device.queue, c"the queue")?;
    let image = Image::new(device)?;
    let pass = Pass::new(device, vertex, fragment)?;
    expect_lost(pass.record(&image, push)?.run())
}

fn pixel(device: &Device<'_>) -> Result<()> {
    let fragment = glsl_debug::compile("stage/fragment.frag", Form::NonSemantic)?;
    draw(device, &crate::glsl::compile("stage/cover.vert")?, &fragment, [17, 42])
}

fn vertex(device: &Device<'_>) -> Result<()> {
    let vertex = glsl_debug::compile("stage/vertex.vert", Form::Lines)?;
    draw(device, &vertex, &crate::glsl::compile("stage/white.frag")?, [1, 0])
}

/// Sends far more messages than fit into the arena.
fn storm(device: &Device<'_>) -> Result<()> {
    let kernel = WordKernel::new(device, &crate::glsl::compile("storm/storm.comp")?, &marked(&[0]))?;
    expect_lost(kernel.run_to_end(1024)?)
}

/// Three dispatches abort in sequence and the device stays usable.
pub(super) fn continues(device: &Device<'_>) -> Result<()> {
    let spirv = glsl_debug::compile("report/bounds.comp", Form::NonSemantic)?;
    for at in [5, 6, 7] {
        let kernel = WordKernel::new(device, &spirv, &marked(&[at]))?;
        expect_success(kernel.run_to_end(1)?)?;
        ensure!(kernel.words()[at] == MARK, "the invocation continued after its abort");
    }
    Ok(())
}

fn nothing_aborts(device: &Device<'_>) -> Result<()> {
    let spirv = glsl_debug::compile("report/bounds.comp", Form::NonSemantic)?;
    for _ in 0..3 {
        expect_success(WordKernel::new(device, &spirv, &marked(&[]))?.run_to_end(1)?)?;
    }
    Ok(())
}

/// Many programs end without destroying their device.
fn keeps_its_device(gpu: &Gpu) -> Result<()> {
    let device = std::mem::ManuallyDrop::new(Device::new(gpu)?);
    continues(&device)?;
    println!("{}", Verdict::from(Ok(().into())).line());
    std::process::exit(0)
}

/// Drivers give the handles of destroyed objects to new ones. A module that is destroyed before its pipeline keeps its name
/// in the report.
fn renamed(device: &Device<'_>) -> Result<()> {
    let spirv = glsl_debug::compile("report/bounds.comp", Form::Lines)?;
    let buffer = Buffer::storage(device, &marked(&[5]))?;
    for _ in 0..10 {
        drop(Kernel::named(
            device,
            &spirv,
            &[&buffer],
            [c"old module", c"old pipeline"],
        )?);
    }
    let kernel = Kernel::named(device, &spirv, &[&buffer], [c"new module", c""])?;
    expect_lost(kernel.run_to_end(1)?)?;
    let log = std::fs::read_to_string("layer.log")?;
    ensure!(!log.contains("old"), "{log}");
    ensure!(log.contains("new module"), "{log}");
    Ok(())
}
