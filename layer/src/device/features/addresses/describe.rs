//! Describes an address by the buffers that are near it, for people.

use vkabort_record::buffer_table::NEAR;

/// Addresses below are null with an offset.
const NULL_BYTES: u64 = 1 << 16;
/// A buffer and the addresses that it has, or had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub start: u64,
    pub end: u64,
    /// Empty: it has none.
    pub name: String,
}

impl Place {
    fn bytes(&self) -> u64 {
        self.end - self.start
    }

    /// `` `particles` (4096 bytes) ``
    fn show(&self) -> String {
        let bytes = self.bytes();
        match self.name.is_empty() {
            true => format!("a buffer of {bytes} bytes without a name"),
            false => format!("`{}` ({bytes} bytes)", self.name),
        }
    }

    fn contains(&self, address: u64) -> bool {
        (self.start..self.end).contains(&address)
    }

    fn is_near(&self, distance: u64) -> bool {
        distance <= self.bytes().max(NEAR.into())
    }
}

/// Offset between the address of a negative index of 32 bits and that of a driver that takes it for a large one, as NVIDIA's 580 does.
const UNSIGNED: u64 = 1 << 32;

/// Describes the place of `bytes` bytes at an address, which are not in the buffer that the pointer belongs to. `destroyed`: the last ones first.
pub fn describe<'a>(
    (address, bytes): (u64, u64),
    live: &[Place],
    destroyed: impl Iterator<Item = &'a Place> + Clone,
) -> String {
    match address {
        0 => return "null".to_owned(),
        1..NULL_BYTES => return format!("null + {address}"),
        _ if live.is_empty() && !destroyed.clone().any(|place| place.contains(address)) => {
            return "the program has no buffer with an address".to_owned();
        }
        _ => {}
    }
    let found = beside_buffers((address, bytes), live, destroyed.clone());
    let signed = || {
        let found = beside_buffers((address.checked_sub(UNSIGNED)?, bytes), live, destroyed)?;
        Some(format!(
            "near no buffer; if the driver has taken a negative index for one above 2147483647: {found}"
        ))
    };
    found.or_else(signed).unwrap_or_else(|| "near no buffer".to_owned())
}

/// Describes the place of an address by the buffers that it is in or near.
fn beside_buffers<'a>(
    (address, bytes): (u64, u64),
    live: &[Place],
    mut destroyed: impl Iterator<Item = &'a Place>,
) -> Option<String> {
    let before = live.iter().filter(|place| place.end <= address);
    let before = before
        .max_by_key(|place| place.end)
        .map(|place| (address - place.end, place));
    let before = before.filter(|(distance, place)| place.is_near(*distance));
    let around = live.iter().filter(|place| place.contains(address));
    if let Some(place) = around.max_by_key(|place| place.end) {
        let beyond = bytes.saturating_sub(place.end - address);
        return Some(match before {
            _ if beyond > 0 => format!("the last {beyond} of the {bytes} bytes are beyond {}", place.show()),
            Some((0, other)) => format!("right behind {}, in {}", other.show(), place.show()),
            Some((distance, other)) => format!("{distance} bytes beyond {}, in {}", other.show(), place.show()),
            None => format!("in {}, another buffer than that of the pointer", place.show()),
        });
    }
    if let Some(place) = destroyed.find(|place| place.contains(address)) {
        return Some(format!(
            "{} bytes into {}, which was destroyed",
            address - place.start,
            place.show()
        ));
    }
    let behind = live.iter().filter(|place| address < place.start);
    let behind = behind
        .min_by_key(|place| place.start)
        .map(|place| (place.start - address, place));
    let behind = behind.filter(|(distance, place)| place.is_near(*distance));
    match (before, behind) {
        (Some((0, place)), _) => Some(format!("right behind {}", place.show())),
        (Some((distance, place)), other) if other.is_none_or(|(other, _)| distance <= other) => {
            Some(format!("{distance} bytes beyond {}", place.show()))
        }
        (_, Some((distance, place))) => Some(format!("{distance} bytes before {}", place.show())),
        (_, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_described_by_the_nearest_buffer() {
        let place = |start: u64, bytes: u64, name: &str| Place {
            start,
            end: start + bytes,
            name: name.to_owned(),
        };
        let live = [
            place(0x10_0000, 4096, "particles"),
            place(0x10_2000, 256, ""),
            place(0x10_0000, 64, "part of particles"),
        ];
        let destroyed = [place(0x80_0000, 512, "mesh 12"), place(0x10_2000, 64, "old")];
        let show = |address, bytes| describe((address, bytes), &live, destroyed.iter());
        assert_eq!(show(0, 4), "null");
        assert_eq!(show(64, 4), "null + 64");
        assert_eq!(show(0x10_1000, 4), "right behind `particles` (4096 bytes)");
        assert_eq!(show(0x10_1010, 4), "16 bytes beyond `particles` (4096 bytes)");
        assert_eq!(
            show(0x10_0ff8, 16),
            "the last 8 of the 16 bytes are beyond `particles` (4096 bytes)"
        );
        assert_eq!(
            show(0x10_1ffc, 4),
            "4 bytes before a buffer of 256 bytes without a name"
        );
        assert_eq!(show(0x0f_fff0, 4), "16 bytes before `particles` (4096 bytes)");
        assert_eq!(
            show(0x80_0040, 4),
            "64 bytes into `mesh 12` (512 bytes), which was destroyed"
        );
        assert_eq!(
            show(0x10_20fe, 4),
            "the last 2 of the 4 bytes are beyond a buffer of 256 bytes without a name"
        );
        assert_eq!(
            show(0x10_2004, 4),
            "4100 bytes beyond `particles` (4096 bytes), in a buffer of 256 bytes without a name"
        );
        assert_eq!(
            show(0x10_0004, 4),
            "in `particles` (4096 bytes), another buffer than that of the pointer"
        );
        assert_eq!(show(0x7fff_0000_0000, 4), "near no buffer");
        assert_eq!(
            show(0x1_000f_fffc, 4),
            "near no buffer; if the driver has taken a negative index for one above 2147483647: 4 bytes before `particles` (4096 bytes)"
        );
        let none = describe((0x7fff_0000_0000, 4), &[], destroyed.iter());
        assert_eq!(none, "the program has no buffer with an address");
    }
}
