//! The report of a lost device, and of aborts under `on_abort = continue`.

use super::build::{build_loss, build_report};
use super::deliver::prints::{deliver_last_prints, deliver_prints};
use super::deliver::{deliver, deliver_loss};
use super::fault_info::fault_info;
use super::gather::{Cause, gather_loss, gather_report};
use crate::device::features::recordings::Suspects;
use crate::device::state::LossData;
use crate::device::{AbortState, Device};
use crate::settings::OnAbort;
use vk_ext::FaultInfo;
use vkabort_record::message_data::MessageData;
use vkabort_record::records::{Record, Records};

/// Takes the snapshot of a sealed device and delivers the report. Returns the data for `vkGetDeviceFaultDebugInfoKHR` and
/// for `vkGetDeviceFaultReportsKHR`; of the fault reports, the last has `VK_DEVICE_FAULT_FLAG_DEVICE_LOST_KHR`.
pub fn report_loss(device: &Device, state: &AbortState, cause: Cause) -> (LossData, Vec<FaultInfo>) {
    deliver_last_prints(device, state);
    let loss = build_loss(gather_loss(device, state, cause));
    deliver_loss(device, state, loss)
}

/// `on_abort = continue`: delivers a report of new records, and queues a fault report without the flag of a loss.
///
/// `is_new_submit`: no abort is of a submit of the last report.
pub fn report_and_continue(
    device: &Device,
    state: &AbortState,
    records: Records,
    suspects: Suspects,
    is_new_submit: bool,
) {
    // Shaders printed before they aborted.
    deliver_prints(device, state);
    let messages = MessageData::from(records);
    let sources = gather_report(device, state, messages.records(), suspects);
    let report = build_report(sources, &messages);
    if report.is_empty() {
        return;
    }
    let first_message = report.first_message();
    deliver(device, state, report, (&messages, &[]), is_new_submit);
    if state.report_masked
        && let Some(text) = first_message
    {
        state.faults.push([fault_info(state.loss.next_fault_group(), 0, &text)]);
    }
}

/// Whether a record is of an abort that loses the device under `on_abort = continue_checks`: the program's own, of a device for which it
/// has enabled the extension.
pub fn has_losing_abort(device: &Device, state: &AbortState, records: &Records) -> bool {
    let is_own = |record: &Record| {
        let module = state.objects.find(record.code);
        let site = module.as_ref().and_then(|module| module.sites.site(record.site));
        site.is_none_or(|site| site.check.is_none())
    };
    let may_lose = device.instance.settings.on_abort == OnAbort::ContinueChecks && state.requested.abort;
    may_lose && records.records.iter().any(is_own)
}
