//! A device without the extension behaves as without the layer.

use super::support::{GROUPS, expect_success, marked, same_words, without_abort};
use crate::assembly::assemble;
use crate::case::{Case, Context};
use crate::vk::{Buffer, Device, Gpu, Kernel};
use crate::word_shader::WordShader;
use anyhow::Result;

pub(super) const CASES: &[Case] = &[
    Case::new("untouched::a_device_without_the_extension_computes", computes).silent(),
    Case::new(
        "untouched::a_shader_without_aborts_on_a_device_with_the_extension",
        no_abort,
    )
    .silent(),
];

/// Assembly of a shader that adds 1000 to its word.
fn add() -> String {
    WordShader {
        types: "%thousand = OpConstant %uint 1000",
        code: "%pointer = OpAccessChain %element %words %zero %i
               %value = OpLoad %uint %pointer
               %sum = OpIAdd %uint %value %thousand
               OpStore %pointer %sum",
        ..WordShader::default()
    }
    .text()
}

fn add_on(device: &Device<'_>) -> Result<()> {
    let words = marked(&[3]);
    let buffer = Buffer::storage(device, &words)?;
    let kernel = Kernel::new(device, &assemble(&add())?, &[&buffer])?;
    let (_submission, result) = kernel.run(GROUPS)?;
    expect_success(result)?;
    same_words(
        &buffer.read(),
        &words.iter().map(|word| word + 1000).collect::<Vec<_>>(),
    )
}

fn computes(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    add_on(&without_abort(&gpu)?)
}

fn no_abort(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    add_on(&Device::new(&gpu)?)
}
