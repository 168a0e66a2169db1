//! `VkShaderModule`.

use super::{MISSING, command, guarded};
use crate::device::shader::{Rewritten, words_of};
use crate::device::state::{AbortState, Device};
use crate::loader::registry::device_of;
use ash::vk;
use std::collections::BTreeMap;

pub unsafe extern "system" fn create(
    device: vk::Device,
    info: *const vk::ShaderModuleCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    module: *mut vk::ShaderModule,
) -> vk::Result {
    command(|| {
        // SAFETY: a valid device.
        let found = unsafe { device_of(device) };
        let Some((known, next)) = found.and_then(|d| Some((d, d.next.vkCreateShaderModule?))) else {
            return MISSING;
        };
        // SAFETY: valid by the API's rules, and only borrowed during the call.
        unsafe {
            match (&known.state, info.as_ref()) {
                (Some(state), Some(given)) => match rewrite(known, state, given) {
                    Ok(Rewritten::Unchanged) => next(device, info, allocator, module),
                    Ok(Rewritten::Known { module: kept }) => {
                        let result = next(device, info, allocator, module);
                        if result == vk::Result::SUCCESS
                            && let Some(handle) = module.as_ref()
                        {
                            state.modules.bind(*handle, kept);
                        }
                        result
                    }
                    Ok(Rewritten::Changed { words, module: kept }) => {
                        let changed = with_words(given, &words);
                        let result = next(device, &changed, allocator, module);
                        if result == vk::Result::SUCCESS
                            && let Some(handle) = module.as_ref()
                        {
                            state.modules.bind(*handle, kept);
                        }
                        result
                    }
                    Err(error) => error,
                },
                _ => next(device, info, allocator, module),
            }
        }
    })
}

/// # Safety
/// `info` must be valid.
unsafe fn rewrite(
    device: &Device,
    state: &AbortState,
    info: &vk::ShaderModuleCreateInfo<'_>,
) -> Result<Rewritten, vk::Result> {
    // SAFETY: the caller vouches for the code.
    let words = unsafe { words_of(info.p_code, info.code_size) };
    device.rewrite(state, &words, BTreeMap::new())
}

/// A create-info with other words.
pub fn with_words<'a>(info: &vk::ShaderModuleCreateInfo<'a>, words: &'a [u32]) -> vk::ShaderModuleCreateInfo<'a> {
    let mut changed = *info;
    changed.code_size = size_of_val(words);
    changed.p_code = words.as_ptr();
    changed
}

pub unsafe extern "system" fn destroy(
    device: vk::Device,
    module: vk::ShaderModule,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    guarded((), || {
        // SAFETY: a valid device.
        let Some(known) = (unsafe { device_of(device) }) else {
            return;
        };
        if let Some(state) = &known.state {
            state.modules.unbind(module);
        }
        if !known.is_undrained()
            && let Some(next) = known.next.vkDestroyShaderModule
        {
            // SAFETY: forwarded as it came.
            unsafe { next(device, module, allocator) };
        }
    });
}

/// The identifier of the module that the driver would be given: it has to equal the one of the module object.
pub unsafe extern "system" fn create_info_identifier(
    device: vk::Device,
    info: *const vk::ShaderModuleCreateInfo<'_>,
    identifier: *mut vk::ShaderModuleIdentifierEXT<'_>,
) {
    guarded((), || {
        // SAFETY: a valid device.
        let found = unsafe { device_of(device) };
        let Some((known, next)) = found.and_then(|d| Some((d, d.next.vkGetShaderModuleCreateInfoIdentifierEXT?)))
        else {
            return;
        };
        // SAFETY: valid by the API's rules, and only borrowed during the call.
        unsafe {
            if let (Some(state), Some(given)) = (&known.state, info.as_ref())
                && let Ok(Rewritten::Changed { words, .. }) = rewrite(known, state, given)
            {
                next(device, &with_words(given, &words), identifier);
            } else {
                next(device, info, identifier);
            }
        }
    });
}
