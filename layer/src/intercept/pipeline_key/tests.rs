use super::*;
use crate::intercept::testing::{TestDevice, module};
use crate::loader::dispatch::DeviceTable;
use std::cell::Cell;
use std::ptr;

thread_local! {
    /// The address of the `VkPipelineCreateInfoKHR` that the next layer got, and the words of its chained module.
    static RECORDED: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// Records the create-info that the next layer gets.
unsafe fn record(info: *const PipelineCreateInfo) {
    // SAFETY: a create-info of a compute pipeline with a chained module.
    let words = unsafe {
        let pipeline = (*info).p_next.cast::<vk::ComputePipelineCreateInfo<'_>>();
        let module = (*pipeline).stage.p_next.cast::<vk::ShaderModuleCreateInfo<'_>>();
        (*module).code_size / 4
    };
    RECORDED.set((info as usize, words));
}

unsafe extern "system" fn next_key(
    _: vk::Device,
    info: *const PipelineCreateInfo,
    _: *mut PipelineBinaryKey,
) -> vk::Result {
    // SAFETY: the tests pass valid pointers.
    unsafe { record(info) };
    vk::Result::SUCCESS
}

unsafe extern "system" fn next_binaries(
    _: vk::Device,
    info: *const PipelineBinaryCreateInfo,
    _: *const vk::AllocationCallbacks<'_>,
    _: *mut PipelineBinaryHandlesInfo,
) -> vk::Result {
    // SAFETY: the tests pass valid pointers.
    unsafe { record((*info).p_pipeline_create_info) };
    vk::Result::SUCCESS
}

/// Queries a key and binaries by the create-info of a pipeline of `words`. Returns, for each, whether the next layer
/// saw the application's own create-info, and the words that it saw.
fn query(device: vk::Device, words: &[u32]) -> [(bool, usize); 2] {
    let mut inline = vk::ShaderModuleCreateInfo::default().code(words);
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .name(c"main")
        .push_next(&mut inline);
    let mut pipeline = vk::ComputePipelineCreateInfo::default().stage(stage);
    let info = PipelineCreateInfo {
        p_next: ptr::from_mut(&mut pipeline).cast(),
        ..Default::default()
    };
    let binaries = PipelineBinaryCreateInfo {
        p_pipeline_create_info: &info,
        ..Default::default()
    };
    let recorded = || {
        let (at, words) = RECORDED.get();
        (at == ptr::from_ref(&info) as usize, words)
    };
    // SAFETY: the structures are valid.
    unsafe {
        assert_eq!(key(device, &info, ptr::null_mut()), vk::Result::SUCCESS);
        let for_key = recorded();
        assert_eq!(
            create_binaries(device, &binaries, ptr::null(), ptr::null_mut()),
            vk::Result::SUCCESS
        );
        // The application's structures are as they were.
        assert!(ptr::eq(pipeline.stage.p_next.cast(), &inline));
        assert!(ptr::eq(inline.p_code, words.as_ptr()) && inline.code_size == words.len() * 4);
        [for_key, recorded()]
    }
}

#[test]
fn the_driver_gets_the_edited_create_info() {
    let device = TestDevice::new(DeviceTable {
        vkGetPipelineKeyKHR: Some(next_key),
        vkCreatePipelineBinariesKHR: Some(next_binaries),
        ..DeviceTable::EMPTY
    });
    let plain = module(false);
    assert_eq!(query(device.handle(), &plain), [(true, plain.len()); 2]);
    let aborts = module(true);
    let [for_key, for_binaries] = query(device.handle(), &aborts);
    assert!(!for_key.0 && for_key.1 > aborts.len(), "{for_key:?}");
    assert_eq!(for_key, for_binaries);
}
