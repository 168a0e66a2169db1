//! `VkDeviceFaultInfoKHR` structures and their descriptions.

use ash::vk;
use std::ffi::c_char;
use vk_ext::FaultInfo;

/// A description string of the API: UTF-8, null-terminated.
pub type Description = [c_char; vk::MAX_DESCRIPTION_SIZE];

/// A fault report without addresses and vendor information.
pub fn fault_info(group_id: u64, flags: u32, text: &str) -> FaultInfo {
    FaultInfo {
        flags,
        group_id,
        description: description(text),
        ..FaultInfo::default()
    }
}

/// Converts `text` to a description, cut at a character boundary if it is too long.
pub fn description(text: &str) -> Description {
    let mut description = [0; vk::MAX_DESCRIPTION_SIZE];
    let mut end = text.len().min(vk::MAX_DESCRIPTION_SIZE - 1);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let bytes = text.as_bytes().iter().take(end).filter(|b| **b != 0);
    for (to, from) in description.iter_mut().zip(bytes) {
        *to = *from as c_char;
    }
    description
}

/// The text of a description.
pub fn description_text(description: &Description) -> String {
    let bytes: Vec<u8> = description.iter().map(|c| *c as u8).take_while(|b| *b != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_cut_between_characters_and_always_terminated() {
        assert_eq!(description_text(&description("short")), "short");
        let long = "ä".repeat(200);
        assert_eq!(description_text(&description(&long)), "ä".repeat(127));
        assert_eq!(description(&long)[vk::MAX_DESCRIPTION_SIZE - 1], 0);
        assert_eq!(description_text(&description(&"x".repeat(256))).len(), 255);
    }
}
