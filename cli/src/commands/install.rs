//! `vkabort install` and `vkabort uninstall`

use crate::args::{InstallArgs, Place, UninstallArgs};
use crate::failure::{Failure, Result};
use crate::io;
use crate::locate::{self, Kind, LAYER, LIBRARY, MANIFEST};
use crate::manifest::{self, ENABLE};
use serde_json::json;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Where everything goes.
struct Target {
    /// The folder whose `vulkan/*_layer.d` the loader reads.
    share: PathBuf,
    /// The folder of our own for the library.
    lib: PathBuf,
}

impl Target {
    fn new(place: &Place) -> Result<Self> {
        if place.system {
            let prefix = Path::new(&place.prefix);
            return Ok(Self {
                share: prefix.join("share"),
                lib: prefix.join("lib/vkabort"),
            });
        }
        let share = locate::user_root()?;
        Ok(Self {
            lib: share.join("vkabort"),
            share,
        })
    }

    fn manifest(&self, kind: Kind) -> PathBuf {
        self.share.join("vulkan").join(kind.folder()).join(MANIFEST)
    }

    fn library(&self) -> PathBuf {
        self.lib.join(LIBRARY)
    }
}

/// Registers the layer with the loader.
pub fn install(args: &InstallArgs) -> Result<ExitCode> {
    let target = Target::new(&args.place)?;
    let source = locate::library(args.layer.as_deref())?;
    let library = if args.in_place { source } else { copy(&source, &target)? };
    let (kind, other) = match args.explicit {
        true => (Kind::Explicit, Kind::Implicit),
        false => (Kind::Implicit, Kind::Explicit),
    };
    let manifest = target.manifest(kind);
    replace(&manifest, manifest::naming(kind, &library)?.as_bytes())?;
    // The loader takes one manifest of a name; which one of two is not always the same.
    remove(&target.manifest(other))?;
    let switch = match kind {
        Kind::Implicit => format!("{ENABLE}=1"),
        Kind::Explicit => format!("VK_INSTANCE_LAYERS={LAYER}"),
    };
    if args.json {
        io::print(&format!(
            "{}\n",
            json!({"manifest": manifest, "library": library, "switch_on": switch})
        ))?;
    } else {
        io::print(&format!(
            "manifest   {}\nlibrary    {}\nswitch on  {switch} in the environment of a program\n",
            manifest.display(),
            library.display()
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Takes away what [`install`] put there.
pub fn uninstall(args: &UninstallArgs) -> Result<ExitCode> {
    let target = Target::new(&args.place)?;
    let mut removed = Vec::new();
    for path in [
        target.manifest(Kind::Implicit),
        target.manifest(Kind::Explicit),
        target.library(),
    ] {
        if remove(&path)? {
            removed.push(path);
        }
    }
    // Only if nothing else is in it.
    let _ = std::fs::remove_dir(&target.lib);
    if args.json {
        io::print(&format!("{}\n", json!({"removed": removed})))?;
    } else if removed.is_empty() {
        io::print("nothing is installed there\n")?;
    } else {
        let lines: Vec<String> = removed
            .iter()
            .map(|path| format!("removed  {}\n", path.display()))
            .collect();
        io::print(&lines.concat())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn copy(source: &Path, target: &Target) -> Result<PathBuf> {
    let library = std::path::absolute(target.library())
        .map_err(|error| Failure::file(&target.library().display().to_string(), "found", &error))?;
    if library.canonicalize().is_ok_and(|installed| installed == source) {
        return Ok(library);
    }
    let bytes = std::fs::read(source).map_err(|error| Failure::file(&source.display().to_string(), "read", &error))?;
    replace(&library, &bytes)?;
    Ok(library)
}

/// Writes a file under another name and then renames it: programs that have the old library mapped keep it, and the
/// loader never sees half a manifest.
fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let name = path.display().to_string();
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::PermissionDenied => Failure::file(&name, "written (installing for everybody takes root)", &error),
        _ => Failure::file(&name, "written", &error),
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let new = path.with_extension(format!("new-{}", std::process::id()));
    std::fs::write(&new, bytes).map_err(failed)?;
    std::fs::rename(&new, path).map_err(|error| {
        let _ = std::fs::remove_file(&new);
        failed(error)
    })
}

fn remove(path: &Path) -> Result<bool> {
    match std::fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Failure::file(&path.display().to_string(), "removed", &error)),
    }
}
