//! Reports tell the pipelines of one module apart by the values of their specialisation constants.

use super::shader_binary::{aligned, compute_info, destroy, objects, open};
use super::support::{bytes, expect_lost, expect_success, marked};
use super::{ray, ray_pipeline_creation};
use crate::case::{Case, cases};
use crate::glsl_debug::{self, Form};
use crate::vk::{Buffer, Device, Gpu, Image, Kernel, Pass, ShaderSource, Stage, specialization};
use anyhow::{Context as _, Result};
use ash::vk;
use std::ffi::CStr;

pub(super) const CASES: &[Case] = cases! {
    "specialization::of_one_of_three_pipelines" => compute(device, Values::Small), alone(), reports("specialized");
    "specialization::of_one_of_three_pipelines_as_json" => compute(device, Values::Small),
        alone(), set(&[("log_format", "json")]), reports("specialized");
    "specialization::of_the_defaults" => compute(device, Values::Default),
        alone(), reports("specialized_defaults");
    "specialization::of_values_equal_to_the_defaults" => compute(device, Values::ExplicitDefault),
        alone(), reports("specialized_defaults");
    "specialization::of_pipelines_with_the_same_values" => same_values(device),
        logs(&["pipelines \"first\", \"second\" or 1 pipeline without a name", SMALL]);
    "specialization::of_a_shader_chained_to_its_stage" => chained(gpu),
        logs(&["pipeline \"chained\",", SMALL]);
    "specialization::of_two_submissions" => two_submissions(device), alone(), reports("specialized_twice"),
        set(&[("on_abort", "continue")]);
    "specialization::of_a_pipeline_that_does_not_abort" => compute(device, Values::Lenient), silent();
    "specialization::of_graphics_libraries" => graphics(gpu, ShaderSource::Libraries),
        logs(&["pipeline \"linked 8\",", "specialization: LIMIT = 8"]);
    "specialization::of_a_graphics_pipeline" => graphics(gpu, ShaderSource::Inline),
        logs(&["pipeline \"linked 8\",", "specialization: LIMIT = 8"]);
    "specialization::of_ray_tracing_libraries" => rays(gpu),
        logs(&["pipeline \"linked 8\",", "specialization: LIMIT = 8"]);
    "specialization::of_a_shader_object" => shader_object(gpu, vk::ShaderCodeTypeEXT::SPIRV),
        logs(&["pipeline \"shader 8\",", SMALL]);
    "specialization::of_a_binary_of_a_shader_object" => shader_object(gpu, vk::ShaderCodeTypeEXT::BINARY),
        logs(&["workgroup size 16 x 1 x 1", SMALL]);
    "specialization::of_messages_that_a_native_driver_recorded" => native(gpu),
        on_native(), logs(&["pipeline \"limit 8\",", SMALL]);
};

/// The values of [`Values::Small`] in reports.
const SMALL: &str = "specialization: LIMIT = 8, IS_STRICT = true, constant 2 = 16, SCALE = 0.25";

#[derive(Clone, Copy)]
enum Values {
    Default,
    ExplicitDefault,
    Small,
    Lenient,
}

impl Values {
    /// Values by `SpecId`. Those of ids that the shader does not declare have no effect, whatever the layer uses the ids for.
    fn special(self) -> Vec<(u32, Vec<u8>)> {
        let word = |id, value: u32| (id, value.to_le_bytes().to_vec());
        let others = [word(4, 0xdead), word(5, 0xbeef)];
        let declared = match self {
            Self::Default => vec![],
            Self::ExplicitDefault => vec![word(3, 0.5f32.to_bits()), word(0, 64), word(1, 1)],
            Self::Small => vec![word(0, 8), word(2, 16), word(3, 0.25f32.to_bits())],
            Self::Lenient => vec![word(1, 0)],
        };
        declared.into_iter().chain(others).collect()
    }
}

fn shader() -> Result<Vec<u32>> {
    glsl_debug::compile("report/specialized.comp", Form::NonSemantic)
}

fn pipeline<'a>(device: &'a Device<'_>, buffer: &'a Buffer<'_>, values: Values, name: &CStr) -> Result<Kernel<'a>> {
    let mut kernel = Kernel::bound(device, &[buffer])?;
    kernel.create(&shader()?, &values.special(), None)?;
    device.name(kernel.pipeline, name)?;
    Ok(kernel)
}

/// Creates three pipelines of one module and runs one of them.
fn compute(device: &Device<'_>, run: Values) -> Result<()> {
    device.name(device.queue, c"the queue")?;
    let buffer = Buffer::storage(device, &marked(&[5]))?;
    let default = pipeline(device, &buffer, Values::Default, c"limit 64")?;
    let small = pipeline(device, &buffer, Values::Small, c"limit 8")?;
    let lenient = pipeline(device, &buffer, Values::Lenient, c"lenient")?;
    match run {
        Values::Default => expect_lost(default.run_to_end(1)?),
        Values::Small => expect_lost(small.run_to_end(1)?),
        Values::Lenient => expect_success(lenient.run_to_end(1)?),
        Values::ExplicitDefault => {
            drop(default);
            let explicit = pipeline(device, &buffer, run, c"limit 64")?;
            expect_lost(explicit.run_to_end(1)?)
        }
    }
}

fn same_values(device: &Device<'_>) -> Result<()> {
    let buffer = Buffer::storage(device, &marked(&[5]))?;
    let _other = pipeline(device, &buffer, Values::Lenient, c"lenient")?;
    let _unnamed = pipeline(device, &buffer, Values::Small, c"")?;
    let _second = pipeline(device, &buffer, Values::Small, c"second")?;
    expect_lost(pipeline(device, &buffer, Values::Small, c"first")?.run_to_end(1)?)
}

