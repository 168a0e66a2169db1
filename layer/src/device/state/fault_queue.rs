//! Fault reports that wait for `vkGetDeviceFaultReportsKHR`.

use crate::locks::lock;
use crate::sync::{Condvar, Mutex};
use std::collections::VecDeque;
use std::time::Duration;
use vk_ext::{FaultInfo, fault_flags};

/// `VkPhysicalDeviceFaultPropertiesKHR::maxDeviceFaultCount`.
pub const MAX_FAULT_COUNT: usize = 256;

/// The latest [`MAX_FAULT_COUNT`] reports in order of occurrence. Each is returned at most once.
#[derive(Default)]
pub struct FaultQueue {
    ring: Mutex<Ring>,
    arrived: Condvar,
}

#[derive(Default)]
struct Ring {
    reports: VecDeque<Report>,
    /// Reports were overwritten since the last one was taken.
    has_overflowed: bool,
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
    /// Adds reports and wakes all waiting threads. "If the number of faults generated exceeds this limit, then the oldest
    /// records will be overwritten" (`VK_KHR_device_fault` proposal, `maxDeviceFaultCount`).
    pub fn push(&self, reports: impl IntoIterator<Item = FaultInfo>) {
        let mut ring = lock(&self.ring);
        for report in reports {
            if ring.reports.len() == MAX_FAULT_COUNT {
                ring.reports.pop_front();
                ring.has_overflowed = true;
            }
            ring.reports.push_back(Report(report));
        }
        self.arrived.notify_all();
    }

    /// Number of reports in the queue.
    pub fn len(&self) -> usize {
        lock(&self.ring).reports.len()
    }

    /// Removes up to `limit` reports. The first report after overwritten ones has `VK_DEVICE_FAULT_FLAG_OVERFLOW_KHR`.
    pub fn take(&self, limit: usize) -> TakenReports {
        let mut ring = lock(&self.ring);
        let count = limit.min(ring.reports.len());
        let mut reports: Vec<FaultInfo> = ring.reports.drain(..count).map(|r| r.0).collect();
        if let Some(first) = reports.first_mut()
            && ring.has_overflowed
        {
            first.flags |= fault_flags::OVERFLOW;
            ring.has_overflowed = false;
        }
        TakenReports {
            reports,
            has_more: !ring.reports.is_empty(),
        }
    }

    /// Blocks until the queue has a report or `timeout` expires. May return early.
    pub fn wait(&self, timeout: Duration) {
        let ring = lock(&self.ring);
        if ring.reports.is_empty() {
            drop(self.arrived.wait_timeout(ring, timeout));
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
    fn the_oldest_reports_are_overwritten_and_the_next_one_says_so() {
        let queue = FaultQueue::default();
        let count = MAX_FAULT_COUNT as u64;
        (0..count).for_each(|n| queue.push([fault_info(n, 0, "x")]));
        let first = queue.take(1).reports;
        assert_eq!((first[0].group_id, first[0].flags), (0, 0), "none was overwritten");
        queue.push((count..count + 4).map(|n| fault_info(n, 0, "x")));
        assert_eq!(queue.len(), MAX_FAULT_COUNT);
        let rest = queue.take(usize::MAX).reports;
        let groups: Vec<u64> = rest.iter().map(|r| r.group_id).collect();
        assert_eq!(groups, (4..count + 4).collect::<Vec<_>>());
        let flags: Vec<u32> = rest.iter().map(|r| r.flags).collect();
        assert_eq!(flags[0], fault_flags::OVERFLOW);
        assert!(flags[1..].iter().all(|flags| *flags == 0), "{flags:x?}");
        queue.push([fault_info(900, 0, "x")]);
        assert_eq!(queue.take(1).reports[0].flags, 0);
    }

    #[test]
    fn concurrent_readers_never_get_the_same_report() {
        // Miri takes a thousand times as long.
        const REPORTS: usize = if cfg!(miri) { 20 } else { 1000 };
        let queue = FaultQueue::default();
        let taken = AtomicUsize::new(0);
        let sum = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while taken.load(Ordering::Relaxed) < REPORTS {
                        for report in queue.take(3).reports {
                            taken.fetch_add(1, Ordering::Relaxed);
                            sum.fetch_add(report.group_id as usize, Ordering::Relaxed);
                        }
                        std::thread::yield_now();
                    }
                });
            }
            for n in 0..REPORTS as u64 {
                while queue.len() == MAX_FAULT_COUNT {
                    std::thread::yield_now();
                }
                queue.push([fault_info(n, 0, "x")]);
            }
        });
        assert_eq!(taken.load(Ordering::Relaxed), REPORTS);
        assert_eq!(sum.load(Ordering::Relaxed), (REPORTS - 1) * REPORTS / 2);
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
