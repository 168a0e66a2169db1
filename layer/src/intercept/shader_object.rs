//! `VkShaderEXT`.

use super::{MISSING, command, next_of};
use crate::device::shader::{Rewritten, specialization, without_constants, words_of};
use crate::device::state::{Device, EditStorage};
use crate::report::log::Level;
use ash::vk::{self, Handle};
use std::ffi::c_void;
use std::slice;

/// Rewrites SPIR-V with the specialization at hand. Passes binaries, except those whose code writes its messages to the
/// memory of another device.
pub unsafe extern "system" fn create(
    handle: vk::Device,
    count: u32,
    infos: *const vk::ShaderCreateInfoEXT<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    shaders: *mut vk::ShaderEXT,
) -> vk::Result {
    command(|| {
        // SAFETY: valid usage: the device is live.
        let Some((device, next)) = (unsafe { next_of(handle, |t| t.vkCreateShadersEXT) }) else {
            return MISSING;
        };
        let (Some(state), false) = (&device.state, infos.is_null()) else {
            // SAFETY: the application's own arguments.
            return unsafe { next(handle, count, infos, allocator, shaders) };
        };
        // Not every driver writes the array if it fails, and the handles are read below.
        // SAFETY: valid usage: `shaders` has `count` elements.
        unsafe { shaders.write_bytes(0, count as usize) };
        // SAFETY: valid usage: `infos` has `count` elements.
        let originals =
            unsafe { slice::from_raw_parts(infos.cast::<vk::ShaderCreateInfoEXT<'static>>(), count as usize) };
        let mut copies = originals.to_vec();
        let mut storage = EditStorage::default();
        let mut modules = Vec::new();
        let mut changed = false;
        for (index, copy) in copies.iter_mut().enumerate() {
            if copy.code_type != vk::ShaderCodeTypeEXT::SPIRV {
                // SAFETY: valid usage: the code has `codeSize` bytes.
                if unsafe { is_of_another_device(device, copy) } {
                    let text =
                        format!("vkCreateShadersEXT: shader {index} is a binary whose aborts write to another device");
                    device.instance.log.line(Level::Warning, &text);
                    return vk::Result::INCOMPATIBLE_SHADER_BINARY_EXT;
                }
                continue;
            }
            // SAFETY: valid usage: the code has `codeSize` bytes, and the specialization is valid.
            let (words, data) = unsafe {
                (
                    words_of(copy.p_code.cast(), copy.code_size),
                    specialization(copy.p_specialization_info),
                )
            };
            match device.rewrite(state, &words, data) {
                Ok(Rewritten::Unchanged) => {}
                Ok(Rewritten::Native { module }) => modules.push((index, module)),
                Ok(Rewritten::Changed { words, module }) => {
                    copy.code_size = size_of_val(words.as_slice());
                    copy.p_code = storage.keep(words).cast();
                    // SAFETY: valid usage: the specialization is valid.
                    let remaining =
                        unsafe { without_constants(copy.p_specialization_info, &module.data_spec_ids, &mut storage) };
                    copy.p_specialization_info = remaining.unwrap_or(copy.p_specialization_info);
                    changed = true;
                    modules.push((index, module));
                }
                Err(error) => return error,
            }
        }
        let infos = if changed { copies.as_ptr() } else { infos };
        // SAFETY: the application's own arguments, except for the code.
        let result = unsafe { next(handle, count, infos, allocator, shaders) };
        device.log_refusal("vkCreateShadersEXT", result, modules.iter().map(|(_, module)| module));
        for (index, module) in modules {
            // SAFETY: the array has `count` initialised elements.
            let shader = unsafe { *shaders.add(index) };
            if shader != vk::ShaderEXT::null() {
                let kind = vk::ObjectType::SHADER_EXT;
                state.objects.add(kind, shader.as_raw(), vec![module]);
            }
        }
        result
    })
}

/// # Safety
/// `info` must be valid, and its code a binary.
unsafe fn is_of_another_device(device: &Device, info: &vk::ShaderCreateInfoEXT<'_>) -> bool {
    let Some((_, arena)) = device.arena().filter(|_| !info.p_code.is_null()) else {
        return false;
    };
    // SAFETY: the code has `codeSize` bytes (the caller's contract).
    let binary = unsafe { slice::from_raw_parts(info.p_code.cast(), info.code_size) };
    device.instance.binaries.has_other_arena(binary, arena.options())
}

/// Remembers which memory the code of a binary writes to.
pub unsafe extern "system" fn binary_data(
    handle: vk::Device,
    shader: vk::ShaderEXT,
    size: *mut usize,
    data: *mut c_void,
) -> vk::Result {
    command(|| {
        // SAFETY: valid usage: the device is live.
        let Some((device, next)) = (unsafe { next_of(handle, |t| t.vkGetShaderBinaryDataEXT) }) else {
            return MISSING;
        };
        // SAFETY: the application's own arguments.
        let result = unsafe { next(handle, shader, size, data) };
        if let Some((state, arena)) = device.arena()
            && result == vk::Result::SUCCESS
            && !data.is_null()
        {
            let modules = state.objects.modules_of(vk::ObjectType::SHADER_EXT, shader.as_raw());
            if !modules.is_empty() {
                state.objects.export(&modules);
                // SAFETY: the driver wrote `size` bytes.
                let binary = unsafe { slice::from_raw_parts(data.cast(), *size) };
                device.instance.binaries.add(binary, arena.options());
            }
        }
        result
    })
}
