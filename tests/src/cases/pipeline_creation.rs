//! Paths of a shader to the driver: chained to its stage, in a linked library, in a derived pipeline, in a deferred
//! operation.
use super::ray;
use super::support::{GROUPS, MARK, expect_end, expect_lost, expect_success, marked, same_set, same_words};
use crate::case::{Case, Context, Skip};
use crate::expected::Payload;
use crate::glsl;
use crate::vk::{
    Buffer, Device, DeviceOptions, Gpu, Image, Kernel, More, Pass, RAY_STAGES, Rays, Stage, Way, groups, stage,
};
use anyhow::{Result, ensure};
use ash::vk::{self, Handle};

pub(super) const CASES: &[Case] = &[
    Case::new("pipeline_creation::a_compute_shader_chained_to_its_stage", |context| {
        compute(context, ComputeWay::Inline, &[5, 38])
    })
    .logs(&["word 5 is 7"]),
    Case::new("pipeline_creation::a_derived_compute_pipeline", |context| {
        compute(context, ComputeWay::Derivative, &[5, 38])
    }),
    Case::new(
        "pipeline_creation::a_compute_pipeline_that_keeps_its_module",
        |context| compute(context, ComputeWay::Twice, &[5, 38]),
    ),
    Case::new("pipeline_creation::compute_without_a_taken_abort", |context| {
        for way in [ComputeWay::Inline, ComputeWay::Derivative, ComputeWay::Twice] {
            compute(context, way, &[])?;
        }
        Ok(())
    })
    .silent(),
    Case::new(
        "pipeline_creation::graphics_shaders_chained_to_their_stages",
        |context| graphics(context, Way::Inline, true),
    )
    .logs(&["pixel 17 42"]),
    Case::new("pipeline_creation::graphics_libraries", |context| {
        graphics(context, Way::Libraries, true)
    })
    .logs(&["pixel 17 42"]),
    Case::new("pipeline_creation::graphics_libraries_of_chained_shaders", |context| {
        graphics(context, Way::InlineLibraries, true)
    })
    .logs(&["pixel 17 42"]),
    Case::new("pipeline_creation::a_derived_graphics_pipeline", |context| {
        graphics(context, Way::Derivative, true)
    }),
    Case::new("pipeline_creation::graphics_without_a_taken_abort", |context| {
        for way in [Way::Inline, Way::Libraries, Way::InlineLibraries, Way::Derivative] {
            graphics(context, way, false)?;
        }
        Ok(())
    })
    .silent(),
    Case::new(
        "pipeline_creation::ray_tracing_shaders_chained_to_their_stages",
        |context| rays(context, inline_rays, true),
    ),
    Case::new("pipeline_creation::ray_tracing_libraries", |context| {
        rays(context, linked_rays, true)
    }),
    Case::new("pipeline_creation::deferred_ray_tracing_pipelines", |context| {
        rays(context, deferred_rays, true)
    }),
    Case::new("pipeline_creation::ray_tracing_without_a_taken_abort", |context| {
        for create in [inline_rays as CreateRays, linked_rays, deferred_rays] {
            rays(context, create, false)?;
        }
        Ok(())
    })
    .silent(),
];

