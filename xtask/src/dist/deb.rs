//! Debian packages.

use super::contents::VERSION;
use super::tree::Tree;
use anyhow::Result;
use std::path::Path;
use std::process::Command;
use vkabort_test_kit::process;

/// Required in packages; the project has no mail address.
pub const MAINTAINER: &str = "vkabort authors <authors@vkabort.invalid>";

/// The text of a control file.
pub struct Control<'a> {
    /// Name of the package.
    pub package: &'a str,
    /// Debian's name of the architecture.
    pub architecture: &'a str,
    /// The fields of this package alone.
    pub fields: &'a str,
    /// The synopsis, and the description in lines that begin with a space.
    pub description: &'a str,
    /// Names and texts of other control files.
    pub others: &'a [(&'a str, &'a str)],
}

/// Name of the file of a package.
pub fn file(package: &str, architecture: &str) -> String {
    format!("{package}_{VERSION}_{architecture}.deb")
}

/// Writes the control files into `tree` and builds a package from it in `folder`.
///
/// # Errors
///
/// A file cannot be written, or dpkg-deb fails.
pub fn build(tree: &Tree, control: &Control, epoch: u64, folder: &Path) -> Result<()> {
    let paths = tree.paths()?;
    let mut sums = Command::new("md5sum");
    let is_file = |path: &&String| !tree.root.join(path.as_str()).is_symlink();
    let sums = process::output(sums.args(paths.iter().filter(is_file)).current_dir(&tree.root))?;
    let size = process::output(
        Command::new("du")
            .args(["--apparent-size", "--summarize", "--block-size=1024"])
            .arg(&tree.root),
    )?;
    let size = size.split_whitespace().next().unwrap_or("0").to_owned();
    let Control {
        package,
        architecture,
        fields,
        description,
        others,
    } = control;
    tree.write(
        "DEBIAN/control",
        format!(
            "Package: {package}\nVersion: {VERSION}\nArchitecture: {architecture}\nMaintainer: {MAINTAINER}\n\
             Installed-Size: {size}\n{fields}Description: {description}\n"
        ),
    )?;
    tree.write("DEBIAN/md5sums", sums)?;
    for (name, text) in *others {
        tree.write(&format!("DEBIAN/{name}"), text)?;
    }
    tree.set_permissions()?;
    let mut dpkg = Command::new("dpkg-deb");
    dpkg.args(["--root-owner-group", "-Zxz", "--build"]).arg(&tree.root);
    dpkg.arg(folder.join(file(package, architecture)))
        .env("SOURCE_DATE_EPOCH", epoch.to_string());
    process::output(&mut dpkg).map(drop)
}
