//! Sources of settings, their precedence, and invalid values.

use super::objects::message_limit;
use crate::case::{Case, Context, cases};
use crate::vk::{Chained, Gpu};
use anyhow::{Result, ensure};
use ash::vk;
use std::ffi::CStr;
use std::fs;

pub(super) const CASES: &[Case] = cases! {
    "settings::the_environment_overrides_the_file_which_overrides_the_application" => precedence(context),
        in_own_process(), alone(), silent();
    "settings::an_invalid_value_is_reported_and_ignored" => wrong_value(context),
        alone(), set(&[("trap", "explode")]),
        logs(&[
            "`explode` is not a valid value for trap (from environment variable VK_VKABORT_SHADER_ABORT_TRAP); using return. \
             Valid values: return, fault, hang",
            "`5` is not a valid value for max_message_size (from vk_layer_settings.txt, line 1); using 65536. Valid values: 65536 \
             to 16777216 bytes, also as 64K or 1M",
            "`perhaps` is not a valid value for on_abort (from VK_EXT_layer_settings); using lose. Valid values: lose, \
             continue",
            "vk_layer_settings.txt, line 2: `no_such` is not a setting of this layer and has no effect. `vkabort settings` lists \
             the settings",
        ]);
    "settings::names_without_effect_are_reported_with_the_nearest_one" => misspelt(context),
        alone(), set(&[("on_abrot", "continue")]),
        with(&[("VKABORT_TRAP", "hang"), ("VK_LAYER_SETTINGS_PATH", "nowhere.txt")]), reports("misspelt_settings");
    "settings::bytes_may_have_a_suffix" => suffix(context), alone(), set(&[("max_message_size", "128K")]), silent();
    "settings::emulation_can_be_switched_off" => off(gpu), alone(), set(&[("emulation", "off")]), silent();
};

const LAYER: &CStr = c"VK_LAYER_vkabort_shader_abort";

/// A string setting of `VK_EXT_layer_settings`.
pub(super) fn text<'a>(key: &'a CStr, value: &'a [*const std::ffi::c_char; 1]) -> vk::LayerSettingEXT<'a> {
    vk::LayerSettingEXT {
        p_layer_name: LAYER.as_ptr(),
        p_setting_name: key.as_ptr(),
        ty: vk::LayerSettingTypeEXT::STRING,
        value_count: 1,
        p_values: value.as_ptr().cast(),
        ..Default::default()
    }
}

/// Opens the driver with settings of the application.
pub(super) fn open(context: &Context, settings: &[vk::LayerSettingEXT<'_>]) -> Result<Gpu> {
    let chained = Chained {
        settings,
        ..Chained::default()
    };
    Gpu::open_with(context, vk::API_VERSION_1_3, &chained)
}

/// `maxShaderAbortMessageSize` on a new instance, which reflects the setting `max_message_size`.
fn limit(context: &Context, settings: &[vk::LayerSettingEXT<'_>]) -> Result<u64> {
    Ok(message_limit(&open(context, settings)?))
}

fn precedence(context: &Context) -> Result<()> {
    let number: i64 = 131_072;
    let settings = [vk::LayerSettingEXT {
        p_layer_name: LAYER.as_ptr(),
        p_setting_name: c"max_message_size".as_ptr(),
        ty: vk::LayerSettingTypeEXT::INT64,
        value_count: 1,
        p_values: std::ptr::from_ref(&number).cast(),
        ..Default::default()
    }];
    let is = |expected: u64, found: u64, source: &str| {
        ensure!(found == expected, "{source}: {found} bytes instead of {expected}");
        Ok(())
    };
    is(65536, limit(context, &[])?, "the default")?;
    is(131_072, limit(context, &settings)?, "the application")?;
    let line = |size| format!("vkabort_shader_abort.max_message_size = {size} # bytes\n");
    // The working directory, the path in the variable, the Vulkan Configurator's folder: the last one wins.
    fs::write("vk_layer_settings.txt", line(196_608))?;
    is(196_608, limit(context, &settings)?, "the working directory")?;
    fs::create_dir_all("named")?;
    fs::write("named/vk_layer_settings.txt", line(262_144))?;
    let set = |name: &str, value: &str| {
        // SAFETY: no other thread runs between the instances.
        unsafe { std::env::set_var(name, value) };
    };
    set("VK_LAYER_SETTINGS_PATH", "named");
    is(262_144, limit(context, &settings)?, "VK_LAYER_SETTINGS_PATH")?;
    let data = std::env::current_dir()?.join("data");
    fs::create_dir_all(data.join("vulkan/settings.d"))?;
    fs::write(data.join("vulkan/settings.d/vk_layer_settings.txt"), line(327_680))?;
    set("XDG_DATA_HOME", &data.to_string_lossy());
    is(327_680, limit(context, &settings)?, "the user's data folder")?;
    // Variable names from least to most specific.
    for (name, size) in [
        ("VK_MAX_MESSAGE_SIZE", 393_216),
        ("VK_SHADER_ABORT_MAX_MESSAGE_SIZE", 458_752),
        ("VK_VKABORT_SHADER_ABORT_MAX_MESSAGE_SIZE", 524_288),
    ] {
        set(name, &size.to_string());
        is(size, limit(context, &settings)?, name)?;
    }
    Ok(())
}

fn wrong_value(context: &Context) -> Result<()> {
    fs::write(
        "vk_layer_settings.txt",
        "vkabort_shader_abort.max_message_size = 5\nvkabort_shader_abort.no_such = 1\n",
    )?;
    let value = [c"perhaps".as_ptr()];
    let found = limit(context, &[text(c"on_abort", &value)])?;
    ensure!(found == 65536, "{found} bytes");
    Ok(())
}

/// Each is reported once for an instance.
fn misspelt(context: &Context) -> Result<()> {
    let lines = [
        "vkabort_shader_abort.tarp = hang",
        "vkabort_shader_abrot.trap = hang",
        "trap = hang",
    ];
    // The loader and other layers have lines of their own.
    let others = ["khronos_validation.log_level = none", "# trap = hang"];
    fs::write("vk_layer_settings.txt", [&lines[..], &others[..]].concat().join("\n"))?;
    let value = [c"lose".as_ptr()];
    let found = limit(context, &[text(c"on_abrot", &value)])?;
    ensure!(found == 65536, "{found} bytes");
    Ok(())
}

fn suffix(context: &Context) -> Result<()> {
    let found = limit(context, &[])?;
    ensure!(found == 128 << 10, "{found} bytes");
    Ok(())
}

fn off(gpu: &Gpu) -> Result<()> {
    ensure!(
        !gpu.has_extension(crate::vk::khr::SHADER_ABORT_NAME)?,
        "the extension is still listed"
    );
    Ok(())
}
