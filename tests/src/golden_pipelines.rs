//! Pipelines of the golden cases' inputs, on a device that compiles but does not execute.

use crate::assembly::assemble_for;
use crate::case::{Context, Skip};
use crate::compile::Progress;
use crate::glsl;
use crate::golden_case::{GoldenCase, files, input};
use crate::interface::Interface;
use crate::pipeline::{Code, Pipeline};
use crate::vk::{Device, Gpu};
use anyhow::{Context as _, Result};
use ash::vk::{self, ShaderStageFlags as Stage};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use vkabort_instrument::{DEFAULT_HANG_ITERATIONS, LoopPoll, Options, Trap};
use vkabort_oracle::words::{from_bytes, to_bytes};

/// Argument that makes the program create pipelines of the modules in the folder behind it.
pub const GOLDENS: &str = "--goldens";

/// Beginnings of the names of golden cases that cannot form a pipeline: the layer refuses the module, or Mesa's compilers end
/// the process, at an instruction set that Vulkan does not allow and at an image that a function returns.
const EXCLUDED: [&str; 3] = ["error-", "reconverge-unprotected", "site_numbering-opencl_debug_info"];

/// Extension of files with the specialisation of a module, as JSON.
const SPECIALIZATION: &str = "specialization";

/// The layer's settings of a golden case: names without prefix, and values.
pub type Settings = Vec<(&'static str, String)>;

/// Assembles every golden case that is valid into `folder`, in a subfolder for each set of settings. Returns the settings by
/// subfolder.
///
/// # Errors
///
/// A case cannot be read or assembled, or a file not written.
pub fn prepare(folder: &Path) -> Result<BTreeMap<String, Settings>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    let mut all = BTreeMap::new();
    for path in files(&root)? {
        let name = path.strip_prefix(&root)?.with_extension("");
        let name = name.to_string_lossy().replace('/', "-");
        if EXCLUDED.iter().any(|excluded| name.starts_with(excluded)) {
            continue;
        }
        let text = fs::read_to_string(&path)?;
        let case = GoldenCase::parse(&input(&text))?;
        let words = assemble_for(&case.module(&path)?, case.env).with_context(|| name.clone())?;
        let settings = settings(&case.options);
        let parts = settings.iter().map(|(name, value)| format!("{name}={value}"));
        let set = parts.collect::<Vec<_>>().join(",");
        fs::create_dir_all(folder.join(&set))?;
        let file = folder.join(&set).join(name);
        if !case.options.specialization.is_empty() {
            let special: Vec<_> = case.options.specialization.iter().collect();
            fs::write(file.with_extension(SPECIALIZATION), serde_json::to_string(&special)?)?;
        }
        fs::write(file, to_bytes(&words))?;
        all.insert(set, settings);
    }
    Ok(all)
}

/// The settings that lead to these options; those without a setting depend on the device. Without its option, a golden case has
/// no polling, as its output is shorter.
fn settings(options: &Options) -> Settings {
    let poll = match options.loop_poll {
        LoopPoll::Auto => "auto",
        LoopPoll::All => "all",
        LoopPoll::Off => "off",
    };
    let trap = match options.trap {
        Trap::Return => "return",
        Trap::Fault => "fault",
        Trap::Hang => "hang",
    };
    let mut settings = vec![("LOOP_POLL", poll.to_owned()), ("TRAP", trap.to_owned())];
    if options.hang_iterations != DEFAULT_HANG_ITERATIONS {
        settings.push(("HANG_ITERATIONS", options.hang_iterations.to_string()));
    }
    settings.extend(options.max_sites.map(|sites| ("MAX_SITES", sites.to_string())));
    settings.extend(options.prints.as_ref().map(|_| ("PRINTF", "on".to_owned())));
    settings
}

/// Creates a pipeline for each entry point of the modules in `folder`, and passes its progress to `each`.
///
/// # Errors
///
/// There is no device, or a file cannot be read.
pub fn create(folder: &Path, mut each: impl FnMut(&str, &Progress)) -> Result<()> {
    let gpu = Gpu::open(&Context::default())?;
    let mesh_name = ash::ext::mesh_shader::NAME;
    let mut mesh = vk::PhysicalDeviceMeshShaderFeaturesEXT::default();
    let has_mesh = gpu.has_extension(mesh_name)?;
    let device = if has_mesh {
        mesh = mesh.task_shader(true).mesh_shader(true);
        Device::with_extensions(&gpu, &[mesh_name], vec![&mut mesh])?
    } else {
        Device::new(&gpu)?
    };
    let mut files = fs::read_dir(folder)?.collect::<std::io::Result<Vec<_>>>()?;
    files.sort_by_key(fs::DirEntry::file_name);
    for file in files {
        if file
            .path()
            .extension()
            .is_some_and(|extension| extension == SPECIALIZATION)
        {
            continue;
        }
        let special = match fs::read(file.path().with_extension(SPECIALIZATION)) {
            Ok(json) => serde_json::from_slice(&json)?,
            Err(_) => Vec::new(),
        };
        let words = from_bytes(&fs::read(file.path())?);
        let interface = Interface::of(&words)?;
        for (entry, (stage, name)) in interface.entries.iter().enumerate() {
            let created = require(&gpu, &interface, has_mesh, *stage).and_then(|stage| {
                let code = Code {
                    words: &words,
                    entry,
                    special: &special,
                };
                create_one(&device, code, stage)
            });
            let progress = match created {
                Ok(()) => Progress::Ended,
                Err(error) => match error.downcast_ref::<Skip>() {
                    Some(Skip(reason)) => Progress::Skipped(reason.clone()),
                    None => Progress::Failed(format!("{error:#}")),
                },
            };
            let file = file.file_name();
            each(
                &format!("{} {}", file.to_string_lossy(), name.to_string_lossy()),
                &progress,
            );
        }
    }
    Ok(())
}