fn chained(gpu: &Gpu) -> Result<()> {
    super::pipeline_creation::with_inline(gpu, |device| {
        let buffer = Buffer::storage(device, &marked(&[5]))?;
        let _default = pipeline(device, &buffer, Values::Default, c"default")?;
        let mut kernel = Kernel::bound(device, &[&buffer])?;
        kernel.create_inline(&shader()?, &Values::Small.special())?;
        device.name(kernel.pipeline, c"chained")?;
        expect_lost(kernel.run_to_end(1)?)
    })
}

/// Two pipelines abort at the same site in one submission.
fn two_submissions(device: &Device<'_>) -> Result<()> {
    let buffer = Buffer::storage(device, &marked(&[5]))?;
    let small = pipeline(device, &buffer, Values::Small, c"limit 8")?;
    let default = pipeline(device, &buffer, Values::Default, c"limit 64")?;
    let submission = crate::vk::Submission::record(device, |raw, commands| {
        small.dispatch(raw, commands, 1);
        default.dispatch(raw, commands, 1);
    })?;
    expect_success(submission.run())
}

/// Fragment shaders of one module, of which only the specialised one aborts.
fn graphics(gpu: &Gpu, source: ShaderSource) -> Result<()> {
    super::pipeline_creation::with_inline(gpu, |device| {
        let vertex = crate::glsl::compile("stage/cover.vert")?;
        let fragment = glsl_debug::compile("report/specialized.frag", Form::Lines)?;
        let limit = [(0, 8u32.to_le_bytes().to_vec())];
        let [default, small] = [&[][..], &limit].map(|special| {
            let stages = [
                Stage::new(vk::ShaderStageFlags::VERTEX, &vertex),
                Stage {
                    special,
                    ..Stage::new(vk::ShaderStageFlags::FRAGMENT, &fragment)
                },
            ];
            Pass::with(device, &stages, &[], source)
        });
        let (default, small) = (default?, small?);
        device.name(default.pipeline(), c"linked 64")?;
        device.name(small.pipeline(), c"linked 8")?;
        let image = Image::new(device)?;
        expect_lost(small.record(&image, [17, 42])?.run())
    })
}

/// Ray tracing pipelines that are linked from libraries of one closest-hit shader. Only the specialised one runs.
fn rays(gpu: &Gpu) -> Result<()> {
    ray::on_device(gpu, |device| {
        let mut compiled = ray::compiled()?;
        compiled[3] = crate::glsl::compile("report/specialized.rchit")?;
        let limit = [(0, 8u32.to_le_bytes().to_vec())];
        let (result, ..) = ray::trace(device, [0, 0], |rays| {
            for (special, name) in [(&[][..], c"linked 64"), (&limit, c"linked 8")] {
                ray_pipeline_creation::link(rays, &compiled, special)?;
                device.name(rays.pipelines.last().copied().unwrap_or_default(), name)?;
            }
            Ok(())
        })?;
        expect_lost(result)
    })
}

/// Two shader objects of one module, or one and a binary of another that does not exist any more.
fn shader_object(gpu: &Gpu, kind: vk::ShaderCodeTypeEXT) -> Result<()> {
    let device = open(gpu)?;
    let objects = objects(&device);
    let buffer = Buffer::storage(&device, &marked(&[5]))?;
    let kernel = Kernel::bound(&device, &[&buffer])?;
    let layouts = [kernel.set_layout];
    let create = |kind, code: &[u8], values: Values| -> Result<vk::ShaderEXT> {
        let copy = aligned(code);
        let (entries, data) = specialization(&values.special());
        let special = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
        let info = compute_info(&copy, code.len(), kind, &layouts).specialization_info(&special);
        // SAFETY: the create info points to data that outlives the call.
        let created = unsafe { objects.create_shaders(&[info], None) };
        Ok(created.map_err(|(_, result)| result)?[0])
    };
    let code = bytes(&shader()?);
    let default = create(vk::ShaderCodeTypeEXT::SPIRV, &code, Values::Default)?;
    device.name(default, c"shader 64")?;
    let mut small = create(vk::ShaderCodeTypeEXT::SPIRV, &code, Values::Small)?;
    if kind == vk::ShaderCodeTypeEXT::BINARY {
        // SAFETY: the shader belongs to the device.
        let data = unsafe { objects.get_shader_binary_data(small) }.context("vkGetShaderBinaryDataEXT")?;
        destroy(&objects, &[small]);
        small = create(kind, &data, Values::Small).context("vkCreateShadersEXT")?;
    }
    device.name(small, c"shader 8")?;
    let submission = crate::vk::Submission::record(&device, |raw, commands| {
        // SAFETY: the command buffer is being recorded, and the shader and the set outlive its use.
        unsafe {
            objects.cmd_bind_shaders(commands, &[vk::ShaderStageFlags::COMPUTE], &[small]);
            let point = vk::PipelineBindPoint::COMPUTE;
            raw.cmd_bind_descriptor_sets(commands, point, kernel.layout, 0, &[kernel.set], &[]);
            raw.cmd_dispatch(commands, 1, 1, 1);
        }
    })?;
    let result = submission.run();
    destroy(&objects, &[default, small]);
    expect_lost(result)
}

/// A driver's own messages do not identify the pipeline; here only one can have sent them.
fn native(gpu: &Gpu) -> Result<()> {
    let device = Device::new(gpu)?;
    let buffer = Buffer::storage(&device, &marked(&[5]))?;
    expect_lost(pipeline(&device, &buffer, Values::Small, c"limit 8")?.run_to_end(1)?)
}
