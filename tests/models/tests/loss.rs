//! The loss of a device, and its handling under `on_abort = continue`: application threads that submit, wait and poll.

use ash::vk;
use loom::model::Builder;
use loom::thread;
use std::sync::PoisonError;
use std::time::Duration;
use vkabort_models::arena::Arena;
use vkabort_models::device::state::{Extensions, Instance};
use vkabort_models::device::{AbortState, Device};
use vkabort_models::device_loss::DrainBudget;
use vkabort_models::driver::{Driver, Work};
use vkabort_models::report::{Cause, Delivery};
use vkabort_models::settings::{OnAbort, Settings};
use vkabort_models::sync::{Arc, Ordering};

const LOST: vk::Result = vk::Result::ERROR_DEVICE_LOST;
/// Work that is ready always ends sooner.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);
/// Ends after a few polls.
const SHORT_TIMEOUT: Duration = Duration::from_millis(15);

/// Runs `body` under every interleaving with at most two switches away from a thread that could go on.
fn model(body: impl Fn() + Send + Sync + 'static) {
    let mut builder = Builder::new();
    builder.max_branches = 20_000;
    builder.preemption_bound = builder.preemption_bound.or(Some(2));
    builder.check(body);
}

/// A device under the layer, and its driver.
struct Subject {
    driver: Box<Driver>,
    device: Device,
}

unsafe extern "system" fn no_function(_: vk::Device, _: *const std::ffi::c_char) -> vk::PFN_vkVoidFunction {
    None
}

impl Subject {
    fn new(on_abort: OnAbort, drain_timeout: Duration) -> Arc<Self> {
        let arena = Arena::default();
        let driver = Box::new(Driver::new(arena.clone()));
        let instance = Instance {
            settings: Settings {
                on_abort,
                drain_timeout,
                trap_timeout: drain_timeout,
            },
            deliveries: Default::default(),
        };
        let device = Device {
            handle: driver.select(),
            physical: vk::PhysicalDevice::null(),
            instance: Arc::new(instance),
            next: Driver::table(),
            process: std::process::id(),
            next_gdpa: no_function,
            state: Some(AbortState {
                requested: Extensions::ALL,
                enabled: Extensions::ALL,
                emulated: Extensions::ALL,
                arena: Some(arena),
                ..AbortState::default()
            }),
        };
        Arc::new(Self { driver, device })
    }

    fn state(&self) -> &AbortState {
        self.device.state.as_ref().expect("a device with state")
    }

    /// `vkQueueSubmit`.
    fn submit(&self, queue: usize, work: &[Work]) -> vk::Result {
        let handle = Driver::queue(queue);
        self.device.on_queue(handle, || self.driver.submit(queue, work))
    }

    /// A command that waits for work and returns once it has ended, like `vkQueueWaitIdle`.
    fn wait(&self) -> vk::Result {
        self.device.checked(DrainBudget::Drain, || vk::Result::SUCCESS)
    }

    fn deliveries(&self) -> Vec<Delivery> {
        let deliveries = self.device.instance.deliveries.lock();
        deliveries.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The numbers of the aborts in all reports, in order.
    fn reported(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> = self
            .deliveries()
            .into_iter()
            .flat_map(|delivery| delivery.records)
            .collect();
        numbers.sort_unstable();
        numbers
    }

    /// Checks that the device is lost, by one report with these aborts.
    fn assert_lost(&self, cause: Cause, numbers: &[u32]) {
        assert_eq!(self.reported(), numbers);
        let causes: Vec<_> = self.deliveries().iter().map(|delivery| delivery.cause).collect();
        assert_eq!(causes, [Some(cause)]);
        let loss = &self.state().loss;
        assert!(loss.is_lost());
        let data = loss.data.get().expect("a lost device has data");
        assert_eq!(data.by_driver, cause == Cause::Driver);
        assert_eq!(self.state().faults.len(), 1);
        assert_eq!(self.submit(0, &[Work::Abort(9)]), LOST);
        assert_eq!(self.reported(), numbers, "a lost device forwards nothing");
    }
}

/// Runs `body` on another thread.
fn spawn<R: 'static>(subject: &Arc<Subject>, body: impl FnOnce(&Subject) -> R + 'static) -> thread::JoinHandle<R> {
    let subject = Arc::clone(subject);
    thread::spawn(move || body(&subject))
}

