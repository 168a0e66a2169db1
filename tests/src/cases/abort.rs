//! Abort locations: the entry point, called functions and every control-flow path. Also checks the rest of the dispatch.

use super::support::{
    GROUPS, MARK, check_entry_point, expect_no_reports, marked, run, run_to_loss, same_set, same_words,
};
use crate::case::{Case, cases};
use crate::glsl;
use crate::payload::Payload;
use crate::vk::{Device, Gpu};
use anyhow::{Context as _, Result};

pub(super) const CASES: &[Case] = cases! {
    "abort::in_the_entry_point" => entry_point(gpu), logs(&["word 5 is 7", "word 38 is 7", "main"]);
    "abort::in_a_function_that_a_function_calls" => callee(gpu), logs(&["checked(9)"]);
    "abort::on_every_path" => every_path(gpu);
    "abort::never_taken_changes_nothing" => never_taken(device), silent();
};

fn entry_point(gpu: &Gpu) -> Result<()> {
    let (device, aborting) = (Device::new(gpu)?, [5, 38, 63]);
    let kernel = super::support::entry_point(&device, &marked(&aborting))?;
    let result = kernel.run_to_end(GROUPS)?;
    check_entry_point(&device, result, &kernel.words(), &aborting)
}

fn callee(gpu: &Gpu) -> Result<()> {
    let mut words = marked(&[9, 40]);
    words.extend([0; 64]);
    let (after, payloads) = run_to_loss(gpu, "abort/callee.comp", &words)?;
    let message = |i: u32| Payload::text("checked(%u)").scalar(i).bytes();
    same_set(payloads, vec![message(9), message(40)])?;
    let (first, second) = words.split_at(64);
    let mut expected: Vec<u32> = first
        .iter()
        .map(|&word| if word == MARK { MARK } else { word * 2 })
        .collect();
    expected.extend(
        first
            .iter()
            .zip(second)
            .map(|(&word, &zero)| if word == MARK { zero } else { word }),
    );
    same_words(&after, &expected)
}

fn every_path(gpu: &Gpu) -> Result<()> {
    for (mark, text) in [(MARK, "first path, %u"), (0, "second path, %u")] {
        let mut words = marked(&[]);
        words[0] = mark;
        let (after, payloads) = run_to_loss(gpu, "abort/every_path.comp", &words)?;
        let expected = (0..64u32).map(|i| Payload::text(text).scalar(i).bytes()).collect();
        same_set(payloads, expected)?;
        same_words(&after, &words)?;
    }
    Ok(())
}

fn never_taken(device: &Device<'_>) -> Result<()> {
    let shaders = [
        "abort/entry_point.comp",
        "control_flow/nested.comp",
        "message/structures.comp",
    ];
    for shader in shaders {
        let words = marked(&[]);
        let ran = run(device, &glsl::compile(shader)?, &[words.clone(), vec![0; 64]].concat())?;
        let after = ran.succeeded().context(shader)?;
        let added = if shader.contains("nested") { 1004 } else { 1000 };
        same_words(&after[..64], &words.iter().map(|word| word + added).collect::<Vec<_>>())?;
    }
    expect_no_reports(device)
}
