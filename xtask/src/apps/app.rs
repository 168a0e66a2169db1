//! A program: how it is started, the modes in which it runs, and what its runs must show.

/// A program.
pub struct App {
    /// Its name in the output.
    pub name: &'static str,
    /// How it is started.
    pub command: Start,
    /// Expected output of its runs.
    pub expected: Expected,
}

/// How a program is started.
pub enum Start {
    /// A script of `tests/apps/`.
    Python(&'static str),
    /// The same, with a display.
    PythonWindow(&'static str),
    /// A script of `tests/apps/` for Node, whose argument is the file of [`super::rows::DAWN`].
    Node(&'static str),
    /// A program on the path, with its arguments.
    Program(&'static str, &'static [&'static str]),
    /// The same, with a display.
    Window(&'static str, &'static [&'static str]),
    /// A program of a package of Debian unstable, on the drivers from there.
    Unstable(Unstable, &'static [&'static str]),
}

impl Start {
    /// Whether it needs a display.
    pub fn has_window(&self) -> bool {
        match self {
            Self::PythonWindow(_) | Self::Window(..) => true,
            Self::Python(_) | Self::Node(_) | Self::Program(..) => false,
            Self::Unstable(program, _) => program.has_window,
        }
    }
}

/// A program of a package of Debian unstable. `{usr}` in its arguments is the folder `usr` of the package, `{apps}` is `tests/apps`.
pub struct Unstable {
    pub package: &'static str,
    /// A path in `usr`.
    pub program: &'static str,
    /// Folder in `usr`.
    pub starts_in: &'static str,
    /// Folders in `usr` with its libraries.
    pub libraries: &'static [&'static str],
    /// Whether it needs a display.
    pub has_window: bool,
}

/// Expected output of the runs of a program.
pub enum Expected {
    /// Success and equal output in every mode, without a report.
    Equal,
    /// As [`Self::Equal`], but under every check also a report with these texts, of its own fault.
    EqualWithFault(&'static [&'static str]),
    /// These texts, in the output or in the report of its shader's own abort.
    Aborts(&'static [&'static str]),
    /// These texts, in the output or in a report of the sanitizer; without it the program hangs or crashes.
    Sanitized(&'static [&'static str]),
}

/// How a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Without the layer.
    Alone,
    /// Under `vkabort run --enable`.
    Layer,
    /// Under `vkabort run --sanitize`.
    Sanitized,
    /// Under `vkabort run --sanitize=all`.
    EveryCheck,
    /// Under `vkabort run --printf`, with prints added to its shaders by `--replace`.
    Printing,
}

impl Mode {
    /// Its name in the output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Alone => "without the layer",
            Self::Layer => "with the layer",
            Self::Sanitized => "sanitized",
            Self::EveryCheck => "with every check",
            Self::Printing => "with prints",
        }
    }

    /// The options of `vkabort run`.
    pub fn options(self) -> &'static [&'static str] {
        match self {
            Self::Sanitized => &["--sanitize"],
            // Some programs enable robust buffer access, of which a warning says that `buffers` is left out.
            Self::EveryCheck => &["--sanitize=all", "--set", "log_level=error"],
            Self::Layer => &["--enable"],
            // Room for some of the prints; the others are counted.
            Self::Printing => &["--printf", "--set", "printf_size=1048576"],
            Self::Alone => &[],
        }
    }
}
