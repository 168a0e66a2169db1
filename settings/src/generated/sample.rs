//! `vk_layer_settings.txt`: every setting with its default, commented out.

use super::text::{plain, wrap};
use crate::table::{SETTINGS, Setting};
use std::fmt::Write;

/// Longest line in characters.
const WIDTH: usize = 120;

const INTRODUCTION: &str = "\
Settings of VK_LAYER_vkabort_shader_abort with their defaults. Remove the # in front of one to set it.

The layer reads the first of these files that exists: $XDG_DATA_HOME/vulkan/settings.d/vk_layer_settings.txt (or \
~/.local/share/vulkan/settings.d/vk_layer_settings.txt), the file or folder in VK_LAYER_SETTINGS_PATH, and \
vk_layer_settings.txt in the working directory. An environment variable, and so an option of `vkabort run`, overrides a line of \
this file, and a line overrides what an application sets through VK_EXT_layer_settings. The variable of a setting is \
VK_VKABORT_SHADER_ABORT_ and its name in upper case; the shorter prefixes VK_SHADER_ABORT_ and VK_ work too. The layer logs and \
ignores invalid values and misspelt names; `vkabort settings` lists the values in effect. VKABORT_ENABLE=1 switches the installed \
layer on, and VKABORT_DISABLE=1 off, whatever else enables it. In setuid and elevated programs the layer reads neither this file \
nor variables.";

/// Writes a text as comments. The first line begins with `start`, and the others with as many spaces.
fn comment(start: &str, text: &str, out: &mut String) {
    let indent = start.chars().count();
    for (number, line) in wrap(text, WIDTH - 2 - indent).iter().enumerate() {
        let start = if number == 0 { start } else { "" };
        let _ = writeln!(out, "# {start:indent$}{line}");
    }
}

fn entry(setting: &Setting, out: &mut String) {
    out.push('\n');
    comment("", &plain(&setting.description()), out);
    let names = setting.form.names();
    if names.is_empty() {
        comment("", &format!("Values: {}.", setting.form.describe()), out);
    }
    let width = names.iter().map(|row| row.name.len()).max().unwrap_or(0);
    for row in names {
        comment(&format!("  {:width$}  ", row.name), &plain(&row.description), out);
    }
    let line = format!("#{} = {}", setting.file_key(), setting.default());
    let _ = writeln!(out, "{}", line.trim_end());
}

/// The text of the file.
pub fn text() -> String {
    let mut out = String::new();
    for paragraph in INTRODUCTION.split("\n\n") {
        if !out.is_empty() {
            out += "#\n";
        }
        comment("", paragraph, &mut out);
    }
    for setting in SETTINGS {
        entry(setting, &mut out);
    }
    out
}

#[test]
fn long_texts_are_wrapped_and_indented() {
    let mut out = String::new();
    comment("  a  ", &"word ".repeat(30), &mut out);
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines.len() == 2 && lines[1].starts_with("#      word"), "{out}");
    assert!(lines.iter().all(|line| line.len() <= WIDTH), "{out}");
}
