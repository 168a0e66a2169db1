//! Debug information that drivers have problems with.

use super::support::{MARK, expect_no_reports, marked, run};
use crate::case::{Case, cases};
use crate::glsl_debug::{self, Form};
use crate::vk::{Device, Gpu};
use anyhow::{Context as _, Result, ensure};
use vkabort_oracle::words::{from_bytes, to_bytes};

pub(super) const CASES: &[Case] = cases! {
    "debug_info::of_the_newest_version_in_functions" => aborts(gpu), logs(&["index 4000 at 4000.0, 0.5 is out of bounds"]);
    "debug_info::of_the_newest_version_without_an_abort" => silent_run(device), silent();
};

/// A shader with functions, as `glslang -gVS` compiles it: the command imports version 102 of the instruction set, the other cases
/// 100. SwiftShader ends the process on a `DebugFunctionDefinition` of version 102 in a function that is not an entry point.
fn shader() -> Result<Vec<u32>> {
    let (old, new) = (b"NonSemantic.Shader.DebugInfo.100", b"NonSemantic.Shader.DebugInfo.102");
    let mut bytes = to_bytes(&glsl_debug::compile("report/bounds.comp", Form::NonSemantic)?);
    let at = bytes.windows(old.len()).position(|window| window == old);
    let name = at.and_then(|at| bytes.get_mut(at..at + new.len()));
    name.context("the library imports another version")?
        .copy_from_slice(new);
    Ok(from_bytes(&bytes))
}

fn aborts(gpu: &Gpu) -> Result<()> {
    let device = Device::new(gpu)?;
    let words = marked(&[5]);
    let ran = run(&device, &shader()?, &words)?;
    let (after, payloads) = ran.lost()?;
    ensure!(payloads.len() == 1, "{} messages", payloads.len());
    ensure!(after[5] == MARK, "the aborting invocation has stored {}", after[5]);
    Ok(())
}

fn silent_run(device: &Device<'_>) -> Result<()> {
    let words = marked(&[]);
    let after = run(device, &shader()?, &words)?.succeeded()?;
    // The sum of the first two words, which invocations of the same dispatch may have replaced before.
    ensure!(after != words, "the shader has stored nothing");
    expect_no_reports(device)
}
