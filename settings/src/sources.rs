//! The sources of the layer's settings: environment variables, `vk_layer_settings.txt`, and the settings that an application passes by
//! `VK_EXT_layer_settings`. Each setting is read from the first source that has it, as in the Khronos settings library.

use crate::misspelt;
use crate::settings_file::SettingsFile;
use crate::value::nearest;
use crate::{ENV_PREFIXES, FILE_PREFIX};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Name of the settings file.
pub const FILE_NAME: &str = "vk_layer_settings.txt";
/// Environment variable with the path of the settings file, or of its folder.
pub const FILE_VARIABLE: &str = "VK_LAYER_SETTINGS_PATH";
/// The application, as the name of a source.
const APPLICATION: &str = "VK_EXT_layer_settings";

/// The value of a setting as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// Not empty: empty values count as unset.
    pub text: String,
    /// The name of its source: a variable, a line of the settings file, or `VK_EXT_layer_settings`.
    pub origin: String,
}

/// The three sources. The file is read once.
#[derive(Debug, Default)]
pub struct Sources {
    environment: Vec<(String, String)>,
    file: SettingsFile,
    application: Vec<(String, String)>,
    /// Environment and file are not read: they belong to a user whom the application does not trust.
    pub only_application: bool,
    /// Why a part of a source was not read.
    unread: Vec<String>,
}

/// The settings files in the registry of Windows, in the order of the Khronos settings library. Other systems have none.
pub fn registered_files() -> Vec<PathBuf> {
    #[cfg(windows)]
    {
        use vkabort_windows::registry::Hive;
        let hives = [Hive::Machine, Hive::User];
        let files = hives.map(|hive| hive.entries("Software\\Khronos\\Vulkan\\Settings"));
        files.concat()
    }
    #[cfg(not(windows))]
    Vec::new()
}

impl Sources {
    /// The variables of a process, the settings file, and the application's keys and values. The first of the `registered`
    /// files that exists precedes all others.
    pub fn of_process(
        environment: impl IntoIterator<Item = (OsString, OsString)>,
        registered: Vec<PathBuf>,
        application: Vec<(String, String)>,
    ) -> Self {
        let mut sources = Self {
            application,
            ..Self::default()
        };
        for (name, value) in environment {
            let Ok(name) = name.into_string() else { continue };
            match value.into_string() {
                Ok(value) => sources.environment.push((name, value)),
                Err(_) if ENV_PREFIXES.iter().take(2).any(|prefix| name.starts_with(prefix)) => {
                    sources
                        .unread
                        .push(format!("the value of {name} is not UTF-8; ignored"));
                }
                Err(_) => {}
            }
        }
        sources.environment.sort_unstable();
        if let Some(path) = sources.settings_file(registered) {
            match SettingsFile::read(&path) {
                Ok(file) => sources.file = file,
                Err(error) => sources
                    .unread
                    .push(format!("cannot read the settings file {}: {error}", path.display())),
            }
        }
        sources
    }

    /// Sources from variables, the text of a settings file, and the application's keys and values.
    pub fn from_parts(environment: Vec<(String, String)>, file: &str, application: Vec<(String, String)>) -> Self {
        Self {
            environment,
            file: SettingsFile::parse(Path::new(FILE_NAME), file),
            application,
            ..Self::default()
        }
    }

    /// The application's keys and values as the only source.
    pub fn of_secure_execution(application: Vec<(String, String)>) -> Self {
        Self {
            application,
            only_application: true,
            ..Self::default()
        }
    }

    /// A variable of the environment that is not empty.
    pub fn variable(&self, name: &str) -> Option<&str> {
        let mut variables = self.environment.iter();
        let (_, value) = variables.find(|(other, value)| other == name && !value.is_empty())?;
        Some(value)
    }

    /// The settings file that was read.
    pub fn file(&self) -> Option<&Path> {
        Some(self.file.path.as_path()).filter(|path| !path.as_os_str().is_empty())
    }

