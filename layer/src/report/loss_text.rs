//! The sentences of the log and of fault reports about a lost device.

use super::gather::{Cause, DriverFault, LossSources, MAX_BYTES};
use crate::log::Level;
use vkabort_instrument::Trap;
use vkabort_report::Report;

/// Why the device is lost: the first message of a shader, else the driver's description.
pub fn one_line_text(report: &Report, driver: &DriverFault) -> String {
    let text = report.first_message().or_else(|| driver.text.clone());
    text.unwrap_or_else(|| "the driver reports the device as lost; no shader has aborted".to_owned())
}

/// The lines about sources that are incomplete.
pub fn warnings(sources: &LossSources<'_>) -> Vec<String> {
    let cut_from = sources.driver.cut_from;
    let dump = cut_from.map(|size| format!("the driver's crash dump has {size} bytes, of which {MAX_BYTES} are read"));
    let markers = (sources.unmarked > 0).then(|| {
        let count = sources.unmarked;
        format!("{count} command buffers that were pending have no markers: too many are recorded")
    });
    dump.into_iter().chain(markers).collect()
}

/// The line of the log about a loss that is not the one that the settings ask for.
pub fn concluding_line(sources: &LossSources<'_>, has_aborts: bool) -> Option<(Level, String)> {
    let returns = sources.trap == Trap::Return;
    let line = match sources.cause {
        Cause::Driver if has_aborts && returns && sources.emulated.abort => (
            Level::Error,
            "the driver lost the device, not the layer: a shader has aborted, but that does not lose the driver's device".to_owned(),
        ),
        Cause::Abort { drained: true } if !returns => (
            Level::Warning,
            "the driver did not lose the device after the trap; the layer reports the loss".to_owned(),
        ),
        Cause::Abort { drained: false } => {
            let timeout = sources.drain_timeout.as_millis();
            let text = format!(
                "the device was still busy {timeout} ms after the abort: its objects are kept until it is idle and destroyed, and \
                 its command buffers cannot be recorded again"
            );
            (Level::Error, text)
        }
        Cause::Driver | Cause::Abort { drained: true } => return None,
    };
    Some(line)
}
