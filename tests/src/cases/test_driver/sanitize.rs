//! Checks never make a program fail: pipelines that the driver refuses with checks are created without, and the log says why.

use super::deferred::create as create_deferred;
use super::identifiers::{create as create_identified, device as identifier_device};
use super::support::not_advertised;
use crate::case::{Case, cases};
use crate::cases::constant_data_special::Special;
use crate::cases::objects::error_code;
use crate::cases::sanitize::form;
use crate::cases::shader_binary::{create as create_object, destroy, objects, open};
use crate::cases::support::{bytes, compile_stages_by, without_abort};
use crate::glsl::compile_endless;
use crate::vk::{Buffer, Device, Gpu, Kernel, Pass, ShaderSource, Stage, test_driver};
use anyhow::{Result, ensure};
use ash::vk;

const CHECKS: &[(&str, &str)] = &[("sanitize", "default"), ("log_level", "warning")];
const ADDRESSES: &[(&str, &str)] = &[("sanitize", "loops,addresses"), ("log_level", "warning")];
const SHOWN: &[(&str, &str)] = &[("sanitize", "loops"), ("log_level", "info")];

pub(super) const CASES: &[Case] = cases! {
    "test_driver_sanitize::a_module_has_checks" => compute(gpu, true), on_driver("replay"), set(CHECKS), silent();
    "test_driver_sanitize::a_refused_module_runs_without" => compute(gpu, false),
        on_driver("refuse=module:1"), set(CHECKS),
        logs(&["is created again without checks: with them the driver's vkCreateShaderModule returned ERROR_UNKNOWN"]);
    "test_driver_sanitize::a_module_that_is_refused_without_checks_too" => refused(gpu),
        on_driver("refuse=module:*"), set(CHECKS),
        logs(&["is created again without checks", "returned ERROR_UNKNOWN for module ", " without checks, too"]);
    "test_driver_sanitize::a_refused_pipeline_runs_without" => compute(gpu, false),
        on_driver("refuse=pipeline:1"), set(CHECKS),
        logs(&["is created again without checks: with them the driver's vkCreateComputePipelines returned ERROR_UNKNOWN"]);
    "test_driver_sanitize::a_refused_pipeline_of_a_chained_module_runs_without" => chained(gpu),
        on_driver("refuse=pipeline:1"), set(CHECKS),
        logs(&["is created again without checks: with them the driver's vkCreateComputePipelines returned ERROR_UNKNOWN"]);
    "test_driver_sanitize::the_pipelines_beside_a_refused_one_have_checks" => beside(gpu),
        on_driver("refuse=pipeline:2"), set(CHECKS), logs(&["is created again without checks: with them the driver's"]);
    "test_driver_sanitize::a_refused_shader_object_runs_without" => object(gpu, false),
        on_driver("refuse=shader:1"), set(CHECKS),
        logs(&["is created again without checks: with them the driver's vkCreateShadersEXT returned ERROR_UNKNOWN"]);
    "test_driver_sanitize::a_refused_pipeline_of_a_deferred_operation_runs_without" => deferred(gpu, false),
        on_driver("deferred,refuse=pipeline:1"), set(CHECKS),
        logs(&["is created again without checks: with them the driver's vkCreateRayTracingPipelinesKHR returned ERROR_UNKNOWN"]);
    "test_driver_sanitize::a_pipeline_of_a_deferred_operation_has_checks" => deferred(gpu, true),
        on_driver("deferred,replay"), set(CHECKS), silent();
    "test_driver_sanitize::a_shader_object_has_checks" => object(gpu, true), on_driver("replay"), set(CHECKS), silent();
    "test_driver_sanitize::an_unknown_identifier_is_logged_once" => unknown_identifier(gpu),
        on_driver(""), set(CHECKS), logs(&["sanitize: a pipeline is created from the identifier of a module, without SPIR-V"]);
    "test_driver_sanitize::a_native_driver_gets_the_aborts" => native(gpu),
        on_driver("native=abort+fault+data"), set(CHECKS), silent();
    "test_driver_sanitize::a_device_without_addresses_has_no_checks" => compute(gpu, false),
        on_driver("no_addresses"), set(CHECKS),
        logs(&["sanitize: cannot enable VK_KHR_shader_abort on `vkabort test driver`: the driver lacks bufferDeviceAddress. Its \
                shaders run without checks"]);
    "test_driver_sanitize::a_device_that_the_driver_refuses_has_no_checks" => compute(gpu, false),
        on_driver("refuse=device:1"), set(CHECKS), logs(&["Its shaders run without checks"]);
    "test_driver_sanitize::with_emulation_off_there_are_no_checks" => compute(gpu, false),
        on_driver(""), set(&[("sanitize", "default"), ("emulation", "off")]), logs(&["emulation = off"]);
    "test_driver_sanitize::stages_without_stores_have_none" => stages(gpu, [false, true]),
        on_driver("no_vertex_stores"), set(CHECKS),
        logs(&["sanitizer: no checks in vertex, tessellation control, tessellation evaluation, geometry shaders"]);
    "test_driver_sanitize::fragments_without_stores_have_none" => stages(gpu, [true, false]),
        on_driver("no_fragment_stores"), set(CHECKS), logs(&["sanitizer: no checks in fragment shaders"]);
    "test_driver_sanitize::the_log_says_what_is_planted" => compute(gpu, true),
        on_driver(""), set(SHOWN), logs(&["sanitizer: plants loops into every module (loop_budget = 16777216, loop_timeout_ms = 500)"]);
    "test_driver_sanitize::addresses_without_memory_for_their_table" => compute(gpu, true),
        on_driver("refuse=memory:1"), set(ADDRESSES), logs(&["sanitize: addresses are not tested: no memory: "]);
    "test_driver_sanitize::addresses_on_a_native_driver" => compute(gpu, true), on_driver("native=abort+fault+data"),
        set(ADDRESSES), logs(&["no check of addresses: the layer does not emulate VK_KHR_shader_abort there; set emulation = force"]);
    "test_driver_sanitize::an_explicit_emulation_counts" => not_advertised(gpu),
        on_driver("no_vertex_stores"), set(&[("sanitize", "loops"), ("emulation", "off")]);
};

