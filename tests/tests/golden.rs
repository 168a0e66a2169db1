//! Golden tests of the rewriter: a folder per pass, a file per case.
//!
//! ```text
//! ; Purpose of the case, one sentence.
//! ; options: trap=return loop_poll=off     (optional)
//! assembly of the input
//! ;; output
//! ; digest 0123456789abcdef
//! @@ %function %block
//! -removed instruction
//! +added instruction
//! ```
//!
//! The digest proves the output but for the numbers of ids and the order of declarations ([`vkabort_tests::golden_digest`]). The
//! hunks below it are for people: they compare the disassembled input and output, with the input's names. Both omit the shared
//! functions of the runtime unless `show=NAME` names them: the cases of `runtime`, `record`, `message` and `trap` show them with each
//! option that changes them. The hunks also omit the entry points that write the record unless `show=entry` is given, and added
//! types, constants and other common declarations unless `show=declarations` is given. The lowered extensions are shown as core
//! instructions, except aborts.
//!
//! The expected part is instead `;; error` with the error's text, `;; unchanged`, with `output=sites` `;; sites` with the site
//! table, or with `output=warnings` `;; warnings` with the warnings. `VKABORT_BLESS=1` rewrites it. Input lines are appended to
//! their section (capabilities, entry points, decorations, ..) of the prelude that `prelude=` names (default `compute`); with
//! `prelude=none` they are the whole module, as a compiler wrote it. Every output must pass the validator. So must the module after
//! each pass if the input is valid, with core instructions in place of the lowered extensions, and the module with all checks of the
//! sanitizer.

use anyhow::{Context, Result, bail, ensure};
use libtest_mimic::{Arguments, Failed, Trial};
use std::path::Path;
use vkabort_instrument::{
    Checks, LOWERED, LoweredFeatures, Options, Outcome, Unplanted, Values, instrument, scan, sites,
};
use vkabort_oracle::disassemble::disassemble_with_rspirv;
use vkabort_oracle::words::without_extensions;
use vkabort_record::message_type::Type;
use vkabort_record::site::{Location, SiteTable};
use vkabort_record::site_values::{Part, Place, SiteValues, Variable};
use vkabort_test_kit::spirv_tools::{disassemble, validate, validate_with_newest};
use vkabort_tests::assembly::assemble_for;
use vkabort_tests::golden_case::{GoldenCase, Output, files, input};
use vkabort_tests::golden_diff::{disassemble_with_names, hunks, id_names, shared_functions};
use vkabort_tests::golden_digest::digest;

/// Minimum number of files: fewer mean that the folder is wrong.
const MIN_FILES: usize = 25;

/// Environment variable with a folder that receives the words of every input, for `cargo xtask fuzz`.
const SEEDS: &str = "VKABORT_GOLDEN_WORDS";

fn main() {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    let files = files(&root).expect("tests/golden can be read");
    assert!(
        files.len() >= MIN_FILES,
        "only {} golden files in {}",
        files.len(),
        root.display()
    );
    let trials = files.into_iter().map(|path| {
        let name = path
            .strip_prefix(&root)
            .unwrap_or(&path)
            .with_extension("")
            .display()
            .to_string();
        Trial::test(name, move || {
            check(&path).map_err(|error| Failed::from(format!("{error:?}")))
        })
    });
    libtest_mimic::run(&arguments, trials.collect()).exit();
}

