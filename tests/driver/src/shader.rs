//! Shader modules and `VK_EXT_shader_module_identifier`. The driver stores the SPIR-V of every module that reaches it.

use crate::code::declares_poison;
use crate::enumerate::{chained, slice};
use crate::handle::{self, Allocator, Object, Out};
use crate::settings::Refused;
use crate::state::Device;
use ash::vk::{self, Handle};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

/// A pipeline.
pub struct Pipeline {
    /// SPIR-V of each stage.
    pub stages: Vec<Vec<u32>>,
}

/// A shader module's SPIR-V.
pub struct Module(Vec<u32>);

/// Size of an identifier in bytes.
const IDENTIFIER_BYTES: usize = 8;

/// SPIR-V of every module ever created, by identifier, as in a driver with an internal cache.
static MODULES: LazyLock<Mutex<HashMap<Vec<u8>, Vec<u32>>>> = LazyLock::new(Mutex::default);

/// Copies the SPIR-V of a create info.
///
/// # Safety
/// The code must have `code_size` bytes.
unsafe fn words(info: &vk::ShaderModuleCreateInfo<'_>) -> Vec<u32> {
    (0..info.code_size / 4)
        // SAFETY: the code has `code_size` bytes (the caller's contract).
        .map(|word| unsafe { info.p_code.add(word).read_unaligned() })
        .collect()
}

/// Hash of SPIR-V.
pub fn hash(words: &[u32]) -> u64 {
    let mut hasher = DefaultHasher::new();
    words.hash(&mut hasher);
    hasher.finish()
}

pub extern "system" fn create_module(
    device: &Device,
    info: &vk::ShaderModuleCreateInfo<'_>,
    allocator: Allocator<'_>,
    module: Out<'_, u64>,
) -> vk::Result {
    // SAFETY: by the command's valid usage, the code has `code_size` bytes.
    let words = unsafe { words(info) };
    if declares_poison(&words) {
        return vk::Result::ERROR_UNKNOWN;
    }
    if let Some(error) = device.refusal(Refused::Module) {
        return error;
    }
    MODULES
        .lock()
        .insert(hash(&words).to_le_bytes().to_vec(), words.clone());
    handle::create_with(allocator, module, Module(words))
}

/// SPIR-V of a stage: from its module, a chained create info or a chained identifier. `None` for an unknown identifier.
///
/// # Safety
/// The stage must be valid: its module is null or live, and its chain is valid, pointers included.
pub unsafe fn stage_words(info: &vk::PipelineShaderStageCreateInfo<'_>) -> Option<Vec<u32>> {
    // SAFETY: the stage is valid (the caller's contract).
    unsafe {
        if let Some(module) = handle::get::<Module>(info.module.as_raw()) {
            return Some(module.0.clone());
        }
        if let Some(info) = chained::<vk::ShaderModuleCreateInfo<'_>>(info) {
            return Some(words(info));
        }
        let Some(info) = chained::<vk::PipelineShaderStageModuleIdentifierCreateInfoEXT<'_>>(info) else {
            return Some(Vec::new());
        };
        let identifier = slice(info.p_identifier, info.identifier_size);
        MODULES.lock().get(identifier).cloned()
    }
}

fn write_identifier(words: &[u32], identifier: &mut vk::ShaderModuleIdentifierEXT<'_>) {
    identifier.identifier_size = IDENTIFIER_BYTES as u32;
    identifier.identifier[..IDENTIFIER_BYTES].copy_from_slice(&hash(words).to_le_bytes());
}

pub extern "system" fn module_identifier(
    _: &Device,
    module: Object<'_, Module>,
    identifier: &mut vk::ShaderModuleIdentifierEXT<'_>,
) {
    write_identifier(&module.0, identifier);
}

pub extern "system" fn create_info_identifier(
    _: &Device,
    info: &vk::ShaderModuleCreateInfo<'_>,
    identifier: &mut vk::ShaderModuleIdentifierEXT<'_>,
) {
    // SAFETY: by the command's valid usage, the code has `code_size` bytes.
    write_identifier(&unsafe { words(info) }, identifier);
}
