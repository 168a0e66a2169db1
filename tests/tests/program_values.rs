//! Random programs whose aborts send the variables in scope: the values at an abort equal those of the message.
//!
//! Each program is compiled by each compiler and in each form, and a second time with aborts that send nothing, since the variables of
//! a message are alive at its abort and others may not be. The interpreter runs both with the values behind their messages.
//! `VKABORT_PROGRAM_SEEDS=10000` runs more programs, `VKABORT_PROGRAM_SEED=17` a single one.
// `--nocapture` shows how much was compared.
#![allow(clippy::print_stdout)]

use anyhow::{Context, Result, ensure};
use vkabort_instrument::{Hooks, Options, Outcome, Values, instrument_with};
use vkabort_oracle::check::compute_run::INVOCATIONS;
use vkabort_oracle::choices::Choices;
use vkabort_oracle::interpret::Region;
use vkabort_oracle::seeds::{is_single_program, program_seeds};
use vkabort_record::decode::decode;
use vkabort_record::site::{Site, SiteTable};
use vkabort_record::site_values::Variable;
use vkabort_tests::program::{Language, Program, WAYS, Way, interpret, numbers, sent_variables};
use vkabort_tests::slang::Slang;

/// Number of programs of each language.
const PROGRAMS: u64 = 24;
/// Room for values: all of them.
const VALUES_SIZE: u32 = 240;

#[test]
fn the_values_of_random_programs_are_right() -> Result<()> {
    let seeds = program_seeds(PROGRAMS);
    let slang = Slang::find().ok();
    let (mut wrong, mut shown) = (Vec::new(), 0);
    for way in WAYS {
        let mut count = Count::default();
        for seed in seeds.clone() {
            if way.language == Language::Glsl || slang.is_some() {
                let at = || format!("{} seed {seed}", way.name);
                compare(way, seed, slang.as_ref(), &mut count).with_context(at)?;
                wrong.extend(count.wrong.drain(..).map(|text| format!("{}: {text}", at())));
            }
        }
        println!(
            "{}: {} values, {} aborts, {} programs",
            way.name, count.shown, count.aborts, count.programs
        );
        shown += count.shown;
    }
    ensure!(seeds.is_empty() || shown > 0, "no value is shown");
    ensure!(wrong.is_empty(), "{} wrong values:\n{}", wrong.len(), wrong.join("\n"));
    Ok(())
}

#[derive(Default)]
struct Count {
    programs: usize,
    aborts: usize,
    shown: usize,
    wrong: Vec<String>,
}

/// A message, and the sites that may have sent it.
type Sent<'s> = (Region, Vec<&'s Site>);

/// Compares the values of one program.
fn compare(way: Way, seed: u64, slang: Option<&Slang>, count: &mut Count) -> Result<()> {
    let [full, bare] = [true, false].map(|sends| Program::with_variables(way.language, seed, sends));
    if is_single_program() {
        println!("{}", bare.text);
    }
    let (Some(full), Some(bare)) = (way.compile(&full, slang)?, way.compile(&bare, slang)?) else {
        return Ok(());
    };
    let (full, bare) = (with_values(&full)?, with_values(&bare)?);
    let choices = &mut Choices::seeded(seed);
    let plain = match way.is_optimized {
        true => way
            .unoptimized()
            .compile(&Program::with_variables(way.language, seed, true), slang)?,
        false => Some(full.0.clone()),
    };
    let ticks = plain
        .map(|plain| interpret(&plain, &[0; INVOCATIONS]))
        .transpose()?
        .flatten();
    let Some(ticks) = ticks.map(|found| found.ticks) else {
        return Ok(());
    };
    count.programs += 1;
    for _ in 0..4 {
        let due: Vec<u32> = ticks.iter().map(|last| choices.between(1.min(*last), *last)).collect();
        let (Some(of_full), Some(of_bare)) = (interpret(&full.0, &due)?, interpret(&bare.0, &due)?) else {
            continue;
        };
        ensure!(
            of_full.messages.len() == of_bare.messages.len(),
            "the programs have different messages"
        );
        for (of_full, of_bare) in of_full.messages.into_iter().zip(of_bare.messages) {
            let (of_full, of_bare) = (sent(of_full, &full.1)?, sent(of_bare, &bare.1)?);
            let expected = expected(&of_full)?;
            count.aborts += 1;
            check(&of_full, &expected, "sent", count);
            check(&of_bare, &expected, "not sent", count);
        }
    }
    Ok(())
}

