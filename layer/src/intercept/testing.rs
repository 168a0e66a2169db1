//! A registered device without a driver, for unit tests of entry points.

use crate::device::features::recordings::CommandBuffers;
use crate::device::registry::{self, device_of, dispatch_key};
use crate::device::state::{Extensions, Instance};
use crate::device::{AbortState, Device};
use crate::loader::dispatch::{DeviceTable, InstanceTable};
use crate::log::{Format, Level, Log};
use crate::settings::Settings;
use ash::vk::{self, Handle};
use std::collections::HashMap;
use std::ffi::c_char;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

unsafe extern "system" fn no_instance_function(_: vk::Instance, _: *const c_char) -> vk::PFN_vkVoidFunction {
    None
}

/// The next layer's only function. Never inlined, so that it has one address, by which tests know it.
#[inline(never)]
pub unsafe extern "system" fn any_device_function() {}

unsafe extern "system" fn device_function(_: vk::Device, _: *const c_char) -> vk::PFN_vkVoidFunction {
    Some(any_device_function)
}

/// A device that emulates all extensions, without an arena. Registered until it is dropped.
pub struct TestDevice {
    /// The dispatchable object: its first word, the dispatch key, is its own address.
    object: Box<usize>,
}

impl TestDevice {
    /// Registers a device whose next layer has the functions `next`.
    pub fn new(next: DeviceTable) -> Self {
        Self::with_commands(next, None)
    }

    /// As [`Self::new`]. With `commands`, those of command buffers are recorded.
    pub fn with_commands(next: DeviceTable, commands: Option<CommandBuffers>) -> Self {
        let mut object = Box::new(0);
        *object = &raw const *object as usize;
        let device = Self { object };
        let instance = Instance {
            next: InstanceTable::EMPTY,
            next_gipa: no_instance_function,
            next_gpdpa: None,
            settings: Settings::default(),
            log: Log::new(Level::Off, Format::Text, None),
            api_version: vk::API_VERSION_1_3,
            physical: Mutex::new(HashMap::new()),
            messengers: Mutex::new(Vec::new()),
            leaked: AtomicBool::new(false),
            reported_modules: Default::default(),
            unchecked_modules: Default::default(),
            opaque_code: Default::default(),
            module_files: Default::default(),
            binaries: Default::default(),
        };
        let tracked = Device {
            handle: device.handle(),
            physical: vk::PhysicalDevice::null(),
            instance: Arc::new(instance),
            process: std::process::id(),
            next,
            next_gdpa: device_function,
            state: Some(AbortState {
                emulated: Extensions::ALL,
                requested: Extensions::ALL,
                enabled: Extensions::ALL,
                commands,
                ..AbortState::default()
            }),
        };
        registry::DEVICES.insert(device.key(), Arc::new(tracked));
        device
    }

    /// The handle of the device.
    pub fn handle(&self) -> vk::Device {
        vk::Device::from_raw(&raw const *self.object as u64)
    }

    /// The layer's record of the device.
    pub fn get(&self) -> &Device {
        // SAFETY: the device stays registered while it is borrowed.
        unsafe { device_of(self.handle()) }.expect("a registered device")
    }

    /// The state of the device.
    pub fn state(&self) -> &AbortState {
        self.get().state.as_ref().expect("a device with state")
    }

    fn key(&self) -> usize {
        // SAFETY: the handle is the address of the object.
        unsafe { dispatch_key(self.handle().as_raw()) }
    }
}

impl Drop for TestDevice {
    fn drop(&mut self) {
        registry::DEVICES.remove(self.key());
    }
}

/// A compute shader. With `abort`, it aborts with the message 42.
pub fn module(abort: bool) -> Vec<u32> {
    let inst = |opcode: u32, operands: &[u32]| {
        let mut words = vec![(operands.len() as u32 + 1) << 16 | opcode];
        words.extend_from_slice(operands);
        words
    };
    [
        vec![0x0723_0203, 0x0001_0500, 0, 7, 0],
        inst(17, &[1]),
        if abort { inst(17, &[5120]) } else { Vec::new() },
        inst(14, &[0, 1]),
        inst(15, &[5, 1, u32::from_le_bytes(*b"main"), 0]),
        inst(16, &[1, 17, 1, 1, 1]),
        inst(19, &[2]),
        inst(33, &[3, 2]),
        inst(21, &[4, 32, 0]),
        inst(43, &[4, 5, 42]),
        inst(54, &[2, 1, 0, 3]),
        inst(248, &[6]),
        if abort { inst(5121, &[4, 5]) } else { inst(253, &[]) },
        inst(56, &[]),
    ]
    .concat()
}
