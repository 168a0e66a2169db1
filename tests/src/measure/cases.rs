//! The measurements, as cases: `part::variant`. Each prints its numbers as it goes, so that those before an error count.

use super::kernel::Place;
use super::loss::Dispatch;
use super::shaders::{OPERATIONS, Shader, Variant};
use super::{
    calls, compilers, default_checks, kernel, large_message, load, loss, memory_checks, memory_shaders, recording,
    storm,
};
use crate::case::{Case, Context, Skip, cases};
use crate::vk::Gpu;
use anyhow::{Context as _, Result};
use ash::vk;
use std::time::Duration;
use vkabort_instrument::Check;
use vkabort_runner::Measurement;

/// Every measurement, in the order of the parts of the benchmark, which choose the drivers.
pub const MEASUREMENTS: &[Case] = cases! {
    "calls::without" => calls(context, 0), measures(), without_layer(), within(30);
    "calls::idle" => calls(context, 1), measures(), without_layer(), within(30);
    "calls::enabled" => calls(context, 2), measures(), without_layer(), within(30);
    "load::without" => load(context, 0), measures(), without_layer(), within(30);
    "load::idle" => load(context, 1), measures(), without_layer(), within(30);
    "load::enabled" => load(context, 2), measures(), without_layer(), within(30);
    "commands::without" => recording(gpu, "no layer"), measures(), without_layer(), within(30);
    "commands::off" => recording(gpu, "commands = off"), measures(), alone(), within(30);
    "commands::on" => recording(gpu, "commands = on"), measures(), alone(), set(&[("commands", "on")]), within(30);
    "kernel::check_in_a_loop" => kernel(context, Place::InALoop), measures(), alone();
    "kernel::check_after_a_loop" => kernel(context, Place::AfterALoop), measures(), alone();
    "kernel::without_values" => values(context, Variant::WithoutValues), measures(), alone(), set(&[("values", "off")]);
    "kernel::with_variables" => values(context, Variant::WithVariables), measures(), alone(), set(&[("values", "on")]);
    "kernel::loop_of_8" => planted(context, Shader::Loop(8)), measures(), alone();
    "kernel::loop_of_32" => planted(context, Shader::Loop(32)), measures(), alone();
    "kernel::loop_of_128" => planted(context, Shader::Loop(128)), measures(), alone();
    "kernel::divide" => planted(context, Shader::Operation(Check::Divide)), measures(), alone();
    "kernel::shift" => planted(context, Shader::Operation(Check::Shift)), measures(), alone();
    "kernel::bounds" => planted(context, Shader::Operation(Check::Bounds)), measures(), alone();
    "kernel::buffers" => planted(context, Shader::Operation(Check::Buffers)), measures(), alone();
    "kernel::convert" => planted(context, Shader::Operation(Check::Convert)), measures(), alone();
    "kernel::operations" => planted(context, Shader::Operations), measures(), alone();
    "kernel::nan" => planted(context, Shader::Operation(Check::Nan)), measures(), alone();
    "checks::without_layer" => checks(context, Variant::Unchecked), measures(), without_layer();
    "checks::layer" => checks(context, Variant::DefaultChecks), measures(), alone(), set(&[("sanitize", "default")]);
    "checks::gpu_av" => checks(context, Variant::GpuAv), measures(), validation_alone(), with(&GPU_AV), within(300);
    "checks::shader_sanitizer" => checks(context, Variant::ShaderSanitizer),
        measures(), validation_alone(), with(SHADER_SANITIZER), within(300);
    "memory::without_layer" => memory(context, Variant::Unchecked, None), measures(), without_layer();
    "memory::addresses" => memory(context, Variant::Planted, Some(Check::Addresses)),
        measures(), alone(), set(&[("sanitize", "addresses")]);
    "memory::initialized" => memory(context, Variant::Planted, Some(Check::Initialized)),
        measures(), alone(), set(&[("sanitize", "initialized")]);
    "memory::races" => memory(context, Variant::Planted, Some(Check::Races)), measures(), alone(), set(&[("sanitize", "races")]);
    "memory::barriers" => memory(context, Variant::Planted, Some(Check::Barriers)),
        measures(), alone(), set(&[("sanitize", "barriers")]);
    "memory::invalid" => memory(context, Variant::Planted, Some(Check::Invalid)),
        measures(), alone(), set(&[("sanitize", "invalid")]);
    "memory::addresses_of_gpu_av" => memory(context, Variant::GpuAv, Some(Check::Addresses)),
        measures(), validation_alone(), with(GPU_AV_ADDRESSES), within(300);
    "memory::races_of_gpu_av" => memory(context, Variant::GpuAv, Some(Check::Races)),
        measures(), validation_alone(), with(GPU_AV_RACES), within(300);
    "storm::return" => storm(context, Variant::Return), measures(), without_layer(), within(45);
    "storm::count" => storm(context, Variant::Count), measures(), without_layer(), within(45);
    "storm::layer" => storm(context, Variant::Layer), measures(), alone(), within(45);
    "storm::prints" => storm(context, Variant::Prints), measures(), alone(), set(PRINTS_IN_1_MIB), within(45);
    "storm::frames_that_return" => frames(context, Variant::Return), measures(), without_layer(), within(45);
    "storm::frames_that_print" => frames(context, Variant::Prints), measures(), alone(), set(PRINTS), within(45);
    "storm::frames_of_debug_printf" => frames(context, Variant::Printf), measures(), validation_alone(), with(PRINTF), within(45);
    "storm::debug_printf" => storm(context, Variant::Printf), measures(), validation_alone(), with(PRINTF), within(45);
    "storm::debug_printf_with_room" => storm(context, Variant::PrintfWithRoom),
        measures(), validation_alone(), with(PRINTF_WITH_ROOM), within(45);
    "loss::one" => loss(context, Dispatch::One, "one of 64 invocations aborts"), measures(), alone(), within(30);
    "loss::waiting" => loss(context, Dispatch::Waiting, "others wait for the one that aborts"), measures(), alone(), within(30);
    "storm::to_the_loss" => loss(context, Dispatch::Million, "a million invocations abort"), measures(), alone(), within(30);
    "messages::layer" => messages(context, false), measures(), alone(), within(30);
    "messages::by_value" => messages(context, true), measures(), alone();
    "compilers::without_layer" => compile(context, Shader::set(), &WITHOUT_LAYER), measures(), without_layer();
    "compilers::layer" => compile(context, Shader::set(), &[Variant::Layer]), measures(), alone();
    "compilers::prints" => compile(context, Shader::set(), &[Variant::Prints]), measures(), alone(), set(PRINTS);
    "compilers::debug_printf" => compile(context, Shader::set(), &[Variant::Printf]), measures(), validation_alone(), with(PRINTF);
    "sites::without_layer" => compile(context, sites(), &WITHOUT_LAYER), measures(), without_layer();
    "sites::layer" => compile(context, sites(), &[Variant::Layer]), measures(), alone();
    "sites::prints" => compile(context, sites(), &[Variant::Prints]), measures(), alone(), set(PRINTS);
    "sites::debug_printf" => compile(context, sites(), &[Variant::Printf]), measures(), validation_alone(), with(PRINTF);
    "loops::without_layer" => compile(context, loops_and_accesses(), &[Variant::Unchecked]), measures(), without_layer();
    "loops::layer" => compile(context, loops(), &[Variant::Planted]), measures(), alone();
    "loops::addresses" => compile(context, vec![Shader::Memory(Check::Addresses)], &[Variant::Planted]),
        measures(), alone(), set(&[("sanitize", "addresses")]);
    "loops::initialized" => compile(context, vec![Shader::Memory(Check::Initialized)], &[Variant::Planted]),
        measures(), alone(), set(&[("sanitize", "initialized")]);
    "loops::races" => compile(context, vec![Shader::Memory(Check::Races), STRAIGHT], &[Variant::Planted]),
        measures(), alone(), set(&[("sanitize", "races")]);
    "loops::barriers" => compile(context, vec![Shader::Memory(Check::Barriers)], &[Variant::Planted]),
        measures(), alone(), set(&[("sanitize", "barriers")]);
    "loops::invalid" => compile(context, vec![Shader::Memory(Check::Invalid)], &[Variant::Planted]),
        measures(), alone(), set(&[("sanitize", "invalid")]);
    "conditions::off" => compile(context, Shader::set(), &[Variant::WithoutValues]),
        measures(), alone(), set(&[("values", "off")]);
    "conditions::auto" => compile(context, Shader::set(), &[Variant::Layer]), measures(), alone();
    "conditions::with_lines" => compile(context, Shader::set(), &[Variant::WithLines]), measures(), alone();
    "conditions::on" => compile(context, Shader::set(), &[Variant::WithVariables]),
        measures(), alone(), set(&[("values", "on")]);
    "native::layer" => compile(context, sizes(), &[Variant::Layer]), measures(), alone(), within(30);
    "native::by_value" => compile(context, sizes(), &[Variant::ByValue]), measures(), alone(), within(30);
    "native::native" => compile(context, sizes(), &[Variant::Native]), measures(), without_layer(), within(70);
};

