//! The shadow area, where the check `races` keeps the shadow of arrays that fill shared memory.

use crate::arena::{Arena, MappedWords, Part};
use crate::log::{Level, Log};
use vkabort_instrument::{Options, ShadowArea};
use vkabort_record::shadow_area::{MISSED_OFFSET, NEXT_OFFSET, workgroup_words};

/// The shadow area of a device.
pub struct Shadow(MappedWords);

impl Shadow {
    /// The area of a new device, which the rewriter gets in `options`. `None`: the arena has no memory for it. `shared_memory`:
    /// `maxComputeSharedMemorySize`. The arena must outlive the result.
    pub fn create(arena: &mut Arena, options: &mut Options, shared_memory: u32) -> Option<Self> {
        let area = arena.take(Part::Shadows)?;
        options.shadow_area = Some(ShadowArea {
            address: area.address,
            words: workgroup_words(shared_memory),
        });
        Some(Self(area))
    }

    /// Logs how many workgroups found no free block.
    pub fn log_missed_workgroups(&self, log: &Log) {
        let [all, missed] = [NEXT_OFFSET, MISSED_OFFSET].map(|offset| self.0.load(offset));
        // Memory that was lost with the device reads as zeros or ones.
        if missed != 0 && missed != u32::MAX {
            let text = format!(
                "sanitize: races on arrays that fill shared memory were not looked for in {missed} of {all} workgroups"
            );
            log.line(Level::Warning, &text);
        }
    }
}
