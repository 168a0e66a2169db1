//! Sources of packages in apt's configuration.

use anyhow::{Context as _, Result};
use std::fs;
use std::process::Command;
use vkabort_test_kit::process;

/// A source of packages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) uri: String,
    pub(super) suite: String,
    /// Key file; none for apt's trusted keys.
    pub(super) signed_by: Option<String>,
}

impl Source {
    /// The configured sources of binary packages of the component main.
    pub(super) fn configured() -> Result<Vec<Self>> {
        let format = "$(REPO_URI) $(RELEASE) $(COMPONENT) $(SIGNED_BY)";
        let mut command = Command::new("apt-get");
        command.args(["indextargets", "--format", format, "Created-By: Packages"]);
        Ok(process::output(&mut command)?.lines().filter_map(Self::parse).collect())
    }

    /// Parses a line of `apt-get indextargets`, in which a variable without a value stays as it is.
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let (uri, suite) = (words.next()?.to_owned(), words.next()?.trim_end_matches('/').to_owned());
        (words.next() == Some("main")).then(|| Self {
            uri,
            suite,
            signed_by: words.next().filter(|key| key.starts_with('/')).map(str::to_owned),
        })
    }

    /// The line for `sources.list`.
    pub(super) fn line(&self, suite: &str) -> String {
        let key = self.signed_by.as_ref();
        let options = key.map_or_else(String::new, |key| format!("[signed-by={key}] "));
        format!("deb {options}{} {suite} main\n", self.uri)
    }
}

/// The name of the running release.
///
/// # Errors
///
/// The system does not say.
pub fn codename() -> Result<String> {
    let release = fs::read_to_string("/etc/os-release").context("cannot read /etc/os-release")?;
    let name = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    let name = name.context("/etc/os-release has no VERSION_CODENAME")?;
    Ok(name.trim_matches('"').to_owned())
}

/// The mirror of the running release that apt is configured for.
///
/// # Errors
///
/// apt has no source of the release.
pub fn mirror() -> Result<String> {
    let codename = codename()?;
    let mut sources = Source::configured()?.into_iter();
    let main = sources.find(|source| source.suite == codename);
    let main = main.with_context(|| format!("apt has no source of packages for {codename}"))?;
    Ok(main.uri)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_keeps_its_key_file() {
        let source = |line: &str| Source::parse(line).map(|source| source.line("new-backports"));
        let keyed = source("mirror:/a/ new main /k.gpg");
        assert_eq!(
            keyed.as_deref(),
            Some("deb [signed-by=/k.gpg] mirror:/a/ new-backports main\n")
        );
        let trusted = source("mirror:/a/ new main $(SIGNED_BY)");
        assert_eq!(trusted.as_deref(), Some("deb mirror:/a/ new-backports main\n"));
        assert_eq!(source("mirror:/a/ new contrib $(SIGNED_BY)"), None);
    }
}
