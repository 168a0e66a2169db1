//! Random programs under every check: a sound program has equal results and no report, its faulty twin one report, with the line and
//! the values of its fault, and its printing twin prints those values.
//!
//! A twin differs by one line, which one invocation executes: an abort that the interpreter runs, and a fault or a print that the
//! driver runs. Each driver runs its share. `VKABORT_PROGRAM_SEEDS=10000` runs more programs, `VKABORT_PROGRAM_SEED=17` a single one.

use super::deliver::{Received, open};
use super::programs::seeds;
use super::support::{expect_success, same_words, without_abort};
use crate::case::{Case, Context, cases, is_over};
use crate::program::{Fault, Language, MARK, PROBED, Probe, Program, WAYS, Way, interpret, sent_variables};
use crate::slang::Slang;
use crate::vk::{Buffer, Device, Kernel};
use anyhow::{Context as _, Result, bail, ensure};
use ash::vk;
use std::time::Instant;
use vkabort_instrument::{Options, Outcome, instrument};
use vkabort_oracle::check::compute_run::{ComputeRun, INVOCATIONS, initial_buffers};
use vkabort_oracle::choices::Choices;
use vkabort_test_kit::spirv_tools;

/// Every check, with room for every value.
const ALL: &[(&str, &str)] = &[
    ("sanitize", "all"),
    ("loop_budget", "20000"),
    ("values", "on"),
    ("values_size", "240"),
    ("printf", "on"),
];

pub(super) const CASES: &[Case] = cases! {
    "programs_checked::glsl" => programs(context, Language::Glsl), in_own_process(), alone(), within(600), set(ALL);
    "programs_checked::slang" => programs(context, Language::Slang), in_own_process(), alone(), within(600), set(ALL);
};

/// Number of programs of each language, over all drivers.
const PROGRAMS: u64 = 44;
/// Programs in which faults were found. 464: a parameter of an inlined function was shown behind it.
const FOUND: [u64; 1] = [464];
/// Number of statements at which a probe is tried.
const TRIES: u32 = 4;

#[derive(Default)]
struct Count {
    sound: usize,
    faults: usize,
    lines: usize,
    values: usize,
    prints: usize,
}

fn programs(context: &Context, language: Language) -> Result<()> {
    use vk::DebugUtilsMessageSeverityFlagsEXT as Severity;
    let received = Received::default();
    let gpu = open(context, Some(received.info(Severity::ERROR | Severity::INFO)))?;
    let runner = Runner {
        device: without_abort(&gpu)?,
        received: &received,
        slang: (language == Language::Slang).then(Slang::find).transpose()?,
    };
    // The bundle has no optimizer.
    let is_bundle = std::env::var_os(spirv_tools::VARIABLE).is_some();
    let ways = WAYS.into_iter().filter(|way| way.language == language);
    let ways: Vec<Way> = ways.filter(|way| !(way.is_optimized && is_bundle)).collect();
    let (mut count, mut failures) = (Count::default(), Vec::new());
    let start = Instant::now();
    for seed in seeds(PROGRAMS).chain(FOUND).take_while(|_| !is_over(start)) {
        // Each driver has every fourth seed.
        let Some(way) = ways.get((seed / 4) as usize % ways.len()) else {
            bail!("no way to compile")
        };
        if let Err(error) = runner.check(*way, seed, &mut count) {
            failures.push(format!("{} seed {seed}: {error:#}", way.name));
        }
        if failures.len() >= 20 {
            break;
        }
    }
    println!(
        "{} sound programs, {} faults, {} with a line, {} values, {} prints",
        count.sound, count.faults, count.lines, count.values, count.prints
    );
    ensure!(failures.is_empty(), "{}", failures.join("\n"));
    ensure!(count.sound > 0, "no program ran");
    Ok(())
}

struct Runner<'a> {
    device: Device<'a>,
    received: &'a Received,
    slang: Option<Slang>,
}

