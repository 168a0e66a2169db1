//! Random whole programs. Without a taken abort they behave as before the rewrite; with taken aborts, driver and
//! interpreter agree on messages and memory.
//!
//! Each driver runs its share. `VKABORT_PROGRAM_SEEDS=10000` runs more programs, `VKABORT_PROGRAM_SEED=17` a single one.

use super::program_runner::{Outcome, check};
use crate::case::{Case, Context, SHARE, cases, is_over};
use crate::program::{Language, Program, is_valid};
use crate::slang::Slang;
use crate::vk::Gpu;
use anyhow::{Context as _, Result, bail, ensure};
use ash::vk;
use std::ffi::CString;
use std::time::Instant;
use vkabort_instrument::{ErrorKind, Options, Outcome as Instrumentation, instrument};
use vkabort_oracle::check::Subject;
use vkabort_oracle::check::compute_run::INVOCATIONS;
use vkabort_oracle::choices::Choices;
use vkabort_oracle::generate::{GeneratorOptions, generate};
use vkabort_oracle::module::Module;
use vkabort_oracle::op::{capability, execution_model};
use vkabort_oracle::plant::{Density, Trigger, plant_except};
use vkabort_oracle::seeds::{is_single_program, program_seeds};

pub(super) const CASES: &[Case] = cases! {
    "programs::glsl" => glsl(context), in_own_process(), alone(), within(600);
    "programs::slang" => slang(context), in_own_process(), alone(), within(600);
    "programs::generated" => generated(context), in_own_process(), alone(), within(600);
};

/// Number of programs of each kind, over all drivers.
const PROGRAMS: u64 = 264;

/// Programs that Mesa 22 miscompiles: the interpreter, newer Mesa and SwiftShader agree on the results of their rewrites.
/// The first has a loop of at most two iterations that is left from a call in its header.
const MISCOMPILED: [(Language, u64); 1] = [(Language::Glsl, 129)];

/// The seeds that this process runs, of this number over all drivers.
pub(super) fn seeds(programs: u64) -> impl Iterator<Item = u64> {
    let share = std::env::var(SHARE).ok().filter(|_| !is_single_program());
    let share = share.as_deref().and_then(|share| share.split_once('/'));
    let (first, step) = share.map_or((None, None), |(first, of)| (first.parse().ok(), of.parse().ok()));
    let seeds = program_seeds(programs);
    seeds.skip(first.unwrap_or(0)).step_by(step.unwrap_or(1))
}

fn glsl(context: &Context) -> Result<()> {
    compiled(context, Language::Glsl, None)
}

fn slang(context: &Context) -> Result<()> {
    compiled(context, Language::Slang, Some(&Slang::find()?))
}

/// Programs compiled from GLSL or Slang.
fn compiled(context: &Context, language: Language, slang: Option<&Slang>) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let mesa_22 = gpu.driver()[1].starts_with("Mesa 22.");
    each_seed(|seed, choices| {
        if mesa_22 && MISCOMPILED.contains(&(language, seed)) {
            return Ok(Outcome::NotApplicable);
        }
        let original = Program::new(language, seed, false).compile(seed, slang)?;
        let program = Program::new(language, seed, true).compile(seed, slang)?;
        // Slang emits invalid modules for some programs; their behaviour is undefined.
        if !is_valid(&original.words) || !is_valid(&program.words) {
            return Ok(Outcome::Invalid);
        }
        let density = Density {
            aborts: choices.below(30),
            calls: choices.below(30),
        };
        let trigger = Trigger::Due(program.due);
        let planted =
            plant_except(&program.words, choices, trigger, density, program.main).context("the module is malformed")?;
        let subject = Subject {
            words: &planted.words,
            ticks: program.ticks,
            loop_budget: None,
        };
        check(
            &gpu,
            subject,
            c"main".into(),
            INVOCATIONS,
            Some(&original.words),
            choices,
        )
    })
}

