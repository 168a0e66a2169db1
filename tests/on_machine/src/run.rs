//! The run: unpacks the files, chooses the device, runs the parts one by one and prints the table.

use crate::args::Args;
use crate::devices::Devices;
use crate::report::{self, Out};
use crate::supervise::{self, Row};
use crate::unpacked::Unpacked;
use crate::{interrupt, parts, private, table};
use anyhow::Result;
use serde_json::json;
use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Runs the parts that the command line selects.
///
/// # Errors
///
/// Nothing could run.
pub fn run(args: &Args) -> Result<ExitCode> {
    let chosen = parts::choose(&args.only, args.traps)?;
    interrupt::catch()?;
    let folder = private::folder(args.keep)?;
    let unpacked = Unpacked::unpack(folder.path())?;
    let mut screen = Screen::default();
    if args.parts {
        for part in &chosen {
            screen.print(&format!("{}\n", part.name));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let devices = Devices::find(&unpacked)?;
    if args.list {
        screen.print(&devices.list());
        return Ok(ExitCode::SUCCESS);
    }
    let on = devices.choose(args.device.as_deref())?;
    let device = &on.device;
    let out = Out(args.out.as_deref());
    out.prepare()?;

    let (about, date) = (unpacked.about(), date());
    screen.print(&format!(
        "{about}, {date}\n{} ({})\n  {}, Vulkan {}, {}\n",
        on.label,
        on.why,
        device.kind_name(),
        device.api,
        device.driver
    ));
    if device.native {
        screen.print(
            "  Supports VK_KHR_shader_abort itself: conform:native tests the driver, all other parts the layer.\n",
        );
    }
    let head = json!({
        "program": about,
        "date": date,
        "device": device.name,
        "kind": device.kind_name(),
        "api_version": device.api,
        "driver": device.driver,
        "native": device.native,
    });
    screen.print(&format!("\n{}", table::head()));
    let mut rows: Vec<Row> = Vec::new();
    for part in &chosen {
        let row = supervise::run(part, &unpacked, &on, Duration::from_secs(args.limit))?;
        screen.print(&table::row(&row));
        out.log(&row)?;
        rows.push(row);
        if interrupt::arrived().is_some() {
            break;
        }
    }
    if args.keep {
        eprintln!("The unpacked files are in {}", folder.path().display());
    }
    print_summary(&mut screen, &rows, args.traps);
    out.tables(&screen.0, &report::json(&head, &rows))?;
    Ok(code(&rows))
}

/// Prints the sections below the rows.
fn print_summary(screen: &mut Screen, rows: &[Row], traps: bool) {
    screen.print(&table::sums(rows));
    screen.print(&table::benchmarks(rows));
    for row in rows.iter().filter(|row| !row.facts.is_empty()) {
        screen.print(&format!("\n{}\n{}", row.part, table::facts(row)));
    }
    screen.print(&table::skips(rows));
    screen.print(&table::failures(rows));
    if !traps {
        screen.print("\nReal faults and hangs did not run; --traps adds them.\n");
    }
    if let Some(signal) = interrupt::arrived() {
        screen.print(&format!(
            "\nInterrupted by {}: the table is incomplete.\n",
            interrupt::name(signal)
        ));
    }
}

/// Exit code: 0 if no part failed, else 1; after a signal 128 + its number, as in shells.
fn code(rows: &[Row]) -> ExitCode {
    if let Some(signal) = interrupt::arrived() {
        return ExitCode::from(128_u8.wrapping_add(u8::try_from(signal).unwrap_or(0)));
    }
    let failed = rows.iter().any(|row| !row.failed.is_empty());
    ExitCode::from(u8::from(failed))
}

/// Standard output with a copy of the text.
#[derive(Default)]
struct Screen(String);

impl Screen {
    fn print(&mut self, text: &str) {
        self.0.push_str(text);
        // A closed pipe must not stop the parts: the copy still goes to `--out`.
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

/// Today's date in UTC.
fn date() -> String {
    let seconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_secs());
    let (year, month, day) = civil(seconds / 86_400);
    format!("{year}-{month:02}-{day:02}")
}

/// Converts days since 1970-01-01 into a Gregorian year, month and day. Years start in March, so that the leap day is the
/// last day of a year; an era has 400 years.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march + 2) / 5 + 1;
    let month = if march < 10 { march + 3 } else { march - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(19_782), (2024, 2, 29));
        assert_eq!(civil(20_513), (2026, 3, 1));
    }
}
