//! Compiles the shaders of `shaders/` at run time. The processes of all test runs share the results.

use crate::files;
use anyhow::{Context, Result, bail};
use glslang::{
    Compiler, CompilerOptions, ShaderInput, ShaderMessage, ShaderSource, ShaderStage, SourceLanguage, SpirvVersion,
    Target, VulkanVersion,
};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use vkabort_test_kit::{root, target};

/// Environment variable with the folder of compiled shaders. Without it, every call compiles.
pub const CACHE: &str = "VKABORT_SHADER_CACHE";

/// The folder of compiled shaders in Cargo's target folder: another one for other versions of glslang or of this file.
///
/// # Errors
///
/// `Cargo.lock` cannot be read, or the folder cannot be created.
pub fn cache() -> Result<PathBuf> {
    let lock = fs::read_to_string(root().join("Cargo.lock")).context("cannot read Cargo.lock")?;
    let folder = target()
        .join("shader_cache")
        .join(hash(&[&lock, include_str!("glsl.rs")]));
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(folder)
}

fn hash(texts: &[&str]) -> String {
    let mut hasher = DefaultHasher::new();
    texts.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
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
    let words = compile_text(&text, stage, version, spirv_version)?;
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
    let cache = std::env::var_os(CACHE).map(|folder| {
        let options = format!("{stage:?} {version:?} {spirv_version:?}");
        Path::new(&folder).join(hash(&[&options, text])).with_extension("spv")
    });
    if let Some(bytes) = cache.as_ref().and_then(|path| fs::read(path).ok()) {
        let (words, _) = bytes.as_chunks::<4>();
        return Ok(words.iter().map(|word| u32::from_ne_bytes(*word)).collect());
    }
    let compiler = Compiler::acquire().context("glslang cannot be initialized")?;
    let source = ShaderSource::from(text.to_owned());
    let options = CompilerOptions {
        source_language: SourceLanguage::GLSL,
        target: Target::Vulkan { version, spirv_version },
        version_profile: None,
        messages: ShaderMessage::DEFAULT | ShaderMessage::SPV_RULES | ShaderMessage::VULKAN_RULES,
    };
    let input = ShaderInput::new(&source, stage, &options, None::<&[(&str, Option<&str>)]>, None)?;
    let words = compiler.create_shader(input)?.compile()?;
    if let Some(path) = cache {
        // Renamed into place, since other processes read the folder.
        let staged = path.with_extension(format!("{}.new", std::process::id()));
        fs::write(
            &staged,
            words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<_>>(),
        )?;
        fs::rename(&staged, &path)?;
    }
    Ok(words)
}
