//! `VK_KHR_pipeline_binary`: keys, and pipelines created from binaries without SPIR-V.

use super::identifiers::{create as create_identified, identify};
use super::support::{Extra, aborting, device_with, run_first};
use crate::case::{Case, cases};
use crate::cases::constant_data_special::Special;
use crate::cases::objects::{create_pipeline_from, error_code};
use crate::cases::support::without_abort;
use crate::vk::khr::{self, PipelineBinaryInfo, PipelineBinaryKey, PipelineBinaryKeysAndData, PipelineCreateInfo};
use crate::vk::{Buffer, Device, Gpu, Kernel, stage, test_driver};
use anyhow::{Context as _, Result, ensure};
use ash::{ext, vk};
use std::ffi::CStr;
use std::mem::transmute;
use std::ptr;

pub(super) const CASES: &[Case] = cases! {
    "test_driver_pipeline_binaries::a_pipeline_aborts" => run(gpu, true), on_driver("abort=1");
    "test_driver_pipeline_binaries::a_pipeline_runs" => run(gpu, false), on_driver("abort=2"), silent();
    "test_driver_pipeline_binaries::keys_of_a_pipeline" => keys(gpu), on_driver(""), silent();
    "test_driver_pipeline_binaries::the_global_key_of_each_device" => global_key(gpu), on_driver("kind=cpu,import"),
        silent();
};

const EXTENSIONS: [&CStr; 3] = [
    ash::khr::maintenance5::NAME,
    khr::PIPELINE_BINARY_NAME,
    ext::shader_module_identifier::NAME,
];

/// `VK_PIPELINE_BINARY_MISSING_KHR`.
const MISSING: vk::Result = vk::Result::from_raw(1_000_483_000);

/// Commands of the extension.
struct Commands {
    device: vk::Device,
    key: khr::GetPipelineKey,
    create: khr::CreatePipelineBinaries,
    data: khr::GetPipelineBinaryData,
    destroy: Destroy,
}