#[test]
fn aborts_on_two_queues_lose_the_device_once() {
    model(|| {
        let subject = Subject::new(OnAbort::Lose, DRAIN_TIMEOUT);
        // Submits an aborting shader and waits. Returns whether the shader ran.
        let run = |subject: &Subject, queue: usize| {
            let submitted = subject.submit(queue, &[Work::Abort(queue as u32 + 1)]);
            assert!([vk::Result::SUCCESS, LOST].contains(&submitted));
            assert_eq!(subject.wait(), LOST);
            assert!(subject.state().loss.data.get().is_some());
            assert_eq!(
                subject.driver.unfinished(),
                0,
                "the application learns of the loss when the queues are idle"
            );
        };
        let other = spawn(&subject, move |subject| run(subject, 1));
        run(&subject, 0);
        assert!(other.join().is_ok());
        // A submission is forwarded and in the report, or neither.
        let numbers = subject.reported();
        assert!([&[1][..], &[2], &[1, 2]].contains(&&*numbers), "{numbers:?}");
        subject.assert_lost(Cause::Abort { drained: true }, &numbers);
    });
}

#[test]
fn a_submission_of_another_queue_ends_a_wait_while_the_device_drains() {
    model(|| {
        let subject = Subject::new(OnAbort::Lose, DRAIN_TIMEOUT);
        let other = spawn(&subject, |subject| subject.submit(1, &[Work::Release, Work::Abort(2)]));
        let submitted = subject.submit(0, &[Work::Abort(1), Work::Wait, Work::Abort(3)]);
        assert!([vk::Result::SUCCESS, LOST].contains(&submitted));
        assert_eq!(subject.wait(), LOST);
        assert!(other.join().is_ok());
        let numbers = subject.reported();
        // The other queue's shader may abort before anything is submitted here.
        assert!([&[1, 2, 3][..], &[2]].contains(&&*numbers), "{numbers:?}");
        subject.assert_lost(Cause::Abort { drained: true }, &numbers);
    });
}

#[test]
fn a_queue_that_never_becomes_idle_loses_the_device_undrained() {
    model(|| {
        let subject = Subject::new(OnAbort::Lose, SHORT_TIMEOUT);
        let other = spawn(&subject, |subject| {
            // A poll that begins before the abort succeeds; nothing waits longer than the drain.
            let polled = subject.device.checked(DrainBudget::Poll, || vk::Result::NOT_READY);
            assert!([vk::Result::NOT_READY, LOST].contains(&polled));
            polled
        });
        let submitted = subject.submit(0, &[Work::Abort(1), Work::Wait]);
        assert_eq!(submitted, vk::Result::SUCCESS);
        assert_eq!(subject.wait(), LOST);
        assert!(subject.device.is_undrained());
        assert!(other.join().is_ok());
        subject.assert_lost(Cause::Abort { drained: false }, &[1]);
    });
}

#[test]
fn a_drain_that_one_thread_gives_up_is_continued_by_another() {
    model(|| {
        let subject = Subject::new(OnAbort::Lose, DRAIN_TIMEOUT);
        assert_eq!(subject.submit(0, &[Work::Abort(1), Work::Wait]), vk::Result::SUCCESS);
        let releaser = spawn(&subject, |subject| {
            assert_eq!(subject.driver.submit(1, &[Work::Release]), vk::Result::SUCCESS);
        });
        let poller = spawn(&subject, |subject| {
            let polled = subject.device.checked(DrainBudget::Poll, || vk::Result::NOT_READY);
            assert!([vk::Result::NOT_READY, LOST].contains(&polled));
        });
        assert_eq!(subject.wait(), LOST);
        assert!(releaser.join().is_ok() && poller.join().is_ok());
        subject.assert_lost(Cause::Abort { drained: true }, &[1]);
    });
}