    /// The value of a setting in the environment.
    pub fn variable_of(&self, key: &str) -> Option<Value> {
        let upper = key.to_ascii_uppercase();
        ENV_PREFIXES.iter().find_map(|prefix| {
            let name = format!("{prefix}{upper}");
            let text = self.variable(&name)?.trim().to_owned();
            let origin = format!("environment variable {name}");
            (!text.is_empty()).then_some(Value { text, origin })
        })
    }

    /// The value of a setting.
    pub fn value(&self, key: &str) -> Option<Value> {
        let is_set = |value: &&String| !value.is_empty();
        self.variable_of(key)
            .or_else(|| {
                self.file.lines.iter().find_map(|line| {
                    let own = line.key.strip_prefix(FILE_PREFIX) == Some(key);
                    let text = line.value.as_ref().filter(is_set).filter(|_| own)?.clone();
                    let origin = self.file.origin(line);
                    Some(Value { text, origin })
                })
            })
            .or_else(|| {
                let mut pairs = self.application.iter();
                let (_, value) = pairs.find(|(other, value)| other == key && !value.is_empty())?;
                Some(Value {
                    text: value.clone(),
                    origin: APPLICATION.to_owned(),
                })
            })
    }

    /// A sentence for each part of a source that has no effect: unknown and misspelt names, lines that are not settings, and
    /// files that cannot be read. `keys`: the settings.
    pub fn problems(&self, keys: &[&str]) -> Vec<String> {
        let mut problems = self.unread.clone();
        problems.extend(self.variable(FILE_VARIABLE).and_then(missing_file));
        problems.extend(
            self.environment
                .iter()
                .filter_map(|(name, _)| misspelt::variable(name, keys)),
        );
        let mut reported = BTreeSet::new();
        for line in &self.file.lines {
            let problem = match line.key.strip_prefix(FILE_PREFIX) {
                Some(_) if line.value.is_none() => Some(format!("`{}` has no value: write `key = value`", line.key)),
                Some(key) if !keys.contains(&key) => Some(unknown_key(key, keys)),
                Some(_) => None,
                None => misspelt::file_key(&line.key, keys),
            };
            if let Some(problem) = problem.filter(|_| reported.insert(&line.key)) {
                problems.push(format!("{}: {problem}", self.file.origin(line)));
            }
        }
        for (key, _) in &self.application {
            if !keys.contains(&key.as_str()) && reported.insert(key) {
                problems.push(format!("{APPLICATION}: {}", unknown_key(key, keys)));
            }
        }
        problems
    }

    /// The first settings file that exists, in the search order of the Khronos settings library.
    fn settings_file(&self, registered: Vec<PathBuf>) -> Option<PathBuf> {
        let set = |name: &str| self.variable(name).map(PathBuf::from);
        let data = set("XDG_DATA_HOME").or_else(|| set("HOME").map(|home| home.join(".local/share")));
        // Windows has the registry instead.
        let data = data.filter(|_| cfg!(not(windows)));
        let configured = data.map(|dir| dir.join("vulkan/settings.d").join(FILE_NAME));
        let working = Path::new(FILE_NAME).to_path_buf();
        let others = [configured, set(FILE_VARIABLE).map(file_at), Some(working)];
        let mut candidates = registered.into_iter().chain(others.into_iter().flatten());
        candidates.find(|path| path.is_file())
    }
}

fn unknown_key(key: &str, keys: &[&str]) -> String {
    let hint = match nearest(key, keys.iter().copied()) {
        Some(key) => format!("Did you mean `{key}`?"),
        None => "`vkabort settings` lists the settings.".to_owned(),
    };
    format!("`{key}` is not a setting of this layer and has no effect. {hint}")
}

/// The settings file at a path of a file or of its folder.
fn file_at(path: PathBuf) -> PathBuf {
    if path.is_dir() { path.join(FILE_NAME) } else { path }
}

/// Reports a value of [`FILE_VARIABLE`] that does not lead to a file.
fn missing_file(value: &str) -> Option<String> {
    let path = file_at(PathBuf::from(value));
    (!path.is_file()).then(|| format!("{FILE_VARIABLE} = {value}: there is no file {}", path.display()))
}

#[cfg(test)]
#[path = "sources_tests.rs"]
mod tests;
