//! `vkabort-e2e CASE` runs one case in this process and environment; with `--run` before the name it prints the verdict as a line
//! for the runner. `vkabort-e2e --serve` runs the cases that standard input names, `vkabort-e2e --compile [PREFIX]` every case, or those that begin with the prefix, up to its first submission. Without arguments it lists all cases.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "test programs print their results"
)]

#[cfg(sanitized)]
mod sanitized;

use std::process::ExitCode;
use vkabort_runner::{Context, Outcome, SERVE, in_process, serve};
use vkabort_tests::cases;
use vkabort_tests::compile::{COMPILE, HIT, MISS, PIPELINE_CACHE, compile, pipeline_cache};
#[cfg(unix)]
use vkabort_tests::golden_pipelines::{GOLDENS, create};

fn main() -> ExitCode {
    let all = cases::all();
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next();
    let is_child = first.as_deref() == Some(in_process::RUN);
    let Some(name) = (if is_child { arguments.next() } else { first }) else {
        all.iter().for_each(|case| println!("{}", case.name));
        return ExitCode::SUCCESS;
    };
    if name == SERVE {
        return match serve(&all) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error:#}");
                ExitCode::FAILURE
            }
        };
    }
    if name == PIPELINE_CACHE {
        let file = std::env::args_os().nth(2).unwrap_or_default();
        return match pipeline_cache(file.as_ref()) {
            Ok(hit) => {
                println!("{}", if hit { HIT } else { MISS });
                ExitCode::SUCCESS
            }
            Err(error) => {
                eprintln!("{error:#}");
                ExitCode::FAILURE
            }
        };
    }
    if name == COMPILE {
        let prefix = std::env::args().nth(2).unwrap_or_default();
        let selected: Vec<_> = all.into_iter().filter(|case| case.name.starts_with(&prefix)).collect();
        compile(&selected, |case, progress| println!("{}\t{progress}", case.name));
        return ExitCode::SUCCESS;
    }
    #[cfg(unix)]
    if name == GOLDENS {
        let folder = std::env::args_os().nth(2).unwrap_or_default();
        return match create(folder.as_ref(), |name, progress| println!("{name}\t{progress}")) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error:#}");
                ExitCode::FAILURE
            }
        };
    }
    match all.iter().find(|case| case.name == name) {
        Some(case) => {
            let context = Context::default();
            let verdict = in_process::run(case, &context);
            match verdict.outcome {
                _ if is_child => println!("{}", verdict.line()),
                Outcome::Pass => print!("{}", verdict.detail),
                outcome => println!("{}: {}", outcome.name(), verdict.detail),
            }
            in_process::release(&context);
            ExitCode::from(u8::from(verdict.outcome.is_failure()))
        }
        None => {
            eprintln!("unknown case {name}");
            ExitCode::FAILURE
        }
    }
}
