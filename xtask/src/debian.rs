//! Debian packages: installed where that is wanted, or downloaded and unpacked beside the system.
//!
//! Downloads use package lists of their own, made from the mirrors that the machine is configured for, so that neither
//! root nor any change to the system's apt is needed.

use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use vkabort_test_kit::process;

/// Installs packages, or says how when this process may not.
///
/// # Errors
///
/// There is no apt here, this process is not root, or apt failed.
pub fn install(packages: &[&str], purpose: &str) -> Result<()> {
    let names = packages.join(" ");
    if !process::exists("apt-get") {
        bail!("{purpose} needs what Debian calls {names}; install it with this system's package manager");
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
    // A fresh machine has no package lists, or old ones.
    process::output(&mut quiet(&["update"]))?;
    process::output(quiet(&["install", "--yes", "--no-install-recommends"]).args(packages))?;
    Ok(())
}

/// One source of packages that the machine is configured for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Source {
    uri: String,
    suite: String,
    signed_by: Option<String>,
}

/// Package lists of our own for the Debian release that runs here: main, updates of security, and backports.
pub struct Archive {
    state: PathBuf,
    /// The release's code name.
    pub codename: String,
    /// The mirror of the main archive.
    pub mirror: String,
}

impl Archive {
    /// Fetches the package lists into `state`.
    ///
    /// # Errors
    ///
    /// This is not Debian, its mirrors are not configured, or they cannot be reached.
    pub fn open(state: &Path) -> Result<Self> {
        if !process::exists("apt-get") || !process::exists("dpkg-deb") {
            bail!("drivers are unpacked from Debian packages, and there is no apt-get and dpkg-deb here");
        }
        let release = fs::read_to_string("/etc/os-release").context("cannot read /etc/os-release")?;
        let codename = release
            .lines()
            .find_map(|line| line.strip_prefix("VERSION_CODENAME="))
            .map(|name| name.trim_matches('"').to_owned())
            .context("/etc/os-release names no Debian release")?;
        let sources = configured_sources(Path::new("/etc/apt"));
        let find = |suite: &str| {
            sources
                .iter()
                .find(|source| source.suite.trim_end_matches('/') == suite)
        };
        let main =
            find(&codename).with_context(|| format!("/etc/apt configures no source of packages for {codename}"))?;
        let mut list = line(main, &codename) + &line(main, &format!("{codename}-backports"));
        if let Some(security) = find(&format!("{codename}-security")) {
            list += &line(security, &security.suite);
        }
        for folder in ["lists/partial", "cache/archives/partial"] {
            fs::create_dir_all(state.join(folder))?;
        }
        fs::write(state.join("sources.list"), list)?;
        let archive = Self {
            state: state.to_path_buf(),
            codename,
            mirror: main.uri.clone(),
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
            // The files belong to whoever runs this, not to apt's own user.
            "APT::Sandbox::User=root".into(),
        ] {
            command.args(["-o", &option]);
        }
        command
    }

    /// The version of a package that [`Self::unpack`] would fetch, from the release itself or from its backports.
    ///
    /// # Errors
    ///
    /// The package is not there.
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
            .with_context(|| format!("apt knows no version of {package}"))
    }

    /// Downloads packages and unpacks them into `folder`, which is not an installation: nothing is configured.
    ///
    /// # Errors
    ///
    /// A package is not there, or cannot be fetched or unpacked.
    pub fn unpack(&self, packages: &[&str], backports: bool, folder: &Path) -> Result<()> {
        let debs = self.state.join("debs");
        let _ = fs::remove_dir_all(&debs);
        fs::create_dir_all(&debs)?;
        let mut command = self.apt("apt-get");
        command.args(["-qq", "download"]).current_dir(&debs);
        command.args(packages.iter().map(|package| self.target(package, backports)));
        process::output(&mut command)?;
        fs::create_dir_all(folder)?;
        for deb in fs::read_dir(&debs)? {
            process::output(Command::new("dpkg-deb").arg("-x").arg(deb?.path()).arg(folder))?;
        }
        fs::remove_dir_all(&debs)?;
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

fn line(source: &Source, suite: &str) -> String {
    let options = source
        .signed_by
        .as_ref()
        .map_or_else(String::new, |key| format!("[signed-by={key}] "));
    format!("deb {options}{} {suite} main\n", source.uri)
}

/// Every source of binary packages with the component main, from the one-line and the deb822 files under `apt`.
fn configured_sources(apt: &Path) -> Vec<Source> {
    let mut files = vec![apt.join("sources.list")];
    files.extend(
        fs::read_dir(apt.join("sources.list.d"))
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path()),
    );
    files.sort();
    let read = |file: &PathBuf| {
        let text = fs::read_to_string(file).ok()?;
        let extension = file.extension()?.to_str()?;
        Some(match extension {
            "list" => one_line_sources(&text),
            "sources" => deb822_sources(&text),
            _ => return None,
        })
    };
    files.iter().filter_map(read).flatten().collect()
}

