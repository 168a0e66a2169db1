//! Generated modules, their rewrites, and rewrites of real shaders with planted aborts are valid.
//!
//! `VKABORT_ORACLE_SEEDS=10000` runs more seeds, `VKABORT_ORACLE_SEED=17` runs one.

use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use vkabort_instrument::{Error, ErrorKind, LoopPoll, Options, Outcome, instrument};
use vkabort_oracle::choices::Choices;
use vkabort_oracle::generate::{GeneratorOptions, generate};
use vkabort_oracle::plant::{Density, Trigger, plant};
use vkabort_oracle::seeds::seeds;
use vkabort_oracle::words::without_extensions;
use vkabort_test_kit::spirv_tools::{self, TargetEnv};
use vkabort_tests::glsl;

fn validate(words: &[u32]) -> Result<()> {
    spirv_tools::validate(words, TargetEnv::Vulkan1_3)
}

fn rewrite(words: &[u32], options: &Options) -> Result<Option<Vec<u32>>, Error> {
    Ok(match instrument(words, options)? {
        Outcome::Instrumented(out) => Some(out.words),
        Outcome::Unchanged => None,
    })
}

/// Random options.
fn options(choices: &mut Choices) -> Options {
    let polls = [LoopPoll::Auto, LoopPoll::All, LoopPoll::Off];
    Options {
        loop_poll: choices.pick(&polls).unwrap_or_default(),
        max_sites: choices.chance(10).then_some(1),
        ..Options::default()
    }
}

/// Validates a module with planted aborts and its rewrite.
fn check_rewrite(words: &[u32], choices: &mut Choices) -> Result<()> {
    let plain = without_extensions(words).context("it is not a module")?;
    validate(&plain).context("the module itself is not valid")?;
    let rewritten = rewrite(words, &options(choices))?.context("not rewritten")?;
    validate(&rewritten).context("the rewrite is not valid")
}

fn expect_none(failures: &[String]) -> Result<()> {
    let first = failures.iter().take(20).map(String::as_str).collect::<Vec<_>>();
    ensure!(failures.is_empty(), "{} failures\n{}", failures.len(), first.join("\n"));
    Ok(())
}

#[test]
fn generated_modules_and_their_rewrites_are_valid() -> Result<()> {
    let mut failures = Vec::new();
    for seed in seeds(400) {
        let choices = &mut Choices::seeded(seed);
        let module = generate(choices, GeneratorOptions::default());
        let mut words = module.words;
        if choices.chance(50) {
            let density = Density {
                aborts: choices.below(40),
                calls: choices.below(60),
            };
            words = plant(&words, choices, Trigger::Due(module.due), density)
                .context("it is a module")?
                .words;
        }
        let Err(error) = check_rewrite(&words, choices) else {
            continue;
        };
        // Expected: older SPIR-V versions cannot copy an array of specialised length into a variable.
        let kind = error.downcast_ref::<Error>().map(|error| error.kind);
        if kind != Some(ErrorKind::UnsupportedArray) {
            failures.push(format!("seed {seed}: {error:#}"));
        }
    }
    expect_none(&failures)
}

/// Collects shaders of every stage under a folder.
fn shaders(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let stage = path.extension().and_then(|e| e.to_str());
        if path.is_dir() {
            shaders(&path, found)?;
        } else if stage.and_then(glsl::stage_of).is_some() {
            found.push(path);
        }
    }
    Ok(())
}

#[test]
fn rewrites_of_real_shaders_with_planted_aborts_are_valid() -> Result<()> {
    let mut paths = Vec::new();
    shaders(&glsl::folder(), &mut paths)?;
    shaders(&glsl::folder().join("../../examples/demo/shaders"), &mut paths)?;
    paths.sort();
    ensure!(paths.len() > 10, "only {} shaders found", paths.len());
    let targets = [TargetEnv::Vulkan1_1, TargetEnv::Vulkan1_3];
    let mut failures = Vec::new();
    let mut planted_in = 0;
    for path in &paths {
        for env in targets {
            // Some shaders need the newer version.
            let Ok(words) = glsl::compile_file(path, env) else {
                continue;
            };
            planted_in += 1;
            for seed in seeds(8) {
                let choices = &mut Choices::seeded(seed);
                let density = Density {
                    aborts: choices.below(60),
                    calls: choices.below(90),
                };
                let planted = plant(&words, choices, Trigger::Never, density).context("it is a module")?;
                if let Err(error) = check_rewrite(&planted.words, choices) {
                    failures.push(format!("{} seed {seed}: {error:#}", path.display()));
                }
            }
        }
    }
    ensure!(
        planted_in >= paths.len(),
        "only {planted_in} of {} shaders compile",
        paths.len()
    );
    expect_none(&failures)
}
