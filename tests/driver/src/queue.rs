//! `VkQueue`: execution of submissions.
//!
//! A submission that can run immediately runs in the submitting thread. The API allows this, and it keeps the driver's cost
//! small enough to measure the layer's. A submission that waits, hangs or is delayed runs in the queue's thread, and so do
//! all later ones.

use crate::abort::Effect;
use crate::command::Op;
use crate::handle;
use crate::markers::{Checkpoints, Extent};
use crate::settings::Settings;
use crate::state::{Cause, Device, State};
use crate::sync::{Fence, Semaphore};
use crate::{abort, event};
use ash::vk;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Poll interval for a word that the host changes.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// # Safety
/// `word` must be the address of an aligned, readable word.
unsafe fn is_zero(word: u64) -> bool {
    // SAFETY: the caller passes the address of a readable word.
    unsafe { AtomicU32::from_ptr(word as *mut u32) }.load(Ordering::Acquire) == 0
}

/// Number of submissions with command buffers in the process.
static SUBMISSIONS: AtomicU64 = AtomicU64::new(0);

/// A queue.
#[repr(C)]
pub struct Queue {
    _loader: usize,
    /// Address of the queue's device.
    device: u64,
    /// Number of incomplete submissions.
    pending: AtomicUsize,
    /// Its checkpoints.
    pub checkpoints: Checkpoints,
    waiting: Mutex<VecDeque<Submission>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// One call of `vkQueueSubmit`.
#[derive(Default)]
pub struct Submission {
    /// Number of the submission, from 1; 0 without command buffers.
    pub number: u64,
    /// Batches in submission order.
    pub batches: Vec<Batch>,
    /// Fence to signal at the end, or null.
    pub fence: u64,
    /// Earliest time of completion.
    pub due: Option<Instant>,
    /// Number of waits of the device that do not start its execution yet.
    pub earlier_waits: Option<u64>,
}

/// One element of the array of batches.
#[derive(Default)]
pub struct Batch {
    /// Semaphores to wait for, with values.
    pub waits: Vec<(u64, u64)>,
    /// Commands of its command buffers.
    pub ops: Vec<Op>,
    /// Semaphores to signal, with values.
    pub signals: Vec<(u64, u64)>,
}

impl Queue {
    /// Creates a queue of a device.
    pub fn new(device: &Device) -> Self {
        Self {
            _loader: handle::LOADER_MAGIC,
            device: std::ptr::from_ref(device) as u64,
            pending: AtomicUsize::new(0),
            checkpoints: Checkpoints::default(),
            waiting: Mutex::default(),
            thread: Mutex::default(),
        }
    }

    /// The queue's device.
    pub fn device(&self) -> &Device {
        // SAFETY: the device outlives its queues.
        unsafe { handle::get(self.device) }.expect("a live device")
    }

    /// Whether all submissions have completed.
    pub fn is_idle(&self) -> bool {
        self.pending.load(Ordering::Acquire) == 0
    }

    /// Waits for the queue's thread, which ends because the device does.
    pub fn join(self) {
        if let Some(thread) = self.thread.into_inner() {
            drop(thread.join());
        }
    }

