//! `VK_EXT_shader_module_identifier`: the driver finds the SPIR-V of every module that it has ever seen by its identifier, as
//! one with an internal cache does.

use crate::handle;
use crate::shader::{Module, words};
use ash::vk::{self, Handle};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{LazyLock, Mutex, PoisonError};

/// Bytes of an identifier.
const SIZE: usize = 8;

static SEEN: LazyLock<Mutex<HashMap<[u8; SIZE], Vec<u32>>>> = LazyLock::new(Mutex::default);

fn identify(words: &[u32]) -> [u8; SIZE] {
    let mut hasher = DefaultHasher::new();
    words.hash(&mut hasher);
    hasher.finish().to_le_bytes()
}

/// Remembers a module.
pub fn remember(words: &[u32]) {
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    seen.insert(identify(words), words.to_vec());
}

/// The SPIR-V with an identifier.
pub fn find(identifier: &[u8]) -> Option<Vec<u32>> {
    let identifier = <[u8; SIZE]>::try_from(identifier).ok()?;
    let seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    seen.get(&identifier).cloned()
}

/// # Safety
/// `identifier` must be valid.
unsafe fn answer(words: &[u32], identifier: *mut vk::ShaderModuleIdentifierEXT<'_>) {
    // SAFETY: the caller vouches for the structure.
    let identifier = unsafe { &mut *identifier };
    identifier.identifier_size = SIZE as u32;
    identifier.identifier[..SIZE].copy_from_slice(&identify(words));
}

pub unsafe extern "system" fn of_module(
    _: vk::Device,
    module: vk::ShaderModule,
    identifier: *mut vk::ShaderModuleIdentifierEXT<'_>,
) {
    // SAFETY: as the API has it.
    unsafe {
        if let Some(module) = handle::get::<Module>(module.as_raw()) {
            answer(&module.0, identifier);
        }
    }
}

pub unsafe extern "system" fn of_create_info(
    _: vk::Device,
    info: *const vk::ShaderModuleCreateInfo<'_>,
    identifier: *mut vk::ShaderModuleIdentifierEXT<'_>,
) {
    // SAFETY: as the API has it.
    unsafe { answer(&words((*info).p_code, (*info).code_size), identifier) };
}