#[test]
fn a_loss_by_the_driver_and_an_abort_give_one_report() {
    model(|| {
        let subject = Subject::new(OnAbort::Lose, DRAIN_TIMEOUT);
        let other = spawn(&subject, |subject| {
            subject.driver.lose();
            assert_eq!(subject.submit(1, &[Work::Release]), LOST);
        });
        let submitted = subject.submit(0, &[Work::Abort(1)]);
        assert!([vk::Result::SUCCESS, LOST].contains(&submitted));
        assert_eq!(subject.wait(), LOST);
        assert!(other.join().is_ok());
        let [delivery] = &subject.deliveries()[..] else {
            panic!("not one report");
        };
        let cause = delivery.cause.expect("a loss");
        assert_ne!(cause, Cause::Abort { drained: false });
        subject.assert_lost(cause, &delivery.records);
        assert!(!subject.device.is_undrained());
    });
}

#[test]
fn a_fault_report_reaches_one_of_two_readers() {
    model(|| {
        let subject = Subject::new(OnAbort::Lose, DRAIN_TIMEOUT);
        assert_eq!(subject.submit(0, &[Work::Abort(1)]), vk::Result::SUCCESS);
        let read = |subject: &Subject| {
            assert!(subject.device.advance(subject.state(), DrainBudget::Drain));
            subject.state().faults.take(1).reports.len()
        };
        let other = spawn(&subject, move |subject| read(subject));
        let own = read(&subject);
        assert_eq!(own + other.join().expect("the reader ends"), 1);
        assert_eq!(subject.state().faults.len(), 0);
    });
}

#[test]
fn a_waiting_reader_is_woken_by_the_loss() {
    model(|| {
        let subject = Subject::new(OnAbort::Lose, DRAIN_TIMEOUT);
        assert_eq!(subject.submit(0, &[Work::Abort(1)]), vk::Result::SUCCESS);
        // Condition variables of loom never time out, so a report without a wake-up deadlocks here.
        let reader = spawn(&subject, |subject| {
            while subject.state().faults.len() == 0 {
                subject.state().faults.wait(Duration::MAX);
            }
        });
        assert_eq!(subject.wait(), LOST);
        assert!(reader.join().is_ok());
    });
}

#[test]
fn a_device_that_continues_reports_every_abort_once() {
    model(|| {
        let subject = Subject::new(OnAbort::Continue, DRAIN_TIMEOUT);
        let run = |subject: &Subject, queue: usize| {
            assert_eq!(
                subject.submit(queue, &[Work::Abort(queue as u32 + 1)]),
                vk::Result::SUCCESS
            );
            assert_eq!(subject.wait(), vk::Result::SUCCESS);
        };
        let other = spawn(&subject, move |subject| run(subject, 1));
        run(&subject, 0);
        assert!(other.join().is_ok());
        assert_eq!(subject.reported(), [1, 2]);
        assert!(!subject.state().aborted(), "the arena is empty");
        assert!(!subject.state().loss.has_begun());
        // The arena has room for further ones.
        run(&subject, 0);
        assert_eq!(subject.reported(), [1, 1, 2]);
    });
}

#[test]
fn a_device_that_continues_reports_every_abort_once_while_a_queue_is_busy() {
    model(|| {
        let subject = Subject::new(OnAbort::Continue, SHORT_TIMEOUT);
        assert_eq!(
            subject.submit(0, &[Work::Abort(1), Work::Wait, Work::Abort(2)]),
            vk::Result::SUCCESS
        );
        let other = spawn(&subject, |subject| {
            assert_eq!(subject.submit(1, &[Work::Abort(3)]), vk::Result::SUCCESS);
            assert_eq!(subject.submit(1, &[Work::Release]), vk::Result::SUCCESS);
        });
        assert_eq!(subject.wait(), vk::Result::SUCCESS);
        assert!(other.join().is_ok());
        assert_eq!(subject.wait(), vk::Result::SUCCESS);
        assert_eq!(subject.reported(), [1, 2, 3]);
        assert_eq!(subject.state().loss.reported_units.load(Ordering::Relaxed), 0);
        assert!(!subject.state().aborted(), "the arena is empty");
    });
}
