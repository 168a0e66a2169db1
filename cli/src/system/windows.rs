//! Windows: the loader finds layers by the registry.

use super::{Folders, Users};
use crate::failure::{Failure, Result};
use std::env;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus};
use vkabort_manifest::Kind;
use vkabort_windows::console::ignore_interrupts;
use vkabort_windows::job::Job;
use vkabort_windows::registry::Hive;

/// The folder of an installation for all users.
pub const PREFIX: &str = "C:\\Program Files";

/// The variable that makes the loader find implicit layers in `folder`, below `vulkan`, and its value. Loaders have it since
/// 1.3.296.
pub fn search_variable(folder: &Path) -> (&'static str, OsString) {
    const NAME: &str = "VK_ADD_IMPLICIT_LAYER_PATH";
    let mut list = folder.join("vulkan").join(Kind::Implicit.folder()).into_os_string();
    if let Some(others) = env::var_os(NAME).filter(|others| !others.is_empty()) {
        list.push(";");
        list.push(others);
    }
    (NAME, list)
}

/// The manifests in the loader's lists, in its order.
pub fn manifests() -> Vec<(PathBuf, Kind)> {
    let mut found = Vec::new();
    for kind in [Kind::Implicit, Kind::Explicit] {
        for hive in [Hive::Machine, Hive::User] {
            let files = hive.entries(kind.registry_key());
            found.extend(files.into_iter().map(|file| (file, kind)));
        }
    }
    found
}

/// Folders in which `install` places files: for all users in a subfolder of `prefix`.
///
/// # Errors
///
/// `LOCALAPPDATA` is not set.
pub fn folders(users: Users, prefix: &Path) -> Result<Folders> {
    let base = match users {
        Users::All => PathBuf::from(prefix),
        Users::This => env::var_os("LOCALAPPDATA")
            .filter(|folder| !folder.is_empty())
            .map(PathBuf::from)
            .ok_or_else(|| Failure::input("LOCALAPPDATA is not set: set it, or install for all users with --system"))?,
    };
    let folder = base.join("vkabort");
    Ok(Folders {
        manifests: folder.clone(),
        library: folder,
    })
}

fn hive(users: Users) -> Hive {
    match users {
        Users::All => Hive::Machine,
        Users::This => Hive::User,
    }
}

/// Adds a manifest to the loader's list.
///
/// # Errors
///
/// The registry cannot be written.
pub fn register(users: Users, kind: Kind, manifest: &Path) -> Result<()> {
    let added = hive(users).add_entry(kind.registry_key(), &std::path::absolute(manifest).unwrap_or_default());
    added.map_err(|error| registry_failure(users, kind, &error))
}

/// Removes a manifest from the loader's list.
///
/// # Errors
///
/// The registry cannot be written.
pub fn unregister(users: Users, kind: Kind, manifest: &Path) -> Result<()> {
    let removed = hive(users).remove_entry(kind.registry_key(), &std::path::absolute(manifest).unwrap_or_default());
    removed.map(drop).map_err(|error| registry_failure(users, kind, &error))
}

fn registry_failure(users: Users, kind: Kind, error: &io::Error) -> Failure {
    let (root, advice) = match users {
        Users::All => (
            "HKEY_LOCAL_MACHINE",
            " (installing for all users requires administrator rights)",
        ),
        Users::This => ("HKEY_CURRENT_USER", ""),
    };
    Failure::file(
        &format!("registry key {root}\\{}", kind.registry_key()),
        &format!("written{advice}"),
        error,
    )
}

/// Why neither the layer nor its settings have an effect in an elevated program. Programs inherit elevation from this one.
pub fn elevation_problem() -> Option<&'static str> {
    vkabort_windows::is_elevated().then_some(
        "this console has administrator rights: the Vulkan loader ignores the user's layers in programs with such rights, and \
         the layer does nothing in them; use a console without administrator rights",
    )
}

/// Nothing: the folder for temporary files is the user's own, and installed files inherit the access rights of their folder.
pub fn set_access<'a, 'b>(
    builder: &'a mut tempfile::Builder<'b, 'b>,
    _is_public: bool,
) -> &'a mut tempfile::Builder<'b, 'b> {
    builder
}

/// A program's exit code. Codes that do not fit, for example those of crashes (0xC0000005), end this process at once.
pub fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().unwrap_or(1);
    match u8::try_from(code) {
        Ok(code) => ExitCode::from(code),
        Err(_) => std::process::exit(code),
    }
}

/// Keeps a program from outliving this process, and this process from ending by a Ctrl-C that is meant for both.
pub struct Supervisor(Job);

impl Supervisor {
    /// Ignores Ctrl-C and Ctrl-Break in this process: the program receives them too, and decides.
    ///
    /// # Errors
    ///
    /// Windows refuses a handler or a job.
    pub fn new() -> io::Result<Self> {
        ignore_interrupts()?;
        Job::new().map(Self)
    }

    /// Starts a program. If this process is killed, the program ends too.
    ///
    /// # Errors
    ///
    /// As [`Command::spawn`].
    pub fn start(&self, command: &mut Command) -> io::Result<Child> {
        let child = command.spawn()?;
        // The program may have ended already, or be in a job that does not allow another: then it only lacks this guarantee.
        let _ = self.0.add(&child);
        Ok(child)
    }

    /// Nothing: Windows sends Ctrl-C to all processes of a console.
    pub fn forward(&mut self, _: &Child) {}

    /// Lets the processes that the program has left behind live on.
    pub fn finish(self) {
        let _ = self.0.release();
    }
}