/// The module with values behind the messages, and its sites.
fn with_values(words: &[u32]) -> Result<(Vec<u32>, SiteTable)> {
    let options = Options {
        values: Values::On,
        values_size: VALUES_SIZE,
        ..Options::default()
    };
    let mut with_values = Vec::new();
    let mut keep = |pass: &'static str, words: &[u32]| {
        if pass == "values" {
            with_values = words.to_vec();
        }
    };
    let hooks = Hooks {
        after_pass: Some(&mut keep),
        ..Hooks::default()
    };
    let outcome = instrument_with(words, &options, hooks)?;
    let Outcome::Instrumented(new) = outcome else {
        anyhow::bail!("the module is not rewritten")
    };
    if with_values.is_empty() {
        with_values = words.to_vec();
    }
    Ok((with_values, new.sites))
}

/// The sites of a message: those with its text.
fn sent(message: Region, sites: &SiteTable) -> Result<Sent<'_>> {
    let bytes = message.bytes();
    let is_it = |site: &&Site| {
        let text = site.text.as_deref().unwrap_or_default();
        let end = bytes.get(text.len());
        bytes.starts_with(text.as_bytes()) && end.is_none_or(|byte| *byte == 0)
    };
    let found: Vec<&Site> = sites.sites.iter().filter(is_it).collect();
    ensure!(
        !found.is_empty(),
        "a message has no site: {}",
        String::from_utf8_lossy(bytes)
    );
    Ok((message, found))
}

/// The variables that a message sends, in parts.
fn expected((message, sites): &Sent<'_>) -> Result<Vec<(String, u32)>> {
    let site = sites.first().context("no site")?;
    sent_variables(site, message.bytes())
}

/// Compares the values that one of the message's sites shows.
fn check((message, sites): &Sent<'_>, expected: &[(String, u32)], form: &str, count: &mut Count) {
    let results = sites.iter().map(|site| {
        let operands = site.values.condition.iter().flat_map(|condition| &condition.operands);
        let mut wrong = Vec::new();
        let mut shown = 0;
        for variable in site.values.variables.iter().chain(operands) {
            match compare_variable(variable, message.bytes(), expected) {
                Some(Ok(())) => shown += 1,
                Some(Err(text)) => wrong.push(format!("{form}: {text} at {:?}", site.text)),
                None => {}
            }
        }
        (wrong, shown)
    });
    // Copies of a site have the same text.
    if let Some((wrong, shown)) = results.min_by_key(|(wrong, _)| wrong.len()) {
        count.wrong.extend(wrong);
        count.shown += shown;
    }
}

/// Whether the value of a variable of the program is right. `None` for other values.
fn compare_variable(variable: &Variable, bytes: &[u8], expected: &[(String, u32)]) -> Option<Result<(), String>> {
    let name = &variable.name;
    let is_variable = name.starts_with(['v', 'i', 'j', 'p'])
        && name.get(1..).is_some_and(|rest| {
            rest.chars()
                .all(|of| of.is_ascii_alphanumeric() || of == '.' || of == '[' || of == ']')
                && rest.chars().next().is_none_or(|of| of.is_ascii_digit())
        });
    let place = variable.place.as_ref().filter(|_| is_variable)?;
    let range = place.offset as usize..place.offset as usize + place.ty.size() as usize;
    let found = numbers(&decode(&place.ty, bytes.get(range).unwrap_or_default(), false).value);
    let is_part = |part: &str| {
        part.strip_prefix(name.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    let wanted: Vec<u32> = expected
        .iter()
        .filter(|(part, _)| is_part(part))
        .map(|(_, value)| *value)
        .collect();
    Some(match found == wanted {
        true => Ok(()),
        false if wanted.is_empty() => Err(format!("{name} = {found:?} is not in scope")),
        false => Err(format!("{name} = {found:?}, not {wanted:?}")),
    })
}
