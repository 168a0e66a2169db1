//! The demo's SPIR-V equals its compiled GLSL, both as compiled and with word strings.

use anyhow::{Context, Result};
use glslang::{SpirvVersion, VulkanVersion};
use std::path::Path;
use vkabort_tests::glsl;
use vkabort_tests::word_strings::with_word_strings;

/// Environment variable: write the SPIR-V instead of comparing it.
const BLESS: &str = "VKABORT_BLESS";

#[test]
fn the_demos_spirv_matches_its_glsl() -> Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/demo/shaders");
    let source = folder.join("look_up.comp");
    let words = glsl::compile_file(&source, VulkanVersion::Vulkan1_1, SpirvVersion::SPIRV1_3)?;
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
