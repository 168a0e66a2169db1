//! A module with entry points of several stages that share an aborting function.

use super::support::{MARK, bytes, expect_lost, expect_success, marked, run, same_set, same_words};
use crate::assembly::assemble_file;
use crate::case::{Case, cases};
use crate::vk::{Buffer, Device, Image, Pass, ShaderSource, Stage};
use anyhow::{Result, ensure};
use ash::vk;

pub(super) const CASES: &[Case] = cases! {
    "shared_callee::in_the_compute_shader" => compute(device), logs(&["(5, 0, 0)"]);
    "shared_callee::in_the_vertex_shader" => draw(device, &[2]), logs(&["vertex 2"]);
    "shared_callee::in_the_fragment_shader" => draw(device, &[3 + 17]), logs(&["pixel (17, "]);
    "shared_callee::in_none_of_them" => draw(device, &[]), silent();
};

fn module() -> Result<Vec<u32>> {
    assemble_file("assembly/shared_callee.spvasm")
}

fn message(at: u32) -> Vec<u8> {
    bytes(&[at, MARK])
}

fn compute(device: &Device<'_>) -> Result<()> {
    let words = marked(&[5, 38]);
    let (after, payloads) = run(device, &module()?, &[words.clone(), vec![0; 64]].concat())?.lost()?;
    same_set(payloads, vec![message(5), message(38)])?;
    let behind = words.iter().map(|&word| if word == MARK { 0 } else { word + 1 });
    same_words(&after[64..], &behind.collect::<Vec<_>>())
}

fn draw(device: &Device<'_>, aborting: &[usize]) -> Result<()> {
    let image = Image::new(device)?;
    let buffer = Buffer::storage(device, &[marked(aborting), vec![0; 64]].concat())?;
    let module = module()?;
    let stage = |kind| Stage::new(kind, &module);
    let stages = [
        stage(vk::ShaderStageFlags::VERTEX),
        stage(vk::ShaderStageFlags::FRAGMENT),
    ];
    let pass = Pass::with(device, &stages, &[&buffer], ShaderSource::Modules)?;
    let submission = pass.record(&image, [0, 0])?;
    let result = submission.run();
    let Some(&at) = aborting.first() else {
        expect_success(result)?;
        ensure!(
            image.texel(63, 63) == [255; 4] && image.texel(0, 0) == [255; 4],
            "not drawn"
        );
        return Ok(());
    };
    expect_lost(result)?;
    let payloads = device.payloads()?;
    ensure!(
        payloads.iter().all(|payload| *payload == message(at as u32)),
        "{payloads:?}"
    );
    // The vertex shader may run more than once for a vertex, the fragment shader runs for each pixel of the column.
    if at > 2 {
        ensure!(payloads.len() == 64, "{} messages", payloads.len());
        for y in 0..64 {
            let pixel = |x| image.texel(x, y);
            ensure!(pixel(17) == [0; 4], "pixel 17 {y} was written: {:?}", pixel(17));
            ensure!(
                pixel(16) == [255; 4] && pixel(18) == [255; 4],
                "a neighbour of 17 {y} was not written"
            );
        }
    }
    ensure!(!payloads.is_empty(), "no message");
    Ok(())
}
