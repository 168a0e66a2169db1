//! `VkShaderEXT`.

use super::queue::elements;
use super::{MISSING, command, next_of};
use crate::device::shader::{Rewritten, words_of};
use crate::device::specialization::{for_rewritten, specialization, values};
use crate::device::state::{Device, EditStorage, ModuleUse};
use crate::log::Level;
use ash::vk::{self, Handle};
use std::ffi::{CStr, c_void};
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
            // SAFETY: valid usage: `infos` is null or has `count` elements, whose code has `codeSize` bytes.
            unsafe { report_unused_aborts(device, elements(infos, count)) };
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
        let mut failed = None;
        for (index, copy) in copies.iter_mut().enumerate() {
            if copy.code_type != vk::ShaderCodeTypeEXT::SPIRV {
                // SAFETY: valid usage: the code has `codeSize` bytes.
                if unsafe { is_of_another_device(device, copy) } {
                    let text =
                        format!("vkCreateShadersEXT: shader {index} is a binary whose aborts write to another device");
                    device.instance.log.line(Level::Warning, &text);
                    failed = Some((index, vk::Result::INCOMPATIBLE_SHADER_BINARY_EXT));
                    break;
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
            // SAFETY: valid usage: a null-terminated string.
            let entry = unsafe { copy.p_name.as_ref().map(|name| CStr::from_ptr(name)) }.unwrap_or_default();
            // No memory for constants: a binary of the shader may be loaded where the data is not.
            let rewritten = device.rewrite(state, &words, data.clone(), None).and_then(|rewritten| {
                if let Rewritten::Changed { module, .. } = &rewritten {
                    device.check_stage(state, copy.stage, entry, module)?;
                }
                Ok(rewritten)
            });
            let (words, module) = match rewritten {
                Ok(Rewritten::Unchanged) => continue,
                Ok(Rewritten::Native { module }) => (None, module),
                Ok(Rewritten::Changed { words, module }) => (Some(words), module),
                Err(error) => {
                    failed = Some((index, error));
                    break;
                }
            };
            let values = values(&module.sites.constants, &data);
            if let Some(words) = words {
                copy.code_size = size_of_val(words.as_slice());
                copy.p_code = storage.keep(words).cast();
                // SAFETY: valid usage: the specialization is valid.
                let edited = unsafe { for_rewritten(copy.p_specialization_info, &module, values.key, &mut storage) };
                copy.p_specialization_info = edited.unwrap_or(copy.p_specialization_info);
                changed = true;
            }
            modules.push((index, ModuleUse::of_stage(module, copy.stage, entry.to_bytes(), values)));
        }
        let infos = if changed { copies.as_ptr() } else { infos };
        let created = failed.map_or(count as usize, |(index, _)| preceding(originals, index));
        modules.retain(|(index, _)| *index < created);
        let mut result = vk::Result::SUCCESS;
        if failed.is_none() || created > 0 {
            // SAFETY: the application's own arguments, except for the code.
            result = unsafe { next(handle, created as u32, infos, allocator, shaders) };
            device.log_refusal(
                "vkCreateShadersEXT",
                result,
                modules.iter().map(|(_, used)| &used.module),
            );
        }
        if let (vk::Result::SUCCESS, Some((_, error))) = (result, failed) {
            result = error;
        }
        for (index, used) in modules {
            // SAFETY: the array has `count` initialised elements.
            let shader = unsafe { *shaders.add(index) };
            if shader != vk::ShaderEXT::null() {
                let kind = vk::ObjectType::SHADER_EXT;
                state.objects.add(kind, shader.as_raw(), vec![used]);
            }
        }
        result
    })
}

/// # Safety
/// `infos` must be valid.
unsafe fn report_unused_aborts(device: &Device, infos: &[vk::ShaderCreateInfoEXT<'_>]) {
    for info in infos
        .iter()
        .filter(|info| info.code_type == vk::ShaderCodeTypeEXT::SPIRV)
    {
        // SAFETY: the code has `codeSize` bytes (the caller's contract).
        device.report_unused_aborts(&unsafe { words_of(info.p_code.cast(), info.code_size) });
    }
}

/// Number of shaders to create although shader `failed` cannot be: "the application can determine which shader the
/// returned error pertains to by locating the first VK_NULL_HANDLE element in pShaders". Linked shaders are created together.
fn preceding(infos: &[vk::ShaderCreateInfoEXT<'_>], failed: usize) -> usize {
    let is_linked = |info: &vk::ShaderCreateInfoEXT<'_>| info.flags.contains(vk::ShaderCreateFlagsEXT::LINK_STAGE);
    match infos.iter().skip(failed).any(is_linked) {
        true => infos.iter().position(is_linked).unwrap_or(failed).min(failed),
        false => failed,
    }
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
                state.objects.export(modules);
                // SAFETY: the driver wrote `size` bytes.
                let binary = unsafe { slice::from_raw_parts(data.cast(), *size) };
                device.instance.binaries.add(binary, arena.options());
            }
        }
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shaders_before_a_failed_one_are_created_unless_they_are_linked_to_it() {
        let [plain, linked] = [vk::ShaderCreateFlagsEXT::empty(), vk::ShaderCreateFlagsEXT::LINK_STAGE]
            .map(|flags| vk::ShaderCreateInfoEXT::default().flags(flags));
        let infos = [plain, linked, linked, plain];
        assert_eq!([0, 1, 2, 3].map(|failed| preceding(&infos, failed)), [0, 1, 1, 3]);
        assert_eq!(preceding(&[linked, plain, linked], 1), 0);
        assert_eq!(preceding(&[plain, plain], 1), 1);
    }
}
