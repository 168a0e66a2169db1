//! The command line.

use clap::Parser;
use std::path::PathBuf;

/// The end-to-end tests and benchmarks of vkabort on this machine's Vulkan driver, in a table.
///
/// Nothing is installed, and no setting of the machine is changed. Files are unpacked into a private folder for temporary
/// files, which goes at the end.
#[derive(Parser, Debug)]
#[command(
    name = "vkabort-bundle",
    version,
    after_help = "\
Ends with 0 if no part failed, with 1 if one did, with 2 if nothing could be run.

The loader (libvulkan.so.1) is the system's; LD_LIBRARY_PATH names a folder with another one. Where it does not find the
driver, VK_DRIVER_FILES names the driver's manifest.

Examples:
  vkabort-bundle --list
  vkabort-bundle --device H200 --out results
  vkabort-bundle --only facts,e2e:abort,bench
  vkabort-bundle --device H200 --only fault --traps"
)]
pub struct Args {
    /// The device with this in its name; `NAME#2` is the second of that name. Without it the only one, else the first of
    /// the fastest kind
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,
    /// List the devices, and run nothing
    #[arg(long)]
    pub list: bool,
    /// List the parts, and run nothing
    #[arg(long)]
    pub parts: bool,
    /// Only these parts, or these groups of parts (facts, conform, e2e, own, bench, fault, hang, after)
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    pub only: Vec<String>,
    /// At the end, also make the driver lose the device: by a real fault, then by a loop that takes long. Refused on
    /// drivers of the CPU
    #[arg(long)]
    pub traps: bool,
    /// Write table.txt, table.json and a log for each part into this folder
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// How long a part may take
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=60))]
    pub limit: u64,
    /// Leave the unpacked files behind
    #[arg(long)]
    pub keep: bool,
    /// What a child of this program does
    #[arg(long, value_name = "TASK", hide = true)]
    pub child: Option<String>,
    /// The case, for a child
    #[arg(hide = true)]
    pub case: Option<String>,
    /// The layer takes the place of the driver's own implementation, for a child
    #[arg(long, hide = true)]
    pub force: bool,
    /// The unpacked files, for a child
    #[arg(long, hide = true)]
    pub folder: Option<PathBuf>,
    /// Where results go, for a child
    #[arg(long, hide = true)]
    pub results: Option<PathBuf>,
}
