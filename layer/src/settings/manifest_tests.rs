//! The manifests follow the rules of the loader and the layer schema of the Vulkan Configurator.

use serde_json::{Map, Value as Json};
use std::collections::BTreeSet;

const IMPLICIT: &str = include_str!("../../../manifest/VkLayer_vkabort_shader_abort.implicit.json");
const EXPLICIT: &str = include_str!("../../../manifest/VkLayer_vkabort_shader_abort.explicit.json");

fn layers() -> [(bool, Map<String, Json>); 2] {
    [(true, IMPLICIT), (false, EXPLICIT)].map(|(implicit, text)| {
        let manifest: Json = serde_json::from_str(text).expect("JSON");
        // The newest version that every loader accepts; `library_arch` would require a later one.
        assert_eq!(manifest["file_format_version"], "1.2.0");
        assert_eq!(
            keys(manifest.as_object().expect("an object")),
            ["file_format_version", "layer"]
        );
        (implicit, manifest["layer"].as_object().expect("an object").clone())
    })
}

fn settings(layer: &Map<String, Json>) -> Vec<Map<String, Json>> {
    let list = layer["features"]["settings"].as_array().expect("settings");
    list.iter().map(|s| s.as_object().expect("an object").clone()).collect()
}

fn keys(object: &Map<String, Json>) -> Vec<&str> {
    let mut keys: Vec<&str> = object.keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

fn text<'a>(object: &'a Map<String, Json>, key: &str) -> &'a str {
    let text = object.get(key).and_then(Json::as_str);
    text.unwrap_or_else(|| panic!("`{key}` is not a text in {object:?}"))
}

fn only(object: &Map<String, Json>, allowed: &[&str]) {
    for key in object.keys() {
        assert!(
            allowed.contains(&key.as_str()),
            "`{key}` is not in the schema: {object:?}"
        );
    }
}

#[test]
fn the_loader_accepts_both_manifests() {
    for (implicit, layer) in layers() {
        for key in [
            "name",
            "type",
            "api_version",
            "implementation_version",
            "description",
            "library_path",
        ] {
            assert!(!text(&layer, key).is_empty(), "{key}");
        }
        assert_eq!(text(&layer, "name").as_bytes(), crate::LAYER_NAME.to_bytes());
        assert_eq!(text(&layer, "description").as_bytes(), crate::DESCRIPTION.to_bytes());
        assert_eq!(text(&layer, "type"), "GLOBAL");
        let version: Vec<u32> = text(&layer, "api_version")
            .split('.')
            .map(|number| number.parse().expect("a number"))
            .collect();
        assert_eq!((version.len(), version[0]), (3, 1), "variant 0");
        // A relative path with a separator is relative to the manifest's folder.
        assert!(text(&layer, "library_path").starts_with("./"));
        // The loader would add them to every physical device, even where the layer cannot emulate them.
        assert!(!layer.contains_key("device_extensions"));
        let negotiate = "vkNegotiateLoaderLayerInterfaceVersion";
        assert_eq!(layer["functions"][negotiate], negotiate);
        for extension in layer
            .get("instance_extensions")
            .and_then(Json::as_array)
            .into_iter()
            .flatten()
        {
            let extension = extension.as_object().expect("an object");
            assert!(!text(extension, "name").is_empty() && !text(extension, "spec_version").is_empty());
        }
        for key in ["enable_environment", "disable_environment"] {
            let Some(environment) = layer.get(key) else {
                assert!(!implicit, "an implicit layer requires `{key}`, to be off by default");
                continue;
            };
            assert!(implicit, "an explicit layer must not have `{key}`");
            let environment = environment.as_object().expect("an object");
            assert_eq!(environment.len(), 1, "the loader reads only the first member");
            assert!(environment.values().all(|value| value.is_string()));
        }
        only(
            &layer,
            &[
                "name",
                "type",
                "library_path",
                "api_version",
                "implementation_version",
                "description",
                "introduction",
                "platforms",
                "status",
                "functions",
                "instance_extensions",
                "enable_environment",
                "disable_environment",
                "features",
            ],
        );
        assert_eq!(layer["status"], "BETA");
    }
}

#[test]
fn every_setting_follows_the_schema_of_the_configurator() {
    let [(_, layer), _] = layers();
    for setting in settings(&layer) {
        let key = text(&setting, "key");
        assert!(key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{key}");
        for required in ["label", "description"] {
            assert!(!text(&setting, required).is_empty(), "{key}");
        }
        assert_eq!(
            text(&setting, "env"),
            format!("VK_VKABORT_SHADER_ABORT_{}", key.to_uppercase())
        );
        assert!(
            ["STANDARD", "ADVANCED", "DEBUG", "HIDDEN"].contains(&text(&setting, "view")),
            "{key}"
        );
        let common = ["key", "env", "label", "description", "type", "default", "view"];
        let default = &setting["default"];
        match text(&setting, "type") {
            "ENUM" => {
                only(&setting, &[&common[..], &["flags"]].concat());
                let flags: Vec<&str> = flags(&setting).into_iter().map(|(key, _)| key).collect();
                assert!(flags.contains(&default.as_str().expect("a text")), "{key}");
                assert_eq!(flags.iter().collect::<BTreeSet<_>>().len(), flags.len(), "{key}");
            }
            "FLAGS" => {
                only(&setting, &[&common[..], &["flags"]].concat());
                assert_eq!(default, &Json::Array(Vec::new()), "{key}");
                let flags: Vec<&str> = flags(&setting).into_iter().map(|(key, _)| key).collect();
                assert_eq!(flags.iter().collect::<BTreeSet<_>>().len(), flags.len(), "{key}");
            }
            "INT" => {
                only(&setting, &[&common[..], &["range", "unit"]].concat());
                let range = setting["range"].as_object().expect("a range");
                only(range, &["min", "max"]);
                let (min, max) = (range["min"].as_i64(), range["max"].as_i64());
                let default = default.as_i64().expect("a whole number");
                assert!(
                    min.expect("whole") <= default && default <= max.expect("whole"),
                    "{key}"
                );
            }
            "STRING" => {
                only(&setting, &common);
                assert!(default.is_string(), "{key}");
            }
            "SAVE_FILE" | "SAVE_FOLDER" | "LOAD_FOLDER" => {
                only(&setting, &[&common[..], &["filter", "format"]].concat());
                assert!(default.is_string(), "{key}");
            }
            other => panic!("{key}: {other} is not a type that the manifests use"),
        }
    }
}

/// Keys and labels of a setting with a list of values.
fn flags(setting: &Map<String, Json>) -> Vec<(&str, &str)> {
    let flags = setting["flags"].as_array().expect("flags");
    flags
        .iter()
        .map(|entry| {
            let entry = entry.as_object().expect("an object");
            only(entry, &["key", "label", "description"]);
            assert!(!text(entry, "description").is_empty());
            (text(entry, "key"), text(entry, "label"))
        })
        .collect()
}
