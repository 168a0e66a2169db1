//! Compiles the shaders of `shaders/` at run time.

use crate::{files, glsl_request, shader_cache};
use anyhow::{Context, Result};
use ash::vk::ShaderStageFlags;
use std::fs;
use std::path::{Path, PathBuf};
use vkabort_oracle::words::from_bytes;
use vkabort_test_kit::glslang;
use vkabort_test_kit::scratch::folder_in;
pub use vkabort_test_kit::spirv_tools::TargetEnv;

/// File extensions of the shader stages, which are also glslang's names, with Vulkan's stage.
pub static STAGES: [(&str, ShaderStageFlags); 14] = [
    ("comp", ShaderStageFlags::COMPUTE),
    ("vert", ShaderStageFlags::VERTEX),
    ("frag", ShaderStageFlags::FRAGMENT),
    ("tesc", ShaderStageFlags::TESSELLATION_CONTROL),
    ("tese", ShaderStageFlags::TESSELLATION_EVALUATION),
    ("geom", ShaderStageFlags::GEOMETRY),
    ("task", ShaderStageFlags::TASK_EXT),
    ("mesh", ShaderStageFlags::MESH_EXT),
    ("rgen", ShaderStageFlags::RAYGEN_KHR),
    ("rint", ShaderStageFlags::INTERSECTION_KHR),
    ("rahit", ShaderStageFlags::ANY_HIT_KHR),
    ("rchit", ShaderStageFlags::CLOSEST_HIT_KHR),
    ("rmiss", ShaderStageFlags::MISS_KHR),
    ("rcall", ShaderStageFlags::CALLABLE_KHR),
];

/// Vulkan's stage of a file extension.
pub fn stage_of(extension: &str) -> Option<ShaderStageFlags> {
    let stage = STAGES.iter().find(|(of_stage, _)| *of_stage == extension);
    stage.map(|(_, stage)| *stage)
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
    compile_file(&folder().join(name), TargetEnv::Vulkan1_2)
}

/// Compiles a file. Its extension selects the stage.
///
/// # Errors
///
/// The file does not exist or does not compile.
pub fn compile_file(path: &Path, env: TargetEnv) -> Result<Vec<u32>> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    compile_as(path, &text, env)
}

/// Compiles `shaders/<name>` with a loop that does not end in place of each abort.
///
/// # Errors
///
/// The file does not exist or does not compile.
pub fn compile_endless(name: &str) -> Result<Vec<u32>> {
    compile_with(name, "for (;;) {}")
}

/// Compiles `shaders/<name>` with a statement in place of each abort.
///
/// # Errors
///
/// The file does not exist or does not compile.
pub fn compile_with(name: &str, statement: &str) -> Result<Vec<u32>> {
    compile_edited(name, |text| {
        let mut parts = text.split("abortEXT(");
        let mut edited = parts.next().unwrap_or_default().replace(ABORT_EXTENSION, "");
        for part in parts {
            let (_, rest) = part.split_once(");").context("an abort does not end")?;
            edited += &format!("{statement}{rest}");
        }
        Ok(edited)
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
    compile_as(&path, &edit(&text)?, TargetEnv::Vulkan1_2)
}

/// Compiles the text of a file.
fn compile_as(path: &Path, text: &str, env: TargetEnv) -> Result<Vec<u32>> {
    let stage = path.extension().and_then(|extension| extension.to_str());
    let stage = stage.filter(|stage| stage_of(stage).is_some());
    let stage = stage.with_context(|| format!("{} has no extension of a shader stage", path.display()))?;
    compile_text(text, stage, env)
}

/// Compiles a compute shader for Vulkan 1.2 and SPIR-V 1.5.
///
/// # Errors
///
/// The text does not compile.
pub fn compile_compute(text: &str) -> Result<Vec<u32>> {
    compile_text(text, "comp", TargetEnv::Vulkan1_2)
}

/// Compiles GLSL for a stage, named by its file extension.
///
/// # Errors
///
/// The text does not compile.
pub fn compile_text(text: &str, stage: &str, env: TargetEnv) -> Result<Vec<u32>> {
    compile_cached(
        std::env::var_os(shader_cache::VARIABLE).as_deref().map(Path::new),
        text,
        stage,
        env,
    )
}

/// Compiles GLSL into the folder of [`shader_cache::VARIABLE`] of another process, which cannot start the compiler.
///
/// # Errors
///
/// The text does not compile, or the folder cannot be written.
pub fn compile_into(cache: &Path, text: &str, stage: &str, env: TargetEnv) -> Result<()> {
    fs::create_dir_all(cache).with_context(|| format!("cannot create {}", cache.display()))?;
    compile_cached(Some(cache), text, stage, env).map(|_| ())
}

fn compile_cached(cache: Option<&Path>, text: &str, stage: &str, env: TargetEnv) -> Result<Vec<u32>> {
    let key = ("glsl", stage, env.name(), text);
    shader_cache::compiled_in(cache, &key, || {
        run(&format!("shader.{stage}"), text, &["--target-env", env.name()])
    })
}

/// Runs glslang on the file `name` with this text.
pub(crate) fn run(name: &str, text: &str, arguments: &[&str]) -> Result<Vec<u32>> {
    let bytes = match cfg!(windows) {
        true => glsl_request::send(name, text, arguments)?,
        false => {
            let scratch = folder_in(&std::env::temp_dir())?;
            glslang::compile(scratch.path(), name, text, arguments)?
        }
    };
    Ok(from_bytes(&bytes))
}
