//! Command buffers with names and labels, for cases of the setting `commands`.

use super::support::{expect_lost, expect_success};
use crate::vk::{Device, Kernel, code};
use anyhow::{Context as _, Result};
use ash::{ext, vk};
use std::ffi::CStr;

pub(super) const ON: &[(&str, &str)] = &[("commands", "on")];

/// A command pool.
pub(super) struct Pool<'a> {
    pub(super) device: &'a Device<'a>,
    pub(super) pool: vk::CommandPool,
    labels: ext::debug_utils::Device,
}

impl<'a> Pool<'a> {
    pub(super) fn new(device: &'a Device<'a>) -> Result<Self> {
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(device.family)
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        Ok(Self {
            device,
            // SAFETY: the structure is valid.
            pool: unsafe { device.raw.create_command_pool(&info, None) }?,
            labels: ext::debug_utils::Device::new(&device.gpu.instance, &device.raw),
        })
    }

    /// Allocates a command buffer with a name.
    pub(super) fn allocate(&self, level: vk::CommandBufferLevel, name: &CStr) -> Result<vk::CommandBuffer> {
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(self.pool)
            .level(level)
            .command_buffer_count(1);
        // SAFETY: the pool belongs to the device.
        let buffers = unsafe { self.device.raw.allocate_command_buffers(&info) }?;
        let buffer = *buffers.first().context("no command buffer")?;
        self.device.name(buffer, name)?;
        Ok(buffer)
    }

    /// Records commands, then a barrier between their writes and later reads.
    pub(super) fn record(
        &self,
        buffer: vk::CommandBuffer,
        usage: vk::CommandBufferUsageFlags,
        commands: impl FnOnce(),
    ) -> Result<()> {
        let inherited = vk::CommandBufferInheritanceInfo::default();
        let info = vk::CommandBufferBeginInfo::default()
            .flags(usage)
            .inheritance_info(&inherited);
        let barrier = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
            .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)];
        let all = vk::PipelineStageFlags::ALL_COMMANDS;
        // SAFETY: the command buffer belongs to the device, and is not pending.
        unsafe {
            self.device.raw.begin_command_buffer(buffer, &info)?;
            commands();
            let none = vk::DependencyFlags::empty();
            self.device
                .raw
                .cmd_pipeline_barrier(buffer, all, all, none, &barrier, &[], &[]);
            Ok(self.device.raw.end_command_buffer(buffer)?)
        }
    }

    /// Records a dispatch under a label.
    pub(super) fn dispatch(&self, buffer: vk::CommandBuffer, label: &CStr, kernel: &Kernel<'_>, groups: u32) {
        self.label(buffer, label, || kernel.dispatch(&self.device.raw, buffer, groups));
    }

    /// Records commands between the begin and the end of a label.
    pub(super) fn label(&self, buffer: vk::CommandBuffer, name: &CStr, commands: impl FnOnce()) {
        let label = vk::DebugUtilsLabelEXT::default().label_name(name);
        // SAFETY: the command buffer is being recorded.
        unsafe { self.labels.cmd_begin_debug_utils_label(buffer, &label) };
        commands();
        // SAFETY: as above, and a label is open.
        unsafe { self.labels.cmd_end_debug_utils_label(buffer) };
    }

    pub(super) fn submit(&self, buffer: vk::CommandBuffer) -> Result<()> {
        let buffers = [buffer];
        let info = vk::SubmitInfo::default().command_buffers(&buffers);
        // SAFETY: the command buffer is recorded.
        expect_success(code(unsafe {
            self.device
                .raw
                .queue_submit(self.device.queue, &[info], vk::Fence::null())
        }))
    }

    /// Submits a command buffer, and expects a loss.
    pub(super) fn lose(&self, buffer: vk::CommandBuffer) -> Result<()> {
        self.submit(buffer)?;
        expect_lost(self.device.queue_wait_idle())
    }
}

impl Drop for Pool<'_> {
    fn drop(&mut self) {
        // SAFETY: no command buffer is pending: the cases wait for them, or the device is lost.
        unsafe { self.device.raw.destroy_command_pool(self.pool, None) };
    }
}
