//! SPIR-V that is not SPIR-V: an error code, the reason in the log, and a device that goes on.

use super::{GROUPS, marked};
use crate::case::{Case, Context};
use crate::glsl;
use crate::vk::{Buffer, Device, Gpu, Kernel};
use anyhow::{Result, ensure};
use ash::vk;

pub(super) const CASES: &[Case] = &[
    Case::new("bad_input::words_cut_short_are_refused", cut_short)
        .logs(&["vkabort: error"])
        .on_top(),
    Case::new("bad_input::random_words_never_end_the_process", random_words)
        .logs(&["vkabort: error"])
        .on_top(),
];

fn create(device: &Device<'_>, words: &[u32]) -> Result<(), vk::Result> {
    let info = vk::ShaderModuleCreateInfo::default().code(words);
    // SAFETY: the structure is valid; what the words mean is what is tested.
    let module = unsafe { device.raw.create_shader_module(&info, None) }?;
    // SAFETY: nothing uses the module.
    unsafe { device.raw.destroy_shader_module(module, None) };
    Ok(())
}

/// The device still compiles and runs the shader.
fn still_works(device: &Device<'_>, spirv: &[u32]) -> Result<()> {
    let buffer = Buffer::storage(device, &marked(&[]))?;
    let kernel = Kernel::new(device, spirv, &[&buffer])?;
    let (_submission, result) = kernel.run(GROUPS)?;
    ensure!(result == vk::Result::SUCCESS, "the device ended with {result:?}");
    Ok(())
}

fn cut_short(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let device = Device::new(&gpu)?;
    let spirv = glsl::compile("abort/callee.comp")?;
    // Past the capabilities, so that the module asks for the rewrite; in the middle of instructions and between them.
    for length in (40..spirv.len() - 1).step_by(7) {
        let result = create(&device, &spirv[..length]);
        ensure!(
            result.is_err(),
            "the first {length} words of {} were taken",
            spirv.len()
        );
    }
    still_works(&device, &glsl::compile("abort/entry_point.comp")?)
}

fn random_words(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let device = Device::new(&gpu)?;
    let spirv = glsl::compile("control_flow/nested.comp")?;
    // Keeps the header and the capabilities; all else is noise, which no rewrite can make sense of.
    let kept = 5 + 2 * 4;
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u32
    };
    let mut refused = 0;
    for _ in 0..200 {
        let mut words = spirv.clone();
        words[kept..].fill_with(&mut random);
        refused += u32::from(create(&device, &words).is_err());
    }
    ensure!(refused == 200, "{} random modules were taken", 200 - refused);
    still_works(&device, &glsl::compile("abort/entry_point.comp")?)
}
