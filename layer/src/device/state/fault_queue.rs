//! Fault reports that wait for `vkGetDeviceFaultReportsKHR`.

use crate::locks::lock;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex};
use std::time::Duration;
use vk_ext::FaultInfo;

/// Reports in order of occurrence. Each is returned exactly once.
#[derive(Default)]
pub struct FaultQueue {
    reports: Mutex<VecDeque<Report>>,
    arrived: Condvar,
}

struct Report(FaultInfo);

// SAFETY: `FaultInfo::next` is its only pointer, and it is null in every report that the layer makes.
unsafe impl Send for Report {}

/// Reports removed from the queue.
#[derive(Default)]
pub struct TakenReports {
    /// The reports.
    pub reports: Vec<FaultInfo>,
    /// The queue has further reports.
    pub has_more: bool,
}

impl FaultQueue {
    /// Adds reports and wakes all waiting threads.
    pub fn push(&self, reports: impl IntoIterator<Item = FaultInfo>) {
        lock(&self.reports).extend(reports.into_iter().map(Report));
        self.arrived.notify_all();
    }

    /// Number of reports in the queue.
    pub fn len(&self) -> usize {
        lock(&self.reports).len()
    }

    /// Removes up to `limit` reports.
    pub fn take(&self, limit: usize) -> TakenReports {
        let mut reports = lock(&self.reports);
        let count = limit.min(reports.len());
        TakenReports {
            reports: reports.drain(..count).map(|r| r.0).collect(),
            has_more: !reports.is_empty(),
        }
    }

    /// Blocks until the queue has a report or `timeout` expires. May return early.
    pub fn wait(&self, timeout: Duration) {
        let reports = lock(&self.reports);
        if reports.is_empty() {
            drop(self.arrived.wait_timeout(reports, timeout));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fault_info::fault_info;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Instant;

    #[test]
    fn reports_are_returned_in_order_and_once() {
        let queue = FaultQueue::default();
        queue.push((0..5).map(|n| fault_info(n, 0, "x")));
        let first = queue.take(2);
        assert_eq!(first.reports.iter().map(|r| r.group_id).collect::<Vec<_>>(), [0, 1]);
        assert!(first.has_more);
        let rest = queue.take(100);
        assert_eq!(rest.reports.iter().map(|r| r.group_id).collect::<Vec<_>>(), [2, 3, 4]);
        assert!(!rest.has_more);
        assert_eq!(queue.len(), 0);
        assert!(queue.take(1).reports.is_empty());
    }

    #[test]
    fn concurrent_readers_never_get_the_same_report() {
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
                queue.push([fault_info(n, 0, "x")]);
            }
        });
        assert_eq!(taken.load(Ordering::Relaxed), 1000);
        assert_eq!(sum.load(Ordering::Relaxed), 999 * 1000 / 2);
    }

    #[test]
    fn a_report_wakes_a_waiting_thread() {
        let queue = FaultQueue::default();
        let began = Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while queue.len() == 0 {
                    queue.wait(Duration::from_secs(60));
                }
            });
            queue.push([fault_info(1, 0, "x")]);
        });
        assert!(began.elapsed() < Duration::from_secs(30));
    }
}
