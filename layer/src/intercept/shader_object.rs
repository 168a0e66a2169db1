//! `VkShaderEXT`.

use super::{MISSING, command};
use crate::device::shader::{Rewritten, Specialization, specialization, words_of};
use crate::device::state::Device;
use crate::loader::registry::device_of;
use ash::vk::{self, Handle};
use std::ffi::c_void;
use std::slice;

/// SPIR-V is rewritten with the specialisation data in hand; shader binaries pass, unless their code writes its messages to
/// the memory of another device.
pub unsafe extern "system" fn create(
    device: vk::Device,
    count: u32,
    infos: *const vk::ShaderCreateInfoEXT<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    shaders: *mut vk::ShaderEXT,
) -> vk::Result {
    command(|| {
        // SAFETY: a valid device.
        let found = unsafe { device_of(device) };
        let Some((known, next)) = found.and_then(|d| Some((d, d.next.vkCreateShadersEXT?))) else {
            return MISSING;
        };
        let (Some(state), false) = (&known.state, infos.is_null()) else {
            // SAFETY: forwarded as it came.
            return unsafe { next(device, count, infos, allocator, shaders) };
        };
        // SAFETY: the application gives that many.
        let given = unsafe { slice::from_raw_parts(infos, count as usize) };
        let mut copies = given.to_vec();
        let mut kept = Vec::new();
        let mut changed = false;
        for (index, copy) in copies.iter_mut().enumerate() {
            if copy.code_type != vk::ShaderCodeTypeEXT::SPIRV {
                // SAFETY: valid by the API's rules.
                if unsafe { is_of_another_device(known, copy) } {
                    refuse_all(shaders, count);
                    return vk::Result::INCOMPATIBLE_SHADER_BINARY_EXT;
                }
                continue;
            }
            // SAFETY: valid by the API's rules.
            let (words, data) = unsafe {
                (
                    words_of(copy.p_code.cast(), copy.code_size),
                    specialization(copy.p_specialization_info),
                )
            };
            match known.rewrite(state, &words, data) {
                Ok(Rewritten::Unchanged) => {}
                Ok(Rewritten::Known { module }) => kept.push((index, Vec::new(), None, module)),
                Ok(Rewritten::Changed { words, module }) => {
                    copy.code_size = size_of_val(words.as_slice());
                    copy.p_code = words.as_ptr().cast();
                    changed = true;
                    // SAFETY: valid by the API's rules.
                    let left = unsafe { Specialization::without(copy.p_specialization_info, &module.data_spec_ids) };
                    if let Some(left) = &left {
                        copy.p_specialization_info = left.info();
                    }
                    kept.push((index, words, left, module));
                }
                Err(error) => {
                    refuse_all(shaders, count);
                    return error;
                }
            }
        }
        let infos = if changed { copies.as_ptr() } else { infos };
        // SAFETY: forwarded as it came, but for the code.
        let result = unsafe { next(device, count, infos, allocator, shaders) };
        for (index, _, _, module) in kept {
            // SAFETY: the application gives that many.
            let handle = unsafe { *shaders.add(index) };
            if handle != vk::ShaderEXT::null() && result.as_raw() >= 0 {
                state.modules.set_modules_of(
                    vk::ObjectType::SHADER_EXT,
                    handle.as_raw(),
                    vec![module.sites.module_hash],
                );
            }
        }
        result
    })
}

/// All handles are written, also on failure.
fn refuse_all(shaders: *mut vk::ShaderEXT, count: u32) {
    // SAFETY: the application gives that many.
    unsafe { slice::from_raw_parts_mut(shaders, count as usize) }.fill(vk::ShaderEXT::null());
}

/// # Safety
/// `info` must be valid, and its code a binary.
unsafe fn is_of_another_device(device: &Device, info: &vk::ShaderCreateInfoEXT<'_>) -> bool {
    let Some((_, arena)) = device.arena().filter(|_| !info.p_code.is_null()) else {
        return false;
    };
    // SAFETY: the application gives that many bytes.
    let binary = unsafe { slice::from_raw_parts(info.p_code.cast(), info.code_size) };
    device.instance.binaries.has_other_arena(binary, arena.options())
}

/// Remembers which memory the code of a binary writes to.
pub unsafe extern "system" fn binary_data(
    device: vk::Device,
    shader: vk::ShaderEXT,
    size: *mut usize,
    data: *mut c_void,
) -> vk::Result {
    command(|| {
        // SAFETY: a valid device.
        let found = unsafe { device_of(device) };
        let Some((known, next)) = found.and_then(|d| Some((d, d.next.vkGetShaderBinaryDataEXT?))) else {
            return MISSING;
        };
        // SAFETY: forwarded as it came.
        let result = unsafe { next(device, shader, size, data) };
        if let Some((state, arena)) = known.arena()
            && result == vk::Result::SUCCESS
            && !data.is_null()
            && !state
                .modules
                .modules_of(vk::ObjectType::SHADER_EXT, shader.as_raw())
                .is_empty()
        {
            // SAFETY: the driver has written that many bytes.
            let binary = unsafe { slice::from_raw_parts(data.cast(), *size) };
            known.instance.binaries.add(binary, arena.options());
        }
        result
    })
}
