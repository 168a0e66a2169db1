//! The layer's manifests, in the schema of the Vulkan Configurator
//! (<https://schema.khronos.org/vulkan/layer_json_schema.json>).

use super::presets::{PRESETS, Preset};
use super::text::plain;
use crate::form::Form;
use crate::setting::{View, label};
use crate::table::{SETTINGS, Setting, find};
use serde::Serialize;
use serde_json::ser::PrettyFormatter;
use serde_json::{Serializer, Value as Json, json};
use std::collections::BTreeMap;
use vkabort_manifest::{DISABLE, ENABLE, LAYER};

/// A manifest. The members of objects with a fixed order are structs: objects of `serde_json` are sorted.
#[derive(Serialize)]
struct Manifest {
    // The newest version that every loader accepts.
    file_format_version: &'static str,
    layer: Layer,
}

#[derive(Serialize)]
struct Layer {
    name: &'static str,
    r#type: &'static str,
    library_path: &'static str,
    api_version: &'static str,
    implementation_version: &'static str,
    description: &'static str,
    introduction: &'static str,
    platforms: [&'static str; 2],
    status: &'static str,
    functions: BTreeMap<&'static str, &'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instance_extensions: Option<Json>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    enable_environment: BTreeMap<&'static str, &'static str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    disable_environment: BTreeMap<&'static str, &'static str>,
    features: Features,
}

#[derive(Serialize)]
struct Features {
    presets: Vec<PresetEntry>,
    settings: Vec<Entry>,
}

#[derive(Serialize)]
struct PresetEntry {
    label: &'static str,
    description: &'static str,
    platforms: [&'static str; 2],
    status: &'static str,
    settings: Vec<Json>,
}

#[derive(Serialize)]
struct Entry {
    key: &'static str,
    env: String,
    label: String,
    description: String,
    r#type: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    flags: Vec<Flag>,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<Range>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<&'static str>,
    default: Json,
    view: &'static str,
}

#[derive(Serialize)]
struct Flag {
    key: &'static str,
    label: String,
    description: String,
}

#[derive(Serialize)]
struct Range {
    min: u32,
    max: u32,
}

const PLATFORMS: [&str; 2] = ["WINDOWS", "LINUX"];

/// The value of a setting.
fn value(setting: &Setting, text: &str) -> Json {
    match setting.form {
        Form::List(_) => Json::from(text.split(',').filter(|name| !name.is_empty()).collect::<Vec<_>>()),
        _ if setting.form.range().is_some() => text.parse::<u32>().map_or(Json::Null, Json::from),
        _ => Json::from(text),
    }
}

fn entry(setting: &Setting) -> Entry {
    let flags = setting.form.names().into_iter().map(|row| Flag {
        key: row.name,
        label: label(row.name),
        description: plain(&row.description),
    });
    Entry {
        key: setting.key,
        env: setting.variable(),
        label: setting.label(),
        description: plain(&setting.description()),
        r#type: match setting.form {
            Form::Choice(_) => "ENUM",
            Form::List(_) => "FLAGS",
            Form::Number { .. } | Form::Bytes { .. } | Form::Milliseconds { .. } => "INT",
            Form::NumberOr { .. } | Form::Rules => "STRING",
            Form::File => "SAVE_FILE",
            Form::Folder => "SAVE_FOLDER",
            Form::InputFolder => "LOAD_FOLDER",
        },
        flags: flags.collect(),
        range: setting.form.range().map(|(min, max)| Range { min, max }),
        unit: setting.form.unit(),
        default: value(setting, &setting.default()),
        view: match setting.view {
            View::Standard => "STANDARD",
            View::Advanced => "ADVANCED",
            View::Debug => "DEBUG",
        },
    }
}

fn preset(preset: &Preset) -> PresetEntry {
    let setting = |(key, text): &(&str, &str)| {
        let value = find(key).map_or(Json::Null, |setting| value(setting, text));
        json!({"key": key, "value": value})
    };
    PresetEntry {
        label: preset.label,
        description: preset.description,
        platforms: PLATFORMS,
        status: "STABLE",
        settings: preset.settings.iter().map(setting).collect(),
    }
}

/// The text of the implicit manifest, or of the explicit one.
pub fn text(is_implicit: bool) -> String {
    let negotiate = "vkNegotiateLoaderLayerInterfaceVersion";
    let switch = |variable| is_implicit.then_some((variable, "1")).into_iter().collect();
    let layer = Layer {
        name: LAYER,
        r#type: "GLOBAL",
        library_path: "./libVkLayer_vkabort_shader_abort.so",
        api_version: "1.4.350",
        implementation_version: "1",
        description: "VK_KHR_shader_abort for every driver",
        introduction: "Adds VK_KHR_shader_abort, VK_KHR_device_fault and VK_KHR_shader_constant_data to drivers that lack them, \
                       and reports every abort with its message, source line and invocation.",
        platforms: PLATFORMS,
        status: "BETA",
        functions: BTreeMap::from([(negotiate, negotiate)]),
        instance_extensions: (!is_implicit).then(|| json!([{"name": "VK_EXT_layer_settings", "spec_version": "2"}])),
        enable_environment: switch(ENABLE),
        disable_environment: switch(DISABLE),
        features: Features {
            presets: PRESETS.iter().map(preset).collect(),
            settings: SETTINGS.iter().map(entry).collect(),
        },
    };
    let manifest = Manifest {
        file_format_version: "1.2.0",
        layer,
    };
    let mut out = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut out, PrettyFormatter::with_indent(b"    "));
    manifest.serialize(&mut serializer).expect("values of JSON");
    String::from_utf8(out).expect("JSON is UTF-8") + "\n"
}