/// The layer's prints.
const PRINTS: &[(&str, &str)] = &[("printf", "on")];

/// The same with a buffer of which work has 1 MiB.
const PRINTS_IN_1_MIB: &[(&str, &str)] = &[("printf", "on"), ("printf_size", "4194304")];

/// debugPrintf of the validation layer.
const PRINTF: &[(&str, &str)] = &[("VK_LAYER_PRINTF_ENABLE", "1"), ("VK_LAYER_PRINTF_ONLY_PRESET", "1")];

/// debugPrintf with as much room as aborts and prints have. By default it has 1 KiB, which 23 messages fill.
const PRINTF_WITH_ROOM: &[(&str, &str)] = &[
    ("VK_LAYER_PRINTF_ENABLE", "1"),
    ("VK_LAYER_PRINTF_ONLY_PRESET", "1"),
    ("VK_LAYER_PRINTF_BUFFER_SIZE", "1048576"),
];

/// An environment variable and its value.
type Setting = (&'static str, &'static str);

/// The preset "GPU-Assisted Validation" of the validation layer 1.4.341 (its manifest).
const GPU_AV: [Setting; 6] = [
    ("VK_LAYER_VALIDATE_CORE", "0"),
    ("VK_LAYER_STATELESS_PARAM", "0"),
    ("VK_LAYER_OBJECT_LIFETIME", "0"),
    ("VK_LAYER_THREAD_SAFETY", "0"),
    ("VK_LAYER_UNIQUE_HANDLES", "0"),
    ("VK_LAYER_GPUAV_ENABLE", "1"),
];

