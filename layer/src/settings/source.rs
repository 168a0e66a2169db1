//! Reads the sources of settings in this process.

use crate::LAYER_NAME;
use crate::environment;
use crate::loader::chain;
use ash::vk;
use std::ffi::{CStr, c_char, c_void};
pub use vkabort_manifest::sources::Sources;
use vkabort_manifest::sources::registered_files;

/// The process's environment and settings file, and the `VkLayerSettingsCreateInfoEXT` structures of `chain`. In secure
/// execution only the latter.
///
/// # Safety
/// `chain` must be null or the valid `pNext` chain of a `VkInstanceCreateInfo`.
pub unsafe fn of_process(chain: *const c_void) -> Sources {
    // SAFETY: the caller guarantees that the chain is valid.
    let application = unsafe { application_settings(chain) };
    match environment::is_secure_execution() {
        true => Sources::of_secure_execution(application),
        false => Sources::of_process(environment::variables(), registered_files(), application),
    }
}

/// Reads the settings of `VkLayerSettingsCreateInfoEXT` that name this layer, in order, as text.
///
/// # Safety
/// `chain` must be null or a valid `pNext` chain.
unsafe fn application_settings(chain: *const c_void) -> Vec<(String, String)> {
    let mut found = Vec::new();
    // SAFETY: the caller guarantees that the chain is valid.
    let nodes = unsafe { chain::nodes(chain) };
    for info in nodes.filter_map(chain::Node::cast::<vk::LayerSettingsCreateInfoEXT<'_>>) {
        // SAFETY: `sType` identifies the structure, and `pSettings` has `settingCount` elements by valid usage.
        let settings = unsafe { slice((*info).p_settings, (*info).setting_count) };
        for setting in settings {
            // SAFETY: both are null-terminated strings by valid usage.
            let (Some(layer), Some(key)) = (unsafe { text(setting.p_layer_name) }, unsafe {
                text(setting.p_setting_name)
            }) else {
                continue;
            };
            if layer.as_bytes() != LAYER_NAME.to_bytes() {
                continue;
            }
            // SAFETY: `pValues` points to `valueCount` values of the type `type` by valid usage.
            if let Some(value) = unsafe { first_value(setting) } {
                found.push((key, value));
            }
        }
    }
    found
}

/// Reads the first value of a setting as text.
///
/// # Safety
/// `p_values` must point to `value_count` values of the type `ty`.
unsafe fn first_value(setting: &vk::LayerSettingEXT<'_>) -> Option<String> {
    let at = setting.p_values.cast::<c_void>();
    if at.is_null() || setting.value_count == 0 {
        return None;
    }
    // SAFETY: the caller guarantees that there is a value of this type.
    unsafe {
        Some(match setting.ty {
            vk::LayerSettingTypeEXT::BOOL32 => (at.cast::<u32>().read_unaligned() != 0).to_string(),
            vk::LayerSettingTypeEXT::INT32 => at.cast::<i32>().read_unaligned().to_string(),
            vk::LayerSettingTypeEXT::INT64 => at.cast::<i64>().read_unaligned().to_string(),
            vk::LayerSettingTypeEXT::UINT32 => at.cast::<u32>().read_unaligned().to_string(),
            vk::LayerSettingTypeEXT::UINT64 => at.cast::<u64>().read_unaligned().to_string(),
            vk::LayerSettingTypeEXT::FLOAT32 => at.cast::<f32>().read_unaligned().to_string(),
            vk::LayerSettingTypeEXT::FLOAT64 => at.cast::<f64>().read_unaligned().to_string(),
            vk::LayerSettingTypeEXT::STRING => text(at.cast::<*const c_char>().read_unaligned())?,
            _ => return None,
        })
    }
}

/// Copies a C string.
///
/// # Safety
/// `at` must be null or point to a null-terminated string.
unsafe fn text(at: *const c_char) -> Option<String> {
    // SAFETY: the caller guarantees that the string is valid.
    (!at.is_null()).then(|| unsafe { CStr::from_ptr(at) }.to_string_lossy().into_owned())
}

/// An array of the API as a slice. Empty if `at` is null.
///
/// # Safety
/// `at` must be null or point to `count` values that live as long as `'a`.
unsafe fn slice<'a, T>(at: *const T, count: u32) -> &'a [T] {
    if at.is_null() {
        return &[];
    }
    // SAFETY: the caller guarantees that the array is valid.
    unsafe { std::slice::from_raw_parts(at, count as usize) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_the_application_are_read_by_their_type() {
        let number = 70000i64;
        let name = c"continue".as_ptr();
        let settings = [
            vk::LayerSettingEXT {
                p_layer_name: LAYER_NAME.as_ptr(),
                p_setting_name: c"max_message_size".as_ptr(),
                ty: vk::LayerSettingTypeEXT::INT64,
                value_count: 1,
                p_values: std::ptr::from_ref(&number).cast(),
                ..Default::default()
            },
            vk::LayerSettingEXT {
                p_layer_name: LAYER_NAME.as_ptr(),
                p_setting_name: c"on_abort".as_ptr(),
                ty: vk::LayerSettingTypeEXT::STRING,
                value_count: 1,
                p_values: std::ptr::from_ref(&name).cast(),
                ..Default::default()
            },
            vk::LayerSettingEXT {
                p_layer_name: c"VK_LAYER_other".as_ptr(),
                p_setting_name: c"trap".as_ptr(),
                ty: vk::LayerSettingTypeEXT::STRING,
                value_count: 1,
                p_values: std::ptr::from_ref(&name).cast(),
                ..Default::default()
            },
        ];
        let info = vk::LayerSettingsCreateInfoEXT::default().settings(&settings);
        // SAFETY: the chain consists of one valid structure.
        let found = unsafe { application_settings(std::ptr::from_ref(&info).cast()) };
        assert_eq!(
            found,
            [
                ("max_message_size".to_owned(), "70000".to_owned()),
                ("on_abort".to_owned(), "continue".to_owned())
            ]
        );
    }
}
