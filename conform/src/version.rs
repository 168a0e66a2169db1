//! Vulkan version numbers as text.

use ash::vk;

/// `MAJOR.MINOR.PATCH`
pub fn show(version: u32) -> String {
    let [major, minor, patch] = [
        vk::api_version_major(version),
        vk::api_version_minor(version),
        vk::api_version_patch(version),
    ];
    format!("{major}.{minor}.{patch}")
}
