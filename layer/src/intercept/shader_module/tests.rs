use super::*;
use crate::intercept::testing::{TestDevice, module};
use crate::loader::dispatch::DeviceTable;
use std::ptr;

unsafe extern "system" fn next_create(
    _: vk::Device,
    _: *const vk::ShaderModuleCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    module: *mut vk::ShaderModule,
) -> vk::Result {
    // SAFETY: the tests pass valid pointers.
    unsafe { *module = vk::ShaderModule::from_raw(0x77) };
    vk::Result::SUCCESS
}

unsafe extern "system" fn next_destroy(_: vk::Device, _: vk::ShaderModule, _: *const vk::AllocationCallbacks<'_>) {}

unsafe extern "system" fn next_identifier(
    _: vk::Device,
    _: vk::ShaderModule,
    _: *mut vk::ShaderModuleIdentifierEXT<'_>,
) {
}

fn device() -> TestDevice {
    TestDevice::new(DeviceTable {
        vkCreateShaderModule: Some(next_create),
        vkDestroyShaderModule: Some(next_destroy),
        vkGetShaderModuleIdentifierEXT: Some(next_identifier),
        ..DeviceTable::EMPTY
    })
}

/// A module that aborts with the message `value`.
fn words(value: u32) -> Vec<u32> {
    let mut words = module(true);
    let constant = words.iter().position(|word| *word == 42).expect("the message");
    words[constant] = value;
    words
}

fn create_module(device: &TestDevice, words: &[u32]) -> vk::ShaderModule {
    let info = vk::ShaderModuleCreateInfo::default().code(words);
    let mut module = vk::ShaderModule::null();
    // SAFETY: the device is live and the structures are valid.
    let result = unsafe { create(device.handle(), &info, ptr::null(), &mut module) };
    assert_eq!(result, vk::Result::SUCCESS);
    module
}

#[test]
fn modules_that_are_destroyed_without_a_pipeline_leave_nothing() {
    let device = device();

    for value in 0..1000 {
        let module = create_module(&device, &words(value));
        assert_eq!(device.state().objects.all().len(), 1);
        // SAFETY: the device and the module are live.
        unsafe { destroy(device.handle(), module, ptr::null()) };
    }
    assert!(device.state().objects.all().is_empty());
}

#[test]
fn a_module_whose_identifier_was_queried_is_kept() {
    let device = device();
    let module = create_module(&device, &words(1));
    // SAFETY: the device and the module are live.
    unsafe {
        let mut found = vk::ShaderModuleIdentifierEXT::default();
        identifier(device.handle(), module, &mut found);
        destroy(device.handle(), module, ptr::null());
    }
    assert_eq!(device.state().objects.all().len(), 1);
}