    /// Executes or enqueues a submission.
    pub fn submit(&self, mut submission: Submission) -> vk::Result {
        let device = self.device();
        let settings = &device.settings;
        if submission.batches.iter().any(|batch| !batch.ops.is_empty()) {
            submission.number = SUBMISSIONS.fetch_add(1, Ordering::Relaxed) + 1;
        }
        let mut state = device.lock();
        if settings.lose_submit.is(submission.number) {
            device.lose(&mut state);
        }
        if device.shows_loss(&state) {
            return vk::Result::ERROR_DEVICE_LOST;
        }
        let slow = (!settings.delay.is_zero() || settings.delay_until_wait) && submission.number > 0;
        let waits = settings.hang.is(submission.number) || submission.may_wait(settings);
        let at_once = !slow && !waits && submission.is_ready() && self.is_idle();
        if at_once {
            if submission.execute(device, &mut state, &self.checkpoints) == Effect::Loses {
                device.lose(&mut state);
            }
            submission.complete(device, &state);
            device.changed.notify_all();
            return vk::Result::SUCCESS;
        }
        if slow {
            submission.due = Some(Instant::now() + settings.delay);
            submission.earlier_waits = settings.delay_until_wait.then_some(state.waits);
        }
        self.pending.fetch_add(1, Ordering::AcqRel);
        self.waiting.lock().push_back(submission);
        let mut thread = self.thread.lock();
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

    /// Body of the queue's thread, until the device is destroyed.
    fn run(&self) {
        let device = self.device();
        let settings = &device.settings;
        let mut state = device.lock();
        let mut hung_since = None;
        let mut executed = None;
        while !state.ending {
            let now = Instant::now();
            let mut waiting = self.waiting.lock();
            let until = match waiting.front() {
                Some(first) if !first.is_ready() || device.shows_loss(&state) => None,
                Some(first) if first.earlier_waits == Some(state.waits) => None,
                Some(first) => first.due.filter(|due| *due > now).map(Some).unwrap_or_else(|| {
                    let effect = *executed.get_or_insert_with(|| {
                        device.changed.notify_all();
                        first.execute(device, &mut state, &self.checkpoints)
                    });
                    let since = *hung_since.get_or_insert(now);
                    let is_over = |time: Duration| now >= since + time;
                    let (hangs, end) = match effect {
                        Effect::Loses if is_over(settings.lose_after) => {
                            device.lose(&mut state);
                            return (!device.shows_loss(&state)).then_some(now);
                        }
                        Effect::Loses => (false, Some(since + settings.lose_after)),
                        // SAFETY: the layer keeps the arena allocated while shaders may read it.
                        Effect::Hangs(word) if unsafe { is_zero(word) } => return Some(now),
                        Effect::Hangs(_) => (true, Some(now + POLL_INTERVAL)),
                        Effect::None if settings.hang.is(first.number) => {
                            (true, settings.hang_for.map(|time| since + time))
                        }
                        Effect::None => return Some(now),
                    };
                    match settings.watchdog.filter(|_| hangs) {
                        Some(time) if is_over(time) => {
                            state.faults.cause = Cause::Timeout;
                            device.lose(&mut state);
                            (!device.shows_loss(&state)).then_some(now)
                        }
                        Some(time) => Some(end.map_or(since + time, |end| end.min(since + time))),
                        None => end,
                    }
                }),
                None => None,
            };
            if let Some(at) = until
                && at <= now
            {
                if let Some(first) = waiting.pop_front() {
                    first.complete(device, &state);
                    self.pending.fetch_sub(1, Ordering::AcqRel);
                }
                (executed, hung_since) = (None, None);
                device.changed.notify_all();
                continue;
            }
            drop(waiting);
            device.wait_for_change(&mut state, until);
        }
    }
}

/// Waits until the queue, or every queue of the device, is idle.
pub fn wait_for_queues(device: &Device, only: Option<&Queue>) -> vk::Result {
    let queues: Vec<u64> = device.queues.lock().values().copied().collect();
    device.wait(u64::MAX, || {
        // SAFETY: queues live as long as the device.
        let mut all = queues
            .iter()
            .filter_map(|queue| unsafe { handle::get::<Queue>(*queue) });
        match only {
            Some(queue) => queue.is_idle(),
            None => all.all(Queue::is_idle),
        }
    })
}

impl Submission {
    /// Whether every semaphore it waits for has reached its value.
    fn is_ready(&self) -> bool {
        // An earlier batch of the same call may signal a semaphore for a later one.
        let is_own = |wait: &(u64, u64)| self.batches.iter().any(|batch| batch.signals.contains(wait));
        let mut waits = self.batches.iter().flat_map(|batch| &batch.waits);
        // SAFETY: semaphores outlive the submissions that wait for them.
        waits.all(|wait| is_own(wait) || unsafe { handle::get::<Semaphore>(wait.0) }.is_none_or(|s| s.has(wait.1)))
    }

    /// Whether it may hang, or lose the device after a delay.
    fn may_wait(&self, settings: &Settings) -> bool {
        let mut ops = self.batches.iter().flat_map(|batch| &batch.ops);
        // SAFETY: objects outlive the submissions that use them.
        let traps = |op: &Op| matches!(op, Op::Run(pipeline) if unsafe { abort::has_trap(*pipeline) });
        let late = !settings.lose_after.is_zero();
        late && settings.lose_execute.is(self.number) || settings.abort.is(self.number) && (late || ops.any(traps))
    }

    fn execute(&self, device: &Device, state: &mut State, checkpoints: &Checkpoints) -> Effect {
        let mut effect = match device.settings.lose_execute.is(self.number) {
            true => Effect::Loses,
            false => Effect::None,
        };
        let mut extent = Extent::new(&device.settings, effect == Effect::Loses);
        for op in self.batches.iter().flat_map(|batch| &batch.ops) {
            extent.execute(op, checkpoints);
            // SAFETY: objects outlive the submissions that use them.
            unsafe {
                match op {
                    Op::Run(_) if !extent.begins() => {}
                    Op::Run(pipeline) => effect = effect.and(abort::run(device, state, *pipeline, self.number)),
                    other => event::execute(other),
                }
            }
        }
        effect
    }

    /// Signals semaphores and the fence, unless the device is lost.
    fn complete(&self, device: &Device, state: &State) {
        if device.shows_loss(state) {
            return;
        }
        // SAFETY: semaphores and fences outlive the submissions that use them.
        unsafe {
            for batch in &self.batches {
                for (semaphore, _) in &batch.waits {
                    if let Some(semaphore) = handle::get::<Semaphore>(*semaphore) {
                        semaphore.consume();
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
