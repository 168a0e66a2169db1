//! Opaque capture addresses of an arena, and their file format:
//!
//! ```text
//! vkabort 1
//! records 7f0000001000 7f0000001000
//! control 7f0000200000 7f0000200000
//! refused 1
//! ```
//!
//! Each line has the addresses of a buffer and of its memory, in hexadecimal. `control` is present if the control block has
//! a buffer of its own, `refused` if the driver has refused the addresses since it last provided them.

use std::fmt::Write as _;

/// The first line of every file.
pub const MAGIC: &str = "vkabort 1\n";

/// Opaque capture addresses of a buffer and its memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaptureAddress {
    pub buffer: u64,
    pub memory: u64,
}

/// Opaque capture addresses of an arena.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaptureAddresses {
    pub records: CaptureAddress,
    /// Of a separate control block.
    pub control: Option<CaptureAddress>,
}

/// Formats a file's text.
pub fn format(addresses: &CaptureAddresses, refusals: u32) -> String {
    let mut text = String::from(MAGIC);
    let mut line = |name, address: &CaptureAddress| {
        let _ = writeln!(text, "{name} {:x} {:x}", address.buffer, address.memory);
    };
    line("records", &addresses.records);
    if let Some(control) = &addresses.control {
        line("control", control);
    }
    if refusals > 0 {
        let _ = writeln!(text, "refused {refusals}");
    }
    text
}

/// Parses a file's text: the addresses and the number of refusals in a row. `None` if the file is damaged.
pub fn parse(text: &str) -> Option<(CaptureAddresses, u32)> {
    let lines = text.strip_prefix(MAGIC)?.lines();
    if !text.ends_with('\n') {
        return None;
    }
    let (mut records, mut control, mut refusals) = (None, None, 0);
    for line in lines {
        let mut words = line.split(' ');
        let name = words.next()?;
        let mut number = || u64::from_str_radix(words.next()?, 16).ok();
        match name {
            "records" | "control" => {
                let address = CaptureAddress {
                    buffer: number()?,
                    memory: number()?,
                };
                let part = if name == "records" { &mut records } else { &mut control };
                // Zero would request any address.
                if part.replace(address).is_some() || address == CaptureAddress::default() {
                    return None;
                }
            }
            "refused" => refusals = u32::try_from(number()?).ok()?,
            _ => return None,
        }
        if words.next().is_some() {
            return None;
        }
    }
    let records = records?;
    Some((CaptureAddresses { records, control }, refusals))
}
