//! The sources of settings: environment, settings file and application.

use crate::LAYER_NAME;
use crate::environment::{self, is_secure_execution};
use crate::loader::chain;
use ash::vk;
use std::ffi::{CStr, c_char, c_void};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The settings file, also as the name of a source.
const FILE_NAME: &str = "vk_layer_settings.txt";
/// Size limit of a settings file in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// The application, as the name of a source.
const APPLICATION: &str = "VK_EXT_layer_settings";
/// The layer's name in `vk_layer_settings.txt`: lower case, without `VK_LAYER_`.
const FILE_PREFIX: &str = "vkabort_shader_abort.";
/// Prefixes of a key in the environment, in the order of precedence.
const ENV_PREFIXES: [&str; 3] = ["VK_VKABORT_SHADER_ABORT_", "VK_SHADER_ABORT_", "VK_"];

type Environment = Box<dyn Fn(&str) -> Option<String>>;

/// The three sources. File and application are read once.
pub struct Sources {
    environment: Environment,
    file: Vec<(String, String)>,
    application: Vec<(String, String)>,
    /// The process is in secure execution: environment and file are those of a user whom the application does not trust.
    pub only_application: bool,
}

impl Sources {
    /// The process's environment and settings file, and the `VkLayerSettingsCreateInfoEXT` structures of `chain`. In secure
    /// execution only the latter.
    ///
    /// # Safety
    /// `chain` must be null or the valid `pNext` chain of a `VkInstanceCreateInfo`.
    pub unsafe fn of_process(chain: *const c_void) -> Self {
        // SAFETY: the caller guarantees that the chain is valid.
        let application = unsafe { application_settings(chain) };
        if is_secure_execution() {
            return Self::of_secure_execution(application);
        }
        let environment = |name: &str| environment::variable(name)?.into_string().ok();
        let file = settings_file(&environment)
            .and_then(|path| read_file(&path).ok())
            .unwrap_or_default();
        Self::from_parts(environment, &file, application)
    }

    /// Sources from an environment, the text of a settings file, and the application's keys and values.
    pub fn from_parts(
        environment: impl Fn(&str) -> Option<String> + 'static,
        file: &str,
        application: Vec<(String, String)>,
    ) -> Self {
        Self {
            environment: Box::new(environment),
            file: parse_file(file),
            application,
            only_application: false,
        }
    }

    /// The application's keys and values as the only source.
    pub fn of_secure_execution(application: Vec<(String, String)>) -> Self {
        Self {
            only_application: true,
            ..Self::from_parts(|_| None, "", application)
        }
    }

    /// The value of a setting and the name of its source. Empty values count as unset.
    pub fn value(&self, key: &str) -> Option<(String, String)> {
        let upper = key.to_ascii_uppercase();
        let from_environment = ENV_PREFIXES.iter().find_map(|prefix| {
            let name = format!("{prefix}{upper}");
            let value = (self.environment)(&name)?;
            (!value.is_empty()).then(|| (value.trim().to_owned(), format!("environment variable {name}")))
        });
        let from = |pairs: &[(String, String)], origin: &str| {
            pairs
                .iter()
                .find(|(k, v)| k == key && !v.is_empty())
                .map(|(_, value)| (value.clone(), origin.to_owned()))
        };
        from_environment
            .or_else(|| from(&self.file, FILE_NAME))
            .or_else(|| from(&self.application, APPLICATION))
    }

    /// The keys of file and application that are not in `keys`, with the name of their source.
    pub fn unknown_keys(&self, keys: &[&str]) -> impl Iterator<Item = (&str, &'static str)> {
        let file = self.file.iter().map(|(key, _)| (key.as_str(), FILE_NAME));
        let application = self.application.iter().map(|(key, _)| (key.as_str(), APPLICATION));
        file.chain(application).filter(|(key, _)| !keys.contains(key))
    }
}

/// Reads a settings file, at most [`MAX_FILE_BYTES`]: the working directory may belong to another user.
fn read_file(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(MAX_FILE_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

/// Parses the `key = value` lines of this layer. `#` starts a comment.
fn parse_file(text: &str) -> Vec<(String, String)> {
    text.lines()
        .filter_map(|line| {
            let line = line.split('#').next().unwrap_or_default();
            let (key, value) = line.split_once('=')?;
            let key = key.trim().strip_prefix(FILE_PREFIX)?;
            Some((key.to_owned(), value.trim().to_owned()))
        })
        .collect()
}

/// The first settings file that exists, in the search order of the Khronos settings library.
fn settings_file(environment: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let set = |name: &str| environment(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let data = set("XDG_DATA_HOME").or_else(|| set("HOME").map(|home| home.join(".local/share")));
    let configured = data.map(|dir| dir.join("vulkan/settings.d").join(FILE_NAME));
    let named = set("VK_LAYER_SETTINGS_PATH").map(|path| if path.is_dir() { path.join(FILE_NAME) } else { path });
    [configured, named, Some(Path::new(FILE_NAME).to_path_buf())]
        .into_iter()
        .flatten()
        .find(|path| path.is_file())
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
    fn a_settings_file_is_parsed_like_by_the_khronos_library() {
        let text =
            "# all of it\nkhronos_validation.trap = hang\n vkabort_shader_abort.log_file = /a b/c=d # x\n\nnonsense\n";
        assert_eq!(parse_file(text), [("log_file".to_owned(), "/a b/c=d".to_owned())]);
    }

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
