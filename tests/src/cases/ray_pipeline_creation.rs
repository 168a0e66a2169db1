//! Paths of ray tracing shaders to the driver: chained to their stages, in libraries, in deferred operations.

use super::ray;
use super::support::{expect_lost, expect_success};
use crate::case::{Case, Skip, cases};
use crate::payload::Payload;
use crate::vk::{Device, Gpu, RAY_STAGES, Rays, groups, specialization};
use anyhow::{Result, ensure};
use ash::vk::{self, Handle};

pub(super) const CASES: &[Case] = cases! {
    "ray_pipeline_creation::chained_to_their_stages" => rays(gpu, inline_rays, true);
    "ray_pipeline_creation::libraries" => rays(gpu, linked_rays, true);
    "ray_pipeline_creation::deferred" => rays(gpu, deferred_rays, true);
    "ray_pipeline_creation::without_a_taken_abort" => never_taken(gpu), silent();
};

/// Creates a pipeline of compiled shaders.
pub(super) type CreateRays = fn(&Device<'_>, &mut Rays<'_>, &[Vec<u32>]) -> Result<()>;

/// The ways of shaders into a pipeline.
pub(super) const WAYS: [CreateRays; 3] = [inline_rays, linked_rays, deferred_rays];

fn never_taken(gpu: &Gpu) -> Result<()> {
    WAYS.into_iter().try_for_each(|create| rays(gpu, create, false))
}

fn rays(gpu: &Gpu, create: CreateRays, aborts: bool) -> Result<()> {
    ray::on_device_with(gpu, true, |device| {
        // Stage 4 is closest hit; launch 1 hits.
        let target = if aborts { [4, 1] } else { [0, 0] };
        let (result, words, payloads) = ray::trace(device, target, |rays| create(device, rays, &ray::compiled()?))?;
        if !aborts {
            expect_success(result)?;
            return ray::same_counts(&words, None);
        }
        expect_lost(result)?;
        let message = Payload::text("closest hit %u").scalar(1u32).bytes();
        ensure!(payloads == [message], "{payloads:?}");
        ray::same_counts(&words, Some(1))
    })
}

/// Calls `use_stages` with stages that have their module create infos chained.
fn inline<R>(
    compiled: &[Vec<u32>],
    use_stages: impl FnOnce(&[vk::PipelineShaderStageCreateInfo<'_>]) -> Result<R>,
) -> Result<R> {
    let mut modules: Vec<_> = compiled
        .iter()
        .map(|spirv| vk::ShaderModuleCreateInfo::default().code(spirv))
        .collect();
    let stages: Vec<_> = modules
        .iter_mut()
        .zip(RAY_STAGES)
        .map(|(module, kind)| {
            vk::PipelineShaderStageCreateInfo::default()
                .stage(kind)
                .name(c"main")
                .push_next(module)
        })
        .collect();
    use_stages(&stages)
}

fn inline_rays(_: &Device<'_>, rays: &mut Rays<'_>, compiled: &[Vec<u32>]) -> Result<()> {
    inline(compiled, |stages| {
        let groups = groups();
        let info = vk::RayTracingPipelineCreateInfoKHR::default()
            .stages(stages)
            .groups(&groups);
        Ok(rays.create(info)?)
    })
}

fn linked_rays(_: &Device<'_>, rays: &mut Rays<'_>, compiled: &[Vec<u32>]) -> Result<()> {
    link(rays, compiled, &[])
}

/// Links a pipeline from one library with the general groups and one with the hit groups, whose closest-hit shader is
/// specialised.
pub(super) fn link(rays: &mut Rays<'_>, compiled: &[Vec<u32>], special: &[(u32, Vec<u8>)]) -> Result<()> {
    let (entries, data) = specialization(special);
    let special = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
    let mut stages = rays.stages(&ray::stages(compiled))?;
    stages[3] = stages[3].specialization_info(&special);
    let (general, hit) = stages.split_at(3);
    let mut groups = groups();
    for group in &mut groups[3..] {
        for shader in [
            &mut group.closest_hit_shader,
            &mut group.any_hit_shader,
            &mut group.intersection_shader,
        ] {
            if *shader != vk::SHADER_UNUSED_KHR {
                *shader -= 3;
            }
        }
    }
    let interface = vk::RayTracingPipelineInterfaceCreateInfoKHR::default()
        .max_pipeline_ray_payload_size(16)
        .max_pipeline_ray_hit_attribute_size(8);
    let first = rays.pipelines.len();
    for (stages, groups) in [(general, &groups[..3]), (hit, &groups[3..])] {
        let info = vk::RayTracingPipelineCreateInfoKHR::default()
            .flags(vk::PipelineCreateFlags::LIBRARY_KHR)
            .stages(stages)
            .groups(groups)
            .library_interface(&interface);
        rays.create(info)?;
    }
    let libraries = rays.pipelines[first..].to_vec();
    let libraries = vk::PipelineLibraryCreateInfoKHR::default().libraries(&libraries);
    let info = vk::RayTracingPipelineCreateInfoKHR::default()
        .library_info(&libraries)
        .library_interface(&interface);
    Ok(rays.create(info)?)
}

fn deferred_rays(device: &Device<'_>, rays: &mut Rays<'_>, compiled: &[Vec<u32>]) -> Result<()> {
    let commands = ash::khr::deferred_host_operations::Device::new(&device.gpu.instance, &device.raw);
    let mut pipelines = [vk::Pipeline::null()];
    let groups = groups();
    inline(compiled, |stages| {
        let infos = [vk::RayTracingPipelineCreateInfoKHR::default()
            .stages(stages)
            .groups(&groups)
            .layout(rays.layout)
            .max_pipeline_ray_recursion_depth(1)];
        // SAFETY: create infos and the array of handles outlive the operation.
        unsafe {
            let operation = commands.create_deferred_operation(None)?;
            let result = (rays.commands.fp().create_ray_tracing_pipelines_khr)(
                device.raw.handle(),
                operation,
                vk::PipelineCache::null(),
                1,
                infos.as_ptr(),
                std::ptr::null(),
                pipelines.as_mut_ptr(),
            );
            match result {
                vk::Result::OPERATION_DEFERRED_KHR => loop {
                    match (commands.fp().deferred_operation_join_khr)(device.raw.handle(), operation) {
                        vk::Result::SUCCESS => break,
                        vk::Result::THREAD_DONE_KHR | vk::Result::THREAD_IDLE_KHR => std::thread::yield_now(),
                        error => anyhow::bail!("vkDeferredOperationJoinKHR returned {error:?}"),
                    }
                },
                vk::Result::SUCCESS | vk::Result::OPERATION_NOT_DEFERRED_KHR => {}
                error => anyhow::bail!("vkCreateRayTracingPipelinesKHR returned {error:?}"),
            }
            commands.destroy_deferred_operation(operation, None);
        }
        Ok(())
    })?;
    if pipelines[0].is_null() {
        return Err(Skip("the driver created no pipeline".into()).into());
    }
    rays.pipelines.push(pipelines[0]);
    Ok(())
}
