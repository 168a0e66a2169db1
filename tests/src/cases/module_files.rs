//! Modules by hand: the settings `dump_modules` and `replace_modules`.

use super::support::{GROUPS, expect_lost, incremented, marked, run, same_words, without_abort};
use crate::assembly::assemble;
use crate::case::{Case, Context, cases};
use crate::glsl;
use crate::vk::{Buffer, Device, Gpu, Kernel};
use crate::word_shader::word_shader;
use anyhow::{Context as _, Result, ensure};
use std::fs;
use vkabort_instrument::{Options, module_hash};
use vkabort_oracle::words::to_bytes;

const DUMP: &[(&str, &str)] = &[("dump_modules", "modules")];
const REPLACE: &[(&str, &str)] = &[("replace_modules", "modules"), ("log_level", "warning")];

pub(super) const CASES: &[Case] = cases! {
    "module_files::every_module_is_written_before_and_after_its_rewrite" => dumped(gpu),
        in_own_process(), alone(), set(DUMP), silent();
    "module_files::a_module_of_a_device_without_the_extension_is_written" => dumped_unchanged(gpu),
        in_own_process(), alone(), set(DUMP), silent();
    "module_files::a_module_is_replaced_by_one_with_an_abort" => replaced(context),
        in_own_process(), alone(), set(REPLACE), logs(&["shader aborted: word 3 is 7"]);
    "module_files::a_replacement_without_aborts_runs" => replaced_by_plain(context),
        in_own_process(), alone(), set(REPLACE), silent();
    "module_files::a_hash_that_no_module_has_is_reported_at_the_end" => unused(context),
        in_own_process(), alone(), set(REPLACE),
        logs(&["replace_modules: no module of the program has the hash 0000000000000001"]);
};

/// The name of the file of these words.
fn file(words: &[u32], kind: &str) -> String {
    format!("modules/{}{kind}.spv", module_hash(words, &Options::default()))
}

fn dumped(gpu: &Gpu) -> Result<()> {
    let device = Device::new(gpu)?;
    let aborting = glsl::compile("abort/entry_point.comp")?;
    let plain = plain()?;
    for words in [&aborting, &plain] {
        run(&device, words, &marked(&[]))?.succeeded()?;
        let original = fs::read(file(words, ".original"))?;
        ensure!(original == to_bytes(words), "the file has other words");
    }
    let rewritten = fs::read(file(&aborting, ".rewritten")).context("the rewritten module")?;
    ensure!(rewritten.len() > to_bytes(&aborting).len(), "{} bytes", rewritten.len());
    ensure!(
        fs::read(file(&plain, ".rewritten")).is_err(),
        "an unchanged module was written twice"
    );
    Ok(())
}

fn dumped_unchanged(gpu: &Gpu) -> Result<()> {
    let plain = plain()?;
    run(&without_abort(gpu)?, &plain, &marked(&[]))?.succeeded()?;
    ensure!(fs::read(file(&plain, ".original"))? == to_bytes(&plain));
    Ok(())
}

/// A shader without aborts.
fn plain() -> Result<Vec<u32>> {
    assemble(&word_shader(&["add"], &[])?)
}

/// Writes the module that replaces `words`, and opens an instance that reads it.
fn open(context: &Context, words: &[u32], new: &[u32]) -> Result<Gpu> {
    fs::create_dir_all("modules")?;
    fs::write(file(words, ""), to_bytes(new))?;
    Gpu::open(context)
}

/// The application enables nothing: the layer enables the features that the new module needs.
fn replaced(context: &Context) -> Result<()> {
    let (plain, aborting) = (plain()?, glsl::compile("abort/entry_point.comp")?);
    let gpu = open(context, &plain, &aborting)?;
    let device = without_abort(&gpu)?;
    let buffer = Buffer::storage(&device, &marked(&[3]))?;
    let kernel = Kernel::new(&device, &plain, &[&buffer])?;
    expect_lost(kernel.run_to_end(GROUPS)?)?;
    same_words(&buffer.read(), &incremented(&marked(&[3])))
}

fn replaced_by_plain(context: &Context) -> Result<()> {
    let (plain, aborting) = (plain()?, glsl::compile("abort/entry_point.comp")?);
    let gpu = open(context, &aborting, &plain)?;
    let before = marked(&[3]);
    let after = run(&Device::new(&gpu)?, &aborting, &before)?.succeeded()?;
    same_words(&after, &before.iter().map(|word| word + 1000).collect::<Vec<_>>())
}

fn unused(context: &Context) -> Result<()> {
    fs::create_dir_all("modules")?;
    let plain = plain()?;
    fs::write("modules/0000000000000001.spv", to_bytes(&plain))?;
    run(&without_abort(&Gpu::open(context)?)?, &plain, &marked(&[]))?
        .succeeded()
        .map(drop)
}
