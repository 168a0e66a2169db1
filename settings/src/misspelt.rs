//! Environment variables and lines of a settings file that look like the layer's and have no effect.

use crate::value::nearest;
use crate::{ENV_PREFIXES, FILE_PREFIX};
use vkabort_manifest::{DISABLE, ENABLE};

/// Largest number of differences between a prefix and a misspelt one.
const PREFIX_DISTANCE: usize = 4;

/// Reports a variable that has no effect on the layer although its name looks like one of the layer's. `keys`: the settings.
pub(crate) fn variable(name: &str, keys: &[&str]) -> Option<String> {
    if name == ENABLE || name == DISABLE {
        return None;
    }
    let [full, short, _] = ENV_PREFIXES;
    if let Some(key) = name.strip_prefix(full).or_else(|| name.strip_prefix(short)) {
        return (!is_key(key, keys)).then(|| {
            let suggested = nearest(key, keys.iter().copied()).map(|key| format!("{full}{}", key.to_ascii_uppercase()));
            unknown(name, "a variable of this layer", suggested.as_deref())
        });
    }
    let switch = [ENABLE, DISABLE]
        .into_iter()
        .find(|switch| name.len().abs_diff(switch.len()) <= 2 && strsim::osa_distance(name, switch) <= 2);
    let suggested = switch.map(str::to_owned).or_else(|| of_similar_prefix(name, keys));
    suggested.map(|suggested| unknown(name, "a variable of this layer", Some(&suggested)))
}

/// The variable of the setting that `name` ends with, if the rest of the name resembles a prefix of the layer's.
fn of_similar_prefix(name: &str, keys: &[&str]) -> Option<String> {
    let [full, short, _] = ENV_PREFIXES;
    // The longest key, since some keys end with another one.
    let key = keys
        .iter()
        .filter(|key| ends_with(name, key))
        .max_by_key(|key| key.len())?;
    let prefix = name.get(..name.len().checked_sub(key.len())?)?.to_ascii_uppercase();
    // `VKABORT` of `VK_VKABORT_SHADER_ABORT_`.
    let vendor = full.split('_').nth(1)?;
    let is_similar =
        |own: &str| own.len() > PREFIX_DISTANCE * 2 && strsim::osa_distance(&prefix, own) <= PREFIX_DISTANCE;
    let is_meant = is_similar(full) || is_similar(short) || prefix.split('_').any(|part| part == vendor);
    is_meant.then(|| format!("{full}{}", key.to_ascii_uppercase()))
}

/// Reports the key of a line of the settings file that is not one of the layer's but looks like it.
pub(crate) fn file_key(line_key: &str, keys: &[&str]) -> Option<String> {
    let layer = FILE_PREFIX.trim_end_matches('.');
    let suggested = match line_key.split_once('.') {
        // The key of another layer, unless its name is similar.
        Some((name, key)) => {
            let name = name.to_ascii_lowercase();
            let name = name.strip_prefix("vk_layer_").unwrap_or(&name);
            let is_similar =
                strsim::osa_distance(name, layer) <= PREFIX_DISTANCE || layer.split('_').next() == Some(name);
            let key = nearest(key, keys.iter().copied()).filter(|_| is_similar)?;
            format!("{FILE_PREFIX}{key}")
        }
        // Every setting of a layer has a dot.
        None => format!("{FILE_PREFIX}{}", nearest(line_key, keys.iter().copied())?),
    };
    Some(unknown(line_key, "a setting of this layer", Some(&suggested)))
}

fn unknown(name: &str, kind: &str, suggested: Option<&str>) -> String {
    let hint = suggested
        .map(|name| format!(" Did you mean `{name}`?"))
        .unwrap_or_default();
    format!("`{name}` is not {kind} and has no effect.{hint}")
}

fn is_key(key: &str, keys: &[&str]) -> bool {
    keys.iter().any(|own| own.eq_ignore_ascii_case(key))
}

fn ends_with(name: &str, key: &str) -> bool {
    name.len()
        .checked_sub(key.len())
        .and_then(|at| name.get(at..))
        .is_some_and(|end| end.eq_ignore_ascii_case(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [&str; 4] = ["trap", "memory", "on_abort", "log_level"];

    fn hint(name: &str) -> Option<String> {
        let text = variable(name, &KEYS)?;
        Some(text.split_once("Did you mean `")?.1.trim_end_matches("`?").to_owned())
    }

    #[test]
    fn variables_that_look_like_the_layers_are_reported() {
        for (name, expected) in [
            ("VK_VKABORT_SHADER_ABORT_TRAPP", "VK_VKABORT_SHADER_ABORT_TRAP"),
            ("VK_SHADER_ABORT_ON_ABROT", "VK_VKABORT_SHADER_ABORT_ON_ABORT"),
            ("VK_VKABORT_SHADERABORT_TRAP", "VK_VKABORT_SHADER_ABORT_TRAP"),
            ("VKABORT_SHADER_ABORT_LOG_LEVEL", "VK_VKABORT_SHADER_ABORT_LOG_LEVEL"),
            ("VK_LAYER_VKABORT_SHADER_ABORT_TRAP", "VK_VKABORT_SHADER_ABORT_TRAP"),
            ("VKABORT_TRAP", "VK_VKABORT_SHADER_ABORT_TRAP"),
            ("VK_VKABORT_ON_ABORT", "VK_VKABORT_SHADER_ABORT_ON_ABORT"),
            ("VKABORT_ENABLED", "VKABORT_ENABLE"),
            ("VKABORT_DISABEL", "VKABORT_DISABLE"),
        ] {
            assert_eq!(hint(name).as_deref(), Some(expected), "{name}");
        }
        let unlike = variable("VK_VKABORT_SHADER_ABORT_XYZ", &KEYS);
        assert!(unlike.is_some_and(|text| text.ends_with("has no effect.")));
    }

    #[test]
    fn other_variables_are_not_reported() {
        for name in [
            "VKABORT_ENABLE",
            "VKABORT_DISABLE",
            "VK_VKABORT_SHADER_ABORT_TRAP",
            "VK_SHADER_ABORT_LOG_LEVEL",
            "VK_TRAP",
            "VK_LOADER_DEBUG",
            "VK_KHRONOS_VALIDATION_LOG_LEVEL",
            "VKABORT_TEST_DRIVER",
            "VKABORT_REQUIRE_DRIVERS",
            "HOME",
            "MEMORY",
            "ÄÖÜ",
        ] {
            assert_eq!(variable(name, &KEYS), None, "{name}");
        }
    }

    #[test]
    fn keys_of_the_file_that_look_like_the_layers_are_reported() {
        for key in [
            "vkabort_shader_abrot.trap",
            "VK_LAYER_vkabort_shader_abort.trap",
            "vkabort.trap",
            "trap",
            "tarp",
        ] {
            let text = file_key(key, &KEYS);
            assert!(
                text.is_some_and(|text| text.ends_with("Did you mean `vkabort_shader_abort.trap`?")),
                "{key}"
            );
        }
        for key in ["khronos_validation.log_level", "lunarg_api_dump.output", "anything"] {
            assert_eq!(file_key(key, &KEYS), None, "{key}");
        }
    }
}
