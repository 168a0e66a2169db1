//! The view of memory names the store that a load reads, as the interpreter sees it.
//!
//! `VKABORT_ORACLE_SEEDS=10000` runs more seeds, `VKABORT_ORACLE_SEED=17` a single one.
#![allow(clippy::print_stdout, reason = "the test prints statistics")]

use vkabort_oracle::check::check_loads;
use vkabort_oracle::choices::Choices;
use vkabort_oracle::generate::{GeneratorOptions, generate};
use vkabort_oracle::seeds::{is_single, seeds};

/// Seeds by default.
const FEW: u64 = 400;

#[test]
fn loads_read_what_the_view_names() {
    let (mut loads, mut certain) = (0, 0);
    let mut failures = Vec::new();
    for seed in seeds(FEW) {
        let module = generate(&mut Choices::seeded(seed), GeneratorOptions::default());
        match check_loads(&module.words) {
            Ok(summary) => {
                loads += summary.loads;
                certain += summary.certain;
            }
            Err(error) => failures.push(format!("seed {seed}: {error}")),
        }
    }
    println!("{loads} loads, of which {certain} have one source");
    let shown: Vec<&str> = failures.iter().take(20).map(String::as_str).collect();
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), shown.join("\n"));
    assert!(
        is_single() || certain > 100 && loads > certain,
        "too few loads were compared"
    );
}
