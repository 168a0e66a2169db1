//! Paths of a shader to the driver: chained to its stage, in a linked library, in a derived pipeline, in a deferred
//! operation.
use super::constant_data::shader;
use super::constant_data_special::{message_of, specialisations};
use super::stage::check_fragment;
use super::support::{GROUPS, check_entry_point, draw, expect_end, marked, run_kernel, same_set};
use crate::assembly::assemble;
use crate::case::{Case, cases};
use crate::glsl;
use crate::vk::{Buffer, Device, Gpu, Kernel, ShaderSource, stage};
use anyhow::{Result, ensure};
use ash::vk::{self, Handle as _};

pub(super) const CASES: &[Case] = cases! {
    "pipeline_creation::a_compute_shader_chained_to_its_stage" => compute(gpu, ComputeSource::Inline, &[5, 38]),
        logs(&["word 5 is 7"]);
    "pipeline_creation::a_specialised_shader_chained_to_its_stage" => specialised(gpu, &[5, 38]);
    "pipeline_creation::a_specialised_shader_chained_to_its_stage_without_an_abort" => specialised(gpu, &[]), silent();
    "pipeline_creation::a_derived_compute_pipeline" => compute(gpu, ComputeSource::Derivative, &[5, 38]);
    "pipeline_creation::a_compute_pipeline_that_keeps_its_module" => compute(gpu, ComputeSource::Twice, &[5, 38]);
    "pipeline_creation::one_module_that_cannot_be_rewritten_fails_its_own_pipeline" => one_fails(gpu, &[5, 38]),
        logs(&["cannot rewrite a shader module", "word 5 is 7"]), on_top();
    "pipeline_creation::the_pipelines_beside_a_failed_one_run" => one_fails(gpu, &[]),
        logs(&["cannot rewrite a shader module"]), on_top();
    "pipeline_creation::compute_without_a_taken_abort" => compute_never_taken(gpu), silent();
    "pipeline_creation::graphics_shaders_chained_to_their_stages" => graphics(gpu, ShaderSource::Inline, true),
        logs(&["pixel 17 42"]);
    "pipeline_creation::graphics_libraries" => graphics(gpu, ShaderSource::Libraries, true), logs(&["pixel 17 42"]);
    "pipeline_creation::graphics_libraries_of_chained_shaders" => graphics(gpu, ShaderSource::InlineLibraries, true),
        logs(&["pixel 17 42"]);
    "pipeline_creation::a_derived_graphics_pipeline" => graphics(gpu, ShaderSource::Derivative, true);
    "pipeline_creation::graphics_without_a_taken_abort" => graphics_never_taken(gpu), silent();
};

