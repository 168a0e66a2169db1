//! `VkShaderModule`.

use crate::device::modules::rewrite::{Rewritten, words_of};
use crate::device::state::Module;
use crate::device::{AbortState, Device};
use ash::vk::{self, Handle as _};
use std::sync::Arc;

pub unsafe extern "system" fn create(
    handle: vk::Device,
    info: *const vk::ShaderModuleCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    module: *mut vk::ShaderModule,
) -> vk::Result {
    // SAFETY: valid usage: the device is live, `info` valid, and `module` may be written.
    unsafe {
        forward!(handle, vkCreateShaderModule, |device, next| {
            let (Some(state), Some(original)) = (&device.state, info.as_ref()) else {
                if let Some(info) = info.as_ref() {
                    device.pass_module(&words_of(info.p_code, info.code_size));
                }
                return next(handle, info, allocator, module);
            };
            let mut refused = None;
            let (result, rewritten) = loop {
                match rewrite(device, state, original) {
                    Ok(Rewritten::Unchanged) => {
                        let result = next(handle, info, allocator, module);
                        if let Some(refused) = refused {
                            device.log_refusal_without_checks("vkCreateShaderModule", result, refused);
                        }
                        return result;
                    }
                    Ok(Rewritten::Native { module: rewritten }) => {
                        break (next(handle, info, allocator, module), rewritten);
                    }
                    Ok(Rewritten::Changed {
                        words,
                        module: rewritten,
                    }) => {
                        let info = with_words(original, &words);
                        let result = next(handle, &info, allocator, module);
                        device.log_refusal("vkCreateShaderModule", result, [&rewritten]);
                        // The next rewrite has no checks.
                        if !device.give_up_refused("vkCreateShaderModule", result, [&rewritten]) {
                            break (result, rewritten);
                        }
                        refused = Some(rewritten.sites.module_hash);
                    }
                    Err(error) => return error,
                }
            };
            if result == vk::Result::SUCCESS {
                let kind = vk::ObjectType::SHADER_MODULE;
                state.objects.add(kind, (*module).as_raw(), vec![rewritten]);
            }
            result
        })
    }
}

/// # Safety
/// `info` must be valid.
unsafe fn rewrite(
    device: &Device,
    state: &AbortState,
    info: &vk::ShaderModuleCreateInfo<'_>,
) -> Result<Rewritten, vk::Result> {
    // SAFETY: the code has `codeSize` bytes (the caller's contract).
    let words = unsafe { words_of(info.p_code, info.code_size) };
    device.rewrite_or_defer(state, &words)
}

/// The create-info with other words.
pub fn with_words<'a>(info: &vk::ShaderModuleCreateInfo<'a>, words: &'a [u32]) -> vk::ShaderModuleCreateInfo<'a> {
    let mut changed = *info;
    changed.code_size = size_of_val(words);
    changed.p_code = words.as_ptr();
    changed
}

pub unsafe extern "system" fn destroy(
    handle: vk::Device,
    module: vk::ShaderModule,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: valid usage: the device is live, and nothing uses the module any more.
    unsafe {
        forward!(handle, vkDestroyShaderModule, |device, next| {
            if let Some(state) = &device.state {
                let kind = vk::ObjectType::SHADER_MODULE;
                state.objects.remove(kind, module.as_raw(), false);
            }
            // Also while the driver cannot be drained: pipelines do not use their modules.
            next(handle, module, allocator);
        });
    }
}

pub unsafe extern "system" fn identifier(
    handle: vk::Device,
    module: vk::ShaderModule,
    identifier: *mut vk::ShaderModuleIdentifierEXT<'_>,
) {
    // SAFETY: valid usage: device and module are live, and `identifier` may be written.
    unsafe {
        forward!(handle, vkGetShaderModuleIdentifierEXT, |device, next| {
            next(handle, module, identifier);
            if let Some(state) = &device.state
                && let Some(module) = state.objects.module_of(module)
            {
                export_identifier(state, module, identifier.as_mut());
            }
        });
    }
}

/// "Must be equal to the identifier returned by `vkGetShaderModuleIdentifierEXT`".
pub unsafe extern "system" fn create_info_identifier(
    handle: vk::Device,
    info: *const vk::ShaderModuleCreateInfo<'_>,
    identifier: *mut vk::ShaderModuleIdentifierEXT<'_>,
) {
    // SAFETY: valid usage: the device is live, `info` valid, and `identifier` may be written.
    unsafe {
        forward!(handle, vkGetShaderModuleCreateInfoIdentifierEXT, |device, next| {
            if let (Some(state), Some(original)) = (&device.state, info.as_ref())
                && let Ok(Rewritten::Changed { words, module }) = rewrite(device, state, original)
            {
                next(handle, &with_words(original, &words), identifier);
                export_identifier(state, module, identifier.as_mut());
            } else {
                next(handle, info, identifier);
            }
        });
    }
}

/// Replaces the driver's identifier of a rewritten module by the layer's, and keeps the module: a pipeline can be created from
/// the identifier alone.
fn export_identifier(
    state: &AbortState,
    module: Arc<Module>,
    identifier: Option<&mut vk::ShaderModuleIdentifierEXT<'_>>,
) {
    if let Some(identifier) = identifier.filter(|_| module.is_rewritten) {
        state
            .identifiers
            .replace(module.sites.module_hash, module.code(), identifier);
    }
    state.objects.export(vec![module]);
}

#[cfg(test)]
mod tests;
