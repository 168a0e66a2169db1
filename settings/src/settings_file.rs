//! `vk_layer_settings.txt`.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Size limit of a settings file in bytes: the working directory may belong to another user.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// A settings file.
#[derive(Debug, Default)]
pub(crate) struct SettingsFile {
    pub(crate) path: PathBuf,
    pub(crate) lines: Vec<Line>,
}

/// A line of a settings file that is neither empty nor a comment.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) number: usize,
    pub(crate) key: String,
    /// `None`: the line has no `=`.
    pub(crate) value: Option<String>,
}

impl SettingsFile {
    /// Reads a file, at most [`MAX_FILE_BYTES`].
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        let mut bytes = Vec::new();
        File::open(path)?.take(MAX_FILE_BYTES).read_to_end(&mut bytes)?;
        Ok(Self::parse(path, &String::from_utf8_lossy(&bytes)))
    }

    /// `#` starts a comment, and the first `=` of a line ends its key.
    pub(crate) fn parse(path: &Path, text: &str) -> Self {
        let lines = text.lines().zip(1..).filter_map(|(line, number)| {
            let line = line.split('#').next().unwrap_or_default().trim();
            let (key, value) = match line.split_once('=') {
                Some((key, value)) => (key.trim(), Some(value.trim().to_owned())),
                // Without `=`, the first word is the likeliest key.
                None => (line.split_whitespace().next()?, None),
            };
            Some(Line {
                number,
                key: key.to_owned(),
                value,
            })
        });
        Self {
            lines: lines.collect(),
            path: path.to_owned(),
        }
    }

    /// The line as the origin of a value.
    pub(crate) fn origin(&self, line: &Line) -> String {
        format!("{}, line {}", self.path.display(), line.number)
    }
}
