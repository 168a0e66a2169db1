//! Runs the fuzz targets over their seeds and over fixed bytes, and prints the numbers of valid and invalid inputs.
//!
//! `VKABORT_ORACLE_INPUTS=100000` runs more inputs; `VKABORT_BLESS=1` rewrites the seeds in `tests/fuzz/seeds/`.
#![allow(clippy::print_stdout, reason = "the tests print statistics")]

use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use vkabort_oracle::choices::Choices;
use vkabort_oracle::generate::{GeneratorOptions, generate};
use vkabort_oracle::targets::{Verdict, mutated, planted, reader, words};
use vkabort_oracle::words::{pack, to_bytes};
use vkabort_record::layout::{COMMIT_MAGIC, CONTROL_BYTES, UNIT_WORDS, record_units};

/// Number of inputs for each target.
fn inputs(few: u64) -> u64 {
    let number = std::env::var("VKABORT_ORACLE_INPUTS").ok();
    number.and_then(|n| n.parse().ok()).unwrap_or(few)
}

fn folder(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds").join(target)
}

fn random(choices: &mut Choices, most: u32) -> Vec<u8> {
    (0..choices.below(most)).map(|_| choices.word() as u8).collect()
}

/// Seeds of a target, rewritten first if requested.
fn seeds(target: &str, create: &dyn Fn(u64) -> Vec<u8>) -> Vec<Vec<u8>> {
    let folder = folder(target);
    if std::env::var_os("VKABORT_BLESS").is_some() {
        std::fs::create_dir_all(&folder).expect("the folder can be created");
        for seed in 0..4 {
            std::fs::write(folder.join(seed.to_string()), create(seed)).expect("the folder is writable");
        }
    }
    let entries = std::fs::read_dir(&folder).expect("the folder of seeds exists");
    let mut paths: Vec<PathBuf> = entries.map(|e| e.expect("a readable entry").path()).collect();
    paths.sort();
    assert!(paths.len() >= 4, "only {} seeds in {}", paths.len(), folder.display());
    paths
        .iter()
        .map(|p| std::fs::read(p).expect("a readable seed"))
        .collect()
}

/// Longest run of one input. The slowest takes less than a second.
const INPUT_LIMIT: Duration = Duration::from_secs(60);

/// Ends the process if an input takes too long: no thread can be ended from outside.
struct Watchdog(Arc<Mutex<(usize, Instant)>>);

impl Watchdog {
    fn new(target: &str) -> Self {
        let current = Arc::new(Mutex::new((0, Instant::now())));
        let (watched, target) = (Arc::downgrade(&current), target.to_owned());
        thread::spawn(move || {
            while let Some(current) = watched.upgrade() {
                let (number, since) = *current.lock().unwrap_or_else(PoisonError::into_inner);
                if since.elapsed() > INPUT_LIMIT {
                    println!("{target}: input {number} takes longer than {INPUT_LIMIT:?}");
                    process::abort();
                }
                drop(current);
                thread::sleep(Duration::from_secs(1));
            }
        });
        Self(current)
    }

    fn begin(&self, number: usize) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = (number, Instant::now());
    }
}

/// Runs a target over its seeds and over created inputs. Returns the numbers of valid, unchanged and invalid inputs.
fn run(target: &str, function: fn(&[u8]) -> Verdict, few: u64, create: &dyn Fn(u64) -> Vec<u8>) -> [u64; 3] {
    let mut counts = [0; 3];
    let more = (1000..1000 + inputs(few)).map(create);
    let watchdog = Watchdog::new(target);
    for (number, input) in seeds(target, create).into_iter().chain(more).enumerate() {
        watchdog.begin(number);
        counts[match function(&input) {
            Verdict::Valid => 0,
            Verdict::Unchanged => 1,
            Verdict::Invalid => 2,
        }] += 1;
    }
    println!(
        "{target}: {} valid, {} unchanged, {} invalid",
        counts[0], counts[1], counts[2]
    );
    counts
}

/// A small module. Odd seeds change or truncate its bytes.
fn module(seed: u64) -> Vec<u8> {
    let choices = &mut Choices::seeded(seed);
    let generator_options = GeneratorOptions {
        size: 1,
        ..GeneratorOptions::default()
    };
    let mut bytes = to_bytes(&generate(choices, generator_options).words);
    if seed % 2 == 1 {
        for _ in 0..choices.between(1, 8) {
            let at = choices.below(bytes.len() as u32) as usize;
            bytes[at] = choices.word() as u8;
        }
        if choices.chance(20) {
            bytes.truncate(choices.below(bytes.len() as u32) as usize);
        }
    }
    bytes
}

/// An arena with some records, after 16 bytes that select a module. Odd seeds change some words.
fn arena(seed: u64) -> Vec<u8> {
    let choices = &mut Choices::seeded(seed);
    let mut words = vec![0; CONTROL_BYTES as usize / 4];
    for site in 0..choices.between(1, 4) {
        let size = choices.below(100);
        let unit = words[0];
        let units = record_units(size);
        words[0] += units;
        let mut record = vec![
            COMMIT_MAGIC.wrapping_add(unit),
            units,
            size,
            site,
            1,
            2,
            5,
            0,
            9,
            0,
            0,
            0,
        ];
        let text: Vec<u8> = (0..size)
            .map(|_| b"%d: {} %s\0abc"[choices.below(13) as usize])
            .collect();
        record.extend(pack(&text, text.len().div_ceil(4)));
        record.resize((units * UNIT_WORDS) as usize, 0);
        words.append(&mut record);
    }
    words[16] = 1;
    if seed % 2 == 1 {
        for _ in 0..choices.between(1, 6) {
            let at = choices.below(words.len() as u32) as usize;
            words[at] = choices.word();
        }
    }
    let mut all: Vec<u8> = (0..16).map(|_| choices.word() as u8).collect();
    all.extend(to_bytes(&words));
    all
}

#[test]
fn arbitrary_words_are_rewritten_or_rejected() {
    let [valid, _, invalid] = run("words", words, 2000, &module);
    assert!(valid > 100 && invalid > 100);
}

#[test]
fn mutated_modules_are_rewritten_or_rejected() {
    let [valid, _, invalid] = run("mutated", mutated, 2000, &|seed| {
        random(&mut Choices::seeded(seed), 400)
    });
    assert!(valid > 100 && invalid > 100);
}

#[test]
fn modules_from_bytes_and_their_rewrites_behave_the_same() {
    let [valid, ..] = run("planted", planted, 1000, &|seed| {
        random(&mut Choices::seeded(seed), 2000)
    });
    assert!(valid > 900);
}

#[test]
fn arbitrary_bytes_are_read_as_records() {
    let [valid, _, invalid] = run("reader", reader, 2000, &arena);
    assert!(valid > 100 && invalid > 10);
}
