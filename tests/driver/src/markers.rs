//! `VK_AMD_buffer_marker` and `VK_NV_device_diagnostic_checkpoints`.
//!
//! Of a submission that loses the device, only the first commands begin, and fewer end (`begun=COUNT`, `ended=COUNT`).

use crate::buffer::Buffer;
use crate::command::{CommandBuffer, Op};
use crate::handle::Object;
use crate::settings::Settings;
use ash::vk::{self, PipelineStageFlags as Stage};
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The last checkpoints of a queue at the top and at the bottom of the pipeline.
#[derive(Default)]
pub struct Checkpoints([AtomicU64; 2]);

/// How far the commands of a submission come.
pub struct Extent {
    begun: u64,
    ended: u64,
    /// Commands so far that run a pipeline.
    runs: u64,
}

impl Extent {
    /// Of a submission that loses the device, or of another.
    pub fn new(settings: &Settings, loses: bool) -> Self {
        let of = |count: Option<u64>| count.filter(|_| loses).unwrap_or(u64::MAX);
        Self {
            begun: of(settings.begun),
            ended: of(settings.ended),
            runs: 0,
        }
    }

    /// Counts a command that runs a pipeline. Whether it begins.
    pub fn begins(&mut self) -> bool {
        self.runs += 1;
        self.runs <= self.begun
    }

    /// Executes a marker.
    pub fn execute(&self, op: &Op, checkpoints: &Checkpoints) {
        let (at_top, at_bottom) = (self.runs < self.begun, self.runs <= self.ended);
        match *op {
            Op::WriteMarker(word, value, is_behind) if (if is_behind { at_bottom } else { at_top }) => {
                // SAFETY: by valid usage, the buffer is bound to memory and live while the command is pending, and the word in it.
                unsafe { AtomicU32::from_ptr(word as *mut u32) }.store(value, Ordering::Release);
            }
            Op::Checkpoint(marker) => {
                let sides = checkpoints.0.iter().zip([at_top, at_bottom]);
                let passed = sides.filter(|(_, is_passed)| *is_passed);
                passed.for_each(|(checkpoint, _)| checkpoint.store(marker, Ordering::Release));
            }
            _ => {}
        }
    }
}

pub extern "system" fn write(
    buffer: &CommandBuffer,
    stage: Stage,
    memory: Object<'_, Buffer>,
    offset: vk::DeviceSize,
    value: u32,
) {
    buffer.push(Op::WriteMarker(
        memory.host() + offset,
        value,
        stage == Stage::BOTTOM_OF_PIPE,
    ));
}

pub extern "system" fn set_checkpoint(buffer: &CommandBuffer, marker: *const c_void) {
    buffer.push(Op::Checkpoint(marker as u64));
}

impl Checkpoints {
    /// `vkGetQueueCheckpointDataNV`.
    pub fn get(&self, count: &mut u32, data: *mut vk::CheckpointDataNV<'_>) {
        let stages = [Stage::TOP_OF_PIPE, Stage::BOTTOM_OF_PIPE];
        let passed = self
            .0
            .iter()
            .zip(stages)
            .map(|(marker, stage)| (marker.load(Ordering::Acquire), stage));
        let passed: Vec<(u64, Stage)> = passed.filter(|(marker, _)| *marker != 0).collect();
        if data.is_null() {
            *count = passed.len() as u32;
            return;
        }
        *count = (*count).min(passed.len() as u32);
        for (index, (marker, stage)) in passed.into_iter().enumerate().take(*count as usize) {
            // SAFETY: by the command's valid usage, `data` has `count` elements.
            let data = unsafe { &mut *data.add(index) };
            (data.stage, data.p_checkpoint_marker) = (stage, marker as *mut c_void);
        }
    }
}
