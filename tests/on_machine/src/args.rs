//! The command line.

use clap::Parser;
use std::path::PathBuf;

/// Runs vkabort's end-to-end tests and benchmarks on this machine's Vulkan driver and prints a table.
///
/// Installs nothing and changes no setting of the machine. Unpacks its files into a private temporary folder and removes
/// it at the end.
#[derive(Parser, Debug)]
#[command(
    name = "vkabort-bundle",
    version,
    after_help = "\
Exit codes: 0 = every part passed, 1 = a part failed, 2 = nothing could run.

Uses the system's loader (libvulkan.so.1); set LD_LIBRARY_PATH to a folder with another one. If the loader does not find
the driver, set VK_DRIVER_FILES to the driver's manifest.

Examples:
  vkabort-bundle --list
  vkabort-bundle --device H200 --out results
  vkabort-bundle --only facts,e2e:abort,bench
  vkabort-bundle --device H200 --only fault --traps"
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
    /// Run only these parts or groups of parts (facts, conform, e2e, own, bench, fault, hang, after)
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    pub only: Vec<String>,
    /// At the end, make the driver lose the device: by a real memory fault, then by a long-running loop. Skipped on CPU
    /// drivers
    #[arg(long)]
    pub traps: bool,
    /// Write table.txt, table.json and a log per part into this folder
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Time limit of each part
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=60))]
    pub limit: u64,
    /// Keep the unpacked files
    #[arg(long)]
    pub keep: bool,
    /// Task of a child process
    #[arg(long, value_name = "TASK", hide = true)]
    pub child: Option<String>,
    /// Child only: name of the case or measurement
    #[arg(hide = true)]
    pub case: Option<String>,
    /// Child only: the layer replaces the driver's own implementation
    #[arg(long, hide = true)]
    pub force: bool,
    /// Child only: folder of the unpacked files
    #[arg(long, hide = true)]
    pub folder: Option<PathBuf>,
    /// Child only: file to which the part appends its results
    #[arg(long, hide = true)]
    pub results: Option<PathBuf>,
}
