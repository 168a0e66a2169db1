//! The demo's SPIR-V equals its compiled GLSL with debug information, both as compiled and with word strings.

use anyhow::{Context, Result};
use glslang_sys::{glslang_target_client_version_t as Vulkan, glslang_target_language_version_t as Spirv};
use std::path::Path;
use vkabort_tests::glsl_debug::{self, Form};
use vkabort_tests::word_strings::with_word_strings;

/// Environment variable: write the SPIR-V instead of comparing it.
const BLESS: &str = "VKABORT_BLESS";

#[test]
fn the_demos_spirv_matches_its_glsl() -> Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/demo/shaders");
    let versions = (Vulkan::Vulkan1_1, Spirv::SPIRV1_3);
    let words = glsl_debug::compile_for(&folder, "look_up.comp", Form::NonSemantic, versions)?;
    compare(&folder.join("look_up.spv"), &words)?;
    compare(&folder.join("look_up_words.spv"), &with_word_strings(&words)?)
}

fn compare(path: &Path, words: &[u32]) -> Result<()> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
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
