//! Time of a rewrite, and of SPIRV-Tools parsing and writing the same module without a pass, with and without the validation that
//! its optimizer does by default. SPIRV-Tools does not support the new instructions, so its modules contain `OpUnreachable` instead.

#[cfg(has_spirv_tools)]
use crate::round_trip::round_trip;
use anyhow::{Context, Result};
use std::hint::black_box;
use std::time::{Duration, Instant};
use vkabort_instrument::{Check, Checks, LoweredFeatures, Options, Sanitize, instrument};
use vkabort_oracle::words::without_extensions;
use vkabort_runner::{Case, Measurement};
use vkabort_tests::glsl;
use vkabort_tests::large_shader::shader;
use vkabort_tests::measure::shaders::Variant;
use vkabort_tests::measure::{shortest, shortest_of_each};

/// Samples, each of as many calls as take at least [`SAMPLE`].
const SAMPLES: usize = 15;
const SAMPLE: Duration = Duration::from_millis(20);

/// The metric of planting checks into long chains.
pub const CHAIN: &str = "planting ms";
/// The same, and lowering their aborts.
pub const LOWERED_CHAIN: &str = "planting and lowering ms";
/// SPIRV-Tools without validation, in tables.
pub const SPIRV_TOOLS: &str = "SPIRV-Tools, no pass";
/// SPIRV-Tools as it is by default.
pub const WITH_VALIDATION: &str = "SPIRV-Tools, validation and no pass";

/// The measurement, as a case.
pub const REWRITING: Case = Case::new("rewrite::all", |_| Ok(measure(Measurement::print)?.into()))
    .measures()
    .without_layer()
    .within(90);

/// Measures scans of modules without aborts, and rewrites.
///
/// # Errors
///
/// A shader does not compile.
fn measure(mut each: impl FnMut(&Measurement)) -> Result<()> {
    let options = Options::default();
    let rewrite_with = rewrite;
    let rewrite = |words: &[u32]| rewrite(words, &options);
    let with_checks = Options {
        sanitize: Sanitize {
            checks: Checks::defaults(),
            ..Sanitize::default()
        },
        ..Options::default()
    };
    let plant = |words: &[u32]| rewrite_with(words, &with_checks);
    for length in [100, 10_000, 1_000_000] {
        let words = without_aborts(length);
        let time = shortest(SAMPLES, || repeated(|| rewrite(&words)))?;
        let subject = format!("{length} words without aborts");
        each(&Measurement::new(
            &subject,
            "layer",
            "scan ns",
            time.as_secs_f64() * 1e9,
        ));
    }
    let mut modules = Vec::new();
    for name in [
        "message/empty.comp",
        "abort/every_path.comp",
        "control_flow/do_while_condition.comp",
        "message/structures.comp",
    ] {
        modules.push(glsl::compile(name)?);
    }
    for functions in [1, 5, 20, 80, 400] {
        modules.push(shader(functions)?);
    }
    modules.sort_by_key(Vec::len);
    for words in &modules {
        let plain = without_extensions(words).context("not a module")?;
        let (ours, theirs) = shortest_of_each(
            SAMPLES,
            || repeated(|| rewrite(words)),
            || repeated(|| round_trip(&plain, false)),
        )?;
        let validated = shortest(SAMPLES, || repeated(|| round_trip(&plain, true)))?;
        let planted = shortest(SAMPLES, || repeated(|| plant(words)))?;
        let subject = format!("{} words", words.len());
        let variants = [
            ("layer", ours),
            (SPIRV_TOOLS, theirs),
            (WITH_VALIDATION, validated),
            (Variant::DefaultChecks.name(), planted),
        ];
        for (variant, time) in variants {
            each(&Measurement::new(
                &subject,
                variant,
                "rewrite us",
                time.as_secs_f64() * 1e6,
            ));
        }
    }
    // By name: the default checks would more than double these modules, so that `divide` is left out.
    let lowered = Options {
        sanitize: Sanitize {
            checks: Checks::of([Check::Divide]),
            ..Sanitize::default()
        },
        ..Options::default()
    };
    let planted = Options {
        lowers: LoweredFeatures::default(),
        ..lowered.clone()
    };
    for length in [1_250, 2_500, 5_000, 10_000] {
        let words = chain(length)?;
        for (metric, options) in [(CHAIN, &planted), (LOWERED_CHAIN, &lowered)] {
            let time = shortest(3, || {
                let start = Instant::now();
                rewrite_with(&words, options)?;
                Ok(start.elapsed())
            })?;
            let subject = format!("{length} divisions in a chain");
            let variant = Variant::Planted.name();
            each(&Measurement::new(&subject, variant, metric, time.as_secs_f64() * 1e3));
        }
    }
    Ok(())
}

/// A shader of `length` divisions, each of the result of the one before it.
fn chain(length: usize) -> Result<Vec<u32>> {
    let divisions = "x = words[2] / (x - y);\n".repeat(length);
    glsl::compile_compute(&format!(
        "#version 460\nlayout(local_size_x = 1) in;\nlayout(std430, set = 0, binding = 0) buffer Words {{ uint words[]; }};\n\
         void main() {{ uint x = words[0], y = words[1];\n{divisions}words[0] = x; }}"
    ))
}

/// A module of `length` words without the capabilities that are lowered.
fn without_aborts(length: usize) -> Vec<u32> {
    const CAPABILITY: u32 = 17;
    let mut words = vec![0x0723_0203, 0x0001_0500, 0, 8, 0];
    for capability in [1, 61, 5347] {
        words.extend([2 << 16 | CAPABILITY, capability]);
    }
    words.extend([3 << 16 | 14, 0, 1]);
    words.resize(length, 1 << 16);
    words
}

/// Mean time of a call over enough of them.
fn repeated(mut call: impl FnMut() -> Result<()>) -> Result<Duration> {
    let (start, mut calls) = (Instant::now(), 0);
    loop {
        // The clock is slower than a scan.
        for _ in 0..8 {
            call()?;
        }
        calls += 8;
        let time = start.elapsed();
        if time >= SAMPLE {
            return Ok(time / calls);
        }
    }
}

/// Rewrites a module. One without aborts is only scanned.
fn rewrite(words: &[u32], options: &Options) -> Result<()> {
    black_box(instrument(black_box(words), options))?;
    Ok(())
}

#[cfg(not(has_spirv_tools))]
fn round_trip(_: &[u32], _: bool) -> Result<()> {
    anyhow::bail!("SPIRV-Tools were not installed when the benchmark was built; `cargo xtask bench` installs them")
}
