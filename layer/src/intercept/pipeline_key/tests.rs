use super::*;
use crate::device::state::{AbortState, Device, Extensions, Instance};
use crate::loader::dispatch::{DestroyTable, DeviceTable, InstanceTable};
use crate::loader::registry::{self, dispatch_key};
use crate::report::log::{Format, Level, Log};
use crate::settings::Settings;
use ash::vk::Handle;
use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::c_char;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

thread_local! {
    /// What the next layer was given: the `VkPipelineCreateInfoKHR`, and the words of the chained module.
    static SEEN: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// Remembers what a driver would see.
unsafe fn see(info: *const PipelineCreateInfo) {
    // SAFETY: a create-info of a compute pipeline with a chained module.
    let words = unsafe {
        let pipeline = (*info).next.cast::<vk::ComputePipelineCreateInfo<'_>>();
        let module = (*pipeline).stage.p_next.cast::<vk::ShaderModuleCreateInfo<'_>>();
        (*module).code_size / 4
    };
    SEEN.set((info as usize, words));
}

unsafe extern "system" fn next_key(_: vk::Device, info: *const PipelineCreateInfo, _: *mut c_void) -> vk::Result {
    // SAFETY: as the tests call it.
    unsafe { see(info) };
    vk::Result::SUCCESS
}

unsafe extern "system" fn next_binaries(
    _: vk::Device,
    info: *const PipelineBinaryCreateInfo,
    _: *const vk::AllocationCallbacks<'_>,
    _: *mut c_void,
) -> vk::Result {
    // SAFETY: as the tests call it.
    unsafe { see((*info).pipeline_create_info) };
    vk::Result::SUCCESS
}

unsafe extern "system" fn no_instance_function(_: vk::Instance, _: *const c_char) -> vk::PFN_vkVoidFunction {
    None
}

unsafe extern "system" fn no_device_function(_: vk::Device, _: *const c_char) -> vk::PFN_vkVoidFunction {
    None
}

/// A device of the layer's own making, known by the first word of `object`.
fn device(object: &mut usize) -> vk::Device {
    *object = ptr::from_mut(object) as usize;
    let handle = vk::Device::from_raw(ptr::from_mut(object) as u64);
    let instance = Instance {
        handle: vk::Instance::null(),
        next: InstanceTable::EMPTY,
        next_gipa: no_instance_function,
        next_gpdpa: None,
        settings: Settings::default(),
        log: Log::new(Level::Off, Format::Text, None),
        api_version: vk::API_VERSION_1_3,
        physical: Mutex::new(HashMap::new()),
        messengers: Mutex::new(Vec::new()),
        leaked: AtomicBool::new(false),
        binaries: Default::default(),
    };
    let state = AbortState {
        emulated: Extensions::ALL,
        ..AbortState::without_emulation(Extensions::ALL)
    };
    let known = Device {
        handle,
        instance: Arc::new(instance),
        next: DeviceTable {
            vkGetPipelineKeyKHR: Some(next_key),
            vkCreatePipelineBinariesKHR: Some(next_binaries),
            ..DeviceTable::EMPTY
        },
        destroy: DestroyTable::EMPTY,
        next_gdpa: no_device_function,
        state: Some(state),
    };
    // SAFETY: the object stands where the handle says.
    let key = unsafe { dispatch_key(handle.as_raw()) };
    registry::devices().insert(key, Arc::new(known));
    handle
}

/// A compute shader; `abort`: it aborts with the number 42.
fn module(abort: bool) -> Vec<u32> {
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

/// Asks for a key and for binaries by the create-info of a pipeline of `words`. Returns, for each, whether the next layer
/// saw the application's own create-info, and the words that it saw.
fn ask(device: vk::Device, words: &[u32]) -> [(bool, usize); 2] {
    let mut inline = vk::ShaderModuleCreateInfo::default().code(words);
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .name(c"main")
        .push_next(&mut inline);
    let mut pipeline = vk::ComputePipelineCreateInfo::default().stage(stage);
    let info = PipelineCreateInfo {
        s_type: stype::PIPELINE_CREATE_INFO,
        next: ptr::from_mut(&mut pipeline).cast(),
    };
    let binaries = PipelineBinaryCreateInfo {
        s_type: vk::StructureType::from_raw(1_000_483_001),
        next: ptr::null(),
        keys_and_data: ptr::null(),
        pipeline: vk::Pipeline::null(),
        pipeline_create_info: &info,
    };
    let seen = || {
        let (at, words) = SEEN.get();
        (at == ptr::from_ref(&info) as usize, words)
    };
    // SAFETY: the structures are valid.
    unsafe {
        assert_eq!(key(device, &info, ptr::null_mut()), vk::Result::SUCCESS);
        let for_key = seen();
        assert_eq!(
            create_binaries(device, &binaries, ptr::null(), ptr::null_mut()),
            vk::Result::SUCCESS
        );
        // The application's structures are as they were.
        assert!(ptr::eq(pipeline.stage.p_next.cast(), &inline));
        assert!(ptr::eq(inline.p_code, words.as_ptr()) && inline.code_size == words.len() * 4);
        [for_key, seen()]
    }
}

#[test]
fn the_driver_is_asked_about_the_shaders_that_it_will_be_given() {
    let mut object = 0;
    let device = device(&mut object);
    let plain = module(false);
    assert_eq!(ask(device, &plain), [(true, plain.len()); 2]);
    let aborts = module(true);
    let [for_key, for_binaries] = ask(device, &aborts);
    assert!(!for_key.0 && for_key.1 > aborts.len(), "{for_key:?}");
    assert_eq!(for_key, for_binaries);
    // SAFETY: the object stands where the handle says.
    registry::devices().remove(unsafe { dispatch_key(device.as_raw()) });
}
