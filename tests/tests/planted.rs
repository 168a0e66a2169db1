//! Every GLSL shader of the tests and of the examples without includes takes all checks of the sanitizer.

use anyhow::{Context, Result, bail, ensure};
use std::path::{Path, PathBuf};
use vkabort_instrument::{
    Check, Checks, Hooks, LoweredFeatures, Options, Outcome, Unplanted, instrument, instrument_with, module_hash,
};
use vkabort_oracle::words::without_extensions;
use vkabort_test_kit::root;
use vkabort_test_kit::spirv_tools::{TargetEnv, validate};
use vkabort_tests::glsl::{compile_compute, compile_file, stage_of};

/// Minimum number of shaders: fewer mean that a folder is wrong.
const MIN_SHADERS: usize = 40;

#[test]
fn every_shader_with_all_checks_is_valid() -> Result<()> {
    let (mut shaders, mut planted) = (Vec::new(), 0);
    for folder in ["tests/shaders", "examples/c", "examples/cube", "examples/demo"] {
        collect(&root().join(folder), &mut shaders)?;
    }
    ensure!(shaders.len() >= MIN_SHADERS, "only {} shaders", shaders.len());
    for path in &shaders {
        planted += plant(path).with_context(|| path.display().to_string())?;
    }
    ensure!(planted > 0, "no shader has a place for a check");
    Ok(())
}

fn collect(folder: &Path, shaders: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, shaders)?;
        } else if path
            .extension()
            .and_then(|end| end.to_str())
            .and_then(stage_of)
            .is_some()
        {
            shaders.push(path);
        }
    }
    Ok(())
}

/// Plants all checks, lowers the aborts or keeps them, and validates. Returns the number of planted aborts.
fn plant(path: &Path) -> Result<usize> {
    let words = compile_file(path, TargetEnv::Vulkan1_2)?;
    let mut planted = 0;
    for lowers in [LoweredFeatures::default(), LoweredFeatures::ALL] {
        let mut options = Options {
            lowers,
            ..Options::default()
        };
        options.sanitize.checks = Checks::all();
        let Outcome::Instrumented(new) = instrument(&words, &options)? else {
            continue;
        };
        planted = new.sites.sites.iter().filter(|site| site.check.is_some()).count();
        validate(
            &without_extensions(&new.words).context("not a module")?,
            TargetEnv::Vulkan1_2,
        )?;
    }
    Ok(planted)
}

/// A compute shader with `count` accesses to an array, from an index that is computed by `first`.
fn accesses(count: usize, first: &str) -> Result<Vec<u32>> {
    let body = "x += table[words[x & 63u]];\n".repeat(count);
    compile_compute(&format!(
        "#version 460\nlayout(local_size_x = 1) in;\nlayout(std430, set = 0, binding = 0) buffer Words {{ uint words[]; }};\n\
         uint table[16];\nvoid main() {{ uint x = {first};\n{body}words[0] = x; }}"
    ))
}

/// The number of sites by check, and the warnings.
fn sites(words: &[u32], checks: Checks) -> Result<([usize; 2], Vec<String>)> {
    let mut options = Options::default();
    options.sanitize.checks = checks;
    let Outcome::Instrumented(new) = instrument(words, &options)? else {
        bail!("nothing is planted");
    };
    let sites = &new.sites.sites;
    let count = |name: &str| sites.iter().filter(|site| site.check.as_deref() == Some(name)).count();
    Ok(([count("bounds"), count("shift")], new.sites.warnings))
}

fn assert_bounds_left_out(texts: &[String]) {
    let start = "the check `bounds` is left out: its 2000 places";
    assert!(matches!(texts, [text] if text.starts_with(start)), "{texts:?}");
}

#[test]
fn a_large_module_that_would_more_than_double_has_no_check_that_is_everywhere() -> Result<()> {
    let shift = "1u << words[0]";
    let (small, large) = (accesses(100, shift)?, accesses(2000, shift)?);
    assert_eq!(sites(&small, Checks::defaults())?, ([100, 1], Vec::new()));
    assert_eq!(sites(&large, Checks::of([Check::Bounds]))?, ([2000, 0], Vec::new()));
    let (counts, warnings) = sites(&large, Checks::defaults())?;
    assert_eq!(counts, [0, 1]);
    assert_bounds_left_out(&warnings);
    Ok(())
}

#[test]
fn a_large_module_that_is_rewritten_anyway_has_the_reason_as_a_warning() -> Result<()> {
    const CAPABILITY_CONSTANT_DATA: [u32; 2] = [2 << 16 | 17, 5146];
    let mut words = accesses(2000, "words[0]")?;
    words.splice(5..5, CAPABILITY_CONSTANT_DATA);
    let (counts, warnings) = sites(&words, Checks::defaults())?;
    assert_eq!(counts, [0, 0]);
    assert_bounds_left_out(&warnings);
    Ok(())
}

#[test]
fn a_large_module_with_such_a_check_alone_is_left_alone_with_a_reason() -> Result<()> {
    let mut options = Options::default();
    options.sanitize.checks = Checks::defaults();
    let mut reasons = Vec::new();
    let mut keep = |reason: Unplanted<'_>| reasons.push(reason.to_string());
    let hooks = Hooks {
        not_sanitized: Some(&mut keep),
        ..Hooks::default()
    };
    let outcome = instrument_with(&accesses(2000, "words[0]")?, &options, hooks)?;
    assert_eq!(outcome, Outcome::Unchanged);
    assert_bounds_left_out(&reasons);
    Ok(())
}

#[test]
fn a_filter_names_a_specialised_module_by_either_hash() -> Result<()> {
    let words = accesses(1, "1u << words[0]")?;
    let specialised = Options {
        specialization: [(7, vec![1, 0, 0, 0])].into(),
        ..Options::default()
    };
    let created = module_hash(&words, &Options::default());
    let of_pipeline = module_hash(&words, &specialised);
    ensure!(created != of_pipeline, "the data is not part of the hash");
    for (rules, is_planted) in [
        (String::new(), true),
        (format!("ignore module={created}"), false),
        (format!("ignore module={of_pipeline}"), false),
        ("ignore module=0000000000000000".to_owned(), true),
    ] {
        let mut options = specialised.clone();
        options.sanitize.checks = Checks::defaults();
        options.sanitize.filter = rules.parse().map_err(anyhow::Error::msg)?;
        let outcome = instrument(&words, &options)?;
        assert_eq!(matches!(outcome, Outcome::Instrumented(_)), is_planted, "{rules}");
    }
    Ok(())
}