fn check(path: &Path) -> Result<()> {
    let text = std::fs::read_to_string(path)?;
    let input = input(&text);
    ensure!(
        input.first().is_some_and(|line| line.starts_with("; ")),
        "the first line does not state the purpose of the case"
    );
    let case = GoldenCase::parse(&input)?;
    let module = case.module(path)?;
    let words = assemble_for(&module, case.env).context("the input does not assemble")?;
    if let Some(folder) = std::env::var_os(SEEDS) {
        let names = [path.parent().and_then(Path::file_name), path.file_stem()];
        let names: Vec<_> = names.into_iter().flatten().map(|name| name.to_string_lossy()).collect();
        std::fs::write(Path::new(&folder).join(names.join("-")), bytes(&words))?;
    }
    let mut result = input.join("\n");
    let mut output = String::new();
    let mut after_passes = Vec::new();
    let mut after_pass = |pass, words: &[u32]| after_passes.push((pass, words.to_vec()));
    let mut reason = String::new();
    let mut not_sanitized = |text: Unplanted<'_>| reason = format!("; not sanitized: {text}\n");
    let outcome = case.instrument(&words, &mut after_pass, &mut not_sanitized);
    match outcome {
        Ok(Outcome::Instrumented(out)) => {
            let to_core = |words| without_extensions(words).context("not a module");
            let is_newer = is_newer(&words);
            let validate = if is_newer { validate_with_newest } else { validate };
            let disassemble = |words: &[u32]| match is_newer {
                true => disassemble_with_rspirv(words).map_err(anyhow::Error::msg),
                false => disassemble(words),
            };
            let input_is_valid = validate(&to_core(&words)?, case.env).is_ok();
            for (pass, words) in after_passes.iter().filter(|_| input_is_valid) {
                let words = to_core(words)?;
                if let Err(error) = validate(&words, case.env) {
                    bail!(
                        "the module is not valid after {pass}: {error}\n{}",
                        disassemble(&words)?
                    );
                }
            }
            // SPIRV-Tools does not know features that the options keep.
            let kept = scan(&out.words);
            let kept = LOWERED.iter().filter(|row| kept.contains(row.feature));
            let kept: String = kept.map(|row| format!("; keeps {}\n", row.name)).collect();
            let core = if kept.is_empty() {
                out.words.clone()
            } else {
                to_core(&out.words)?
            };
            if let Err(error) = validate(&core, case.env) {
                bail!("the output is not valid: {error}\n{}", disassemble(&core)?);
            }
            ensure!(
                case.instrument(&words, &mut |_, _| (), &mut |_| ()) == Ok(Outcome::Instrumented(out.clone())),
                "not deterministic"
            );
            ensure!(
                !case.options.specialization.is_empty()
                    || !case.options.sanitize.checks.is_empty()
                    || case.options.values != Values::Off
                    || out.sites.sites.is_empty()
                    || sites(&words, &case.options).map(|table| table.map(|table| with_results_of(table, &out.sites)))
                        == Ok(Some(out.sites.clone())),
                "instrument and sites disagree on the site table"
            );
            result += &match case.output {
                Output::Sites => format!("\n;; sites\n{reason}{}", places(&out.sites)),
                Output::Warnings => format!("\n;; warnings\n{}", lines(&out.sites.warnings)),
                Output::Words => {
                    let names = id_names(&module, &words)?;
                    let before = disassemble_with_names(&words, &names, disassemble)?;
                    output = disassemble_with_names(&out.words, &names, disassemble)?;
                    let omitted = shared_functions(&output, &case.shown);
                    format!(
                        "\n;; output\n; digest {:016x}\n{kept}{reason}{}",
                        digest(&out.words, &output, &names, &omitted),
                        hunks(&before, &output, &case.shown)
                    )
                }
            };
        }
        Ok(Outcome::Unchanged) => result += &format!("\n;; unchanged\n{reason}"),
        Err(error) => {
            // Only cases in `error` may fail: elsewhere an error means a wrong input.
            let expected = path.parent().is_some_and(|folder| folder.ends_with("error"));
            ensure!(expected, "the input is refused: {error}");
            result += &format!("\n;; error\n; {error}\n");
        }
    }
    plant(&words, &case)?;
    if std::env::var_os("VKABORT_BLESS").is_some() {
        std::fs::write(path, &result)?;
        return Ok(());
    }
    if result != text {
        let differing = result.lines().zip(text.lines()).position(|(a, b)| a != b).unwrap_or(0);
        bail!(
            "differs from line {} on; VKABORT_BLESS=1 rewrites it. Found:\n{result}\nThe whole output:\n{output}",
            differing + 1
        );
    }
    Ok(())
}