/// Runs `check` on a device that accepts module create infos chained to stages.
pub(super) fn with_inline<R>(gpu: &Gpu, check: impl FnOnce(&Device<'_>) -> Result<R>) -> Result<R> {
    let mut libraries = vk::PhysicalDeviceGraphicsPipelineLibraryFeaturesEXT::default();
    let names = [
        ash::khr::pipeline_library::NAME,
        ash::ext::graphics_pipeline_library::NAME,
    ];
    names.into_iter().try_for_each(|name| gpu.require_extension(name))?;
    gpu.ask(&mut libraries);
    gpu.require(libraries.graphics_pipeline_library, "graphicsPipelineLibrary")?;
    libraries.p_next = std::ptr::null_mut();
    check(&Device::with_extensions(gpu, &names, vec![&mut libraries])?)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ComputeSource {
    Inline,
    Derivative,
    /// Two pipelines of one module in one call.
    Twice,
}

fn compute(gpu: &Gpu, source: ComputeSource, aborting: &[usize]) -> Result<()> {
    with_inline(gpu, |device| {
        let buffer = Buffer::storage(device, &marked(aborting))?;
        let mut kernel = Kernel::bound(device, &[&buffer])?;
        let spirv = glsl::compile("abort/entry_point.comp")?;
        let mut module = vk::ShaderModuleCreateInfo::default().code(&spirv);
        let mut first = vk::Pipeline::null();
        // SAFETY: the handles belong to this device; the create infos point to data that outlives the calls.
        unsafe {
            if source == ComputeSource::Inline {
                let stage = stage(vk::ShaderModule::null()).push_next(&mut module);
                kernel.create_from(stage, vk::PipelineCache::null())?;
            } else {
                let module = device.raw.create_shader_module(&module, None)?;
                let info = vk::ComputePipelineCreateInfo::default()
                    .stage(stage(module))
                    .layout(kernel.layout)
                    .base_pipeline_index(-1);
                let (parent, mut child) = (info.flags(vk::PipelineCreateFlags::ALLOW_DERIVATIVES), info);
                if source == ComputeSource::Derivative {
                    child = child.flags(vk::PipelineCreateFlags::DERIVATIVE).base_pipeline_index(0);
                }
                let pipelines = device
                    .raw
                    .create_compute_pipelines(vk::PipelineCache::null(), &[parent, child], None);
                device.raw.destroy_shader_module(module, None);
                let pipelines = pipelines.map_err(|(_, result)| result)?;
                (first, kernel.pipeline) = (pipelines[0], pipelines[1]);
            }
        }
        let (_submission, result) = kernel.run(GROUPS)?;
        // SAFETY: no submission uses the first pipeline.
        unsafe { device.raw.destroy_pipeline(first, None) };
        check_entry_point(device, result, &buffer.read(), aborting)
    })
}

/// Creates three pipelines in one call, the second of damaged SPIR-V, and runs the third.
fn one_fails(gpu: &Gpu, aborting: &[usize]) -> Result<()> {
    with_inline(gpu, |device| {
        let buffer = Buffer::storage(device, &marked(aborting))?;
        let mut kernel = Kernel::bound(device, &[&buffer])?;
        let spirv = glsl::compile("abort/entry_point.comp")?;
        let damaged = &spirv[..spirv.len() - 2];
        let mut modules = [&spirv[..], damaged, &spirv].map(|code| vk::ShaderModuleCreateInfo::default().code(code));
        let infos = modules.each_mut().map(|module| {
            vk::ComputePipelineCreateInfo::default()
                .stage(stage(vk::ShaderModule::null()).push_next(module))
                .layout(kernel.layout)
        });
        // SAFETY: the handles belong to this device; the create infos point to data that outlives the call.
        let created = unsafe {
            device
                .raw
                .create_compute_pipelines(vk::PipelineCache::null(), &infos, None)
        };
        let Err((pipelines, result)) = created else {
            anyhow::bail!("damaged SPIR-V was accepted");
        };
        let is_there: Vec<bool> = pipelines.iter().map(|pipeline| !pipeline.is_null()).collect();
        kernel.pipeline = pipelines[2];
        // SAFETY: nothing uses the first pipeline.
        unsafe { device.raw.destroy_pipeline(pipelines[0], None) };
        ensure!(
            is_there == [true, false, true] && result == vk::Result::ERROR_UNKNOWN,
            "{result:?}, {is_there:?}"
        );
        let result = kernel.run_to_end(GROUPS)?;
        check_entry_point(device, result, &buffer.read(), aborting)
    })
}

fn compute_never_taken(gpu: &Gpu) -> Result<()> {
    let sources = [ComputeSource::Inline, ComputeSource::Derivative, ComputeSource::Twice];
    sources.into_iter().try_for_each(|source| compute(gpu, source, &[]))
}

fn graphics_never_taken(gpu: &Gpu) -> Result<()> {
    let sources = [
        ShaderSource::Inline,
        ShaderSource::Libraries,
        ShaderSource::InlineLibraries,
        ShaderSource::Derivative,
    ];
    sources.into_iter().try_for_each(|source| graphics(gpu, source, false))
}

/// Constant data and its length come from the stage's specialisation, as with a module object.
fn specialised(gpu: &Gpu, aborting: &[usize]) -> Result<()> {
    let spirv = assemble(&shader("specialised_message", &[])?)?;
    for (special, table, factor) in specialisations() {
        with_inline(gpu, |device| {
            let buffer = Buffer::storage(device, &[marked(aborting), vec![0; 64]].concat())?;
            let mut kernel = Kernel::bound(device, &[&buffer])?;
            kernel.create_inline(&spirv, &special)?;
            let ran = run_kernel(device, &kernel, &buffer)?;
            expect_end(ran.result, !aborting.is_empty())?;
            let message = |i: &usize| message_of(*i as u32, factor, &table);
            same_set(ran.payloads, aborting.iter().map(message).collect())
        })?;
    }
    Ok(())
}

fn graphics(gpu: &Gpu, source: ShaderSource, aborts: bool) -> Result<()> {
    with_inline(gpu, |device| {
        let shaders = ["stage/cover.vert", "stage/fragment.frag"];
        let push = if aborts { [17, 42] } else { [1000, 1000] };
        let (image, result) = draw(device, &shaders, &[], source, push)?;
        check_fragment(device, &image, result, push)
    })
}
