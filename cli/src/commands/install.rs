//! `vkabort install` and `vkabort uninstall`: register the layer with the Vulkan loader.

use crate::failure::{Failure, Result};
use crate::system::{self, Folders, Users};
use crate::{io, locate};
use clap::Args;
use serde_json::json;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use vkabort_manifest::{Bits, ENABLE, FOLDER_32, Kind, LAYER, LIBRARY, file_name, file_name_32};

/// Arguments of `vkabort install`.
#[derive(Args)]
#[command(after_help = "\
A registered layer does nothing until it is switched on: set VKABORT_ENABLE=1 in a program's environment for the
implicit layer; name the explicit layer in VK_INSTANCE_LAYERS or in the Vulkan Configurator.")]
pub struct InstallArgs {
    #[command(flatten)]
    place: Place,
    /// Register an explicit layer, which is requested by name instead of by VKABORT_ENABLE
    #[arg(long)]
    explicit: bool,
    /// The layer's library, or the folder that contains it
    #[arg(long, value_name = "PATH")]
    layer: Option<PathBuf>,
    /// Do not copy the library: the manifest names it where it is
    #[arg(long)]
    in_place: bool,
    /// Print the installed files as JSON
    #[arg(long)]
    json: bool,
}

/// Arguments of `vkabort uninstall`.
#[derive(Args)]
pub struct UninstallArgs {
    #[command(flatten)]
    place: Place,
    /// Print the removed files as JSON
    #[arg(long)]
    json: bool,
}

/// Users for whom the layer is registered.
#[derive(Args)]
struct Place {
    /// For all users of the machine
    #[arg(long)]
    system: bool,
    /// With --system: the folder below which files are installed; on Linux the loader searches its share/vulkan
    #[arg(long, value_name = "FOLDER", default_value = system::PREFIX, requires = "system")]
    prefix: PathBuf,
}

/// An installation.
struct Target {
    users: Users,
    folders: Folders,
}

impl Target {
    fn new(place: &Place) -> Result<Self> {
        let users = if place.system { Users::All } else { Users::This };
        let folders = system::folders(users, &place.prefix)?;
        Ok(Self { users, folders })
    }

    /// The manifest and the library for programs of this machine's architecture.
    fn files(&self, kind: Kind) -> (PathBuf, PathBuf) {
        let manifest = self.folders.manifests.join(kind.folder()).join(file_name(LAYER));
        (manifest, self.folders.library.join(LIBRARY))
    }

    /// The manifest and the library for 32-bit programs.
    fn files_32(&self, kind: Kind) -> (PathBuf, PathBuf) {
        let manifest = self.folders.manifests.join(kind.folder()).join(file_name_32(LAYER));
        (manifest, self.folders.library.join(FOLDER_32).join(LIBRARY))
    }

    /// Says which other manifests of the layer the loader finds, for another scope or prefix, and which of all it uses.
    fn note_others(&self) {
        let all = locate::registered();
        let is_own = |manifest: &Path| {
            let kinds = [Kind::Implicit, Kind::Explicit];
            let mut own = kinds.iter().flat_map(|kind| [self.files(*kind), self.files_32(*kind)]);
            own.any(|(own, _)| std::path::absolute(own).is_ok_and(|own| own == manifest))
        };
        let others = all
            .iter()
            .map(|found| &found.manifest)
            .filter(|manifest| !is_own(manifest));
        let others: Vec<String> = others.map(|manifest| io::input_name(manifest)).collect();
        if let Some(first) = all.first().filter(|_| !others.is_empty()) {
            io::note(&format!(
                "the layer is also registered by {}; the loader uses {}",
                others.join(" and "),
                io::input_name(&first.manifest)
            ));
        }
    }

    /// Replaces a file by renaming a new one: programs keep the old library mapped, and the loader never reads half a manifest.
    fn replace(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        let failed = |error: std::io::Error| match error.kind() {
            ErrorKind::PermissionDenied => Failure::path(path, &format!("written ({})", denied(self.users)), &error),
            _ => Failure::path(path, "written", &error),
        };
        let folder = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(failed)?;
        let new = system::set_access(&mut tempfile::Builder::new(), true)
            .tempfile_in(folder)
            .map_err(failed)?;
        new.as_file().write_all(bytes).map_err(failed)?;
        new.persist(path).map_err(|error| failed(error.error))?;
        Ok(())
    }

    /// Copies the library to its installed place, unless it is already there.
    fn copy(&self, source: &Path, installed: &Path) -> Result<PathBuf> {
        let library = std::path::absolute(installed).map_err(|error| Failure::path(installed, "found", &error))?;
        if dunce::canonicalize(&library).is_ok_and(|installed| installed == source) {
            return Ok(library);
        }
        let bytes = std::fs::read(source).map_err(|error| Failure::path(source, "read", &error))?;
        self.replace(&library, &bytes)?;
        Ok(library)
    }

    /// Removes a manifest. Returns whether it existed.
    fn remove_manifest(&self, kind: Kind, manifest: &Path) -> Result<bool> {
        system::unregister(self.users, kind, manifest)?;
        remove(manifest)
    }

