//! The command line.

use clap::Parser;
use std::path::PathBuf;

/// Runs vkabort's end-to-end tests and benchmarks on this machine's Vulkan driver.
///
/// Installs nothing and changes no setting of the machine.
#[derive(Parser, Debug)]
#[command(
    name = "run",
    version,
    after_help = "\
Exit codes: 0 = nothing failed, 1 = a case failed, 2 = nothing could run.

Uses the system's loader (libvulkan.so.1); set LD_LIBRARY_PATH to a folder with another one. If the loader does not find
the driver, set VK_DRIVER_FILES to the driver's manifest.

Examples:
  ./run --list
  ./run --device H200 --out results
  ./run --only abort,message,loss
  ./run --device H200 --only real_fault --traps"
)]
pub struct Args {
    /// The device whose name contains NAME; `NAME#2` selects the second of that name. Default: the first device of the
    /// fastest type
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,
    /// List the devices and exit
    #[arg(long)]
    pub list: bool,
    /// List the parts and exit
    #[arg(long)]
    pub parts: bool,
    /// Run only these parts
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Measure the validation layer, too, whose manifest VkLayer_khronos_validation.json is in this folder
    #[arg(long, value_name = "FOLDER")]
    pub validation: Option<PathBuf>,
    /// At the end, make the driver lose the device: by a real memory fault, then by a long-running loop. Skipped on CPU
    /// drivers
    #[arg(long)]
    pub traps: bool,
    /// Write what is printed, and the results as JSON, into this folder
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Time limit of each case
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub limit: u64,
}
