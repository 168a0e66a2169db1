//! Invalid SPIR-V is rejected with an error code and a logged reason, and the device stays usable.

use super::objects::create_module;
use super::support::run_entry_point;
use crate::case::{Case, cases};
use crate::glsl;
use crate::vk::Device;
use anyhow::{Result, ensure};

pub(super) const CASES: &[Case] = cases! {
    "bad_input::truncated_modules_are_rejected" => truncated(device), logs(&["vkabort: error"]), on_top();
    "bad_input::noise_is_rejected" => noise(device), logs(&["vkabort: error"]), on_top();
    "bad_input::one_damaged_word_never_ends_the_process" => damaged(device), alone();
};

fn truncated(device: &Device<'_>) -> Result<()> {
    let spirv = glsl::compile("abort/callee.comp")?;
    // Starts after the capabilities, so that the module needs the rewrite. Cuts in the middle of instructions and between.
    for length in (40..spirv.len() - 1).step_by(7) {
        let result = create_module(device, &spirv[..length]);
        ensure!(
            result.is_err(),
            "the first {length} words of {} were accepted",
            spirv.len()
        );
    }
    run_entry_point(device, false)
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

fn noise(device: &Device<'_>) -> Result<()> {
    let spirv = glsl::compile("control_flow/nested.comp")?;
    // Keeps the header and the capabilities; the rest is noise.
    let header = 5 + 2 * 4;
    let mut random = random();
    for round in 0..50 {
        let mut words = spirv.clone();
        words[header..].fill_with(&mut random);
        ensure!(
            create_module(device, &words).is_err(),
            "noise was accepted in round {round}"
        );
    }
    run_entry_point(device, false)
}

fn damaged(device: &Device<'_>) -> Result<()> {
    let mut random = random();
    let (mut accepted, mut rejected) = (0, 0);
    for shader in [
        "control_flow/nested.comp",
        "control_flow/switch.comp",
        "message/structures.comp",
    ] {
        let spirv = glsl::compile(shader)?;
        for _ in 0..300 {
            let mut words = spirv.clone();
            // Either flips one bit of a word or replaces the word by a small number, the range of ids and lengths.
            let at = 5 + random() as usize % (words.len() - 5);
            words[at] = if random() < 1 << 31 {
                words[at] ^ 1 << (random() % 32)
            } else {
                random() % 80
            };
            match create_module(device, &words) {
                Ok(()) => accepted += 1,
                Err(_) => rejected += 1,
            }
        }
    }
    // Damage to names, decorations and operands of arithmetic often goes unnoticed.
    ensure!(
        rejected > 100 && accepted > 100,
        "{rejected} damaged modules were rejected, {accepted} accepted"
    );
    run_entry_point(device, false)
}
