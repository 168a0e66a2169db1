//! Writes the module of each seed, its rewrite, and the module without extensions, for inspection. Odd seeds have planted
//! aborts.
#![allow(clippy::print_stdout, reason = "a command-line program")]

use std::path::Path;
use vkabort_instrument::{Options, Outcome, instrument};
use vkabort_oracle::choices::Choices;
use vkabort_oracle::generate::{GeneratorOptions, generate};
use vkabort_oracle::plant::{Density, Trigger, plant};
use vkabort_oracle::words::{to_bytes, without_extensions};

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(folder), seeds) = (arguments.next(), arguments) else {
        println!("usage: module FOLDER SEED..");
        return Ok(());
    };
    let write = |name: String, words: &[u32]| std::fs::write(Path::new(&folder).join(name), to_bytes(words));
    for seed in seeds.filter_map(|s| s.parse().ok()) {
        let choices = &mut Choices::seeded(seed);
        let module = generate(choices, GeneratorOptions::default());
        let mut words = module.words;
        if seed % 2 == 1 {
            let density = Density { aborts: 30, calls: 40 };
            if let Some(planted) = plant(&words, choices, Trigger::Due(module.due), density) {
                words = planted.words;
            }
        }
        write(format!("{seed}.spv"), &words)?;
        if let Some(plain) = without_extensions(&words) {
            write(format!("{seed}.plain.spv"), &plain)?;
        }
        match instrument(&words, &Options::default()) {
            Ok(Outcome::Instrumented(out)) => write(format!("{seed}.out.spv"), &out.words)?,
            Ok(Outcome::Unchanged) => println!("{seed}: unchanged"),
            Err(error) => println!("{seed}: {error}"),
        }
    }
    Ok(())
}
