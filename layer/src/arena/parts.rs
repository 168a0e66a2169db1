//! The table of an arena's parts besides control block and records: their sizes, their places, and the log's lines where they are
//! missing.

use crate::settings::{Printf, Settings};
use vkabort_instrument::{Check, Checks};
use vkabort_record::layout::CONTROL_BYTES;
use vkabort_record::shadow_area::{area_bytes, workgroup_words};

/// A part of an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Control words, counters and chunks of prints.
    Prints,
    /// The shadow area of the check `races`.
    Shadows,
    /// The table of buffers of the check `addresses`.
    BufferTable,
    /// Large constant data of modules.
    ConstantData,
}

struct Row {
    part: Part,
    /// Size in bytes on a device. 0: the device does not need the part.
    bytes: fn(&PartInputs<'_>) -> u32,
    /// Alignment in bytes in the buffer of records.
    alignment: u32,
    /// It is zero when the arena is created.
    is_zeroed: bool,
    /// It directly follows a separate control block, if there is one, since it is accessed as often.
    follows_control: bool,
    /// The log's text if there is no memory for it: the arena is then created without it. `None`: no arena is created.
    missing: Option<&'static str>,
}

/// All parts, in their order behind the records. The zeroed ones are first.
const PARTS: [Row; 4] = [
    Row {
        part: Part::Prints,
        bytes: |inputs| match inputs.settings.printf {
            Printf::Off => 0,
            Printf::On | Printf::Invocations => inputs.settings.printf_size,
        },
        alignment: 256,
        is_zeroed: true,
        follows_control: false,
        missing: Some("printf: shaders do not print"),
    },
    Row {
        part: Part::Shadows,
        bytes: |inputs| match inputs.checks.contains(Check::Races) {
            true => area_bytes(workgroup_words(inputs.shared_memory)),
            false => 0,
        },
        alignment: 256,
        is_zeroed: true,
        follows_control: true,
        missing: Some("sanitize: races on arrays that fill shared memory are not looked for"),
    },
    Row {
        part: Part::BufferTable,
        bytes: |inputs| match inputs.checks.contains(Check::Addresses) {
            true => TABLE_BYTES,
            false => 0,
        },
        alignment: 256,
        is_zeroed: false,
        follows_control: false,
        missing: Some("sanitize: addresses are not tested"),
    },
    Row {
        part: Part::ConstantData,
        bytes: |inputs| match (inputs.has_constant_data, inputs.is_cpu) {
            (true, true) => CPU_CONSTANT_BYTES,
            (true, false) => CONSTANT_BYTES,
            (false, _) => 0,
        },
        alignment: 256,
        is_zeroed: false,
        follows_control: false,
        missing: None,
    },
];

const _: () = {
    let mut index = 0;
    while index < PARTS.len() {
        assert!(PARTS[index].part as usize == index && PARTS[index].alignment.is_power_of_two());
        assert!(index == 0 || PARTS[index - 1].is_zeroed || !PARTS[index].is_zeroed);
        index += 1;
    }
};

/// Values by [`Part`].
pub type ByPart<T> = [T; PARTS.len()];

/// Memory for the table of buffers in bytes: ten versions for 100,000 buffers.
const TABLE_BYTES: u32 = 1 << 24;
/// Memory for constant data in bytes: eight arrays of the largest size. It is part of the buffer of records, which is created with
/// the device: a buffer that is created with the first table may find its address of an earlier run taken by the application.
const CONSTANT_BYTES: u32 = 1 << 21;
/// The same on CPU drivers, where pages without data take no memory.
const CPU_CONSTANT_BYTES: u32 = 1 << 24;

/// The properties of a device that the sizes of parts depend on.
pub struct PartInputs<'a> {
    /// The settings of its instance.
    pub settings: &'a Settings,
    /// Checks that are planted into its modules.
    pub checks: Checks,
    /// `maxComputeSharedMemorySize`, in bytes.
    pub shared_memory: u32,
    /// The driver runs on the CPU.
    pub is_cpu: bool,
    /// Its shaders may read constant data from memory.
    pub has_constant_data: bool,
}

/// The size of each part in bytes; 0 for those that the device does not need.
#[derive(Clone, Copy, Default)]
pub struct PartSizes(ByPart<u32>);

impl PartSizes {
    /// The sizes on a device.
    pub fn new(inputs: &PartInputs<'_>) -> Self {
        Self(std::array::from_fn(|index| (PARTS[index].bytes)(inputs)))
    }

