//! Keeps the reports that the layer delivers.

use crate::arena::readback::{RecordRange, Records};
use crate::device::features::recordings::Suspects;
use crate::device::state::LossData;
use crate::device::{AbortState, Device};
use crate::sync::Ordering;
use std::sync::PoisonError;
use vk_ext::FaultInfo;

/// See `layer/src/report/gather/mod.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A shader aborted.
    Abort {
        /// The queues became idle before the drain timed out.
        drained: bool,
    },
    /// The driver lost the device.
    Driver,
}

/// A report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The loss. None: the device continues.
    pub cause: Option<Cause>,
    /// The aborts.
    pub records: Records,
}

/// Keeps the report of a loss, with the records that were not reported before.
pub fn report_loss(device: &Device, state: &AbortState, cause: Cause) -> (LossData, Vec<FaultInfo>) {
    let from = state.loss.reported_units.load(Ordering::Relaxed);
    let range = match cause {
        Cause::Abort { .. } => RecordRange::ToCursor(from),
        Cause::Driver => RecordRange::ToEnd(from),
    };
    let records = state.arena.as_ref().map(|arena| arena.read(range, &|()| ()));
    deliver(device, Some(cause), records.unwrap_or_default());
    let fault = FaultInfo {
        group_id: state.loss.next_fault_group(),
        ..FaultInfo::default()
    };
    let data = LossData {
        by_driver: cause == Cause::Driver,
        ..LossData::default()
    };
    (data, vec![fault])
}

/// No model plants checks.
pub fn has_losing_abort(_: &Device, _: &AbortState, _: &Records) -> bool {
    false
}

/// No model prints.
pub fn deliver_prints(_: &Device, _: &AbortState) {}

/// Keeps the report of aborts after which the device continues.
pub fn report_and_continue(device: &Device, _: &AbortState, records: Records, _: Suspects, _: bool) {
    if !records.is_empty() {
        deliver(device, None, records);
    }
}

fn deliver(device: &Device, cause: Option<Cause>, records: Records) {
    let mut deliveries = device
        .instance
        .deliveries
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    deliveries.push(Delivery { cause, records });
}
