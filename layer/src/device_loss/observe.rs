//! Checks for a loss around every command that may report one.

use super::drain_budget::DrainBudget;
use crate::device::{AbortState, Device};
use crate::locks::lock;
use crate::report;
use ash::vk;

impl Device {
    /// Runs a command that may report a loss, unless the device is lost already.
    pub fn checked(&self, budget: DrainBudget, call: impl FnOnce() -> vk::Result) -> vk::Result {
        if self.is_lost() {
            return vk::Result::ERROR_DEVICE_LOST;
        }
        self.observe(call(), budget)
    }

    /// Checks the device after a command. Returns the command's result, or `VK_ERROR_DEVICE_LOST` if the device is lost.
    pub fn observe(&self, result: vk::Result, budget: DrainBudget) -> vk::Result {
        if let Some(state) = &self.state {
            report::deliver_prints(self, state);
        }
        match &self.state {
            Some(state) if result == vk::Result::ERROR_DEVICE_LOST || state.aborted() => {
                self.observe_loss(state, result, budget)
            }
            _ => result,
        }
    }

    #[cold]
    fn observe_loss(&self, state: &AbortState, result: vk::Result, budget: DrainBudget) -> vk::Result {
        if result == vk::Result::ERROR_DEVICE_LOST {
            self.lose_with_driver(state);
            return result;
        }
        let budget = match budget {
            DrainBudget::Poll if result == vk::Result::SUCCESS => DrainBudget::Grace,
            other => other,
        };
        if self.advance(state, budget) {
            vk::Result::ERROR_DEVICE_LOST
        } else {
            result
        }
    }

    /// Forwards a submission. One that begins before an abort is detected returns the driver's result, since programs expect
    /// that an accepted submission succeeds; the next command reports the loss. Later ones are checked as by
    /// [`Device::observe`]. Fails without forwarding once the device is sealed.
    pub fn on_queue(&self, queue: vk::Queue, call: impl FnOnce() -> vk::Result) -> vk::Result {
        let Some(state) = &self.state else {
            return call();
        };
        if state.loss.is_lost() {
            return vk::Result::ERROR_DEVICE_LOST;
        }
        let began_after_abort = state.aborted();
        let result = state.on_queue(self, queue, call);
        report::deliver_prints(self, state);
        match result {
            Some(result) if began_after_abort || result == vk::Result::ERROR_DEVICE_LOST => {
                self.observe(result, DrainBudget::Drain)
            }
            Some(result) => result,
            None => self.wait_for_loss(state),
        }
    }

    /// Waits until a sealed device is lost, and returns `VK_ERROR_DEVICE_LOST`.
    pub fn wait_for_loss(&self, state: &AbortState) -> vk::Result {
        drop(lock(&state.loss.drain_deadline));
        vk::Result::ERROR_DEVICE_LOST
    }
}

impl AbortState {
    /// Forwards a queue operation under the queue's lock. `None`: the device is sealed, and nothing was forwarded.
    pub fn on_queue(
        &self,
        device: &Device,
        handle: vk::Queue,
        call: impl FnOnce() -> vk::Result,
    ) -> Option<vk::Result> {
        // A device without an arena is never drained.
        let queue = self.arena.as_ref().and_then(|_| self.queue(device, handle));
        let Some(queue) = queue else {
            return Some(call());
        };
        let mut work = lock(&queue.work);
        if self.loss.is_sealed() {
            return None;
        }
        work.submitted += 1;
        Some(call())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::state::Phase;
    use crate::intercept::testing::TestDevice;
    use crate::loader::dispatch::DeviceTable;

    #[test]
    fn a_submission_that_began_before_the_abort_keeps_the_result_of_the_driver() {
        for accepted in [vk::Result::SUCCESS, vk::Result::SUBOPTIMAL_KHR] {
            let device = TestDevice::new(DeviceTable::EMPTY);
            let result = device.get().on_queue(vk::Queue::null(), || {
                device.state().loss.enter(Phase::Quiescing);
                accepted
            });
            assert_eq!(result, accepted);
            let mut forwarded = false;
            let result = device.get().on_queue(vk::Queue::null(), || {
                forwarded = true;
                accepted
            });
            // Other work may wait for this submission, so a device that is not sealed forwards it.
            assert!(forwarded);
            assert_eq!(result, vk::Result::ERROR_DEVICE_LOST);
        }
    }

    #[test]
    fn a_submission_that_the_driver_refuses_with_a_loss_loses_the_device() {
        let device = TestDevice::new(DeviceTable::EMPTY);
        let lost = vk::Result::ERROR_DEVICE_LOST;
        assert_eq!(device.get().on_queue(vk::Queue::null(), || lost), lost);
        assert!(device.get().is_lost());
        let result = device
            .get()
            .on_queue(vk::Queue::null(), || unreachable!("a lost device forwards nothing"));
        assert_eq!(result, lost);
    }
}
