//! Reads the sources of settings in this process.

use crate::LAYER_NAME;
use crate::environment;
use crate::loader::chain;
use crate::loader::ffi::{elements, string};
use ash::vk;
use std::ffi::{c_char, c_void};
use vkabort_settings::sources::{Sources, registered_files};

/// The process's environment and settings file, and the `VkLayerSettingsCreateInfoEXT` structures of `chain`. In secure
/// execution only the latter.
///
/// # Safety
/// `chain` must be null or the valid `pNext` chain of a `VkInstanceCreateInfo`.
pub unsafe fn of_process(chain: *const c_void) -> Sources {
    // SAFETY: the chain is valid (the caller's contract).
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
    // SAFETY: the chain is valid (the caller's contract). By valid usage `pSettings` has `settingCount` elements, the names are
    // null-terminated, and `pValues` points to `valueCount` values of the type `type`.
    unsafe {
        let infos = chain::nodes(chain).filter_map(chain::Node::cast::<vk::LayerSettingsCreateInfoEXT<'_>>);
        for setting in infos.flat_map(|info| elements((*info).p_settings, (*info).setting_count)) {
            if string(setting.p_layer_name) == Some(LAYER_NAME)
                && let (Some(key), Some(value)) = (text(setting.p_setting_name), value_text(setting))
            {
                found.push((key, value));
            }
        }
    }
    found
}

/// Reads the value of a setting as text. Strings, of which a list of flags has several, are joined by commas; of other types the
/// first value counts.
///
/// # Safety
/// `p_values` must point to `value_count` values of the type `ty`.
unsafe fn value_text(setting: &vk::LayerSettingEXT<'_>) -> Option<String> {
    let at = setting.p_values.cast::<c_void>();
    if at.is_null() || setting.value_count == 0 {
        return None;
    }
    // SAFETY: there are values of this type (the caller's contract); unaligned reads need no alignment.
    unsafe {
        Some(match setting.ty {
            vk::LayerSettingTypeEXT::BOOL32 => (at.cast::<u32>().read_unaligned() != 0).to_string(),
            vk::LayerSettingTypeEXT::INT32 => at.cast::<i32>().read_unaligned().to_string(),
            vk::LayerSettingTypeEXT::INT64 => at.cast::<i64>().read_unaligned().to_string(),
            vk::LayerSettingTypeEXT::UINT32 => at.cast::<u32>().read_unaligned().to_string(),
            vk::LayerSettingTypeEXT::UINT64 => at.cast::<u64>().read_unaligned().to_string(),
            vk::LayerSettingTypeEXT::FLOAT32 => at.cast::<f32>().read_unaligned().to_string(),
            vk::LayerSettingTypeEXT::FLOAT64 => at.cast::<f64>().read_unaligned().to_string(),
            vk::LayerSettingTypeEXT::STRING => {
                let strings = at.cast::<*const c_char>();
                let texts = (0..setting.value_count as usize).map(|index| text(strings.add(index).read_unaligned()));
                texts.collect::<Option<Vec<_>>>()?.join(",")
            }
            _ => return None,
        })
    }
}

/// Copies a string.
///
/// # Safety
/// `at` must be null or null-terminated.
unsafe fn text(at: *const c_char) -> Option<String> {
    // SAFETY: null or null-terminated (the caller's contract).
    unsafe { string(at) }.map(|text| text.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_the_application_are_read_by_their_type() {
        let number = 70000i64;
        let name = c"continue".as_ptr();
        let checks = [c"loops".as_ptr(), c"breaks".as_ptr()];
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
                p_layer_name: LAYER_NAME.as_ptr(),
                p_setting_name: c"sanitize".as_ptr(),
                ty: vk::LayerSettingTypeEXT::STRING,
                value_count: 2,
                p_values: checks.as_ptr().cast(),
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
                ("on_abort".to_owned(), "continue".to_owned()),
                ("sanitize".to_owned(), "loops,breaks".to_owned())
            ]
        );
    }
}
