//! Where the values of settings come from.

use ash::vk;
use std::ffi::{CStr, c_char, c_void};
use std::path::{Path, PathBuf};

use crate::LAYER_NAME;
use crate::loader::chain;

/// The layer's name in `vk_layer_settings.txt`: lower case, without `VK_LAYER_`.
const FILE_PREFIX: &str = "vkabort_shader_abort.";
/// What precedes a key in the environment, in the order in which names are tried.
const ENV_PREFIXES: [&str; 3] = ["VK_VKABORT_SHADER_ABORT_", "VK_SHADER_ABORT_", "VK_"];

type Environment = Box<dyn Fn(&str) -> Option<String>>;

/// The three sources, read once.
pub struct Sources {
    environment: Environment,
    file: Vec<(String, String)>,
    application: Vec<(String, String)>,
}

impl Sources {
    /// The process's environment, its settings file, and the `VkLayerSettingsCreateInfoEXT` of an instance's chain.
    ///
    /// # Safety
    /// `chain` must be null or the valid `pNext` chain of a `VkInstanceCreateInfo`.
    pub unsafe fn of_process(chain: *const c_void) -> Self {
        let environment = |name: &str| std::env::var(name).ok();
        let file = settings_file(&environment)
            .and_then(|path| std::fs::read_to_string(path).ok())
            .unwrap_or_default();
        // SAFETY: the caller vouches for the chain.
        let application = unsafe { application_settings(chain) };
        Self::from_parts(environment, &file, application)
    }

    /// Sources given as they are: an environment, the text of a settings file, and pairs from the application.
    pub fn from_parts(
        environment: impl Fn(&str) -> Option<String> + 'static,
        file: &str,
        application: Vec<(String, String)>,
    ) -> Self {
        Self {
            environment: Box::new(environment),
            file: parse_file(file),
            application,
        }
    }

    /// The value of a setting and the name of what gave it.
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
            .or_else(|| from(&self.file, "vk_layer_settings.txt"))
            .or_else(|| from(&self.application, "VK_EXT_layer_settings"))
    }

    /// One complaint for every key of the layer that is not in `known`.
    pub fn unknown_keys(&self, known: &[&str]) -> Vec<String> {
        let complain = |pairs: &[(String, String)], origin: &str| -> Vec<String> {
            pairs
                .iter()
                .filter(|(key, _)| !known.contains(&key.as_str()))
                .map(|(key, _)| {
                    format!(
                        "unknown setting {key} (from {origin}) is ignored: there are {}",
                        known.join(", ")
                    )
                })
                .collect()
        };
        let mut all = complain(&self.file, "vk_layer_settings.txt");
        all.extend(complain(&self.application, "VK_EXT_layer_settings"));
        all
    }
}

/// `key = value` lines of this layer; the text after a `#` is a comment.
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

/// The first settings file that exists, in the order of the Khronos settings library.
fn settings_file(environment: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    const NAME: &str = "vk_layer_settings.txt";
    let set = |name: &str| environment(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let data = set("XDG_DATA_HOME").or_else(|| set("HOME").map(|home| home.join(".local/share")));
    let configured = data.map(|dir| dir.join("vulkan/settings.d").join(NAME));
    let named = set("VK_LAYER_SETTINGS_PATH").map(|path| if path.is_dir() { path.join(NAME) } else { path });
    [configured, named, Some(Path::new(NAME).to_path_buf())]
        .into_iter()
        .flatten()
        .find(|path| path.is_file())
}

/// Settings of `VkLayerSettingsCreateInfoEXT` that name this layer, as text. The first of equal keys comes first.
///
/// # Safety
/// `chain` must be null or a valid chain.
unsafe fn application_settings(chain: *const c_void) -> Vec<(String, String)> {
    let mut found = Vec::new();
    // SAFETY: the caller vouches for the chain.
    let nodes = unsafe { chain::nodes(chain) };
    for info in nodes.filter_map(chain::Node::cast::<vk::LayerSettingsCreateInfoEXT<'_>>) {
        // SAFETY: the type says what the node is, and the application gives `settingCount` settings.
        let settings = unsafe { slice((*info).p_settings, (*info).setting_count) };
        for setting in settings {
            // SAFETY: both are strings by the API's rules.
            let (Some(layer), Some(key)) = (unsafe { text(setting.p_layer_name) }, unsafe {
                text(setting.p_setting_name)
            }) else {
                continue;
            };
            if layer.as_bytes() != LAYER_NAME.to_bytes() {
                continue;
            }
            // SAFETY: the setting's own count and type say what `pValues` points to.
            if let Some(value) = unsafe { first_value(setting) } {
                found.push((key, value));
            }
        }
    }
    found
}

/// # Safety
/// As the API has it for `VkLayerSettingEXT`.
unsafe fn first_value(setting: &vk::LayerSettingEXT<'_>) -> Option<String> {
    let at = setting.p_values.cast::<c_void>();
    if at.is_null() || setting.value_count == 0 {
        return None;
    }
    // SAFETY: the caller vouches that the first value has the type that the setting names.
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

/// # Safety
/// `at` must be null or a valid C string.
unsafe fn text(at: *const c_char) -> Option<String> {
    // SAFETY: the caller vouches for the string.
    (!at.is_null()).then(|| unsafe { CStr::from_ptr(at) }.to_string_lossy().into_owned())
}

/// # Safety
/// `at` must be null or point to `count` values.
unsafe fn slice<'a, T>(at: *const T, count: u32) -> &'a [T] {
    if at.is_null() {
        return &[];
    }
    // SAFETY: the caller vouches for the array.
    unsafe { std::slice::from_raw_parts(at, count as usize) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_format_is_that_of_the_settings_library() {
        let text =
            "# all of it\nkhronos_validation.trap = hang\n vkabort_shader_abort.log_file = /a b/c=d # x\n\nnonsense\n";
        assert_eq!(parse_file(text), [("log_file".to_owned(), "/a b/c=d".to_owned())]);
    }

    #[test]
    fn the_application_gives_settings_of_every_type() {
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
        // SAFETY: the chain is one valid structure.
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
