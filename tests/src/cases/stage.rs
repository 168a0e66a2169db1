//! Aborts in the vertex, fragment and compute stages.

use super::support::{draw, expect_lost, expect_payloads, expect_success};
use crate::case::{Case, cases};
use crate::payload::Payload;
use crate::vk::{Device, Image, ShaderSource, WordKernel};
use anyhow::{Result, ensure};
use ash::vk;

pub(super) const CASES: &[Case] = cases! {
    "stage::fragment_does_not_write_its_pixel" => fragment(device), logs(&["pixel 17 42", "= condition: at == pixel"]);
    "stage::vertex" => vertex(device), logs(&["vertex 1 of instance 0", "= condition: uint(gl_VertexIndex) == vertex"]);
    "stage::fragment_never_taken_draws_the_same" => fragment_never_taken(device), silent();
    "stage::compute_in_three_dimensions" => compute(device),
        logs(&["local index 17", "invocation global (5, 1, 1), local (1, 1, 1) in workgroup (1, 0, 0)"]);
};

const FRAGMENT: [&str; 2] = ["stage/cover.vert", "stage/fragment.frag"];

fn check_shade(image: &Image<'_>, x: u32, y: u32) -> Result<()> {
    let found = image.texel(x, y);
    ensure!(found == [x as u8, y as u8, 255, 255], "pixel {x} {y} is {found:?}");
    Ok(())
}

/// Checks the end of a draw with `fragment.frag`, which aborts at a pixel of the image, or at none: its result, its pixels
/// and its message.
pub(super) fn check_fragment(
    device: &Device<'_>,
    image: &Image<'_>,
    result: vk::Result,
    [x, y]: [u32; 2],
) -> Result<()> {
    for (x, y) in [(16, 42), (18, 42), (17, 41), (17, 43), (0, 0), (63, 63)] {
        check_shade(image, x, y)?;
    }
    if x >= Image::EXTENT {
        expect_success(result)?;
        return check_shade(image, 17, 42);
    }
    expect_lost(result)?;
    expect_payloads(device, &[Payload::text("pixel %u %u").scalar(x).scalar(y).bytes()])?;
    let found = image.texel(x, y);
    ensure!(found == [0; 4], "the pixel was written: {found:?}");
    Ok(())
}

fn fragment(device: &Device<'_>) -> Result<()> {
    let (image, result) = draw(device, &FRAGMENT, &[], ShaderSource::Modules, [17, 42])?;
    check_fragment(device, &image, result, [17, 42])
}

fn vertex(device: &Device<'_>) -> Result<()> {
    let shaders = ["stage/vertex.vert", "stage/white.frag"];
    let (_, result) = draw(device, &shaders, &[], ShaderSource::Modules, [1, 0])?;
    expect_lost(result)?;
    let payloads = device.payloads()?;
    let text = Payload::text("vertex %d of instance %d");
    let expected = text.scalar(1u32).scalar(0u32).bytes();
    // A vertex may be shaded more than once.
    ensure!(
        !payloads.is_empty() && payloads.iter().all(|payload| *payload == expected),
        "{payloads:?}"
    );
    Ok(())
}

fn fragment_never_taken(device: &Device<'_>) -> Result<()> {
    let (image, result) = draw(device, &FRAGMENT, &[], ShaderSource::Modules, [1000, 1000])?;
    expect_success(result)?;
    let pixels = (0..Image::EXTENT * Image::EXTENT).map(|i| (i % Image::EXTENT, i / Image::EXTENT));
    pixels.into_iter().try_for_each(|(x, y)| check_shade(&image, x, y))
}

fn compute(device: &Device<'_>) -> Result<()> {
    let kernel = WordKernel::new(device, &crate::glsl::compile("stage/three_dimensions.comp")?, &[17])?;
    expect_lost(kernel.run_to_end(2)?)?;
    expect_payloads(device, &[Payload::text("local index %u").scalar(17u32).bytes()])
}
