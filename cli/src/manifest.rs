//! The layer's manifests, as they stand in `manifest/`, and the settings that they describe.

use crate::failure::{Failure, Result};
use crate::locate::Kind;
use serde_json::{Value as Json, json};
use std::path::Path;

const IMPLICIT: &str = include_str!("../../manifest/VkLayer_vkabort_shader_abort.implicit.json");
const EXPLICIT: &str = include_str!("../../manifest/VkLayer_vkabort_shader_abort.explicit.json");

/// The variable that switches the implicit layer on.
pub const ENABLE: &str = "VKABORT_ENABLE";
/// The variable that switches it off, whatever else is set.
pub const DISABLE: &str = "VKABORT_DISABLE";

fn manifest(kind: Kind) -> Result<Json> {
    let text = match kind {
        Kind::Implicit => IMPLICIT,
        Kind::Explicit => EXPLICIT,
    };
    serde_json::from_str(text).map_err(|error| Failure::input(format!("the built-in manifest is damaged: {error}")))
}

/// A manifest that names `library`.
pub fn naming(kind: Kind, library: &Path) -> Result<String> {
    let Some(library) = library.to_str() else {
        return Err(Failure::input(format!(
            "{}: a manifest is JSON and can name files in UTF-8 only",
            library.display()
        )));
    };
    let mut manifest = manifest(kind)?;
    if let Some(layer) = manifest.get_mut("layer").and_then(Json::as_object_mut) {
        layer.insert("library_path".to_owned(), json!(library));
    }
    Ok(format!("{manifest:#}\n"))
}

/// The environment variable of a setting that may have this value.
pub fn variable(key: &str, value: &str) -> Result<String> {
    let manifest = manifest(Kind::Implicit)?;
    let settings = manifest.pointer("/layer/features/settings").and_then(Json::as_array);
    let settings = settings.map(Vec::as_slice).unwrap_or_default();
    let Some(setting) = settings.iter().find(|setting| setting["key"] == key) else {
        let known: Vec<String> = settings.iter().map(describe).collect();
        return Err(Failure::input(format!(
            "no setting is called `{key}`; there are\n{}",
            known.join("\n")
        )));
    };
    let wrong = || Failure::input(format!("`{value}` is no value of this setting:\n{}", describe(setting)));
    let fits = match setting["type"].as_str() {
        Some("ENUM") => choices(setting).iter().any(|choice| choice.eq_ignore_ascii_case(value)),
        Some("INT") => {
            let number = match value.strip_prefix("0x").or_else(|| value.strip_prefix("0X")) {
                Some(digits) => i64::from_str_radix(digits, 16).ok(),
                None => value.parse().ok(),
            };
            let bound = |end: &str, open: i64| setting["range"][end].as_i64().unwrap_or(open);
            number.is_some_and(|n| (bound("min", i64::MIN)..=bound("max", i64::MAX)).contains(&n))
        }
        _ => true,
    };
    setting["env"]
        .as_str()
        .filter(|_| fits)
        .map(str::to_owned)
        .ok_or_else(wrong)
}

fn choices(setting: &Json) -> Vec<&str> {
    let flags = setting["flags"].as_array().map(Vec::as_slice).unwrap_or_default();
    flags.iter().filter_map(|flag| flag["key"].as_str()).collect()
}

/// `  trap: return, fault or hang. What ends an aborting invocation.`
fn describe(setting: &Json) -> String {
    let text = |key: &str| setting[key].as_str().unwrap_or_default();
    let takes = match text("type") {
        "ENUM" => choices(setting).join(", "),
        "INT" => format!(
            "{} to {} {}",
            setting["range"]["min"],
            setting["range"]["max"],
            text("unit")
        ),
        "SAVE_FILE" | "LOAD_FILE" => "a file".to_owned(),
        "SAVE_FOLDER" | "LOAD_FOLDER" => "a folder".to_owned(),
        _ => "a value".to_owned(),
    };
    format!(
        "  {} = {}\n      {}",
        text("key"),
        takes.trim_end(),
        text("description")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locate::LAYER;

    #[test]
    fn both_manifests_name_the_layer_and_the_library() {
        for kind in [Kind::Implicit, Kind::Explicit] {
            let text = naming(kind, Path::new("/x/lib.so")).expect("well formed");
            let json: Json = serde_json::from_str(&text).expect("JSON");
            assert_eq!(json["layer"]["library_path"], "/x/lib.so");
            assert_eq!(json["layer"]["name"], LAYER);
            assert_eq!(
                json["layer"]["enable_environment"][ENABLE] == "1",
                kind == Kind::Implicit
            );
            assert_eq!(
                json["layer"]["disable_environment"][DISABLE] == "1",
                kind == Kind::Implicit
            );
        }
    }

    #[test]
    fn settings_have_the_names_of_the_khronos_settings_library_and_checked_values() {
        assert_eq!(
            variable("arena_size", "0x100000").expect("known"),
            "VK_VKABORT_SHADER_ABORT_ARENA_SIZE"
        );
        assert!(variable("trap", "Hang").is_ok());
        assert!(variable("dump_dir", "anything at all").is_ok());
        let message = |key, value| variable(key, value).expect_err("wrong").to_string();
        assert!(message("arena", "1").contains("no setting is called `arena`"));
        assert!(message("arena", "1").contains("\n  arena_size = 65536 to 1073741824 bytes\n"));
        assert!(message("trap", "explode").contains("trap = return, fault, hang\n      What ends"));
        assert!(message("arena_size", "12").contains("`12` is no value"));
        assert!(message("arena_size", "big").contains("`big` is no value"));
    }
}
