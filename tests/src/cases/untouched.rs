//! A device without the extension behaves as without the layer.

use super::support::{marked, run, same_words, without_abort};
use crate::assembly::assemble;
use crate::case::{Case, cases};
use crate::vk::{Device, Gpu};
use crate::word_shader::word_shader;
use anyhow::Result;

pub(super) const CASES: &[Case] = cases! {
    "untouched::a_device_without_the_extension_computes" => computes(gpu), silent();
    "untouched::a_shader_without_aborts_on_a_device_with_the_extension" => no_abort(gpu), silent();
};

fn add_on(device: &Device<'_>) -> Result<()> {
    let words = marked(&[3]);
    let after = run(device, &assemble(&word_shader(&["add"], &[])?)?, &words)?.succeeded()?;
    same_words(&after, &words.iter().map(|word| word + 1000).collect::<Vec<_>>())
}

fn computes(gpu: &Gpu) -> Result<()> {
    add_on(&without_abort(gpu)?)
}

fn no_abort(gpu: &Gpu) -> Result<()> {
    add_on(&Device::new(gpu)?)
}