/// The same preset, of whose checks in shaders only the sanitizer is left. It needs the safe mode.
const SHADER_SANITIZER: &[(&str, &str)] = &gpu_av_with([
    ("VK_LAYER_GPUAV_SAFE_MODE", "1"),
    ("VK_LAYER_GPUAV_BUFFER_ADDRESS_OOB", "0"),
    ("VK_LAYER_GPUAV_SHARED_MEMORY_DATA_RACE", "0"),
]);

/// The same preset, of whose checks in shaders only that of addresses is left.
const GPU_AV_ADDRESSES: &[(&str, &str)] = &gpu_av_with([
    ("VK_LAYER_GPUAV_SHADER_SANITIZER", "0"),
    ("VK_LAYER_GPUAV_BUFFER_ADDRESS_OOB", "1"),
    ("VK_LAYER_GPUAV_SHARED_MEMORY_DATA_RACE", "0"),
]);

/// The same preset, of whose checks in shaders only that of races in shared memory is left.
const GPU_AV_RACES: &[(&str, &str)] = &gpu_av_with([
    ("VK_LAYER_GPUAV_SHADER_SANITIZER", "0"),
    ("VK_LAYER_GPUAV_BUFFER_ADDRESS_OOB", "0"),
    ("VK_LAYER_GPUAV_SHARED_MEMORY_DATA_RACE", "1"),
]);

/// The preset without checks of descriptors and of what the host passes, with these of its checks in shaders.
const fn gpu_av_with([x, y, z]: [Setting; 3]) -> [Setting; 12] {
    let [a, b, c, d, e, f] = GPU_AV;
    [
        a,
        b,
        c,
        d,
        e,
        f,
        ("VK_LAYER_GPUAV_DESCRIPTOR_CHECKS", "0"),
        ("VK_LAYER_GPUAV_POST_PROCESS_DESCRIPTOR_INDEXING", "0"),
        ("VK_LAYER_GPUAV_BUFFERS_VALIDATION", "0"),
        x,
        y,
        z,
    ]
}

/// The variants that need no layer.
const WITHOUT_LAYER: [Variant; 3] = [Variant::Unchecked, Variant::Return, Variant::Native];

fn sites() -> Vec<Shader> {
    [1, 2, 4, 8, 16, 32, 64].map(Shader::Sites).to_vec()
}

fn loops() -> Vec<Shader> {
    let shaders = [8, 32, 128].map(Shader::Loop);
    shaders
        .into_iter()
        .chain(["matmul.comp", "gather.comp", "regtile.comp"].map(Shader::File))
        .chain(OPERATIONS.map(|(check, _)| Shader::Operation(check)))
        .chain([Shader::Operations])
        .collect()
}

fn loops_and_accesses() -> Vec<Shader> {
    loops()
        .into_iter()
        .chain(memory_shaders::checks().map(Shader::Memory))
        .chain([STRAIGHT])
        .collect()
}

/// Straight code, as transforms in shared memory have.
const STRAIGHT: Shader = Shader::SharedAccesses(60);

