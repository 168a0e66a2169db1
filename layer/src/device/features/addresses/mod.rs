//! The buffers of a device that have addresses, for the check `addresses`.
//!
//! The layer queries the address of every buffer that may have one when it gets its memory, so it also knows those that the program
//! computes or never queries. Changes are published at the next submission; a buffer that is created while work is pending, which may
//! get its address from the host, joins the current table at once. The buffers of the layer itself are left out: no code of a
//! program accesses them.

mod describe;
#[cfg(test)]
mod tests;
mod untested;
mod versions;

use crate::arena::{AddressApi, Arena, MappedWords, Part};
use crate::device::state::{Queue, SubmitMark};
use crate::loader::dispatch::DeviceTable;
use crate::locks::lock;
use crate::log::Log;
use ash::vk::{self, Handle as _};
use describe::Place;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use untested::{Untested, log_untested};
use versions::Versions;
use vkabort_instrument::Options;
use vkabort_record::buffer_table::merged;

/// Destroyed buffers that reports can name.
const MAX_DESTROYED: usize = 4096;

/// The buffers of a device.
pub struct Addresses {
    /// Selects the function that returns addresses.
    api: AddressApi,
    buffers: Mutex<Buffers>,
}

struct Buffers {
    tracked: HashMap<vk::Buffer, Buffer>,
    /// The end of each live buffer by its start, sorted.
    ranges: BTreeMap<(u64, vk::Buffer), u64>,
    /// Buffers by their memory.
    bindings: BTreeSet<(vk::DeviceMemory, vk::Buffer)>,
    /// The last ones at the front.
    destroyed: VecDeque<Place>,
    versions: Versions<SubmitMark>,
    /// The current version differs from `ranges`.
    is_stale: bool,
    /// The last table had no room.
    is_full: bool,
    /// Some buffer's address is not known: nothing is published any more.
    is_blind: bool,
}

/// A buffer with the usage `SHADER_DEVICE_ADDRESS`.
#[derive(Default)]
struct Buffer {
    bytes: u64,
    memory: vk::DeviceMemory,
    address: Option<u64>,
    name: String,
}

impl Addresses {
    /// The buffers of a new device, whose table the rewriter gets in `options`. `None`: the arena has no memory for it. The arena must
    /// outlive the result.
    pub fn create(arena: &mut Arena, options: &mut Options, api: AddressApi) -> Option<Self> {
        let area = arena.take(Part::BufferTable)?;
        options.sanitize.buffer_table = Some(area.address);
        Some(Self::new(area, api))
    }

    fn new(area: MappedWords, api: AddressApi) -> Self {
        let buffers = Buffers {
            tracked: HashMap::new(),
            ranges: BTreeMap::new(),
            bindings: BTreeSet::new(),
            destroyed: VecDeque::new(),
            versions: Versions::new(area),
            is_stale: true,
            is_full: false,
            is_blind: false,
        };
        Self {
            api,
            buffers: Mutex::new(buffers),
        }
    }

    /// A buffer that can have an address was created.
    pub fn add(&self, buffer: vk::Buffer, bytes: u64) {
        let new = Buffer {
            bytes,
            ..Buffer::default()
        };
        lock(&self.buffers).tracked.insert(buffer, new);
    }

    /// Whether a buffer can have an address.
    pub fn knows(&self, buffer: vk::Buffer) -> bool {
        lock(&self.buffers).tracked.contains_key(&buffer)
    }

    /// Notes the address of a buffer that has memory. `queues`: those of the device.
    ///
    /// # Safety
    /// The buffer must be live, and have the memory that it needs.
    pub unsafe fn note_memory(
        &self,
        (device, next): (vk::Device, &DeviceTable),
        buffer: vk::Buffer,
        memory: vk::DeviceMemory,
        queues: impl FnOnce() -> Vec<Arc<Queue>>,
        log: &Log,
    ) {
        if !self.knows(buffer) {
            return;
        }
        let info = vk::BufferDeviceAddressInfo::default().buffer(buffer);
        let get = self.api.function(next);
        // SAFETY: the buffer has the usage SHADER_DEVICE_ADDRESS and its memory, and the feature is enabled.
        let address = get.map_or(0, |get| unsafe { get(device, &info) });
        log_untested(self.bind(buffer, memory, address, queues), log);
    }