impl Runner<'_> {
    fn check(&self, way: Way, seed: u64, count: &mut Count) -> Result<()> {
        let compile = |program: &Program| way.compile(program, self.slang.as_ref());
        let (sound, statements) = Program::probed(way.language, seed, 0, Probe::Nothing);
        let Some(words) = compile(&sound)? else {
            return Ok(());
        };
        let Some(expected) = interpret(&words, &[0; INVOCATIONS])? else {
            return Ok(());
        };
        let texts = self.run(&words, &expected).context("the sound program")?;
        ensure!(
            texts.is_empty(),
            "the sound program has reports: {texts:?}\n{}",
            sound.text
        );
        count.sound += 1;
        let choices = &mut Choices::seeded(seed);
        for _ in 0..TRIES {
            let at = choices.below(statements);
            let twin = |probe| Program::probed(way.language, seed, at, probe).0;
            let fault = choices.pick(&Fault::ALL).context("there are no faults")?;
            let (abort, faulty, printing) = (twin(Probe::Abort), twin(Probe::Fault(fault)), twin(Probe::Print));
            let Some(abort) = compile(&abort)? else { continue };
            let Some(expected) = interpret(&abort, &[0; INVOCATIONS])? else {
                continue;
            };
            let Some(variables) = variables(&abort, &expected)? else {
                continue;
            };
            let with_text = |program: &Program| format!("{}{fault:?}", program.text);
            // An optimizer, and Slang always, replaces the value of such a variable.
            let is_removed = fault == Fault::Initialized && (way.is_optimized || way.language == Language::Slang);
            if let Some(words) = compile(&faulty)?.filter(|_| !is_removed) {
                self.fault(way, &faulty, &words, (&expected, &variables), count)
                    .with_context(|| with_text(&faulty))?;
            }
            if let Some(words) = compile(&printing)? {
                let Some(expected) = interpret(&words, &[0; INVOCATIONS])? else {
                    return Ok(());
                };
                let texts = self.run(&words, &expected).with_context(|| with_text(&printing))?;
                let list: Vec<String> = variables
                    .iter()
                    .map(|(name, value)| format!("{name}={value}"))
                    .collect();
                let text = ["here".to_owned()]
                    .into_iter()
                    .chain(list)
                    .collect::<Vec<_>>()
                    .join(" ");
                ensure!(
                    texts.first().is_some_and(|first| first.ends_with(&text)),
                    "{texts:?} instead of {text}, in\n{}",
                    printing.text
                );
                count.prints += texts.len();
            }
            return Ok(());
        }
        Ok(())
    }

    /// Runs a program with a fault. `expected` are the results and the variables of its twin with an abort.
    fn fault(
        &self,
        way: Way,
        program: &Program,
        words: &[u32],
        (expected, variables): (&ComputeRun, &[(String, u32)]),
        count: &mut Count,
    ) -> Result<()> {
        let texts = self.run(words, expected)?;
        let [text] = texts.as_slice() else {
            bail!("{} reports: {texts:?}", texts.len())
        };
        count.faults += 1;
        let invocation = format!("invocation global ({PROBED}, 0, 0)");
        ensure!(text.contains(&invocation), "no {invocation:?} in {text}");
        if way.has_lines() {
            let line = program.text.lines().position(|line| line.ends_with(MARK));
            let place = format!(":{}:", line.context("no probe")? + 1);
            let found = text.lines().nth(1).context("a report of one line")?;
            ensure!(format!("{found}:").contains(&place), "not at {place}: {text}");
            count.lines += 1;
        }
        for (name, found) in values(text) {
            let is_part = |part: &str| {
                part.strip_prefix(name.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
            };
            let wanted = variables.iter().filter(|(part, _)| is_part(part));
            let wanted: Vec<u32> = wanted.map(|(_, value)| *value).collect();
            ensure!(found == wanted, "{name} = {found:?}, not {wanted:?}: {text}");
            count.values += 1;
        }
        Ok(())
    }

    /// Runs a program, whose buffers must be as expected, and returns the layer's output.
    fn run(&self, words: &[u32], expected: &ComputeRun) -> Result<Vec<String>> {
        let buffers = initial_buffers(&[0; INVOCATIONS]);
        let buffers: Vec<Buffer<'_>> = buffers
            .iter()
            .map(|(_, words)| Buffer::storage(&self.device, words))
            .collect::<Result<_>>()?;
        let bound: Vec<&Buffer<'_>> = buffers.iter().collect();
        let kernel = Kernel::with_entry(&self.device, words, c"main", &bound)?;
        let (_submission, result) = kernel.run(1)?;
        let texts = self.received.take();
        let context = || format!("reports: {texts:?}");
        expect_success(result).with_context(context)?;
        for (binding, words) in &expected.buffers {
            let found = buffers.get(*binding as usize).context("unexpected binding")?.read();
            same_words(&found, words)
                .with_context(|| format!("buffer {binding}"))
                .with_context(context)?;
        }
        Ok(texts)
    }
}

/// Values that the abort of a program sends, with the names in its text. `None` without an abort.
fn variables(words: &[u32], run: &ComputeRun) -> Result<Option<Vec<(String, u32)>>> {
    let Some(message) = run.messages.first() else {
        return Ok(None);
    };
    let Outcome::Instrumented(new) = instrument(words, &Options::default())? else {
        bail!("the module is not rewritten")
    };
    // Copies of the abort have the same text.
    let site = new.sites.sites.first().context("no site")?;
    Ok(Some(sent_variables(site, message.bytes())?))
}

/// The variables of a program that a report shows, with their numbers in order.
fn values(text: &str) -> Vec<(String, Vec<u32>)> {
    let lines = text.lines().map(str::trim_start);
    let lines = lines.skip_while(|line| !line.starts_with("= values: "));
    let mut joined = String::new();
    for (number, line) in lines.enumerate() {
        if number > 0 && line.starts_with("= ") {
            break;
        }
        joined += line.trim_start_matches("= values: ");
        joined += " ";
    }
    let mut depth = 0;
    let parts = joined.split(|of: char| {
        depth += i32::from("([{".contains(of)) - i32::from(")]}".contains(of));
        of == ',' && depth == 0
    });
    let variable = |part: &str| {
        let (name, value) = part.trim().split_once(" = ")?;
        let is_known =
            name.starts_with(['v', 'i', 'j', 'p']) && !name.starts_with("invocation") && !value.starts_with('<');
        let numbers = value.split(|of: char| !of.is_ascii_digit());
        is_known.then(|| {
            (
                name.to_owned(),
                numbers.filter_map(|number| number.parse().ok()).collect(),
            )
        })
    };
    parts.filter_map(variable).collect()
}
