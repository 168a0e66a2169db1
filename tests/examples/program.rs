//! Prints the program of a seed (`cargo run -p vkabort-tests --example program -- glsl 17`), or writes the generated module
//! of a seed (`... -- generated 17 module.spv`) or a shader with 300 functions (`... -- large 300 module.spv`) to a file.
#![allow(clippy::print_stdout, reason = "it prints a program")]

use vkabort_oracle::choices::Choices;
use vkabort_oracle::generate::{GeneratorOptions, generate};
use vkabort_tests::large_shader::shader;
use vkabort_tests::program::{Language, Program};

fn write(path: &str, words: &[u32]) -> anyhow::Result<()> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    Ok(std::fs::write(path, bytes)?)
}

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |i: usize| words.get(i).map_or("", String::as_str);
    let seed = word(1).parse()?;
    let language = match word(0) {
        "generated" => {
            let generator_options = GeneratorOptions {
                empty: false,
                ..GeneratorOptions::default()
            };
            return write(word(2), &generate(&mut Choices::seeded(seed), generator_options).words);
        }
        "large" => return write(word(2), &shader(u32::try_from(seed)?)?),
        "slang" => Language::Slang,
        _ => Language::Glsl,
    };
    println!("{}", Program::new(language, seed, true).text);
    Ok(())
}
