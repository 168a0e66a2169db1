//! Writes the manifests of drivers and layers that packages bring without one.

use anyhow::{Context, Result};
use serde_json::json;
use std::fs;
use std::path::Path;

/// Writes the manifest of a driver, `icd.json`, into `folder`.
///
/// # Errors
///
/// The manifest cannot be written.
pub fn write_driver_manifest(folder: &Path, library: &Path, api_version: &str) -> Result<()> {
    let manifest = json!({
        "file_format_version": "1.0.0",
        "ICD": { "library_path": library, "api_version": api_version },
    });
    let text = serde_json::to_string_pretty(&manifest)?;
    fs::write(folder.join("icd.json"), text).context("cannot write a driver manifest")
}

/// Writes the validation layer's manifest into the subfolder `validation` of `folder`.
///
/// # Errors
///
/// The manifest cannot be written.
pub fn write_validation_manifest(folder: &Path, library: &Path) -> Result<()> {
    let manifest = json!({
        "file_format_version": "1.2.0",
        "layer": {
            "name": "VK_LAYER_KHRONOS_validation",
            "type": "GLOBAL",
            "library_path": library,
            "api_version": "1.4.341",
            "implementation_version": "1",
            "description": "Khronos Validation Layer",
        },
    });
    let folder = folder.join("validation");
    fs::create_dir_all(&folder)?;
    let text = serde_json::to_string_pretty(&manifest)?;
    fs::write(folder.join("VkLayer_khronos_validation.json"), text).context("cannot write a layer manifest")
}
