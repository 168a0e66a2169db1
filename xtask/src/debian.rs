//! Installs Debian packages, or downloads and unpacks them without installing.
//!
//! Downloads use package lists of their own, from the mirrors that apt is configured for: they need no root access and do
//! not change the system's apt.

mod source;

use anyhow::{Context, Result, bail};
use source::Source;
pub use source::{codename, mirror};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use vkabort_test_kit::process;

/// Installs packages if run as root.
///
/// # Errors
///
/// There is no apt, this process is not root (the text gives the command to run), or apt fails.
pub fn install(packages: &[&str], purpose: &str) -> Result<()> {
    let names = packages.join(" ");
    if !process::is_on_path("apt-get") {
        bail!("{purpose} needs Debian's {names}; install the equivalent with this system's package manager");
    }
    if !process::is_root() {
        bail!("{purpose} needs packages that are not installed; run\n\n    sudo apt-get install --yes {names}\n");
    }
    println!("Installing {names}: {purpose} needs it.");
    let quiet = |words: &[&str]| {
        let mut command = Command::new("apt-get");
        command
            .args(["-qq", "-o", "Dpkg::Use-Pty=0"])
            .args(words)
            .env("DEBIAN_FRONTEND", "noninteractive");
        command
    };
    // A new machine has no package lists, or old ones.
    process::output(&mut quiet(&["update"]))?;
    process::output(quiet(&["install", "--yes", "--no-install-recommends"]).args(packages))?;
    Ok(())
}

/// Installs the packages whose file is missing: a program on the `PATH`, or an absolute path.
///
/// # Errors
///
/// As [`install`].
pub fn require(files: &[(&str, &str)], purpose: &str) -> Result<()> {
    let is_missing = |file: &str| match file.starts_with('/') {
        true => !Path::new(file).exists(),
        false => !process::is_on_path(file),
    };
    let missing = files.iter().filter(|(file, _)| is_missing(file));
    let packages: Vec<&str> = missing.map(|(_, package)| *package).collect();
    match packages.is_empty() {
        true => Ok(()),
        false => install(&packages, purpose),
    }
}

/// The headers of Vulkan, and their package.
pub const VULKAN_HEADERS: (&str, &str) = ("/usr/include/vulkan/vulkan.h", "libvulkan-dev");

/// Private package lists: those of the running Debian release, with its security updates and backports, or those of
/// another release.
pub struct Archive {
    state: PathBuf,
    codename: String,
    /// The main archive in apt's configuration.
    main: Source,
}

impl Archive {
    /// Fetches the package lists into `state`.
    ///
    /// # Errors
    ///
    /// The system is not Debian, or apt's sources are missing or cannot be reached.
    pub fn open(state: &Path) -> Result<Self> {
        if !process::is_on_path("apt-get") || !process::is_on_path("dpkg-deb") {
            bail!("drivers are unpacked from Debian packages, which needs apt-get and dpkg-deb");
        }
        let codename = codename()?;
        let sources = Source::configured()?;
        let find = |suite: &str| sources.iter().find(|source| source.suite == suite);
        let main = find(&codename).with_context(|| format!("apt has no source of packages for {codename}"))?;
        let mut list = main.line(&codename) + &main.line(&format!("{codename}-backports"));
        if let Some(security) = find(&format!("{codename}-security")) {
            list += &security.line(&security.suite);
        }
        Self::with_lists(state, codename, main.clone(), &list)
    }

    /// Fetches the package and source lists of another release into a folder beside this archive's state. To apt nothing
    /// is installed there, so that dependencies include the C library.
    ///
    /// # Errors
    ///
    /// The mirror does not have the release.
    pub fn other_release(&self, codename: &str) -> Result<Self> {
        let state = self.state.with_file_name(format!("apt-{codename}"));
        fs::create_dir_all(&state)?;
        fs::write(state.join("status"), "")?;
        let line = self.main.line(codename);
        let list = format!("{line}deb-src{}", line.trim_start_matches("deb"));
        Self::with_lists(&state, codename.to_owned(), self.main.clone(), &list)
    }

    /// The same release for another architecture, as [`Self::other_release`].
    ///
    /// # Errors
    ///
    /// The mirror does not have the architecture.
    pub fn other_architecture(&self, architecture: &str) -> Result<Self> {
        let state = self.state.with_file_name(format!("apt-{architecture}"));
        fs::create_dir_all(&state)?;
        fs::write(state.join("status"), "")?;
        fs::write(state.join("architecture"), architecture)?;
        Self::with_lists(
            &state,
            self.codename.clone(),
            self.main.clone(),
            &self.main.line(&self.codename),
        )
    }

    fn with_lists(state: &Path, codename: String, main: Source, list: &str) -> Result<Self> {
        for folder in ["lists/partial", "cache/archives/partial"] {
            fs::create_dir_all(state.join(folder))?;
        }
        fs::write(state.join("sources.list"), list)?;
        let archive = Self {
            state: state.to_path_buf(),
            codename,
            main,
        };
        process::output(archive.apt("apt-get").args(["-qq", "update"])).context("cannot fetch package lists")?;
        Ok(archive)
    }

