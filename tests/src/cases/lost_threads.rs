//! Several threads submit and wait when the device is lost: each thread sees the loss.

use super::lost_objects::{create_timeline, one_message};
use super::support::{entry_point, expect, words};
use crate::case::{Case, cases};
use crate::vk::{Device, Submission, code};
use anyhow::Result;
use ash::vk;
use std::sync::Mutex;

pub(super) const CASES: &[Case] = cases! {
    "lost_threads::eight_threads_submit_and_wait" => threads(device, true);
    "lost_threads::eight_threads_on_a_healthy_device" => threads(device, false), silent();
};

fn threads(device: &Device<'_>, aborts: bool) -> Result<()> {
    const THREADS: usize = 8;
    const ROUNDS: usize = 20;
    let (aborting, healthy) = (
        entry_point(device, &words(aborts))?,
        entry_point(device, &words(false))?,
    );
    let mut work = Vec::new();
    for thread in 0..THREADS {
        let mut own = Vec::new();
        for round in 0..ROUNDS {
            // One dispatch in the middle aborts.
            let kernel = if (thread, round) == (3, 10) {
                &aborting
            } else {
                &healthy
            };
            own.push(kernel.record(1)?);
        }
        work.push(own);
    }
    let timeline = create_timeline(device)?;
    // Queues are externally synchronised.
    let queue = Mutex::new(());
    let run = |own: &[Submission<'_>]| {
        for submission in own {
            let submitted = {
                let _guard = queue.lock();
                submission.submit()
            };
            match submitted {
                vk::Result::SUCCESS => {}
                error => return error,
            }
            match submission.wait() {
                vk::Result::SUCCESS => {}
                error => return error,
            }
        }
        if !aborts {
            return vk::Result::SUCCESS;
        }
        // A thread that finishes before the abort sees the loss in a wait that is never signalled.
        let semaphores = [timeline];
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&[1]);
        // SAFETY: the semaphore belongs to the device.
        code(unsafe { device.raw.wait_semaphores(&info, u64::MAX) })
    };
    let results: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = work.iter().map(|own| scope.spawn(|| run(own))).collect();
        threads.into_iter().map(|thread| thread.join()).collect()
    });
    for (number, result) in results.into_iter().enumerate() {
        let Ok(result) = result else {
            anyhow::bail!("thread {number} panicked");
        };
        expect(result, aborts, &format!("thread {number}"))?;
    }
    // SAFETY: the device is lost, or the work over.
    unsafe { device.raw.destroy_semaphore(timeline, None) };
    one_message(device, aborts)
}
