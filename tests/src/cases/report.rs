//! Whole reports, as text and as JSON lines, of shaders with debug information. Expected reports are in `reports/`.

use super::deliver::lose_named;
use super::support::{MARK, expect_lost, expect_success, marked};
use crate::case::{Case, Context, Skip};
use crate::glsl_debug::{self, Form};
use crate::slang::Slang;
use crate::vk::{Buffer, Device, Gpu, Image, Kernel, Pass};
use anyhow::{Result, ensure};

const JSON: &[(&str, &str)] = &[("log_format", "json")];

pub(super) const CASES: &[Case] = &[
    Case::new("report::of_glsl_with_lines", lines)
        .alone()
        .reports("glsl_lines"),
    Case::new("report::of_glsl_with_lines_as_json", lines)
        .alone()
        .set(JSON)
        .reports("glsl_lines"),
    Case::new("report::of_glsl_with_debug_info", debug_info).reports("glsl_debug_info"),
    Case::new("report::of_glsl_with_debug_info_as_json", debug_info)
        .alone()
        .set(JSON)
        .reports("glsl_debug_info"),
    Case::new("report::of_slang", slang).alone().reports("slang"),
    Case::new("report::of_slang_as_json", slang)
        .alone()
        .set(JSON)
        .reports("slang"),
    Case::new("report::of_many_invocations", many).alone().reports("many"),
    Case::new("report::of_many_invocations_as_json", many)
        .alone()
        .set(JSON)
        .reports("many"),
    Case::new("report::without_debug_info_and_names", bare)
        .alone()
        .reports("bare"),
    Case::new("report::of_messages_that_a_native_driver_recorded", debug_info)
        .on_native()
        .reports("native"),
    Case::new("report::of_a_native_driver_with_emulation_off", debug_info)
        .on_native()
        .set(&[("emulation", "off")])
        .reports("native"),
    Case::new("report::of_a_pixel", pixel).alone().reports("pixel"),
    Case::new("report::of_a_vertex", vertex).alone().logs(&[
        "vertex 1 of instance 0",
        "stage/vertex.vert:11",
        "= invocation vertex 1, instance 0",
    ]),
    Case::new("report::of_more_than_fits", storm)
        .alone()
        .set(&[("arena_size", "131072")])
        .logs(&[
            "did not fit into the arena of 131072 bytes: raise the setting `arena_size` to see them",
            "different messages",
        ]),
    Case::new("report::of_messages_that_a_native_driver_recorded_as_json", debug_info)
        .on_native()
        .set(JSON)
        .reports("native"),
    Case::new("report::without_the_sites_that_the_filter_ignores", two_sites)
        .alone()
        .set(&[("filter", "report file=bounds.comp:13; ignore function=main")])
        .reports("filtered"),
    Case::new("report::of_a_message_that_a_pattern_selects", two_sites)
        .alone()
        .set(&[("filter", "report message=*is eight; ignore message=*")])
        .reports("selected"),
    Case::new("report::empty_when_the_filter_ignores_everything", two_sites)
        .alone()
        .set(&[("filter", "ignore file=report/*")])
        .silent(),
    Case::new("report::on_a_device_that_continues", continues)
        .alone()
        .set(&[("on_abort", "continue")])
        .reports("continue"),
];

/// Runs a module with all objects named, in one workgroup, whose invocations abort in order on every driver.
fn run(context: &Context, spirv: &[u32], words: &[u32]) -> Result<()> {
    lose_named(&Gpu::open(context)?, spirv, words, |_| Ok(()))
}

fn run_bounds(context: &Context, form: Form, words: &[u32]) -> Result<()> {
    run(context, &glsl_debug::compile("report/bounds.comp", form)?, words)
}

fn lines(context: &Context) -> Result<()> {
    run_bounds(context, Form::Lines, &marked(&[5]))
}

fn debug_info(context: &Context) -> Result<()> {
    run_bounds(context, Form::NonSemantic, &marked(&[5]))
}

fn slang(context: &Context) -> Result<()> {
    let slang = Slang::load().map_err(|error| match error.downcast::<Skip>() {
        Ok(skip) => skip,
        Err(error) => Skip(format!("{error:#}")),
    })?;
    let file = "report/bounds.slang";
    let source = std::fs::read_to_string(crate::glsl::folder().join(file))?;
    run(context, &slang.compile(file, &source, &["-g2"])?, &marked(&[5]))
}

fn many(context: &Context) -> Result<()> {
    let mut words = marked(&[]);
    words[8..20].fill(8);
    run_bounds(context, Form::NonSemantic, &words)
}

/// Aborts at two sites, one invocation each.
fn two_sites(context: &Context) -> Result<()> {
    let mut words = marked(&[5]);
    words[20] = 8;
    run_bounds(context, Form::Lines, &words)
}

fn bare(context: &Context) -> Result<()> {
    super::support::run_to_loss(context, "abort/entry_point.comp", &marked(&[5])).map(drop)
}

/// Draws with one aborting invocation.
fn draw(context: &Context, vertex: &[u32], fragment: &[u32], push: [u32; 2]) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let device = Device::new(&gpu)?;
    device.name(device.queue, c"the queue")?;
    let image = Image::new(&device)?;
    let pass = Pass::new(&device, vertex, fragment)?;
    expect_lost(pass.record(&image, push)?.run())
}

fn pixel(context: &Context) -> Result<()> {
    let fragment = glsl_debug::compile("stage/fragment.frag", Form::NonSemantic)?;
    draw(context, &crate::glsl::compile("stage/cover.vert")?, &fragment, [17, 42])
}

fn vertex(context: &Context) -> Result<()> {
    let vertex = glsl_debug::compile("stage/vertex.vert", Form::Lines)?;
    draw(context, &vertex, &crate::glsl::compile("stage/white.frag")?, [1, 0])
}

/// Sends far more messages than fit into the arena.
fn storm(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let device = Device::new(&gpu)?;
    let buffer = Buffer::storage(&device, &marked(&[0]))?;
    let kernel = Kernel::new(&device, &crate::glsl::compile("storm/storm.comp")?, &[&buffer])?;
    expect_lost(kernel.run_to_end(1024)?)
}

/// Two dispatches abort in sequence and the device stays usable.
fn continues(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let device = Device::new(&gpu)?;
    let spirv = glsl_debug::compile("report/bounds.comp", Form::NonSemantic)?;
    for at in [5, 6] {
        let buffer = Buffer::storage(&device, &marked(&[at]))?;
        let kernel = Kernel::new(&device, &spirv, &[&buffer])?;
        expect_success(kernel.run_to_end(1)?)?;
        ensure!(buffer.read()[at] == MARK, "the invocation continued after its abort");
    }
    Ok(())
}
