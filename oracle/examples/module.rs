//! Writes the module that a seed makes, its rewrite, and both without extensions, for looking at.
#![allow(clippy::print_stdout, reason = "a program for people")]

use std::path::Path;
use vkabort_instrument::{Options, Outcome, instrument};
use vkabort_oracle::choices::Choices;
use vkabort_oracle::generate::{Wish, generate};
use vkabort_oracle::words::without_extensions;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(folder), seeds) = (arguments.next(), arguments) else {
        println!("usage: module FOLDER SEED..");
        return Ok(());
    };
    let write = |name: String, words: &[u32]| {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        std::fs::write(Path::new(&folder).join(name), bytes)
    };
    for seed in seeds.filter_map(|s| s.parse().ok()) {
        let words = generate(&mut Choices::seeded(seed), Wish::default()).words;
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
