//! Decodes the messages of a lost device, as the crash handler of a program in Rust does:
//!
//! ```text
//! crash_handler messages.bin sites.json ..
//! ```
//!
//! The messages are the data of `VkDeviceFaultShaderAbortMessageInfoKHR`. A program would keep the site tables of its shaders,
//! which `vkabort sites --json` or the crate `vkabort-instrument` make; without them the types are guessed from the formats.

use std::error::Error;
use std::io::Write;
use std::sync::Arc;
use vkabort_record::framing::split;
use vkabort_report::site_json;
use vkabort_report::{ModuleInfo, Report, ReportOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let mut paths = std::env::args().skip(1);
    let messages = std::fs::read(
        paths
            .next()
            .ok_or("usage: crash_handler messages.bin [sites.json ..]")?,
    )?;
    let mut modules = Vec::new();
    for path in paths {
        for table in site_json::read(&std::fs::read(&path)?)? {
            modules.push(ModuleInfo {
                sites: Some(Arc::new(table)),
                name: Some(path.clone()),
                ..ModuleInfo::default()
            });
        }
    }
    let messages = split(&messages);
    if messages.payloads.is_empty() && !messages.rest.is_empty() {
        return Err("not abort message data".into());
    }
    if !messages.rest.is_empty() {
        writeln!(std::io::stderr(), "the data ends inside a message")?;
    }
    let report = Report::from_payloads(messages.payloads, &modules, &ReportOptions::default());
    std::io::stdout().write_all(report.text(false).as_bytes())?;
    std::fs::write("crash.jsonl", report.json_lines())?;
    Ok(())
}