/// Capabilities that no driver of the matrix has, or that no test enables.
const MISSING: [(u32, &str); 8] = [
    (4473, "VK_KHR_shader_untyped_pointers"),
    (5116, "bfloat16"),
    (5128, "VK_EXT_descriptor_heap"),
    (4212, "8-bit floats"),
    (5425, "VK_EXT_shader_long_vector"),
    (5340, "VK_NV_ray_tracing"),
    (5357, "VK_NV_cooperative_matrix"),
    (6022, "VK_KHR_cooperative_matrix"),
];

/// The stage of an entry point that the device can run.
fn require(gpu: &Gpu, interface: &Interface, has_mesh: bool, stage: Option<Stage>) -> Result<Stage> {
    let stage = stage.ok_or_else(|| Skip("no pipeline of a ray stage alone".into()))?;
    for (capability, name) in MISSING {
        gpu.require(vk::Bool32::from(!interface.capabilities.contains(&capability)), name)?;
    }
    let (core, newer) = gpu.features();
    let uses = |capability: spirv::Capability| interface.capabilities.contains(&(capability as u32));
    for (is_used, has, name) in [
        (uses(spirv::Capability::Int16), core.shader_int16, "shaderInt16"),
        (uses(spirv::Capability::Int64), core.shader_int64, "shaderInt64"),
        (uses(spirv::Capability::Float64), core.shader_float64, "shaderFloat64"),
        (uses(spirv::Capability::Float16), newer.shader_float16, "shaderFloat16"),
        (is_tessellation(stage), core.tessellation_shader, "tessellationShader"),
        (stage == Stage::GEOMETRY, core.geometry_shader, "geometryShader"),
        (is_mesh(stage), vk::Bool32::from(has_mesh), "VK_EXT_mesh_shader"),
    ] {
        if is_used {
            gpu.require(has, name)?;
        }
    }
    Ok(stage)
}

fn is_tessellation(stage: Stage) -> bool {
    stage == Stage::TESSELLATION_CONTROL || stage == Stage::TESSELLATION_EVALUATION
}

fn is_mesh(stage: Stage) -> bool {
    stage == Stage::TASK_EXT || stage == Stage::MESH_EXT
}

const VERTEX: &str = "#version 460\nvoid main() { gl_Position = vec4(gl_VertexIndex); }\n";
const CONTROL: &str = "#version 460\nlayout(vertices = 3) out;\nvoid main() {\n\
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;\n\
    gl_TessLevelOuter[0] = gl_TessLevelOuter[1] = gl_TessLevelOuter[2] = gl_TessLevelInner[0] = 1.0;\n}\n";
const EVALUATION: &str = "#version 460\nlayout(triangles) in;\nvoid main() { gl_Position = gl_in[0].gl_Position; }\n";
const MESH: &str = "#version 460\n#extension GL_EXT_mesh_shader : require\nlayout(local_size_x = 1) in;\n\
    layout(triangles, max_vertices = 3, max_primitives = 1) out;\nvoid main() { SetMeshOutputsEXT(0u, 0u); }\n";

/// Creates the pipeline of a stage, with those that it needs besides.
fn create_one(device: &Device<'_>, code: Code<'_>, stage: Stage) -> Result<()> {
    let before: &[(&str, &str)] = match stage {
        Stage::FRAGMENT | Stage::GEOMETRY | Stage::TESSELLATION_CONTROL => &[("vert", VERTEX)],
        Stage::TESSELLATION_EVALUATION => &[("vert", VERTEX), ("tesc", CONTROL)],
        _ => &[],
    };
    let after: &[(&str, &str)] = match stage {
        Stage::TESSELLATION_CONTROL => &[("tese", EVALUATION)],
        Stage::TASK_EXT => &[("mesh", MESH)],
        _ => &[],
    };
    let compile = |stages: &[(&str, &str)]| {
        let compile = |(stage, text): &(&str, &str)| glsl::compile_text(text, stage, glsl::TargetEnv::Vulkan1_2);
        stages.iter().map(compile).collect::<Result<Vec<_>>>()
    };
    let (before, after) = (compile(before)?, compile(after)?);
    let stages = before.iter().map(|words| Code {
        words,
        ..Code::default()
    });
    let stages = stages.chain([code]).chain(after.iter().map(|words| Code {
        words,
        ..Code::default()
    }));
    Pipeline::new(device, &stages.collect::<Vec<_>>(), vk::PipelineCreateFlags::empty()).map(drop)
}
