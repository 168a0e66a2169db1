//! Files that cases read, in the repository or in the bundle.

use std::path::{Path, PathBuf};

/// Environment variable with the folder that contains `shaders` and `reports`, on machines without the repository.
pub const VARIABLE: &str = "VKABORT_TEST_FILES";

/// Whether they are those of the bundle.
pub fn are_unpacked() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Path of a folder.
pub fn folder(name: &str) -> PathBuf {
    let unpacked = std::env::var_os(VARIABLE).map(PathBuf::from);
    unpacked
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf())
        .join(name)
}
