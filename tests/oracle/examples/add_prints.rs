//! Adds prints to the modules that `vkabort run --dump-modules FOLDER` wrote there: `HASH.original.spv` becomes `HASH.printing.spv`.
#![allow(clippy::print_stdout, reason = "a command-line program")]

use std::fs;
use std::io::{Error, Result};
use std::path::Path;
use vkabort_oracle::choices::Choices;
use vkabort_oracle::module::Module;
use vkabort_oracle::plant::plant_prints;
use vkabort_oracle::words::{from_bytes, to_bytes};

/// Prints of a module, about. Drivers for CPUs take long to compile many.
const PRINTS: usize = 4;

fn main() -> Result<()> {
    let Some(folder) = std::env::args().nth(1) else {
        println!("usage: add_prints FOLDER");
        return Ok(());
    };
    for entry in fs::read_dir(&folder)? {
        let file = entry?.path();
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some(hash) = name.strip_suffix(".original.spv") else {
            continue;
        };
        let malformed = || Error::other(format!("{name}: not a valid module"));
        let seed = u64::from_str_radix(hash, 16).map_err(|_| malformed())?;
        let words = from_bytes(&fs::read(&file)?);
        let module = Module::parse(&words).ok_or_else(malformed)?;
        let blocks: usize = module.functions.iter().map(|function| function.blocks.len()).sum();
        let percent = (100 * PRINTS).div_ceil(blocks.max(1)).min(100) as u32;
        let printing = plant_prints(&words, &mut Choices::seeded(seed), percent).ok_or_else(malformed)?;
        fs::write(
            Path::new(&folder).join(format!("{hash}.printing.spv")),
            to_bytes(&printing),
        )?;
    }
    Ok(())
}
