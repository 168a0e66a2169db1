//! Fault reports waiting to be asked for, and what is left of a device once it is lost.

use crate::loader::ffi::FaultInfo;
use crate::locks::lock;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// Reports in the order of their faults, each handed out once.
#[derive(Default)]
pub struct FaultQueue {
    reports: Mutex<VecDeque<Report>>,
    arrived: Condvar,
}

/// A report, in the fields of `VkDeviceFaultInfoKHR`.
#[derive(Clone)]
pub struct Report(pub FaultInfo);

// SAFETY: the only pointer in it is `pNext`, which is null here.
unsafe impl Send for Report {}

/// What a call took from the queue.
#[derive(Default)]
pub struct Taken {
    /// Reports for the caller alone.
    pub reports: Vec<FaultInfo>,
    /// More were there.
    pub more: bool,
}

impl FaultQueue {
    /// Adds reports that belong together and wakes whoever waits.
    pub fn push(&self, reports: impl IntoIterator<Item = FaultInfo>) {
        lock(&self.reports).extend(reports.into_iter().map(Report));
        self.arrived.notify_all();
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        lock(&self.reports).len()
    }

    /// Takes up to `limit` reports.
    pub fn take(&self, limit: usize) -> Taken {
        let mut reports = lock(&self.reports);
        let count = limit.min(reports.len());
        Taken {
            reports: reports.drain(..count).map(|r| r.0).collect(),
            more: !reports.is_empty(),
        }
    }

    /// Waits until there is a report, or for as long as `limit`.
    pub fn wait(&self, limit: Duration) {
        let reports = lock(&self.reports);
        if reports.is_empty() {
            drop(self.arrived.wait_timeout(reports, limit));
        }
    }
}

/// What is left of a lost device. Made once; answers from it never change.
#[derive(Default)]
pub struct Outcome {
    /// All messages as `VkDeviceFaultShaderAbortMessageInfoKHR` wants them.
    pub message_data: Vec<u8>,
    /// The driver's crash dump.
    pub vendor_binary: Vec<u8>,
    /// Why the device is lost, in one line.
    pub text: String,
    /// The driver knows of the loss.
    pub by_driver: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::driver_fault::report;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Instant;

    #[test]
    fn reports_come_in_order_and_each_once() {
        let queue = FaultQueue::default();
        queue.push((0..5).map(|n| report(n, 0, "x")));
        let first = queue.take(2);
        assert_eq!(first.reports.iter().map(|r| r.group_id).collect::<Vec<_>>(), [0, 1]);
        assert!(first.more);
        let rest = queue.take(100);
        assert_eq!(rest.reports.iter().map(|r| r.group_id).collect::<Vec<_>>(), [2, 3, 4]);
        assert!(!rest.more);
        assert_eq!(queue.len(), 0);
        assert!(queue.take(1).reports.is_empty());
    }

    #[test]
    fn many_threads_share_the_reports_without_duplicates() {
        let queue = FaultQueue::default();
        let taken = AtomicUsize::new(0);
        let sum = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while taken.load(Ordering::Relaxed) < 1000 {
                        for report in queue.take(3).reports {
                            taken.fetch_add(1, Ordering::Relaxed);
                            sum.fetch_add(report.group_id as usize, Ordering::Relaxed);
                        }
                    }
                });
            }
            for n in 0..1000 {
                queue.push([report(n, 0, "x")]);
            }
        });
        assert_eq!(taken.load(Ordering::Relaxed), 1000);
        assert_eq!(sum.load(Ordering::Relaxed), 999 * 1000 / 2);
    }

    #[test]
    fn a_waiter_is_woken_by_a_report() {
        let queue = FaultQueue::default();
        let began = Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while queue.len() == 0 {
                    queue.wait(Duration::from_secs(60));
                }
            });
            queue.push([report(1, 0, "x")]);
        });
        assert!(began.elapsed() < Duration::from_secs(30));
    }
}
