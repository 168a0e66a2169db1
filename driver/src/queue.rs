//! `VkQueue`: submissions.
//!
//! What can run at once runs in the submitting thread, which the API allows and which makes the driver's own cost small
//! enough to measure a layer's by. A submission that has to wait, hang or take its time goes to a thread of the queue, and
//! so does everything behind it.

use crate::command::{CommandBuffer, Op};
use crate::device::{Device, State, known};
use crate::handle;
use crate::sync::{Fence, Semaphore};
use crate::{abort, sync};
use ash::vk::{self, Handle, TaggedStructure};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

/// Submissions with command buffers, over the whole process.
static SUBMISSIONS: AtomicU64 = AtomicU64::new(0);

/// A queue.
#[repr(C)]
pub struct Queue {
    loader: usize,
    device: vk::Device,
    /// Submissions that have not completed.
    pending: AtomicUsize,
    waiting: Mutex<VecDeque<Submission>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// One call of `vkQueueSubmit`.
#[derive(Default)]
struct Submission {
    /// Its number, 0 without command buffers.
    number: u64,
    batches: Vec<Batch>,
    fence: u64,
    due: Option<Instant>,
}

/// One element of its array.
#[derive(Default)]
struct Batch {
    waits: Vec<(u64, u64)>,
    ops: Vec<Op>,
    signals: Vec<(u64, u64)>,
}

impl Queue {
    /// A queue of a device.
    pub fn new(device: vk::Device) -> Self {
        Self {
            loader: handle::LOADER_MAGIC,
            device,
            pending: AtomicUsize::new(0),
            waiting: Mutex::default(),
            thread: Mutex::default(),
        }
    }

    /// Everything that was submitted has completed.
    pub fn is_idle(&self) -> bool {
        self.pending.load(Ordering::Acquire) == 0
    }

    /// Waits for the queue's thread, which the device has told to end.
    pub fn join(self) {
        let thread = self.thread.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = thread {
            drop(thread.join());
        }
        debug_assert!(self.loader != 0);
    }

    fn submit(&self, mut submission: Submission) -> vk::Result {
        // SAFETY: the device outlives its queues.
        let device = unsafe { known(self.device) };
        let settings = &device.settings;
        if submission.batches.iter().any(|batch| !batch.ops.is_empty()) {
            submission.number = SUBMISSIONS.fetch_add(1, Ordering::Relaxed) + 1;
        }
        let mut state = device.lock();
        if settings.lose_submit.is(submission.number) {
            device.lose(&mut state);
        }
        if state.lost {
            return vk::Result::ERROR_DEVICE_LOST;
        }
        let slow = !settings.delay.is_zero() && submission.number > 0;
        let at_once = !slow && !settings.hang.is(submission.number) && submission.is_ready() && self.is_idle();
        if at_once {
            submission.execute(device, &mut state);
            submission.complete(&state);
            device.changed.notify_all();
            return vk::Result::SUCCESS;
        }
        if slow {
            submission.due = Some(Instant::now() + settings.delay);
        }
        self.pending.fetch_add(1, Ordering::AcqRel);
        self.lock_waiting().push_back(submission);
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.is_none() {
            let queue = std::ptr::from_ref(self) as u64;
            *thread = Some(std::thread::spawn(move || {
                // SAFETY: the queue is destroyed after its thread has ended.
                if let Some(queue) = unsafe { handle::get::<Self>(queue) } {
                    queue.run();
                }
            }));
        }
        device.changed.notify_all();
        vk::Result::SUCCESS
    }