/// `deb [options] uri suite component ..`
fn one_line_sources(text: &str) -> Vec<Source> {
    let parse = |line: &str| {
        let rest = line.trim().strip_prefix("deb ")?.trim_start();
        let (options, rest) = match rest.strip_prefix('[') {
            Some(rest) => rest.split_once(']')?,
            None => ("", rest),
        };
        let mut words = rest.split_whitespace();
        let (uri, suite) = (words.next()?, words.next()?);
        words.any(|component| component == "main").then(|| Source {
            uri: uri.into(),
            suite: suite.into(),
            signed_by: options
                .split_whitespace()
                .find_map(|o| o.strip_prefix("signed-by="))
                .map(str::to_owned),
        })
    };
    text.lines().filter_map(parse).collect()
}

/// Stanzas of `Key: value` lines, separated by empty lines. Keys that are embedded in the file are left to apt's own
/// trusted keys.
fn deb822_sources(text: &str) -> Vec<Source> {
    let mut sources = Vec::new();
    let text: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    for stanza in text.split(|line| line.trim().is_empty()) {
        let field = |key: &str| {
            let value = stanza.iter().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
            value.unwrap_or_default().trim()
        };
        let has = |key: &str, word: &str| field(key).split_whitespace().any(|found| found == word);
        if !has("Types", "deb") || !has("Components", "main") || field("Enabled") == "no" {
            continue;
        }
        let key = field("Signed-By");
        for uri in field("URIs").split_whitespace() {
            for suite in field("Suites").split_whitespace() {
                sources.push(Source {
                    uri: uri.into(),
                    suite: suite.into(),
                    signed_by: key.starts_with('/').then(|| key.to_owned()),
                });
            }
        }
    }
    sources
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(uri: &str, suite: &str, key: Option<&str>) -> Source {
        Source {
            uri: uri.into(),
            suite: suite.into(),
            signed_by: key.map(str::to_owned),
        }
    }

    #[test]
    fn one_line_files_are_read_with_and_without_options() {
        let text = "# deb mirror:/a old main\ndeb mirror:/a new main contrib\n\
                    deb [arch=amd64 signed-by=/k.gpg] mirror:/b new-security main\ndeb mirror:/c new contrib\n\
                    deb-src mirror:/d new main\n";
        assert_eq!(
            one_line_sources(text),
            [
                source("mirror:/a", "new", None),
                source("mirror:/b", "new-security", Some("/k.gpg"))
            ]
        );
    }

    #[test]
    fn deb822_files_are_read_stanza_by_stanza() {
        let text = "Types: deb deb-src\n# a comment\nURIs: mirror:/a\nSuites: new new-updates\nComponents: main\n\
                    Signed-By: /k.gpg\n\nTypes: deb\nURIs: mirror:/b\nSuites: new\nComponents: contrib\n\n\
                    Enabled: no\nTypes: deb\nURIs: mirror:/c\nSuites: new\nComponents: main\n";
        assert_eq!(
            deb822_sources(text),
            [
                source("mirror:/a", "new", Some("/k.gpg")),
                source("mirror:/a", "new-updates", Some("/k.gpg"))
            ]
        );
    }
}
