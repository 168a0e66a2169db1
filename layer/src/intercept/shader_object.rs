//! `VkShaderEXT`.

use super::batch::{Batch, remember};
use super::pipeline_create_info::EditCreateInfo;
use super::pipeline_edit::Editor;
use crate::device::Device;
use crate::device::modules::rewrite::{Rewritten, Source, words_of};
use crate::device::modules::specialization::specialization;
use crate::device::state::{ModuleUse, Opaque};
use crate::loader::ffi::elements;
use crate::log::Level;
use ash::vk::{self, Handle};
use std::ffi::c_void;
use std::slice;

type CreateInfo = vk::ShaderCreateInfoEXT<'static>;

/// Rewrites SPIR-V with the specialization at hand. Passes binaries, except those whose code writes its messages to the
/// memory of another device.
pub unsafe extern "system" fn create(
    handle: vk::Device,
    count: u32,
    infos: *const vk::ShaderCreateInfoEXT<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    shaders: *mut vk::ShaderEXT,
) -> vk::Result {
    // SAFETY: valid usage: the device is live, `infos` has `count` valid elements, and `shaders` room for as many.
    unsafe {
        forward!(handle, vkCreateShadersEXT, |device, next| {
            let originals = elements(infos.cast::<CreateInfo>(), count);
            let (Some(state), false) = (&device.state, infos.is_null()) else {
                pass_modules(device, originals);
                return next(handle, count, infos, allocator, shaders);
            };
            loop {
                // Not every driver writes the array if it fails, and the handles are read below.
                shaders.write_bytes(0, count as usize);
                let mut editor = Editor::new(device, state);
                let mut batch = Batch::new(&mut editor, originals, |_| true);
                let failed = batch.infos.len();
                if let Some(error) = batch.error {
                    if error == vk::Result::INCOMPATIBLE_SHADER_BINARY_EXT {
                        let text = format!(
                            "vkCreateShadersEXT: shader {failed} is a binary whose aborts write to another device"
                        );
                        device.instance.log.line(Level::Warning, &text);
                    }
                    batch.truncate(preceding(originals, failed));
                    if batch.infos.is_empty() {
                        return error;
                    }
                }
                let infos = if editor.changed { batch.infos.as_ptr() } else { infos };
                let result = next(handle, batch.infos.len() as u32, infos, allocator, shaders);
                batch.log_refusal(device, "vkCreateShadersEXT", result);
                let shaders = slice::from_raw_parts(shaders, count as usize);
                let destroy = (device.next.vkDestroyShaderEXT, allocator);
                if batch.is_worth_retrying(device, "vkCreateShadersEXT", result, shaders, destroy) {
                    continue;
                }
                remember(&state.objects, shaders, batch.modules);
                return match batch.error {
                    Some(error) if result == vk::Result::SUCCESS => error,
                    _ => result,
                };
            }
        })
    }
}

impl EditCreateInfo for CreateInfo {
    unsafe fn edit(&mut self, editor: &mut Editor<'_>, modules: &mut Vec<ModuleUse>) -> Result<(), vk::Result> {
        // SAFETY: the create-info is valid (the caller's contract): the code has `codeSize` bytes.
        unsafe {
            if self.code_type != vk::ShaderCodeTypeEXT::SPIRV {
                return match origin_of(editor.device, self) {
                    Origin::OtherDevice => Err(vk::Result::INCOMPATIBLE_SHADER_BINARY_EXT),
                    Origin::ThisDevice => Ok(()),
                    Origin::Unknown => {
                        editor.device.log_opaque(editor.state, Opaque::Binary);
                        Ok(())
                    }
                };
            }
            let words = words_of(self.p_code.cast(), self.code_size);
            let data = specialization(self.p_specialization_info);
            // No memory for constants: a binary of the shader may be loaded where the data is not.
            let source = Source {
                words: &words,
                specialization: data.clone(),
                memory: None,
            };
            let module = match editor.device.rewrite(editor.state, source)? {
                Rewritten::Unchanged => return Ok(()),
                Rewritten::Native { module } => module,
                Rewritten::Changed { words, module } => {
                    self.code_size = size_of_val(words.as_slice());
                    self.p_code = editor.storage.keep(words).cast();
                    editor.changed = true;
                    module
                }
            };
            let specialization = &mut self.p_specialization_info;
            modules.push(editor.specialize((self.stage, self.p_name), module, &data, specialization)?);
        }
        Ok(())
    }
}

/// # Safety
/// `infos` must be valid.
unsafe fn pass_modules(device: &Device, infos: &[vk::ShaderCreateInfoEXT<'_>]) {
    for info in infos
        .iter()
        .filter(|info| info.code_type == vk::ShaderCodeTypeEXT::SPIRV)
    {
        // SAFETY: the code has `codeSize` bytes (the caller's contract).
        device.pass_module(&unsafe { words_of(info.p_code.cast(), info.code_size) });
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
unsafe fn origin_of(device: &Device, info: &vk::ShaderCreateInfoEXT<'_>) -> Origin {
    let Some((_, arena)) = device.arena().filter(|_| !info.p_code.is_null()) else {
        return Origin::Unknown;
    };
    // SAFETY: the code has `codeSize` bytes (the caller's contract).
    let binary = unsafe { slice::from_raw_parts(info.p_code.cast(), info.code_size) };
    match device.instance.binaries.arena_of(binary) {
        Some(other) if other != arena.options() => Origin::OtherDevice,
        Some(_) => Origin::ThisDevice,
        None => Origin::Unknown,
    }
}

/// The device whose memory the code of a binary writes messages to.
enum Origin {
    ThisDevice,
    OtherDevice,
    Unknown,
}

/// Notes the memory that the code of a binary writes to.
pub unsafe extern "system" fn binary_data(
    handle: vk::Device,
    shader: vk::ShaderEXT,
    size: *mut usize,
    data: *mut c_void,
) -> vk::Result {
    // SAFETY: valid usage: device and shader are live; a successful call has written `size` bytes unless `data` is null.
    unsafe {
        forward!(handle, vkGetShaderBinaryDataEXT, |device, next| {
            let result = next(handle, shader, size, data);
            if let Some((state, arena)) = device.arena()
                && result == vk::Result::SUCCESS
                && !data.is_null()
            {
                let modules = state.objects.modules_of(vk::ObjectType::SHADER_EXT, shader.as_raw());
                if !modules.is_empty() {
                    state.objects.export(modules);
                    let binary = slice::from_raw_parts(data.cast(), *size);
                    device.instance.binaries.add(binary, arena.options());
                }
            }
            result
        })
    }
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