    /// A tracked buffer has memory now, or needs none, and this address; 0: the driver returned none. `queues`: those of the device.
    fn bind(
        &self,
        buffer: vk::Buffer,
        memory: vk::DeviceMemory,
        address: u64,
        queues: impl FnOnce() -> Vec<Arc<Queue>>,
    ) -> Result<(), Untested> {
        let mut buffers = lock(&self.buffers);
        let Some(tracked) = buffers.tracked.get_mut(&buffer) else {
            return Ok(());
        };
        if address == 0 {
            return buffers.give_up();
        }
        let end = address.saturating_add(tracked.bytes);
        (tracked.memory, tracked.address) = (memory, Some(address));
        buffers.ranges.insert((address, buffer), end);
        buffers.bindings.insert((memory, buffer));
        buffers.is_stale = true;
        if buffers.versions.append((address, end)) {
            return Ok(());
        }
        let queues = queues();
        match queues.iter().any(|queue| queue.counters.has_open_submissions()) {
            true => buffers.publish(queues),
            false => Ok(()),
        }
    }

    /// Stops the tests: the driver does not tell which buffers have memory.
    pub fn give_up(&self, log: &Log) {
        let result = lock(&self.buffers).give_up();
        log_untested(result, log);
    }

    /// A buffer is about to be destroyed.
    pub fn remove(&self, buffer: vk::Buffer) {
        let mut buffers = lock(&self.buffers);
        if let Some(tracked) = buffers.tracked.remove(&buffer) {
            buffers.end(buffer, tracked);
        }
    }

    /// Memory is about to be freed: its buffers have no address any more.
    pub fn free(&self, memory: vk::DeviceMemory) {
        let mut buffers = lock(&self.buffers);
        if memory == vk::DeviceMemory::null() {
            return;
        }
        let bound = (memory, vk::Buffer::from_raw(0))..=(memory, vk::Buffer::from_raw(u64::MAX));
        let bound: Vec<vk::Buffer> = buffers.bindings.range(bound).map(|(_, buffer)| *buffer).collect();
        for buffer in bound {
            if let Some(tracked) = buffers.tracked.get_mut(&buffer) {
                let ended = std::mem::take(tracked);
                buffers.end(buffer, ended);
            }
        }
    }

    /// Sets the name of a buffer.
    pub fn set_name(&self, buffer: vk::Buffer, name: &str) {
        if let Some(tracked) = lock(&self.buffers).tracked.get_mut(&buffer) {
            name.clone_into(&mut tracked.name);
        }
    }

    /// Publishes the buffers that shaders of the next submission may access.
    pub fn publish(&self, queues: impl FnOnce() -> Vec<Arc<Queue>>, log: &Log) {
        log_untested(self.try_publish(queues), log);
    }

    fn try_publish(&self, queues: impl FnOnce() -> Vec<Arc<Queue>>) -> Result<(), Untested> {
        let mut buffers = lock(&self.buffers);
        match buffers.is_stale {
            true => buffers.publish(queues()),
            false => Ok(()),
        }
    }

    /// Describes the place of `bytes` bytes at an address, for people.
    pub fn describe(&self, address: u64, bytes: u64) -> String {
        let buffers = lock(&self.buffers);
        let place = |((start, buffer), end): (&(u64, vk::Buffer), &u64)| Place {
            start: *start,
            end: *end,
            name: buffers
                .tracked
                .get(buffer)
                .map(|tracked| tracked.name.clone())
                .unwrap_or_default(),
        };
        let live: Vec<Place> = buffers.ranges.iter().map(place).collect();
        describe::describe((address, bytes), &live, buffers.destroyed.iter())
    }
}

impl Buffers {
    fn publish(&mut self, queues: Vec<Arc<Queue>>) -> Result<(), Untested> {
        if self.is_blind {
            return Ok(());
        }
        let ranges = self.ranges.iter().map(|((start, _), end)| (*start, *end)).collect();
        let ranges = merged(ranges);
        let is_published = self
            .versions
            .publish(&ranges, SubmitMark::is_complete, || SubmitMark::new(queues));
        self.is_stale = !is_published;
        let was_full = std::mem::replace(&mut self.is_full, !is_published);
        match is_published || was_full {
            true => Ok(()),
            false => Err(Untested::NoRoom(ranges.len())),
        }
    }

    fn give_up(&mut self) -> Result<(), Untested> {
        self.versions.withdraw();
        match std::mem::replace(&mut self.is_blind, true) {
            true => Ok(()),
            false => Err(Untested::Unknown),
        }
    }

    /// A buffer has no address any more.
    fn end(&mut self, buffer: vk::Buffer, tracked: Buffer) {
        let Some(start) = tracked.address else { return };
        self.is_stale = true;
        self.bindings.remove(&(tracked.memory, buffer));
        if let Some(end) = self.ranges.remove(&(start, buffer)) {
            self.destroyed.push_front(Place {
                start,
                end,
                name: tracked.name,
            });
            self.destroyed.truncate(MAX_DESTROYED);
        }
    }
}