/// A shader without aborts, and a program that enables nothing. The driver gets other words only if there are checks.
fn compute(gpu: &Gpu, checks: bool) -> Result<()> {
    let device = without_abort(gpu)?;
    let spirv = form("WHILE")?;
    let buffer = Buffer::storage(&device, &[0; 65])?;
    for _ in 0..2 {
        let kernel = Kernel::new(&device, &spirv, &[&buffer])?;
        expect_words(&device, kernel.pipeline, &spirv, checks)?;
    }
    Ok(())
}

fn refused(gpu: &Gpu) -> Result<()> {
    let device = without_abort(gpu)?;
    let buffer = Buffer::storage(&device, &[0; 65])?;
    let kernel = Kernel::new(&device, &form("WHILE")?, &[&buffer]);
    ensure!(kernel.is_err(), "the driver has accepted the module");
    Ok(())
}

fn expect_words(device: &Device<'_>, pipeline: vk::Pipeline, original: &[u32], checks: bool) -> Result<()> {
    let words = test_driver::words(device, pipeline, 0)?;
    ensure!((words != original) == checks, "the driver has {} words", words.len());
    Ok(())
}

fn chained(gpu: &Gpu) -> Result<()> {
    let device = without_abort(gpu)?;
    let spirv = form("WHILE")?;
    let buffer = Buffer::storage(&device, &[0; 65])?;
    let mut kernel = Kernel::bound(&device, &[&buffer])?;
    // The hash of a specialised module is another one.
    kernel.create_inline(&spirv, &[(5, vec![0; 4])])?;
    expect_words(&device, kernel.pipeline, &spirv, false)
}