/// Runs `check` on a device that accepts module create infos chained to stages.
fn with_inline<R>(context: &Context, check: impl FnOnce(&Device<'_>) -> Result<R>) -> Result<R> {
    let gpu = Gpu::open(context)?;
    let mut libraries = vk::PhysicalDeviceGraphicsPipelineLibraryFeaturesEXT::default();
    let names = [
        ash::khr::pipeline_library::NAME,
        ash::ext::graphics_pipeline_library::NAME,
    ];
    for name in names {
        gpu.require_extension(name)?;
    }
    gpu.ask(&mut libraries);
    gpu.require(libraries.graphics_pipeline_library, "graphicsPipelineLibrary")?;
    libraries.p_next = std::ptr::null_mut();
    let more = More {
        extensions: names.to_vec(),
        features: vec![&mut libraries],
    };
    check(&Device::extended(&gpu, DeviceOptions::default(), more)?)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ComputeWay {
    Inline,
    Derivative,
    /// Two pipelines of one module in one call.
    Twice,
}

fn compute(context: &Context, way: ComputeWay, aborting: &[usize]) -> Result<()> {
    with_inline(context, |device| {
        let words = marked(aborting);
        let buffer = Buffer::storage(device, &words)?;
        let mut kernel = Kernel::bound(device, &[&buffer])?;
        let spirv = glsl::compile("abort/entry_point.comp")?;
        let mut module = vk::ShaderModuleCreateInfo::default().code(&spirv);
        let mut first = vk::Pipeline::null();
        // SAFETY: the handles belong to this device; the create infos point to data that outlives the calls.
        unsafe {
            if way == ComputeWay::Inline {
                let stage = stage(vk::ShaderModule::null()).push_next(&mut module);
                kernel.create_from(stage, vk::PipelineCache::null())?;
            } else {
                let module = device.raw.create_shader_module(&module, None)?;
                let info = vk::ComputePipelineCreateInfo::default()
                    .stage(stage(module))
                    .layout(kernel.layout)
                    .base_pipeline_index(-1);
                let (parent, mut child) = (info.flags(vk::PipelineCreateFlags::ALLOW_DERIVATIVES), info);
                if way == ComputeWay::Derivative {
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
        let after: Vec<u32> = words
            .iter()
            .map(|&word| if word == MARK { MARK } else { word + 1000 })
            .collect();
        same_words(&buffer.read(), &after)?;
        expect_end(result, !aborting.is_empty())?;
        if aborting.is_empty() {
            return Ok(());
        }
        let message = |i: &usize| Payload::text("word %u is %u").scalar(*i as u32).scalar(MARK).bytes();
        same_set(device.payloads()?, aborting.iter().map(message).collect())
    })
}

fn graphics(context: &Context, way: Way, aborts: bool) -> Result<()> {
    with_inline(context, |device| {
        let image = Image::new(device)?;
        let (vertex, fragment) = (
            glsl::compile("stage/cover.vert")?,
            glsl::compile("stage/fragment.frag")?,
        );
        let stages = [
            (vk::ShaderStageFlags::VERTEX, &vertex),
            (vk::ShaderStageFlags::FRAGMENT, &fragment),
        ]
        .map(|(kind, spirv)| Stage { kind, spirv });
        let pass = Pass::with(device, &stages, &[], way)?;
        let submission = pass.record(&image, if aborts { [17, 42] } else { [1000, 1000] })?;
        let result = submission.run();
        let shade = |x: u32, y: u32| [x as u8, y as u8, 255, 255];
        for (x, y) in [(16, 42), (18, 42), (0, 0), (63, 63)] {
            ensure!(
                image.texel(x, y) == shade(x, y),
                "pixel {x} {y} is {:?}",
                image.texel(x, y)
            );
        }
        if !aborts {
            expect_success(result)?;
            ensure!(image.texel(17, 42) == shade(17, 42), "{:?}", image.texel(17, 42));
            return Ok(());
        }
        expect_lost(result)?;
        ensure!(image.texel(17, 42) == [0; 4], "{:?}", image.texel(17, 42));
        let message = Payload::text("pixel %u %u").scalar(17u32).scalar(42u32).bytes();
        same_set(device.payloads()?, vec![message])
    })
}

/// Creates a pipeline of the shaders of `ray`.
type CreateRays = fn(&Device<'_>, &mut Rays<'_>) -> Result<()>;

fn rays(context: &Context, create: CreateRays, aborts: bool) -> Result<()> {
    ray::on_device_with(context, true, |device| {
        // Stage 4 is closest hit; launch 1 hits.
        let target = if aborts { [4, 1] } else { [0, 0] };
        let (result, words, payloads) = ray::trace(device, target, |rays| create(device, rays))?;
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
fn inline<R>(use_stages: impl FnOnce(&[vk::PipelineShaderStageCreateInfo<'_>]) -> Result<R>) -> Result<R> {
    let compiled = ray::compiled()?;
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

fn inline_rays(_: &Device<'_>, rays: &mut Rays<'_>) -> Result<()> {
    inline(|stages| {
        let groups = groups();
        let info = vk::RayTracingPipelineCreateInfoKHR::default()
            .stages(stages)
            .groups(&groups);
        Ok(rays.create(info)?)
    })
}

/// Links a pipeline from one library with the general groups and one with the hit groups.
fn linked_rays(_: &Device<'_>, rays: &mut Rays<'_>) -> Result<()> {
    let compiled = ray::compiled()?;
    let stages = rays.stages(&ray::stages(&compiled))?;
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
    for (stages, groups) in [(general, &groups[..3]), (hit, &groups[3..])] {
        let info = vk::RayTracingPipelineCreateInfoKHR::default()
            .flags(vk::PipelineCreateFlags::LIBRARY_KHR)
            .stages(stages)
            .groups(groups)
            .library_interface(&interface);
        rays.create(info)?;
    }
    let libraries = rays.pipelines.clone();
    let libraries = vk::PipelineLibraryCreateInfoKHR::default().libraries(&libraries);
    let info = vk::RayTracingPipelineCreateInfoKHR::default()
        .library_info(&libraries)
        .library_interface(&interface);
    Ok(rays.create(info)?)
}

fn deferred_rays(device: &Device<'_>, rays: &mut Rays<'_>) -> Result<()> {
    let commands = ash::khr::deferred_host_operations::Device::new(&device.gpu.instance, &device.raw);
    let mut pipelines = [vk::Pipeline::null()];
    let groups = groups();
    inline(|stages| {
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
