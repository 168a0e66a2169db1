//! Several threads submit and wait when the device is lost: each of them hears of it.

use super::lost_objects::{expect, make_timeline, one_message, words};
use crate::case::{Case, Context};
use crate::glsl;
use crate::vk::{Buffer, Device, Gpu, Kernel, Submission, code};
use anyhow::Result;
use ash::vk;
use std::sync::Mutex;

pub(super) const CASES: &[Case] = &[
    Case::new("lost_threads::eight_threads_submit_and_wait", |context| {
        threads(context, true)
    }),
    Case::new("lost_threads::eight_threads_on_a_healthy_device", |context| {
        threads(context, false)
    })
    .silent(),
];

fn threads(context: &Context, aborts: bool) -> Result<()> {
    const THREADS: usize = 8;
    const ROUNDS: usize = 20;
    let gpu = Gpu::open(context)?;
    let device = Device::new(&gpu)?;
    let spirv = glsl::compile("abort/entry_point.comp")?;
    let bad = Buffer::storage(&device, &words(aborts))?;
    let fine = Buffer::storage(&device, &words(false))?;
    let (bad, fine) = (
        Kernel::new(&device, &spirv, &[&bad])?,
        Kernel::new(&device, &spirv, &[&fine])?,
    );
    let mut work = Vec::new();
    for thread in 0..THREADS {
        let mut own = Vec::new();
        for round in 0..ROUNDS {
            // One dispatch in the middle of everything.
            let kernel = if (thread, round) == (3, 10) { &bad } else { &fine };
            own.push(kernel.record(1)?);
        }
        work.push(own);
    }
    let timeline = make_timeline(&device)?;
    // A queue is used by one thread at a time.
    let queue = Mutex::new(());
    let run = |own: &[Submission<'_>]| {
        for submission in own {
            let submitted = {
                let _held = queue.lock();
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
        // Whoever is done before the abort hears of it by a wait for what never comes.
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
    one_message(&device, aborts)
}
