//! Shader modules and `VK_EXT_shader_module_identifier`. The driver stores the SPIR-V of every module that reaches it.

use crate::handle;
use ash::vk::{self, Handle, TaggedStructure};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{LazyLock, Mutex, PoisonError};

/// A shader module's SPIR-V.
struct Module(Vec<u32>);

/// Size of an identifier in bytes.
const IDENTIFIER_BYTES: usize = 8;

/// SPIR-V of every module ever created, by identifier.
static MODULES: LazyLock<Mutex<HashMap<[u8; IDENTIFIER_BYTES], Vec<u32>>>> = LazyLock::new(Mutex::default);

/// Copies SPIR-V of `bytes` bytes.
///
/// # Safety
/// `code` must point to `bytes` readable bytes.
unsafe fn words(code: *const u32, bytes: usize) -> Vec<u32> {
    // SAFETY: the caller passes a pointer to `bytes` bytes.
    (0..bytes / 4)
        .map(|word| unsafe { code.add(word).read_unaligned() })
        .collect()
}

pub unsafe extern "system" fn create_module(
    _: vk::Device,
    info: *const vk::ShaderModuleCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    module: *mut vk::ShaderModule,
) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe {
        let words = words((*info).p_code, (*info).code_size);
        store(&words);
        let created = handle::create(Module(words));
        module.write(vk::ShaderModule::from_raw(created));
    }
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn destroy_module(
    _: vk::Device,
    module: vk::ShaderModule,
    _: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: by the command's valid usage, the object is not used afterwards.
    unsafe { handle::destroy::<Module>(module.as_raw()) };
}

/// SPIR-V of a stage: from its module, a chained create info or a chained identifier.
///
/// # Safety
/// `info` must be a valid stage.
pub unsafe fn stage_words(info: &vk::PipelineShaderStageCreateInfo<'_>) -> Vec<u32> {
    // SAFETY: the caller passes a valid stage, in which `sType` gives the type of each chained structure.
    unsafe {
        if let Some(module) = handle::get::<Module>(info.module.as_raw()) {
            return module.0.clone();
        }
        let mut node = info.p_next.cast::<vk::BaseInStructure<'_>>();
        while let Some(base) = node.as_ref() {
            if base.s_type == vk::ShaderModuleCreateInfo::STRUCTURE_TYPE {
                let info = &*node.cast::<vk::ShaderModuleCreateInfo<'_>>();
                return words(info.p_code, info.code_size);
            }
            if base.s_type == vk::PipelineShaderStageModuleIdentifierCreateInfoEXT::STRUCTURE_TYPE {
                let info = &*node.cast::<vk::PipelineShaderStageModuleIdentifierCreateInfoEXT<'_>>();
                let identifier = std::slice::from_raw_parts(info.p_identifier, info.identifier_size as usize);
                return find(identifier).unwrap_or_default();
            }
            node = base.p_next;
        }
    }
    Vec::new()
}

fn identify(words: &[u32]) -> [u8; IDENTIFIER_BYTES] {
    let mut hasher = DefaultHasher::new();
    words.hash(&mut hasher);
    hasher.finish().to_le_bytes()
}

/// Stores a module by its identifier, as a driver with an internal cache does.
fn store(words: &[u32]) {
    let mut modules = MODULES.lock().unwrap_or_else(PoisonError::into_inner);
    modules.insert(identify(words), words.to_vec());
}

/// SPIR-V with an identifier.
fn find(identifier: &[u8]) -> Option<Vec<u32>> {
    let identifier = <[u8; IDENTIFIER_BYTES]>::try_from(identifier).ok()?;
    let modules = MODULES.lock().unwrap_or_else(PoisonError::into_inner);
    modules.get(&identifier).cloned()
}

/// # Safety
/// `identifier` must be valid.
unsafe fn write_identifier(words: &[u32], identifier: *mut vk::ShaderModuleIdentifierEXT<'_>) {
    // SAFETY: the caller passes a valid structure.
    let identifier = unsafe { &mut *identifier };
    identifier.identifier_size = IDENTIFIER_BYTES as u32;
    identifier.identifier[..IDENTIFIER_BYTES].copy_from_slice(&identify(words));
}

pub unsafe extern "system" fn module_identifier(
    _: vk::Device,
    module: vk::ShaderModule,
    identifier: *mut vk::ShaderModuleIdentifierEXT<'_>,
) {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe {
        if let Some(module) = handle::get::<Module>(module.as_raw()) {
            write_identifier(&module.0, identifier);
        }
    }
}

pub unsafe extern "system" fn create_info_identifier(
    _: vk::Device,
    info: *const vk::ShaderModuleCreateInfo<'_>,
    identifier: *mut vk::ShaderModuleIdentifierEXT<'_>,
) {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { write_identifier(&words((*info).p_code, (*info).code_size), identifier) };
}
