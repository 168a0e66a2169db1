//! Compiles the shaders of `shaders/` at run time.

use crate::{files, shader_cache};
use anyhow::{Context, Result, bail};
use ash::vk::ShaderStageFlags;
use glslang::{
    Compiler, CompilerOptions, ShaderInput, ShaderMessage, ShaderSource, ShaderStage, SourceLanguage, SpirvVersion,
    Target, VulkanVersion,
};
use std::fs;
use std::path::{Path, PathBuf};

/// File extensions of the shader stages, with glslang's and Vulkan's stage.
#[rustfmt::skip]
pub static STAGES: [(&str, ShaderStage, ShaderStageFlags); 14] = [
    ("comp", ShaderStage::Compute, ShaderStageFlags::COMPUTE),
    ("vert", ShaderStage::Vertex, ShaderStageFlags::VERTEX),
    ("frag", ShaderStage::Fragment, ShaderStageFlags::FRAGMENT),
    ("tesc", ShaderStage::TesselationControl, ShaderStageFlags::TESSELLATION_CONTROL),
    ("tese", ShaderStage::TesselationEvaluation, ShaderStageFlags::TESSELLATION_EVALUATION),
    ("geom", ShaderStage::Geometry, ShaderStageFlags::GEOMETRY),
    ("task", ShaderStage::Task, ShaderStageFlags::TASK_EXT),
    ("mesh", ShaderStage::Mesh, ShaderStageFlags::MESH_EXT),
    ("rgen", ShaderStage::RayGeneration, ShaderStageFlags::RAYGEN_KHR),
    ("rint", ShaderStage::Intersect, ShaderStageFlags::INTERSECTION_KHR),
    ("rahit", ShaderStage::AnyHit, ShaderStageFlags::ANY_HIT_KHR),
    ("rchit", ShaderStage::ClosestHit, ShaderStageFlags::CLOSEST_HIT_KHR),
    ("rmiss", ShaderStage::Miss, ShaderStageFlags::MISS_KHR),
    ("rcall", ShaderStage::Callable, ShaderStageFlags::CALLABLE_KHR),
];

/// The row of a file extension.
pub fn stage_of(extension: &str) -> Option<&'static (&'static str, ShaderStage, ShaderStageFlags)> {
    STAGES.iter().find(|(of_stage, ..)| *of_stage == extension)
}

/// Folder of the tests' shaders.
pub fn folder() -> PathBuf {
    files::folder("shaders")
}

/// Compiles `shaders/<name>` for Vulkan 1.2 and SPIR-V 1.5.
///
/// # Errors
///
/// The file does not exist or does not compile.
pub fn compile(name: &str) -> Result<Vec<u32>> {
    compile_file(&folder().join(name), VulkanVersion::Vulkan1_2, SpirvVersion::SPIRV1_5)
}

/// Compiles a file. Its extension selects the stage.
///
/// # Errors
///
/// The file does not exist or does not compile.
pub fn compile_file(path: &Path, version: VulkanVersion, spirv_version: SpirvVersion) -> Result<Vec<u32>> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    compile_as(path, &text, version, spirv_version)
}

/// Compiles `shaders/<name>` with a loop that does not end in place of each abort.
///
/// # Errors
///
/// The file does not exist or does not compile.
pub fn compile_endless(name: &str) -> Result<Vec<u32>> {
    compile_edited(name, |text| {
        let mut parts = text.split("abortEXT(");
        let mut endless = parts.next().unwrap_or_default().replace(ABORT_EXTENSION, "");
        for part in parts {
            let (_, rest) = part.split_once(");").context("an abort does not end")?;
            endless += &format!("for (;;) {{}}{rest}");
        }
        Ok(endless)
    })
}

/// Compiles `shaders/<name>` with a print in place of each abort.
///
/// # Errors
///
/// The file does not exist or does not compile.
pub fn compile_printing(name: &str) -> Result<Vec<u32>> {
    compile_edited(name, |text| {
        let text = text.replace("abortEXT(", "debugPrintfEXT(");
        Ok(text.replace(ABORT_EXTENSION, "#extension GL_EXT_debug_printf : require\n"))
    })
}

/// The line that enables aborts.
const ABORT_EXTENSION: &str = "#extension GL_EXT_abort : require\n";

fn compile_edited(name: &str, edit: impl FnOnce(&str) -> Result<String>) -> Result<Vec<u32>> {
    let path = folder().join(name);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    compile_as(&path, &edit(&text)?, VulkanVersion::Vulkan1_2, SpirvVersion::SPIRV1_5)
}

/// Compiles the text of a file.
fn compile_as(path: &Path, text: &str, version: VulkanVersion, spirv_version: SpirvVersion) -> Result<Vec<u32>> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let stage = extension.and_then(stage_of);
    let (_, stage, _) = stage.with_context(|| format!("{} has no extension of a shader stage", path.display()))?;
    let words = compile_text(text, *stage, version, spirv_version)?;
    if words.is_empty() {
        bail!("glslang returned no SPIR-V for {}", path.display());
    }
    Ok(words)
}

/// Compiles a compute shader for Vulkan 1.2 and SPIR-V 1.5.
///
/// # Errors
///
/// The text does not compile.
pub fn compile_compute(text: &str) -> Result<Vec<u32>> {
    compile_text(
        text,
        ShaderStage::Compute,
        VulkanVersion::Vulkan1_2,
        SpirvVersion::SPIRV1_5,
    )
}

/// Compiles GLSL.
///
/// # Errors
///
/// The text does not compile.
pub fn compile_text(
    text: &str,
    stage: ShaderStage,
    version: VulkanVersion,
    spirv_version: SpirvVersion,
) -> Result<Vec<u32>> {
    let key = ("glsl", format!("{stage:?} {version:?} {spirv_version:?}"), text);
    shader_cache::compiled(&key, || {
        let compiler = Compiler::acquire().context("glslang cannot be initialized")?;
        let source = ShaderSource::from(text.to_owned());
        let options = CompilerOptions {
            source_language: SourceLanguage::GLSL,
            target: Target::Vulkan { version, spirv_version },
            version_profile: None,
            messages: ShaderMessage::DEFAULT | ShaderMessage::SPV_RULES | ShaderMessage::VULKAN_RULES,
        };
        let input = ShaderInput::new(&source, stage, &options, None::<&[(&str, Option<&str>)]>, None)?;
        Ok(compiler.create_shader(input)?.compile()?)
    })
}
