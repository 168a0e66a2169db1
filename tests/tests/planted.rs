//! Every GLSL shader of the tests and of the examples without includes takes all checks of the sanitizer.

use anyhow::{Context, Result, ensure};
use glslang::{SpirvVersion, VulkanVersion};
use std::path::{Path, PathBuf};
use vkabort_instrument::{Checks, LoweredFeatures, Options, Outcome, instrument};
use vkabort_oracle::words::without_extensions;
use vkabort_test_kit::root;
use vkabort_test_kit::spirv_tools::{TargetEnv, validate};
use vkabort_tests::glsl::{compile_file, stage_of};

/// Minimum number of shaders: fewer mean that a folder is wrong.
const MIN_SHADERS: usize = 40;

#[test]
fn every_shader_with_all_checks_is_valid() -> Result<()> {
    let (mut shaders, mut planted) = (Vec::new(), 0);
    for folder in ["tests/shaders", "examples/c", "examples/cube", "examples/demo"] {
        collect(&root().join(folder), &mut shaders)?;
    }
    ensure!(shaders.len() >= MIN_SHADERS, "only {} shaders", shaders.len());
    for path in &shaders {
        planted += plant(path).with_context(|| path.display().to_string())?;
    }
    ensure!(planted > 0, "no shader has a place for a check");
    Ok(())
}

fn collect(folder: &Path, shaders: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, shaders)?;
        } else if path
            .extension()
            .and_then(|end| end.to_str())
            .and_then(stage_of)
            .is_some()
        {
            shaders.push(path);
        }
    }
    Ok(())
}

/// Plants all checks, lowers the aborts or keeps them, and validates. Returns the number of planted aborts.
fn plant(path: &Path) -> Result<usize> {
    let words = compile_file(path, VulkanVersion::Vulkan1_2, SpirvVersion::SPIRV1_5)?;
    let mut planted = 0;
    for lowers in [LoweredFeatures::default(), LoweredFeatures::ALL] {
        let mut options = Options {
            lowers,
            ..Options::default()
        };
        options.sanitize.checks = Checks::all();
        let Outcome::Instrumented(new) = instrument(&words, &options)? else {
            continue;
        };
        planted = new.sites.sites.iter().filter(|site| site.check.is_some()).count();
        validate(
            &without_extensions(&new.words).context("not a module")?,
            TargetEnv::Vulkan1_2,
        )?;
    }
    Ok(planted)
}
