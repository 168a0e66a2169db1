//! The conditions and variables of reports are those of the interpreter.
//!
//! `VKABORT_ORACLE_SEEDS=10000` runs more seeds, `VKABORT_ORACLE_SEED=17` a single one. With `VKABORT_ORACLE_DUMP=FOLDER`, failing
//! modules are written to the folder.
#![allow(clippy::print_stdout, reason = "the test prints statistics")]

use vkabort_oracle::check::{ValueSummary, check_values};
use vkabort_oracle::choices::Choices;
use vkabort_oracle::generate::{GeneratorOptions, generate};
use vkabort_oracle::plant::{Density, Trigger, name_values, plant};
use vkabort_oracle::seeds::{is_single, seeds};
use vkabort_oracle::words::to_bytes;

/// Seeds by default.
const FEW: u64 = 300;

#[test]
fn conditions_held_and_variables_have_their_values() {
    let mut all = ValueSummary::default();
    let mut failures = Vec::new();
    for seed in seeds(FEW) {
        let choices = &mut Choices::seeded(seed);
        let module = generate(choices, GeneratorOptions::default());
        let density = Density {
            aborts: choices.below(40),
            calls: choices.below(60),
        };
        let planted = plant(&module.words, choices, Trigger::Due(module.due), density).expect("a valid module");
        let percent = choices.between(40, 100);
        let words = name_values(&planted.words, choices, percent).expect("a valid module");
        match check_values(&words, choices) {
            Ok(summary) => all.add(summary),
            Err(error) => {
                if let Some(folder) = std::env::var_os("VKABORT_ORACLE_DUMP") {
                    let path = std::path::Path::new(&folder).join(format!("{seed}.spv"));
                    std::fs::write(path, to_bytes(&words)).expect("the folder is writable");
                }
                failures.push(format!("seed {seed}: {error}"));
            }
        }
    }
    println!("{all:?}");
    let shown = failures
        .iter()
        .take(20)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join("\n");
    assert!(failures.is_empty(), "{} failures\n{shown}", failures.len());
    assert!(
        is_single() || all.held > all.aborts / 3 && all.right > 2 * all.aborts,
        "{all:?}"
    );
}