type Destroy = unsafe extern "system" fn(vk::Device, u64, *const vk::AllocationCallbacks<'_>);

impl Commands {
    fn load(device: &Device<'_>) -> Result<Self> {
        let find = |name| device.command(name);
        type Any = unsafe extern "system" fn();
        // SAFETY: the commands have these types.
        unsafe {
            Ok(Self {
                device: device.raw.handle(),
                key: transmute::<Any, khr::GetPipelineKey>(find(c"vkGetPipelineKeyKHR")?),
                create: transmute::<Any, khr::CreatePipelineBinaries>(find(c"vkCreatePipelineBinariesKHR")?),
                data: transmute::<Any, khr::GetPipelineBinaryData>(find(c"vkGetPipelineBinaryDataKHR")?),
                destroy: transmute::<Any, Destroy>(find(c"vkDestroyPipelineBinaryKHR")?),
            })
        }
    }

    /// The key of a pipeline, or the global key.
    fn key(&self, info: Option<vk::ComputePipelineCreateInfo<'_>>) -> Result<Vec<u8>> {
        let chained = PipelineCreateInfo {
            p_next: info
                .as_ref()
                .map_or(ptr::null_mut(), |info| ptr::from_ref(info).cast_mut().cast()),
            ..Default::default()
        };
        let mut key = PipelineBinaryKey::default();
        let argument = if info.is_some() {
            &raw const chained
        } else {
            ptr::null()
        };
        // SAFETY: the structures are valid.
        unsafe { (self.key)(self.device, argument, &mut key) }.result()?;
        Ok(key
            .key
            .get(..key.key_size as usize)
            .context("the key is too long")?
            .to_vec())
    }

    /// The only binary of a source.
    fn binary(&self, source: khr::PipelineBinaryCreateInfo) -> Result<u64> {
        let mut binary = 0;
        let mut handles = khr::PipelineBinaryHandlesInfo {
            pipeline_binary_count: 1,
            p_pipeline_binaries: &mut binary,
            ..Default::default()
        };
        // SAFETY: the structures are valid.
        unsafe { (self.create)(self.device, &source, ptr::null(), &mut handles) }.result()?;
        Ok(binary)
    }

    /// The binary of a pipeline, from its data: the first object of the binary is destroyed.
    fn reload(&self, pipeline: vk::Pipeline) -> Result<u64> {
        let first = self.binary(khr::PipelineBinaryCreateInfo {
            pipeline,
            ..Default::default()
        })?;
        let info = khr::PipelineBinaryDataInfo {
            pipeline_binary: first,
            ..Default::default()
        };
        let (mut key, mut size) = (PipelineBinaryKey::default(), 0);
        // SAFETY: the structures are valid, and `data` has `size` bytes.
        unsafe {
            (self.data)(self.device, &info, &mut key, &mut size, ptr::null_mut()).result()?;
            let mut data = vec![0u8; size];
            (self.data)(self.device, &info, &mut key, &mut size, data.as_mut_ptr().cast()).result()?;
            (self.destroy)(self.device, first, ptr::null());
            let data = (size, data.as_ptr().cast());
            let all = PipelineBinaryKeysAndData {
                binary_count: 1,
                p_pipeline_binary_keys: &key,
                p_pipeline_binary_data: &data,
            };
            self.binary(khr::PipelineBinaryCreateInfo {
                p_keys_and_data_info: &all,
                ..Default::default()
            })
        }
    }
}

/// Creates a pipeline that binaries can be created from.
fn create_captured(device: &Device<'_>, kernel: &mut Kernel<'_>, spirv: &[u32]) -> Result<()> {
    let mut flags = vk::PipelineCreateFlags2CreateInfoKHR::default().flags(khr::CAPTURE_DATA);
    let mut module = vk::ShaderModuleCreateInfo::default().code(spirv);
    let info = vk::ComputePipelineCreateInfo::default()
        .stage(stage(vk::ShaderModule::null()).push_next(&mut module))
        .layout(kernel.layout)
        .push_next(&mut flags);
    kernel.pipeline = create_pipeline_from(device, &info)?;
    Ok(())
}

/// "Any shader module identifiers or shader modules declared in VkPipelineShaderStageCreateInfo instances are ignored":
/// also one that cannot be rewritten.
fn run(gpu: &Gpu, aborts: bool) -> Result<()> {
    let device = device_with(gpu, &Extra::extensions(&EXTENSIONS))?;
    let commands = Commands::load(&device)?;
    let buffer = Buffer::storage(&device, &[0; 64])?;
    let spirv = aborting()?;
    let mut captured = Kernel::bound(&device, &[&buffer])?;
    create_captured(&device, &mut captured, &spirv)?;
    let words = test_driver::words(&device, captured.pipeline, 0)?;
    ensure!(words.len() > spirv.len(), "the module was not rewritten");
    let binary = commands.reload(captured.pipeline)?;
    drop(captured);

    let mut kernel = Kernel::bound(&device, &[&buffer])?;
    let mut binaries = PipelineBinaryInfo {
        binary_count: 1,
        p_pipeline_binaries: &binary,
        ..Default::default()
    };
    let mut truncated = vk::ShaderModuleCreateInfo::default().code(&spirv[..spirv.len() - 1]);
    let info = vk::ComputePipelineCreateInfo::default()
        .stage(stage(vk::ShaderModule::null()).push_next(&mut truncated))
        .layout(kernel.layout)
        .push_next(&mut binaries);
    kernel.pipeline = create_pipeline_from(&device, &info)?;
    // SAFETY: the pipeline exists, so its binary is no longer needed.
    unsafe { (commands.destroy)(commands.device, binary, ptr::null()) };
    ensure!(test_driver::words(&device, kernel.pipeline, 0)? == words, "other code");
    run_first(&kernel, aborts)
}

/// "If a shader module identifier is used instead of a shader module, the pPipelineKey" is the same. By create info, the
/// driver's internal cache is searched for the rewritten code.
fn keys(gpu: &Gpu) -> Result<()> {
    let device = device_with(gpu, &Extra::extensions(&EXTENSIONS))?;
    let commands = Commands::load(&device)?;
    let buffer = Buffer::storage(&device, &[0; 64])?;
    let mut kernel = Kernel::bound(&device, &[&buffer])?;
    let spirv = aborting()?;
    let identifier = identify(&device, &spirv)?;
    let mut chained = vk::ShaderModuleCreateInfo::default().code(&spirv);
    let inline = stage(vk::ShaderModule::null()).push_next(&mut chained);
    let mut identified = vk::PipelineShaderStageModuleIdentifierCreateInfoEXT::default().identifier(&identifier);
    let identified = stage(vk::ShaderModule::null()).push_next(&mut identified);
    let info = vk::ComputePipelineCreateInfo::default().layout(kernel.layout);
    // SAFETY: the create info is valid.
    let module = unsafe {
        device
            .raw
            .create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&spirv), None)
    }?;
    let key = |stage| commands.key(Some(info.stage(stage)));
    let expected = key(inline)?;
    ensure!(key(stage(module))? == expected, "the key of the module object differs");
    ensure!(key(identified)? == expected, "the key of the identifier differs");
    // SAFETY: no command uses the module any more.
    unsafe { device.raw.destroy_shader_module(module, None) };

    let inline = info.stage(inline);
    let chained = PipelineCreateInfo {
        p_next: (&raw const inline).cast_mut().cast(),
        ..Default::default()
    };
    let cached = || {
        commands.binary(khr::PipelineBinaryCreateInfo {
            p_pipeline_create_info: &chained,
            ..Default::default()
        })
    };
    let missing = error_code(cached());
    ensure!(missing == Some(MISSING), "{missing:?} before the pipeline exists");
    create_captured(&device, &mut kernel, &spirv)?;
    let words = test_driver::words(&device, kernel.pipeline, 0)?;
    // SAFETY: nothing uses the binary.
    unsafe { (commands.destroy)(commands.device, cached()?, ptr::null()) };
    let mut found = Kernel::bound(&device, &[&buffer])?;
    ensure!(
        create_identified(&device, &mut found, &identifier, &Special::new())? == words,
        "other code"
    );
    Ok(())
}

/// "If the key obtained in this way changes [..] in a different VkDevice, then the application must assume that the restored
/// data is invalid": a binary writes its messages to the memory of the device that it was created on.
fn global_key(gpu: &Gpu) -> Result<()> {
    let open = || device_with(gpu, &Extra::extensions(&EXTENSIONS));
    let key = |device: &Device<'_>| Commands::load(device)?.key(None);
    let (first, second) = (open()?, open()?);
    let keys = [key(&first)?, key(&second)?];
    ensure!(
        keys[0] != keys[1],
        "two devices with their own memory have the key {:?}",
        keys[0]
    );
    drop(first);
    ensure!(key(&open()?)? == keys[0], "the key of the next device differs");
    ensure!(
        key(&without_abort(gpu)?)? == b"driver 1",
        "the driver's own key is changed"
    );
    Ok(())
}