    fn lock_waiting(&self) -> std::sync::MutexGuard<'_, VecDeque<Submission>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the queue's thread does until the device is destroyed.
    fn run(&self) {
        // SAFETY: as in `submit`.
        let device = unsafe { known(self.device) };
        let settings = &device.settings;
        let mut state = device.lock();
        let mut hung_since = None;
        let mut executed = false;
        while !state.ending {
            let now = Instant::now();
            let mut waiting = self.lock_waiting();
            let until = match waiting.front() {
                Some(first) if !first.is_ready() || state.lost => None,
                Some(first) => first.due.filter(|due| *due > now).map(Some).unwrap_or_else(|| {
                    if !executed {
                        first.execute(device, &mut state);
                        executed = true;
                        device.changed.notify_all();
                    }
                    if !settings.hang.is(first.number) {
                        return Some(now);
                    }
                    let since = *hung_since.get_or_insert(now);
                    settings.hang_for.map(|time| since + time)
                }),
                None => None,
            };
            if let Some(at) = until
                && at <= now
            {
                if let Some(first) = waiting.pop_front() {
                    first.complete(&state);
                    self.pending.fetch_sub(1, Ordering::AcqRel);
                }
                (executed, hung_since) = (false, None);
                device.changed.notify_all();
                continue;
            }
            drop(waiting);
            state = match until {
                None => device.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(at) => {
                    let waited = device.changed.wait_timeout(state, at - now);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}

impl Submission {
    /// Every semaphore it waits for has its value.
    fn is_ready(&self) -> bool {
        // Signals of an earlier batch count for a later one of the same call.
        let own = |wait: &(u64, u64)| self.batches.iter().any(|batch| batch.signals.contains(wait));
        let mut waits = self.batches.iter().flat_map(|batch| &batch.waits);
        // SAFETY: semaphores outlive the submissions that wait for them.
        waits.all(|wait| own(wait) || unsafe { handle::get::<Semaphore>(wait.0) }.is_none_or(|s| s.has(wait.1)))
    }

    fn execute(&self, device: &Device, state: &mut State) {
        let mut aborts = false;
        for op in self.batches.iter().flat_map(|batch| &batch.ops) {
            // SAFETY: objects outlive the submissions that use them.
            unsafe {
                match op {
                    Op::Run(pipeline) => aborts |= abort::run(device, state, *pipeline, self.number),
                    other => sync::execute(other),
                }
            }
        }
        if aborts || device.settings.lose_execute.is(self.number) {
            device.lose(state);
        }
    }

    /// Signals what is to be signalled, unless the device is lost.
    fn complete(&self, state: &State) {
        if state.lost {
            return;
        }
        // SAFETY: as above.
        unsafe {
            for batch in &self.batches {
                for (semaphore, value) in &batch.waits {
                    if let Some(semaphore) = handle::get::<Semaphore>(*semaphore) {
                        semaphore.consume(*value);
                    }
                }
                for (semaphore, value) in &batch.signals {
                    if let Some(semaphore) = handle::get::<Semaphore>(*semaphore) {
                        semaphore.signal(*value);
                    }
                }
            }
            if let Some(fence) = handle::get::<Fence>(self.fence) {
                fence.signal();
            }
        }
    }
}

/// The queue behind a handle.
///
/// # Safety
/// The handle must be valid.
unsafe fn queue_of<'a>(queue: vk::Queue) -> &'a Queue {
    // SAFETY: the caller vouches for the handle.
    unsafe { handle::get(queue.as_raw()) }.expect("a queue")
}

/// # Safety
/// The pointer must be null or to so many elements.
unsafe fn slice<'a, T>(list: *const T, count: u32) -> &'a [T] {
    match list.is_null() || count == 0 {
        true => &[],
        // SAFETY: the caller vouches for the array.
        false => unsafe { std::slice::from_raw_parts(list, count as usize) },
    }
}

/// # Safety
/// The command buffers must be valid.
unsafe fn ops(buffers: impl Iterator<Item = vk::CommandBuffer>) -> Vec<Op> {
    buffers
        // SAFETY: the caller vouches for them.
        .filter_map(|buffer| unsafe { handle::get::<CommandBuffer>(buffer.as_raw()) })
        .flat_map(CommandBuffer::ops)
        .collect()
}

pub unsafe extern "system" fn submit(
    queue: vk::Queue,
    count: u32,
    submits: *const vk::SubmitInfo<'_>,
    fence: vk::Fence,
) -> vk::Result {
    // SAFETY: as the API has it; the type says what the node of the chain is.
    unsafe {
        let batch = |info: &vk::SubmitInfo<'_>| {
            let mut node = info.p_next.cast::<vk::BaseInStructure<'_>>();
            let mut values: (&[u64], &[u64]) = (&[], &[]);
            while let Some(base) = node.as_ref() {
                if base.s_type == vk::TimelineSemaphoreSubmitInfo::STRUCTURE_TYPE {
                    let info = &*node.cast::<vk::TimelineSemaphoreSubmitInfo<'_>>();
                    values = (
                        slice(info.p_wait_semaphore_values, info.wait_semaphore_value_count),
                        slice(info.p_signal_semaphore_values, info.signal_semaphore_value_count),
                    );
                }
                node = base.p_next;
            }
            let with = |semaphores: &[vk::Semaphore], values: &[u64]| {
                let value = |at| values.get(at).copied().unwrap_or(0);
                semaphores
                    .iter()
                    .enumerate()
                    .map(|(at, s)| (s.as_raw(), value(at)))
                    .collect()
            };
            Batch {
                waits: with(slice(info.p_wait_semaphores, info.wait_semaphore_count), values.0),
                ops: ops(slice(info.p_command_buffers, info.command_buffer_count).iter().copied()),
                signals: with(slice(info.p_signal_semaphores, info.signal_semaphore_count), values.1),
            }
        };
        queue_of(queue).submit(Submission {
            batches: slice(submits, count).iter().map(batch).collect(),
            fence: fence.as_raw(),
            ..Submission::default()
        })
    }
}

pub unsafe extern "system" fn submit2(
    queue: vk::Queue,
    count: u32,
    submits: *const vk::SubmitInfo2<'_>,
    fence: vk::Fence,
) -> vk::Result {
    // SAFETY: as the API has it.
    unsafe {
        let with = |infos: &[vk::SemaphoreSubmitInfo<'_>]| {
            infos.iter().map(|info| (info.semaphore.as_raw(), info.value)).collect()
        };
        let batch = |info: &vk::SubmitInfo2<'_>| Batch {
            waits: with(slice(info.p_wait_semaphore_infos, info.wait_semaphore_info_count)),
            ops: ops(slice(info.p_command_buffer_infos, info.command_buffer_info_count)
                .iter()
                .map(|info| info.command_buffer)),
            signals: with(slice(info.p_signal_semaphore_infos, info.signal_semaphore_info_count)),
        };
        queue_of(queue).submit(Submission {
            batches: slice(submits, count).iter().map(batch).collect(),
            fence: fence.as_raw(),
            ..Submission::default()
        })
    }
}

pub unsafe extern "system" fn bind_sparse(
    queue: vk::Queue,
    count: u32,
    infos: *const vk::BindSparseInfo<'_>,
    fence: vk::Fence,
) -> vk::Result {
    // SAFETY: as the API has it.
    unsafe {
        let with = |semaphores: &[vk::Semaphore]| semaphores.iter().map(|s| (s.as_raw(), 0)).collect();
        let batch = |info: &vk::BindSparseInfo<'_>| Batch {
            waits: with(slice(info.p_wait_semaphores, info.wait_semaphore_count)),
            ops: Vec::new(),
            signals: with(slice(info.p_signal_semaphores, info.signal_semaphore_count)),
        };
        queue_of(queue).submit(Submission {
            batches: slice(infos, count).iter().map(batch).collect(),
            fence: fence.as_raw(),
            ..Submission::default()
        })
    }
}

/// Presents: waits for nothing, shows nothing, frees the images.
///
/// # Safety
/// As the API has it.
pub unsafe fn signal_from(queue: vk::Queue, then: impl FnOnce()) -> vk::Result {
    // SAFETY: as the API has it.
    let device = unsafe { known(queue_of(queue).device) };
    let state = device.lock();
    if state.lost {
        return vk::Result::ERROR_DEVICE_LOST;
    }
    then();
    device.changed.notify_all();
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn wait_idle(queue: vk::Queue) -> vk::Result {
    // SAFETY: as the API has it.
    unsafe {
        let queue = queue_of(queue);
        known(queue.device).wait_for_queues(Some(queue))
    }
}
