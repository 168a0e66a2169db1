//! Two versions of a module in one process: the driver refuses a pipeline with checks, which is created without them, beside one
//! with checks. Each abort is read with the sites of the version that wrote it, and reports name the application's module.

use super::support::{expect_lost, expect_success, same_set};
use crate::case::{Case, Skip, cases};
use crate::glsl;
use crate::heap::Heap;
use crate::payload::Payload;
use crate::vk::{Buffer, Device, Gpu, Kernel, Submission, stage, test_driver};
use anyhow::{Result, bail, ensure};
use ash::vk;
use vkabort_instrument::{Checks, Options, Outcome, Sanitize, Values, instrument};
use vkabort_record::compact::Origin;
use vkabort_record::layout::SLOT_UNITS;
use vkabort_record::site::CodeHash;

/// The abort of the program itself does not lose the device, either.
const CHECKS: &[(&str, &str)] = &[("sanitize", "default"), ("on_abort", "continue")];
const LOGGED: &[(&str, &str)] = &[
    ("sanitize", "default"),
    ("log_level", "warning"),
    ("loop_timeout_ms", "0"),
];
const LOSE: &[(&str, &str)] = &[("sanitize", "default"), ("on_abort", "lose")];
const WITHOUT_VALUES: &[(&str, &str)] = &[("sanitize", "default"), ("values", "off"), ("on_abort", "continue")];
/// The messages of both versions, each with its own values, and the name of the module.
const BOTH: &[&str] = &[
    "shader aborted: division by zero",
    "`words[0]` / `words[1]` is 8 / 0",
    "shader aborted: own abort: word 4 is 9",
    "with words[2] = 0",
    "own abort: word 4 is 9\n--> module \"versions\"",
];

pub(super) const CASES: &[Case] = cases! {
    "sanitize_refused::both_versions_report_their_sites" => both(device), set(CHECKS), logs(BOTH);
    "sanitize_refused::both_versions_without_values" => both(device), set(WITHOUT_VALUES),
        logs(&["shader aborted: division by zero", "shader aborted: own abort: word 4 is 9"]);
    "sanitize_refused::the_message_of_the_version_without_checks" => alone_lost(device), set(LOSE),
        logs(&["shader aborted: own abort: word 4 is 9", "module \"versions\""]);
    "sanitize_refused::each_version_has_its_own_code" => codes(gpu), on_driver("refuse=pipeline:2"), set(LOGGED),
        logs(&["is created again without checks: with them the driver's vkCreateComputePipelines returned ERROR_UNKNOWN"]);
};

