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
    Case::new("bad_input::noise_is_refused", noise)
        .logs(&["vkabort: error"])
        .on_top(),
    Case::new("bad_input::one_damaged_word_never_ends_the_process", damaged).alone(),
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

/// Pseudo-random words, the same in every run.
fn random() -> impl FnMut() -> u32 {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 16) as u32
    }
}

fn noise(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let device = Device::new(&gpu)?;
    let spirv = glsl::compile("control_flow/nested.comp")?;
    // Keeps the header and the capabilities; all else is noise, which no rewrite can make sense of.
    let kept = 5 + 2 * 4;
    let mut random = random();
    for round in 0..50 {
        let mut words = spirv.clone();
        words[kept..].fill_with(&mut random);
        ensure!(create(&device, &words).is_err(), "noise was taken in round {round}");
    }
    still_works(&device, &glsl::compile("abort/entry_point.comp")?)
}

fn damaged(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let device = Device::new(&gpu)?;
    let mut random = random();
    let (mut taken, mut refused) = (0, 0);
    for shader in [
        "control_flow/nested.comp",
        "control_flow/switch.comp",
        "message/structures.comp",
    ] {
        let spirv = glsl::compile(shader)?;
        for _ in 0..300 {
            let mut words = spirv.clone();
            // One word, as itself with a few bits flipped, or as a small number, which ids and lengths are.
            let at = 5 + random() as usize % (words.len() - 5);
            words[at] = if random() < 1 << 31 {
                words[at] ^ 1 << (random() % 32)
            } else {
                random() % 80
            };
            match create(&device, &words) {
                Ok(()) => taken += 1,
                Err(_) => refused += 1,
            }
        }
    }
    // Much damage goes unnoticed: names, decorations, operands of arithmetic.
    ensure!(
        refused > 100 && taken > 100,
        "{refused} damaged modules were refused, {taken} taken"
    );
    still_works(&device, &glsl::compile("abort/entry_point.comp")?)
}
