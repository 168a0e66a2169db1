//! An aborted invocation has no later effect: no store, no atomic, no image write, no pixel.

use super::support::{GROUPS, draw, expect_end, expect_payloads, incremented, marked, same_set, same_words};
use crate::case::{Case, cases};
use crate::glsl;
use crate::payload::Payload;
use crate::vk::{Buffer, Device, Kernel, ShaderSource};
use anyhow::{Result, ensure};

pub(super) const CASES: &[Case] = cases! {
    "side_effects::of_a_compute_shader" => compute(device, &[5, 38]);
    "side_effects::of_a_compute_shader_that_does_not_abort" => compute(device, &[]), silent();
    "side_effects::of_a_fragment_shader" => fragment(device, Some(9));
    "side_effects::of_a_fragment_shader_that_does_not_abort" => fragment(device, None), silent();
};

fn compute(device: &Device<'_>, aborting: &[usize]) -> Result<()> {
    let words = marked(aborting);
    let buffer = Buffer::storage(device, &words)?;
    let texels = Buffer::texels(device, &[0; 65])?;
    let kernel = Kernel::new(device, &glsl::compile("abort/side_effects.comp")?, &[&buffer, &texels])?;
    let (_submission, result) = kernel.run(GROUPS)?;
    expect_end(result, !aborting.is_empty())?;
    if !aborting.is_empty() {
        let message = |i: &usize| Payload::text("word %u").scalar(*i as u32).bytes();
        same_set(device.payloads()?, aborting.iter().map(message).collect())?;
    }
    let after: Vec<u32> = incremented(&words);
    same_words(&buffer.read(), &after)?;
    let mut written: Vec<u32> = (0..64)
        .map(|i| if aborting.contains(&i) { 0 } else { i as u32 + 1 })
        .collect();
    written.push(64 - aborting.len() as u32);
    same_words(&texels.read(), &written)
}

fn fragment(device: &Device<'_>, aborting: Option<u32>) -> Result<()> {
    let buffer = Buffer::storage(device, &[0; 64 * 5])?;
    let texels = Buffer::texels(device, &[0; 128])?;
    let shaders = ["stage/cover.vert", "stage/side_effects.frag"];
    let push = [4, aborting.unwrap_or(1000)];
    let (image, result) = draw(device, &shaders, &[&buffer, &texels], ShaderSource::Modules, push)?;
    expect_end(result, aborting.is_some())?;
    if let Some(at) = aborting {
        expect_payloads(device, &[Payload::text("fragment %u").scalar(at).bytes()])?;
    }
    let drawn = |i: &u32| Some(*i) != aborting;
    let counts: Vec<u32> = (0..64).map(|i| u32::from(drawn(&i))).collect();
    same_words(&buffer.read()[4 * 64..], &counts)?;
    let stored = (0..64).map(|i| if drawn(&i) { i + 1 } else { 0 });
    let added = (0..64).map(|i| if drawn(&i) { 5 } else { 0 });
    same_words(&texels.read(), &stored.chain(added).collect::<Vec<_>>())?;
    for x in 0..64 {
        let expected = if drawn(&x) { [255; 4] } else { [0; 4] };
        let found = image.texel(x, 3);
        ensure!(found == expected, "pixel {x} is {found:?}");
    }
    ensure!(image.texel(9, 4) == [255; 4], "a pixel of another row was not drawn");
    Ok(())
}