    /// The log's texts of the parts that the arena can be created without.
    pub fn optional(&self) -> impl Iterator<Item = &'static str> {
        let needed = PARTS.iter().zip(self.0).filter(|(_, bytes)| *bytes > 0);
        needed.filter_map(|(row, _)| row.missing)
    }

    /// These parts without the optional ones.
    pub fn without_optional(self) -> Self {
        Self(std::array::from_fn(|index| match PARTS[index].missing {
            Some(_) => 0,
            None => self.0[index],
        }))
    }

    /// The places of the parts behind `record_bytes` bytes of control block and records, and behind a separate control block.
    pub fn layout(&self, record_bytes: u32, has_separate_control: bool) -> Layout {
        let mut layout = Layout {
            places: [None; PARTS.len()],
            zeroed_bytes: record_bytes,
            buffer_bytes: record_bytes,
            control_bytes: CONTROL_BYTES,
        };
        for ((row, bytes), place) in PARTS.iter().zip(self.0).zip(&mut layout.places) {
            let follows_control = row.follows_control && has_separate_control;
            let start = match follows_control {
                true => Some(layout.control_bytes),
                false => layout.buffer_bytes.checked_next_multiple_of(row.alignment),
            };
            let end = start.and_then(|start| start.checked_add(bytes));
            let (Some(offset), Some(end), 1..) = (start, end, bytes) else {
                continue;
            };
            *place = Some(Place {
                follows_control,
                offset,
                bytes,
            });
            match follows_control {
                true => layout.control_bytes = end,
                false => layout.buffer_bytes = end,
            }
            if row.is_zeroed {
                layout.zeroed_bytes = layout.buffer_bytes;
            }
        }
        layout
    }
}

/// The places of an arena's parts, and the sizes of its buffers in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// By [`Part`]. `None`: the arena has no such part.
    pub places: ByPart<Option<Place>>,
    /// Bytes of the buffer of records that must be zero.
    pub zeroed_bytes: u32,
    /// Size of the buffer of records.
    pub buffer_bytes: u32,
    /// Size of the buffer of a separate control block, which must be zero.
    pub control_bytes: u32,
}

/// The place of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// It is in the buffer of a separate control block, not in that of the records.
    pub follows_control: bool,
    /// Offset in the buffer, in bytes.
    pub offset: u32,
    /// Size in bytes. Not 0.
    pub bytes: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_the_records_or_the_control_block() {
        let parts = PartSizes([1000, 2000, 300, 64]);
        let in_records = |offset, bytes| {
            Some(Place {
                follows_control: false,
                offset,
                bytes,
            })
        };
        let layout = parts.layout(4000, false);
        let places = [
            in_records(4096, 1000),
            in_records(5120, 2000),
            in_records(7168, 300),
            in_records(7680, 64),
        ];
        assert_eq!(layout.places, places);
        assert_eq!(
            (layout.zeroed_bytes, layout.buffer_bytes, layout.control_bytes),
            (7120, 7744, CONTROL_BYTES)
        );
        let layout = parts.layout(4000, true);
        let shadows = Place {
            follows_control: true,
            offset: CONTROL_BYTES,
            bytes: 2000,
        };
        let places = [
            in_records(4096, 1000),
            Some(shadows),
            in_records(5120, 300),
            in_records(5632, 64),
        ];
        assert_eq!(layout.places, places);
        assert_eq!(
            (layout.zeroed_bytes, layout.buffer_bytes, layout.control_bytes),
            (5096, 5696, CONTROL_BYTES + 2000)
        );
    }

    #[test]
    fn parts_without_bytes_or_room_have_no_place() {
        let layout = PartSizes([0, 0, u32::MAX, 64]).layout(4000, true);
        let last = Place {
            follows_control: false,
            offset: 4096,
            bytes: 64,
        };
        assert_eq!(layout.places, [None, None, None, Some(last)]);
        assert_eq!(
            (layout.zeroed_bytes, layout.buffer_bytes, layout.control_bytes),
            (4000, 4160, CONTROL_BYTES)
        );
    }

    #[test]
    fn constant_data_is_not_optional() {
        let parts = PartSizes([1, 1, 0, 1]);
        assert_eq!(parts.optional().count(), 2);
        let parts = parts.without_optional();
        assert_eq!((parts.0, parts.optional().count()), ([0, 0, 0, 1], 0));
    }
}
