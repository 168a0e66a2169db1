//! The SPIR-V of the Rust examples equals their compiled GLSL with debug information.

use anyhow::{Context, Result};
use std::path::Path;
use vkabort_oracle::words::to_bytes;
use vkabort_test_kit::root;
use vkabort_tests::glsl::TargetEnv;
use vkabort_tests::glsl_debug::{self, Form};
use vkabort_tests::word_strings::with_word_strings;

/// Environment variable: write the SPIR-V instead of comparing it.
const BLESS: &str = "VKABORT_BLESS";

#[test]
fn the_demos_spirv_matches_its_glsl() -> Result<()> {
    let folder = root().join("examples/demo/shaders");
    let words = glsl_debug::compile_for(&folder, "look_up.comp", Form::NonSemantic, TargetEnv::Vulkan1_1, &[])?;
    compare(&folder.join("look_up.spv"), &words)?;
    compare(&folder.join("look_up_words.spv"), &with_word_strings(&words)?)
}

#[test]
fn the_cubes_spirv_matches_its_glsl() -> Result<()> {
    let folder = root().join("examples/cube/shaders");
    let compile = |name: &str, definitions: &[&str]| {
        glsl_debug::compile_for(&folder, name, Form::NonSemantic, TargetEnv::Vulkan1_2, definitions)
    };
    for name in ["cube.vert", "cube.frag", "pattern.comp", "text.vert", "text.frag"] {
        compare(&folder.join(format!("{name}.spv")), &compile(name, &[])?)?;
    }
    for name in ["cube.vert", "cube.frag", "pattern.comp"] {
        let words = with_word_strings(&compile(name, &["-DABORTS"])?)?;
        compare(&folder.join(format!("{name}.aborts.spv")), &words)?;
    }
    Ok(())
}

fn compare(path: &Path, words: &[u32]) -> Result<()> {
    let bytes = to_bytes(words);
    if std::env::var_os(BLESS).is_some() {
        std::fs::write(path, &bytes)?;
    }
    let stored = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    assert!(
        stored == bytes,
        "{} is out of date; run this test with {BLESS}=1",
        path.display()
    );
    Ok(())
}
