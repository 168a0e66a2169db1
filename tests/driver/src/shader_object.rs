//! `VK_EXT_shader_object`. A shader object is a pipeline of one stage, and its binary is its SPIR-V.

use crate::enumerate::{fill, slice};
use crate::handle::{self, Allocator, Object};
use crate::settings::Refused;
use crate::shader::Pipeline;
use crate::state::Device;
use ash::vk;
use std::mem::MaybeUninit;

pub extern "system" fn create(
    device: &Device,
    count: u32,
    infos: *const vk::ShaderCreateInfoEXT<'_>,
    allocator: Allocator<'_>,
    shaders: *mut u64,
) -> vk::Result {
    let mut result = vk::Result::SUCCESS;
    // SAFETY: by the command's valid usage, both arrays have `count` elements, and the code has `codeSize` bytes.
    unsafe {
        for (index, info) in slice(infos, count).iter().enumerate() {
            let code = slice(info.p_code.cast::<u32>(), (info.code_size / 4) as u32).to_vec();
            let mut handle = MaybeUninit::new(0);
            if result == vk::Result::SUCCESS {
                result = device.refusal(Refused::Shader).unwrap_or(result);
            }
            if result == vk::Result::SUCCESS {
                result = handle::create_with(allocator, &mut handle, Pipeline { stages: vec![code] });
            }
            shaders.add(index).write(handle.assume_init());
        }
    }
    result
}

pub extern "system" fn binary(_: &Device, shader: Object<'_, Pipeline>, size: &mut usize, data: *mut u8) -> vk::Result {
    let words = shader.stages.iter().flatten();
    let bytes: Vec<u8> = words.flat_map(|word| word.to_le_bytes()).collect();
    // SAFETY: by the command's valid usage, the buffer is null or has `size` bytes.
    unsafe { fill(&bytes, size, data) }
}