    fn apt(&self, program: &str) -> Command {
        let at = |key: &str, path: &str| format!("{key}={}", self.state.join(path).display());
        let mut command = Command::new(program);
        for option in [
            at("Dir::State::Lists", "lists"),
            at("Dir::Cache", "cache"),
            at("Dir::Etc::sourcelist", "sources.list"),
            "Dir::Etc::sourceparts=/dev/null".into(),
            // apt's own user could not write to files of the user who runs this.
            "APT::Sandbox::User=root".into(),
        ] {
            command.args(["-o", &option]);
        }
        let status = self.state.join("status");
        if status.is_file() {
            command.args(["-o", &format!("Dir::State::status={}", status.display())]);
        }
        if let Ok(architecture) = fs::read_to_string(self.state.join("architecture")) {
            command.args(["-o", &format!("APT::Architecture={architecture}")]);
            command.args(["-o", &format!("APT::Architectures={architecture}")]);
        }
        command
    }

    /// The version of a package that [`Self::unpack`] would download, from the release or its backports.
    ///
    /// # Errors
    ///
    /// The lists do not contain the package.
    pub fn version(&self, package: &str, backports: bool) -> Result<String> {
        let shown = process::output(self.apt("apt-cache").args([
            "show",
            "--no-all-versions",
            &self.target(package, backports),
        ]))?;
        shown
            .lines()
            .find_map(|line| line.strip_prefix("Version: "))
            .map(str::to_owned)
            .with_context(|| format!("apt has no version of {package}"))
    }

    /// Downloads packages and unpacks them into `folder`, without configuring them.
    ///
    /// # Errors
    ///
    /// A package does not exist, or cannot be downloaded or unpacked.
    pub fn unpack(&self, packages: &[&str], backports: bool, folder: &Path) -> Result<()> {
        let debs = self.state.join("debs");
        let _ = fs::remove_dir_all(&debs);
        fs::create_dir_all(&debs)?;
        let mut command = self.apt("apt-get");
        command.args(["-qq", "download"]).current_dir(&debs);
        command.args(packages.iter().map(|package| self.target(package, backports)));
        process::output(&mut command)?;
        unpack_all(&debs, folder)
    }

    /// As [`Self::unpack`], with the packages that they depend on, from [`Self::other_release`].
    ///
    /// # Errors
    ///
    /// As [`Self::unpack`].
    pub fn unpack_with_dependencies(&self, packages: &[&str], folder: &Path) -> Result<()> {
        let mut command = self.apt("apt-get");
        command.args(["-qq", "install", "--no-install-recommends", "--yes", "--download-only"]);
        process::output(command.args(packages))?;
        unpack_all(&self.state.join("cache/archives"), folder)
    }

    /// Unpacks packages of another architecture, with everything that they need, into `folder`, which `finish` completes.
    ///
    /// # Errors
    ///
    /// As [`Self::unpack`], or `finish` fails.
    pub fn unpack_system(
        &self,
        architecture: &str,
        packages: &[&str],
        folder: &Path,
        finish: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<()> {
        // Unpacked beside its place and moved there when complete, so that an interrupted run leaves nothing half done.
        let fresh = folder.with_extension("new");
        let _ = fs::remove_dir_all(&fresh);
        self.other_architecture(architecture)?
            .unpack_with_dependencies(packages, &fresh)?;
        finish(&fresh)?;
        fs::rename(&fresh, folder)?;
        println!("Debian for {architecture}: unpacked into {}", folder.display());
        Ok(())
    }

    /// Downloads a package's upstream source and unpacks the members that match the patterns into `folder`, without the
    /// archive's own top folder.
    ///
    /// # Errors
    ///
    /// The release has no such source, or the archive no such member.
    pub fn unpack_source(&self, package: &str, patterns: &[&str], folder: &Path) -> Result<()> {
        let download = self.state.join("source");
        let _ = fs::remove_dir_all(&download);
        fs::create_dir_all(&download)?;
        fs::create_dir_all(folder)?;
        let mut command = self.apt("apt-get");
        command.args(["-qq", "source", "--download-only", "--tar-only", package]);
        process::output(command.current_dir(&download))?;
        for archive in fs::read_dir(&download)? {
            let mut tar = Command::new("tar");
            tar.arg("-xf").arg(archive?.path()).arg("-C").arg(folder);
            tar.args(["--strip-components=1", "--wildcards"]).args(patterns);
            process::output(&mut tar)?;
        }
        fs::remove_dir_all(&download)?;
        Ok(())
    }

    fn target(&self, package: &str, backports: bool) -> String {
        if backports {
            format!("{package}/{}-backports", self.codename)
        } else {
            package.to_owned()
        }
    }
}

/// Unpacks the packages in `debs` into `folder`, and removes them.
fn unpack_all(debs: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    for entry in fs::read_dir(debs)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "deb") {
            process::output(Command::new("dpkg-deb").arg("-x").arg(path).arg(folder))?;
        }
    }
    fs::remove_dir_all(debs)?;
    Ok(())
}
