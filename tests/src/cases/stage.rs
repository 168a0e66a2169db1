//! Aborts in the vertex and fragment stages.

use super::support::{expect_lost, expect_success, payloads_if_lost};
use crate::case::{Case, Context};
use crate::glsl;
use crate::payload::Payload;
use crate::vk::{Device, Gpu, Image, Pass};
use anyhow::{Result, ensure};
use ash::vk;

pub(super) const CASES: &[Case] = &[
    Case::new("stage::fragment_does_not_write_its_pixel", fragment).logs(&["pixel 17 42"]),
    Case::new("stage::vertex", vertex).logs(&["vertex 1 of instance 0"]),
    Case::new("stage::fragment_never_taken_draws_the_same", fragment_never_taken).silent(),
];

/// Draws with these shaders and push constants, then passes the result, the payloads and the image to `check`.
fn draw(
    context: &Context,
    vertex: &str,
    fragment: &str,
    push: [u32; 2],
    check: impl FnOnce(vk::Result, Vec<Vec<u8>>, &Image<'_>) -> Result<()>,
) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let device = Device::new(&gpu)?;
    let image = Image::new(&device)?;
    let pass = Pass::new(&device, &glsl::compile(vertex)?, &glsl::compile(fragment)?)?;
    let submission = pass.record(&image, push)?;
    let result = submission.run();
    let payloads = payloads_if_lost(&device, result)?;
    check(result, payloads, &image)
}

/// Colour that `fragment.frag` writes at a pixel.
fn shade(x: u32, y: u32) -> [u8; 4] {
    [x as u8, y as u8, 255, 255]
}

fn fragment(context: &Context) -> Result<()> {
    draw(
        context,
        "stage/cover.vert",
        "stage/fragment.frag",
        [17, 42],
        |result, payloads, image| {
            expect_lost(result)?;
            let expected = Payload::text("pixel %u %u").scalar(17u32).scalar(42u32).bytes();
            ensure!(payloads == [expected], "{payloads:?}");
            ensure!(
                image.texel(17, 42) == [0; 4],
                "the pixel was written: {:?}",
                image.texel(17, 42)
            );
            for (x, y) in [(16, 42), (18, 42), (17, 41), (17, 43), (0, 0), (63, 63)] {
                ensure!(
                    image.texel(x, y) == shade(x, y),
                    "pixel {x} {y} is {:?}",
                    image.texel(x, y)
                );
            }
            Ok(())
        },
    )
}

fn vertex(context: &Context) -> Result<()> {
    draw(
        context,
        "stage/vertex.vert",
        "stage/white.frag",
        [1, 0],
        |result, payloads, _| {
            expect_lost(result)?;
            let expected = Payload::text("vertex %d of instance %d")
                .scalar(1u32)
                .scalar(0u32)
                .bytes();
            // A vertex may be shaded more than once.
            ensure!(
                !payloads.is_empty() && payloads.iter().all(|payload| *payload == expected),
                "{payloads:?}"
            );
            Ok(())
        },
    )
}

fn fragment_never_taken(context: &Context) -> Result<()> {
    draw(
        context,
        "stage/cover.vert",
        "stage/fragment.frag",
        [1000, 1000],
        |result, payloads, image| {
            expect_success(result)?;
            ensure!(payloads.is_empty(), "{payloads:?}");
            for y in 0..Image::EXTENT {
                for x in 0..Image::EXTENT {
                    ensure!(
                        image.texel(x, y) == shade(x, y),
                        "pixel {x} {y} is {:?}",
                        image.texel(x, y)
                    );
                }
            }
            Ok(())
        },
    )
}