/// Plants all checks into a module, with its other features lowered and without, then with values at its aborts, and validates
/// the results.
fn plant(words: &[u32], case: &GoldenCase<'_>) -> Result<()> {
    let to_core = |words: &[u32]| without_extensions(words).context("not a module");
    // The released SPIRV-Tools do not know every capability.
    if validate(&to_core(words)?, case.env).is_err() {
        return Ok(());
    }
    let accepted = instrument(words, &case.options).is_ok();
    for (lowers, values) in [
        (LoweredFeatures::default(), Values::Off),
        (case.options.lowers, Values::Off),
        (case.options.lowers, Values::On),
    ] {
        let mut options = Options {
            lowers,
            values,
            ..case.options.clone()
        };
        options.sanitize.checks = Checks::all();
        match instrument(words, &options) {
            Ok(Outcome::Unchanged) => {}
            Ok(Outcome::Instrumented(new)) => {
                let core = to_core(&new.words)?;
                validate(&core, case.env)
                    .with_context(|| format!("planted, lowered: {lowers:?}, values: {values:?}"))?;
            }
            Err(error) => ensure!(!accepted, "refused only with checks: {error}"),
        }
    }
    Ok(())
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Capabilities that the released SPIRV-Tools do not know: `DescriptorHeapEXT`, `LongVectorEXT`.
const NEWER: [u32; 2] = [5128, 5425];

/// Whether a module declares one of [`NEWER`].
fn is_newer(words: &[u32]) -> bool {
    /// `OpCapability` with its length.
    const CAPABILITY: u32 = 2 << 16 | 17;
    let (declarations, _) = words.get(5..).unwrap_or_default().as_chunks();
    declarations
        .iter()
        .take_while(|[first, _]| *first == CAPABILITY)
        .any(|[_, declared]| NEWER.contains(declared))
}

/// The table with the warnings and templates that only a rewrite finds.
fn with_results_of(mut table: SiteTable, rewrite: &SiteTable) -> SiteTable {
    for (site, rewritten) in table.sites.iter_mut().zip(&rewrite.sites) {
        site.template.clone_from(&rewritten.template);
    }
    let more = rewrite
        .warnings
        .strip_prefix(table.warnings.as_slice())
        .unwrap_or_default();
    SiteTable {
        prints: rewrite.prints.clone(),
        warnings: [table.warnings.as_slice(), more].concat(),
        ..table
    }
}

/// Each sentence on a line.
fn lines(sentences: &[String]) -> String {
    sentences.iter().map(|sentence| format!("; {sentence}\n")).collect()
}

/// The condition and the variables of an abort, each with its offset.
fn values(values: &SiteValues) -> String {
    let name = |ty: &Type| match ty {
        Type::Scalar(scalar) => scalar.name().to_owned(),
        Type::Vector { count, component } => format!("{} x {count}", component.name()),
        _ => format!("{} bytes", ty.size()),
    };
    let place = |place: &Place| format!("<{} at {}>", name(&place.ty), place.offset);
    let named = |variable: &Variable| match &variable.place {
        Some(at) => format!("{} = {}", variable.name, place(at)),
        None => format!("{} lost", variable.name),
    };
    let mut text = String::new();
    if let Some(condition) = &values.condition {
        let parts = condition.text.iter().map(|part| match part {
            Part::Text(text) => text.clone(),
            Part::Value(value) => place(value),
        });
        text += &format!(";   condition {}\n", parts.collect::<String>());
        for operand in &condition.operands {
            text += &format!(";     {}\n", named(operand));
        }
    }
    for variable in &values.variables {
        text += &format!(";   {}\n", named(variable));
    }
    if values.left_out > 0 {
        text += &format!(";   {} left out\n", values.left_out);
    }
    text
}

/// Function and location of each abort and of its callers, innermost first.
fn places(table: &SiteTable) -> String {
    let place = |location: &Option<Location>| match location {
        None => "nowhere".to_owned(),
        Some(l) => {
            let source = l.source.as_ref().map_or_else(String::new, |text| format!(" `{text}`"));
            format!("{}:{}:{}{source}", l.file, l.line, l.column)
        }
    };
    let mut text = String::new();
    for site in &table.sites {
        let check = site
            .check
            .as_ref()
            .map_or_else(String::new, |check| format!("{check} in "));
        text += &format!("; {check}{} at {}\n", site.function, place(&site.location));
        if let Some(message) = site.text.as_ref().filter(|_| site.check.is_some()) {
            text += &format!(";   {message}\n");
        }
        if let Some(snippet) = site.snippet.as_ref().filter(|snippet| snippet.statement.is_some()) {
            text += &format!(";   {snippet:?}\n");
        }
        if let Some(used) = &site.used_in {
            text += &format!(";   used in {} at {}\n", used.function, place(&used.location));
        }
        text += &values(&site.values);
        for frame in site.callers.iter().rev() {
            text += &format!(";   from {} at {}\n", frame.function, place(&frame.location));
        }
    }
    for print in &table.prints {
        text += &format!("; print in {} at {}\n", print.function, place(&print.location));
        text += &format!(";   {:?} of {:?}\n", print.format, print.arguments);
    }
    text
}
