//! Opaque addresses, and how they stand in a file:
//!
//! ```text
//! vkabort 1
//! records 7f0000001000 7f0000001000
//! control 7f0000200000 7f0000200000
//! refused 1
//! ```
//!
//! A buffer's address and its memory's, in hexadecimal, as the driver calls them; `control` and `refused` only where there is
//! something to say.

use std::fmt::Write as _;

/// Opaque addresses of a buffer and its memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaptureAddress {
    pub buffer: u64,
    pub memory: u64,
}

/// Those of an arena.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaptureAddresses {
    pub records: CaptureAddress,
    /// Of a control block with a buffer of its own.
    pub control: Option<CaptureAddress>,
}

/// The text of a file.
pub fn show(known: &CaptureAddresses, refused: u32) -> String {
    let mut text = String::from("vkabort 1\n");
    let mut line = |name, opaque: &CaptureAddress| {
        let _ = writeln!(text, "{name} {:x} {:x}", opaque.buffer, opaque.memory);
    };
    line("records", &known.records);
    if let Some(control) = &known.control {
        line("control", control);
    }
    if refused > 0 {
        let _ = writeln!(text, "refused {refused}");
    }
    text
}

/// The addresses in a file, and how often they were refused.
pub fn parse(text: &str) -> Option<(Option<CaptureAddresses>, u32)> {
    let mut lines = text.lines();
    if lines.next()? != "vkabort 1" || !text.ends_with('\n') {
        return None;
    }
    let (mut records, mut control, mut refused) = (None, None, 0);
    for line in lines {
        let mut words = line.split(' ');
        let name = words.next()?;
        let mut number = || u64::from_str_radix(words.next()?, 16).ok();
        match name {
            "records" | "control" => {
                let opaque = CaptureAddress {
                    buffer: number()?,
                    memory: number()?,
                };
                let part = if name == "records" { &mut records } else { &mut control };
                // Zero asks for any address.
                if part.replace(opaque).is_some() || opaque == CaptureAddress::default() {
                    return None;
                }
            }
            "refused" => refused = u32::try_from(number()?).ok()?,
            _ => return None,
        }
        if words.next().is_some() {
            return None;
        }
    }
    let records = records?;
    Some((Some(CaptureAddresses { records, control }), refused))
}