    /// Copies the library to its installed place, unless `in_place`, and registers it by a manifest. Returns both paths.
    fn register(
        &self,
        kind: Kind,
        (manifest, installed): (PathBuf, PathBuf),
        source: PathBuf,
        in_place: bool,
    ) -> Result<(PathBuf, PathBuf)> {
        let library = if in_place {
            source
        } else {
            self.copy(&source, &installed)?
        };
        let text = vkabort_manifest::text(kind, LAYER, &library, Bits::of(&library))
            .map_err(|error| Failure::path(&manifest, "written", &error))?;
        self.replace(&manifest, text.as_bytes())?;
        system::register(self.users, kind, &manifest)?;
        Ok((manifest, library))
    }
}

/// Registers the layer with the loader.
///
/// # Errors
///
/// The library is not found, or a file cannot be written.
pub fn install(args: &InstallArgs) -> Result<ExitCode> {
    let target = Target::new(&args.place)?;
    let source = locate::library(args.layer.as_deref())?;
    let source_32 = locate::library_32(&source);
    let (kind, other) = match args.explicit {
        true => (Kind::Explicit, Kind::Implicit),
        false => (Kind::Implicit, Kind::Explicit),
    };
    let (manifest, library) = target.register(kind, target.files(kind), source, args.in_place)?;
    let for_32 = match source_32 {
        Some(source) => Some(target.register(kind, target.files_32(kind), source, args.in_place)?),
        None => None,
    };
    // Of two manifests with the same layer name the loader takes one, and not always the same one.
    let mut replaced = Vec::new();
    for (manifest, _) in [target.files(other), target.files_32(other)] {
        if target.remove_manifest(other, &manifest)? {
            replaced.push(manifest);
        }
    }
    let switch = match kind {
        Kind::Implicit => format!("{ENABLE}=1"),
        Kind::Explicit => format!("VK_INSTANCE_LAYERS={LAYER}"),
    };
    if args.json {
        let mut shown =
            json!({"manifest": manifest, "library": library, "switch_on": switch, "replaced": replaced.first()});
        if let Some((manifest, library)) = for_32 {
            shown["manifest_32"] = json!(manifest);
            shown["library_32"] = json!(library);
        }
        io::print_json(&shown)?;
    } else {
        let lines = [(manifest, library)].into_iter().chain(for_32);
        let lines = lines.map(|(manifest, library)| {
            let (manifest, library) = (io::input_name(&manifest), io::input_name(&library));
            format!("manifest   {manifest}\nlibrary    {library}\n")
        });
        let replaced = replaced
            .iter()
            .map(|manifest| format!("replaced   {}\n", io::input_name(manifest)));
        let lines: String = lines.chain(replaced).collect();
        io::print(&format!("{lines}switch on  {switch} in the environment of a program\n"))?;
    }
    target.note_others();
    Ok(ExitCode::SUCCESS)
}

/// Unregisters the layer and removes its library.
///
/// # Errors
///
/// A file cannot be removed.
pub fn uninstall(args: &UninstallArgs) -> Result<ExitCode> {
    let target = Target::new(&args.place)?;
    let mut removed = Vec::new();
    for kind in [Kind::Implicit, Kind::Explicit] {
        for (manifest, _) in [target.files(kind), target.files_32(kind)] {
            if target.remove_manifest(kind, &manifest)? {
                removed.push(manifest);
            }
        }
        if cfg!(windows) {
            // Fails, as it should, if the folder has other files.
            let _ = std::fs::remove_dir(target.folders.manifests.join(kind.folder()));
        }
    }
    // The folder of the 32-bit library is in that of the other.
    for (_, library) in [target.files_32(Kind::Implicit), target.files(Kind::Implicit)] {
        if remove(&library)? {
            removed.push(library.clone());
        }
        if let Some(folder) = library.parent() {
            // Fails, as it should, if the folder has other files.
            let _ = std::fs::remove_dir(folder);
        }
    }
    if args.json {
        io::print_json(&json!({"removed": removed}))?;
    } else if removed.is_empty() {
        io::print(&format!(
            "the layer is not installed in {}\n",
            io::input_name(&target.folders.manifests)
        ))?;
    } else {
        let lines: Vec<String> = removed
            .iter()
            .map(|path| format!("removed  {}\n", io::input_name(path)))
            .collect();
        io::print(&lines.concat())?;
    }
    target.note_others();
    Ok(ExitCode::SUCCESS)
}

/// Why a file cannot be written.
fn denied(users: Users) -> &'static str {
    match (users, cfg!(windows)) {
        (_, true) => "end the programs that use the layer; installing for all users requires administrator rights",
        (Users::All, false) => {
            "installing for all users requires root; without --system, it is installed for this user"
        }
        (Users::This, false) => {
            "the folder does not belong to this user: correct its owner, or set XDG_DATA_HOME to another folder"
        }
    }
}

/// Removes a file. Returns whether it existed.
fn remove(path: &Path) -> Result<bool> {
    match std::fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Failure::path(path, "removed", &error)),
    }
}
