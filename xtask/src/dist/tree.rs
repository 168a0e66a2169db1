//! The files of a package in a folder, and archives of it that do not depend on the machine.

use anyhow::{Context, Result};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use vkabort_test_kit::process;

/// A folder with the files of a package.
pub struct Tree {
    /// The folder.
    pub root: PathBuf,
}

impl Tree {
    /// An empty tree in place of the files at `root`.
    ///
    /// # Errors
    ///
    /// The folder cannot be created.
    pub fn new(root: PathBuf) -> Result<Self> {
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(&root)?;
        Ok(Self { root })
    }

    /// Writes a file.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) -> Result<()> {
        let to = self.root.join(path);
        fs::create_dir_all(to.parent().unwrap_or(&self.root))?;
        fs::write(&to, bytes).with_context(|| format!("cannot write {}", to.display()))
    }

    /// Writes a program, which is executable.
    ///
    /// # Errors
    ///
    /// As [`Self::write`].
    pub fn write_program(&self, path: &str, bytes: impl AsRef<[u8]>) -> Result<()> {
        self.write(path, bytes)?;
        Ok(fs::set_permissions(
            self.root.join(path),
            fs::Permissions::from_mode(0o755),
        )?)
    }

    /// Copies a file.
    ///
    /// # Errors
    ///
    /// The file cannot be read or written.
    pub fn copy(&self, path: &str, from: &Path) -> Result<()> {
        let bytes = fs::read(from).with_context(|| format!("cannot read {}", from.display()))?;
        self.write(path, bytes)
    }

    /// Writes a symbolic link.
    ///
    /// # Errors
    ///
    /// The link cannot be written.
    pub fn link(&self, path: &str, to: &str) -> Result<()> {
        let link = self.root.join(path);
        fs::create_dir_all(link.parent().unwrap_or(&self.root))?;
        symlink(to, &link).with_context(|| format!("cannot write {}", link.display()))
    }

    /// Compresses the file at `path`, which gets the extension `gz`.
    ///
    /// # Errors
    ///
    /// gzip fails.
    pub fn compress(&self, path: &str) -> Result<()> {
        process::output(
            Command::new("gzip")
                .args(["--best", "--no-name"])
                .arg(self.root.join(path)),
        )
        .map(drop)
    }

    /// Paths of all files and links, relative to the root, sorted.
    ///
    /// # Errors
    ///
    /// A folder cannot be read.
    pub fn paths(&self) -> Result<Vec<String>> {
        let mut find = Command::new("find");
        find.args([".", "!", "-type", "d", "-printf", "%P\\n"])
            .current_dir(&self.root);
        let mut paths: Vec<String> = process::output(&mut find)?.lines().map(str::to_owned).collect();
        paths.sort();
        Ok(paths)
    }

    /// Gives every file and folder the permissions that packages have, whatever this process's mask is.
    ///
    /// # Errors
    ///
    /// chmod fails.
    pub fn set_permissions(&self) -> Result<()> {
        process::output(Command::new("chmod").args(["-R", "u=rwX,go=rX"]).arg(&self.root)).map(drop)
    }

    /// Packs the tree into a compressed archive whose paths begin with `top`, and whose files have the time `epoch`, in
    /// seconds since 1970.
    ///
    /// # Errors
    ///
    /// tar or gzip fails.
    pub fn pack(&self, top: &str, epoch: u64, archive: &Path) -> Result<()> {
        self.set_permissions()?;
        let tar = archive.with_extension("");
        let mut command = Command::new("tar");
        command
            .args([
                "--create",
                "--format=ustar",
                "--sort=name",
                "--owner=0",
                "--group=0",
                "--numeric-owner",
            ])
            .args([
                format!("--mtime=@{epoch}"),
                format!("--transform=flags=r;s,^\\.,{top},"),
            ])
            .arg("--file")
            .args([&tar, Path::new("--directory"), &self.root])
            .arg(".");
        process::output(&mut command)?;
        process::output(Command::new("gzip").args(["--best", "--no-name", "--force"]).arg(&tar)).map(drop)
    }
}