/// A check fails if word 1 is 0, and the shader aborts if word 2 is 0.
fn shader() -> Result<Vec<u32>> {
    glsl::compile_compute(
        "#version 460
         #extension GL_EXT_abort : require
         layout(local_size_x = 1) in;
         layout(std430, set = 0, binding = 0) buffer Words { uint words[]; };
         void main() {
             words[3] = words[0] / words[1];
             if (words[2] == 0u) { abortEXT(\"own abort: word 4 is %u\", words[4]); }
             words[5] = 1u;
         }",
    )
}

/// Kernels of one module: one with checks, and one that the driver has refused with them.
struct Versions<'a> {
    kernel: Kernel<'a>,
    refused: vk::Pipeline,
    heap: Heap,
}

impl<'a> Versions<'a> {
    fn new(device: &'a Device<'a>, words: &'a Buffer<'a>) -> Result<Self> {
        let mut kernel = Kernel::bound(device, &[words])?;
        let heap = Heap::new(0);
        let spirv = shader()?;
        // SAFETY: the handles belong to this device, and the structures are valid.
        let refused = unsafe {
            let info = vk::ShaderModuleCreateInfo::default().code(&spirv);
            let module = device.raw.create_shader_module(&info, None)?;
            device.name(module, c"versions")?;
            let created = kernel.create_from(stage(module), vk::PipelineCache::null());
            let info = vk::ComputePipelineCreateInfo::default()
                .stage(stage(module))
                .layout(kernel.layout);
            let callbacks = heap.callbacks();
            let (none, callbacks) = (vk::PipelineCache::null(), Some(&callbacks));
            let refused = device.raw.create_compute_pipelines(none, &[info], callbacks);
            device.raw.destroy_shader_module(module, None);
            created?;
            refused.map_err(|(_, result)| result)?[0]
        };
        let versions = Self { kernel, refused, heap };
        match versions.heap.requests() {
            0 | 1 => Err(Skip("the driver does not take a pipeline's memory from the application".into()).into()),
            _ => Ok(versions),
        }
    }

    /// Runs the version without checks.
    fn run_refused(&self) -> Result<vk::Result> {
        let recorded = Submission::record(self.kernel.device, |raw, commands| {
            let compute = vk::PipelineBindPoint::COMPUTE;
            // SAFETY: the command buffer is being recorded, and the pipeline and its set outlive its use.
            unsafe {
                raw.cmd_bind_pipeline(commands, compute, self.refused);
                raw.cmd_bind_descriptor_sets(commands, compute, self.kernel.layout, 0, &[self.kernel.set], &[]);
                raw.cmd_dispatch(commands, 1, 1, 1);
            }
        });
        Ok(recorded?.run())
    }
}

impl Drop for Versions<'_> {
    fn drop(&mut self) {
        let callbacks = self.heap.callbacks();
        // SAFETY: nothing uses the pipeline, which these callbacks allocated.
        unsafe {
            self.kernel.device.raw.destroy_pipeline(self.refused, Some(&callbacks));
        }
    }
}

/// Words at which the check fails and the shader aborts.
const WORDS: [u32; 6] = [8, 0, 0, 77, 9, 77];

fn both(device: &Device<'_>) -> Result<()> {
    let words = Buffer::storage(device, &WORDS)?;
    let versions = Versions::new(device, &words)?;
    expect_success(versions.kernel.run_to_end(1)?)?;
    ensure!(words.read() == WORDS, "the check has not failed");
    expect_success(versions.run_refused()?)?;
    let after = words.read();
    ensure!(after[5] == 77, "the shader has not aborted");
    Ok(())
}

fn alone_lost(device: &Device<'_>) -> Result<()> {
    let words = Buffer::storage(device, &WORDS)?;
    let versions = Versions::new(device, &words)?;
    expect_lost(versions.run_refused()?)?;
    let expected = Payload::text("own abort: word 4 is %u").scalar(9u32).bytes();
    same_set(device.payloads()?, vec![expected])
}

/// The code of each version is in the words of its pipeline, and not that of the other.
fn codes(gpu: &Gpu) -> Result<()> {
    let device = Device::new(gpu)?;
    let buffer = Buffer::storage(&device, &WORDS)?;
    let spirv = shader()?;
    let mut codes = Vec::new();
    for checks in [Checks::defaults(), Checks::default()] {
        let options = Options {
            sanitize: Sanitize {
                checks,
                // As the layer does.
                rewrites_specialised: true,
                ..Sanitize::default()
            },
            values: Values::Auto,
            ..Options::default()
        };
        let Outcome::Instrumented(new) = instrument(&spirv, &options)? else {
            bail!("nothing was rewritten");
        };
        codes.push(new.sites.code());
    }
    let kernels = [(); 2].map(|()| Kernel::new(&device, &spirv, &[&buffer]));
    for (index, kernel) in kernels.into_iter().enumerate() {
        let words = test_driver::words(&device, kernel?.pipeline, 0)?;
        let found: Vec<bool> = codes.iter().map(|code| has_code(&words, *code)).collect();
        ensure!(
            found == [index == 0, index == 1],
            "pipeline {index} has the codes {found:?}"
        );
    }
    Ok(())
}

/// Whether words write compact records with this hash.
fn has_code(words: &[u32], code: CodeHash) -> bool {
    (1..=SLOT_UNITS).any(|units| words.contains(&Origin::word(code, units)))
}
