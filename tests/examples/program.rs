//! Prints the program of a seed, `cargo run -p vkabort-tests --example program -- glsl 17`, or writes the generated
//! module of a seed to a file, `... -- generated 17 module.spv`.
#![allow(clippy::print_stdout, reason = "it prints a program")]

use vkabort_oracle::choices::Choices;
use vkabort_oracle::generate::{Wish, generate};
use vkabort_tests::program::{Language, Program};

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |i: usize| words.get(i).map_or("", String::as_str);
    let seed = word(1).parse()?;
    let language = match word(0) {
        "generated" => {
            let wish = Wish {
                empty: false,
                ..Wish::default()
            };
            let module = generate(&mut Choices::seeded(seed), wish);
            let bytes: Vec<u8> = module.words.iter().flat_map(|word| word.to_le_bytes()).collect();
            return Ok(std::fs::write(word(2), bytes)?);
        }
        "slang" => Language::Slang,
        _ => Language::Glsl,
    };
    println!("{}", Program::new(language, seed, true).text);
    Ok(())
}