fn sizes() -> Vec<Shader> {
    [32, 128, 512, 2048, 8192, 16384, 65536].map(Shader::Message).to_vec()
}

fn milliseconds(subject: &str, variant: &str, time: Duration) {
    Measurement::new(subject, variant, "ms", time.as_secs_f64() * 1e3).print();
}

fn calls(_: &Context, setup: usize) -> Result<()> {
    let setup = calls::SETUPS.get(setup).context("unknown setup")?;
    for (call, time) in calls::measure_all(*setup)? {
        Measurement::new(&call, setup.name, "us", time.as_secs_f64() * 1e6).print();
    }
    Ok(())
}

fn recording(gpu: &Gpu, variant: &str) -> Result<()> {
    for (threads, time) in recording::measure(gpu, variant != "no layer")? {
        let subject = match threads {
            1 => "10,000 draws".to_owned(),
            threads => format!("10,000 draws in each of {threads} threads"),
        };
        Measurement::new(&subject, variant, "ns a draw", time.as_secs_f64() * 1e9).print();
    }
    Ok(())
}

fn load(_: &Context, setup: usize) -> Result<()> {
    let setup = calls::SETUPS.get(setup).context("unknown setup")?;
    let load = load::measure(*setup).map_err(|error| match error.downcast_ref() {
        // NVIDIA's 580 after some ten instances.
        Some(&vk::Result::ERROR_INCOMPATIBLE_DRIVER) => {
            Skip("the driver cannot be loaded so often in a process".into()).into()
        }
        _ => error,
    })?;
    milliseconds("vkCreateInstance", setup.name, load.instance);
    milliseconds("vkCreateDevice", setup.name, load.device);
    let mebibytes = load.memory as f64 / f64::from(1 << 20);
    Measurement::new("instance, device and shader module", setup.name, "MiB", mebibytes).print();
    Ok(())
}

fn kernel(_: &Context, place: Place) -> Result<()> {
    let variants = [Variant::Unchecked, Variant::Return, Variant::Layer];
    for (variant, time) in variants.iter().zip(kernel::compare(place, variants)?) {
        milliseconds(place.name(), variant.name(), time);
    }
    Ok(())
}

/// The kernels with another setting `values`, each in a process of its own, where they may have other numbers of iterations.
fn values(_: &Context, setting: Variant) -> Result<()> {
    for place in [Place::InALoop, Place::AfterALoop] {
        let subject = format!("{}, {}", place.name(), setting.name());
        let [plain, layer] = kernel::compare(place, [Variant::Return, setting])?;
        milliseconds(&subject, Variant::Return.name(), plain);
        milliseconds(&subject, Variant::Layer.name(), layer);
    }
    Ok(())
}

fn planted(_: &Context, shader: Shader) -> Result<()> {
    let variants = [Variant::Unchecked, Variant::Planted];
    for (variant, time) in variants.iter().zip(kernel::compare_planted(&shader, variants)?) {
        milliseconds(&shader.name(), variant.name(), time);
    }
    Ok(())
}

fn checks(_: &Context, variant: Variant) -> Result<()> {
    default_checks::measure(variant, Measurement::print)
}

fn memory(_: &Context, variant: Variant, check: Option<Check>) -> Result<()> {
    memory_checks::measure(variant, check, Measurement::print)
}

fn storm(_: &Context, variant: Variant) -> Result<()> {
    storm::measure(variant, Measurement::print)
}

fn frames(_: &Context, variant: Variant) -> Result<()> {
    storm::measure_frames(variant, Measurement::print)
}

fn loss(_: &Context, dispatch: Dispatch, subject: &str) -> Result<()> {
    let (without, with) = loss::to_loss(dispatch)?;
    milliseconds(subject, "no abort", without);
    milliseconds(subject, "abort", with);
    Ok(())
}

fn messages(_: &Context, is_by_value: bool) -> Result<()> {
    for kib in [1, 2, 4, 8, 16, 32, 64] {
        let mut words = large_message::shader(kib)?;
        let mut variant = "layer";
        if is_by_value {
            words = large_message::by_value(&words).context("the module has no load of the array")?;
            variant = "by value";
        }
        match large_message::create(&words) {
            Ok(time) => milliseconds(&format!("{kib} KiB"), variant, time),
            // The comparison shows what drivers make of such modules. NVIDIA's 580 fails with ERROR_UNKNOWN.
            Err(error) if is_by_value => return Err(Skip(format!("{kib} KiB by value: {error:#}")).into()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn compile(_: &Context, shaders: Vec<Shader>, variants: &[Variant]) -> Result<()> {
    compilers::measure(&shaders, variants, Measurement::print)
}
