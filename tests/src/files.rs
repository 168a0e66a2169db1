//! The files that cases read: shaders and expected reports. They stand in the repository, or where the bundle has unpacked
//! them.

use std::path::{Path, PathBuf};

/// The variable that names the folder with `shaders` and `reports`, on machines without the repository.
pub const VARIABLE: &str = "VKABORT_TEST_FILES";

/// The folders of the tests whose files cases read.
pub const FOLDERS: [&str; 2] = ["shaders", "reports"];

/// Whether this machine has not the repository, but what the bundle brought.
pub fn are_carried() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// The folder of that name.
pub fn folder(name: &str) -> PathBuf {
    let carried = std::env::var_os(VARIABLE).map(PathBuf::from);
    carried
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf())
        .join(name)
}
