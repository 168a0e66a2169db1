//! Compiles the shaders of `shaders/` at run time.

use crate::{files, shader_cache};
use anyhow::{Context, Result, bail};
use glslang::{
    Compiler, CompilerOptions, ShaderInput, ShaderMessage, ShaderSource, ShaderStage, SourceLanguage, SpirvVersion,
    Target, VulkanVersion,
};
use std::fs;
use std::path::{Path, PathBuf};

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
    let path = folder().join(name);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut parts = text.split("abortEXT(");
    let mut endless = parts
        .next()
        .unwrap_or_default()
        .replace("#extension GL_EXT_abort : require\n", "");
    for part in parts {
        let (_, rest) = part.split_once(");").context("an abort does not end")?;
        endless += &format!("for (;;) {{}}{rest}");
    }
    compile_as(&path, &endless, VulkanVersion::Vulkan1_2, SpirvVersion::SPIRV1_5)
}

/// Compiles the text of a file.
fn compile_as(path: &Path, text: &str, version: VulkanVersion, spirv_version: SpirvVersion) -> Result<Vec<u32>> {
    let stage = match path.extension().and_then(|extension| extension.to_str()) {
        Some("comp") => ShaderStage::Compute,
        Some("vert") => ShaderStage::Vertex,
        Some("frag") => ShaderStage::Fragment,
        Some("tesc") => ShaderStage::TesselationControl,
        Some("tese") => ShaderStage::TesselationEvaluation,
        Some("geom") => ShaderStage::Geometry,
        Some("task") => ShaderStage::Task,
        Some("mesh") => ShaderStage::Mesh,
        Some("rgen") => ShaderStage::RayGeneration,
        Some("rint") => ShaderStage::Intersect,
        Some("rahit") => ShaderStage::AnyHit,
        Some("rchit") => ShaderStage::ClosestHit,
        Some("rmiss") => ShaderStage::Miss,
        Some("rcall") => ShaderStage::Callable,
        _ => bail!("{} has no extension of a shader stage", path.display()),
    };
    let words = compile_text(text, stage, version, spirv_version)?;
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