/// Generated modules with messages of every kind.
fn generated(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let missing = missing_capabilities(&gpu);
    let widths = [
        capability::Int8,
        capability::Int16,
        capability::Int64,
        capability::Float16,
        capability::Float64,
    ];
    let widths = !widths.iter().any(|width| missing.contains(width));
    each_seed(|_, choices| {
        let generator_options = GeneratorOptions {
            widths,
            encodings: false,
            empty: false,
            // Without these widths few modules run, and fewer of those with tables.
            tables: widths,
            workgroup: 1,
            ..GeneratorOptions::default()
        };
        let module = generate(choices, generator_options);
        let parsed = Module::parse(&module.words).context("the module is malformed")?;
        if !can_run(&module.words, &missing)? {
            return Ok(Outcome::NotApplicable);
        }
        let compute = parsed.entries.iter().find(|e| e.model == execution_model::GLCompute);
        let Some(entry) = compute else {
            return Ok(Outcome::NotApplicable);
        };
        let subject = Subject {
            words: &module.words,
            ticks: module.ticks,
            loop_budget: None,
        };
        check(&gpu, subject, CString::new(entry.name.as_str())?, 1, None, choices)
    })
}

/// Capabilities of generated modules that the device does not support.
fn missing_capabilities(gpu: &Gpu) -> Vec<u32> {
    let (core, newer) = gpu.features();
    let all = [
        (core.shader_int16, capability::Int16),
        (core.shader_int64, capability::Int64),
        (core.shader_float64, capability::Float64),
        (newer.shader_int8, capability::Int8),
        (newer.shader_float16, capability::Float16),
        (newer.vulkan_memory_model, capability::VulkanMemoryModel),
        (
            newer.vulkan_memory_model_device_scope,
            capability::VulkanMemoryModelDeviceScope,
        ),
    ];
    let missing = all.into_iter().filter(|(supported, _)| *supported == vk::FALSE);
    missing.map(|(_, capability)| capability).collect()
}

/// Whether the rewrite of a module runs without these capabilities. It drops those that only messages use.
fn can_run(words: &[u32], missing: &[u32]) -> Result<bool> {
    let rewritten = match instrument(words, &Options::default()) {
        Ok(Instrumentation::Instrumented(rewritten)) => rewritten.words,
        Ok(Instrumentation::Unchanged) => bail!("the module is not rewritten"),
        // An array of specialised length that was loaded in another block: its elements are not accessible.
        Err(error) if error.kind == ErrorKind::UnsupportedArray => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    let rewritten = Module::parse(&rewritten).context("the rewrite is malformed")?;
    Ok(!missing.iter().any(|capability| rewritten.has_capability(*capability)))
}

fn each_seed(run: impl Fn(u64, &mut Choices) -> Result<Outcome>) -> Result<()> {
    let (mut passed, mut messages, mut invalid, mut failures) = (0, 0, 0, Vec::new());
    let start = Instant::now();
    let mut all = 0;
    for seed in seeds(PROGRAMS).take_while(|_| !is_over(start)) {
        all += 1;
        let choices = &mut Choices::seeded(seed);
        match run(seed, choices) {
            Ok(Outcome::Passed { messages: found }) => {
                passed += 1;
                messages += found;
            }
            Ok(Outcome::NotApplicable) => {}
            Ok(Outcome::Invalid) => invalid += 1,
            Err(error) => failures.push(format!("seed {seed}: {error:#}")),
        }
        if failures.len() >= 5 {
            break;
        }
    }
    ensure!(failures.is_empty(), "{}", failures.join("\n"));
    println!("{passed} programs, {messages} messages; {invalid} invalid modules from the compiler");
    // A driver that needs seconds per program runs too few for these minimums.
    ensure!(
        all == 1 || is_over(start) || passed * 8 > all && messages > all / 8,
        "too few programs ran: {passed} of {all}, with {messages} messages"
    );
    Ok(())
}