/// Three pipelines of different modules in one call, the second of which the driver refuses.
fn beside(gpu: &Gpu) -> Result<()> {
    let device = without_abort(gpu)?;
    let before = test_driver::call_log(&device)?.live;
    let buffer = Buffer::storage(&device, &[0; 65])?;
    let kernel = Kernel::bound(&device, &[&buffer])?;
    let code = ["WHILE", "DO_WHILE", "FOR_EVER"].map(form);
    let code = code.into_iter().collect::<Result<Vec<_>>>()?;
    let mut modules: Vec<_> = code
        .iter()
        .map(|code| vk::ShaderModuleCreateInfo::default().code(code))
        .collect();
    let infos: Vec<_> = modules
        .iter_mut()
        .map(|module| {
            let stage = crate::vk::stage(vk::ShaderModule::null()).push_next(module);
            vk::ComputePipelineCreateInfo::default()
                .stage(stage)
                .layout(kernel.layout)
        })
        .collect();
    // SAFETY: the handles belong to this device; the create infos point to data that outlives the call.
    let created = unsafe {
        device
            .raw
            .create_compute_pipelines(vk::PipelineCache::null(), &infos, None)
    };
    let pipelines = created.map_err(|(_, result)| result)?;
    for (index, (pipeline, code)) in pipelines.iter().zip(&code).enumerate() {
        expect_words(&device, *pipeline, code, index != 1)?;
        // SAFETY: nothing uses the pipeline.
        unsafe { device.raw.destroy_pipeline(*pipeline, None) };
    }
    drop(kernel);
    drop(buffer);
    let left = test_driver::call_log(&device)?.live - before;
    ensure!(left == 0, "{left} objects leaked");
    Ok(())
}

fn object(gpu: &Gpu, checks: bool) -> Result<()> {
    let device = open(gpu)?;
    let spirv = form("WHILE")?;
    let buffer = Buffer::storage(&device, &[0; 65])?;
    let kernel = Kernel::bound(&device, &[&buffer])?;
    let shader = create_object(&kernel, vk::ShaderCodeTypeEXT::SPIRV, &bytes(&spirv))?;
    // SAFETY: the shader belongs to the device.
    let data = unsafe { objects(&device).get_shader_binary_data(shader) };
    destroy(&objects(&device), &[shader]);
    ensure!(
        (data? != bytes(&spirv)) == checks,
        "the driver has other words than expected"
    );
    Ok(())
}

/// The result of a creation with checks has to be known at once; one without is deferred.
fn deferred(gpu: &Gpu, checks: bool) -> Result<()> {
    let spirv = form("WHILE")?;
    let (result, words) = create_deferred(gpu, &spirv)?;
    let expected = match checks {
        true => vk::Result::OPERATION_NOT_DEFERRED_KHR,
        false => vk::Result::OPERATION_DEFERRED_KHR,
    };
    ensure!(result == expected, "{result:?}");
    ensure!((words != spirv) == checks, "the driver has {} words", words.len());
    Ok(())
}

fn unknown_identifier(gpu: &Gpu) -> Result<()> {
    let device = identifier_device(gpu)?;
    let buffer = Buffer::storage(&device, &[0; 65])?;
    for _ in 0..2 {
        let mut kernel = Kernel::bound(&device, &[&buffer])?;
        let code = error_code(create_identified(&device, &mut kernel, &[1; 8], &Special::new()));
        ensure!(code == Some(vk::Result::PIPELINE_COMPILE_REQUIRED_EXT), "{code:?}");
    }
    Ok(())
}

/// The driver executes the planted aborts, so its words declare the capability.
fn native(gpu: &Gpu) -> Result<()> {
    let device = without_abort(gpu)?;
    let spirv = form("WHILE")?;
    let buffer = Buffer::storage(&device, &[0; 65])?;
    let kernel = Kernel::new(&device, &spirv, &[&buffer])?;
    let words = test_driver::words(&device, kernel.pipeline, 0)?;
    let features = vkabort_instrument::scan(&words);
    ensure!(
        features.contains(vkabort_instrument::Feature::Abort),
        "no abort was planted"
    );
    Ok(())
}

/// Whether the vertex and the fragment shader have checks.
fn stages(gpu: &Gpu, checks: [bool; 2]) -> Result<()> {
    let device = without_abort(gpu)?;
    let compiled = compile_stages_by(&["stage/vertex.vert", "stage/fragment.frag"], compile_endless)?;
    let stages: Vec<_> = compiled.iter().map(|(kind, spirv)| Stage::new(*kind, spirv)).collect();
    let pass = Pass::with(&device, &stages, &[], ShaderSource::Modules)?;
    for (index, ((_, original), checks)) in compiled.iter().zip(checks).enumerate() {
        let words = test_driver::words(&device, pass.pipeline(), index as u32)?;
        ensure!(
            (words != *original) == checks,
            "stage {index} has {} words",
            words.len()
        );
    }
    Ok(())
}
