//! The abort sites of a module: every `OpAbortKHR` with its message type, source position and call path; and its prints.
//!
//! The rewriter builds a module's [`SiteTable`] along with its new words. The layer keeps it to decode messages, and
//! `vkabort sites` prints it. It is plain data and serialises to JSON.

use crate::message_type::Type;
use crate::shared_access::SharedAccess;
use crate::site_values::SiteValues;
use crate::specialization::{LocalSize, SpecConstant};
use crate::template::Template;
use serde::{Deserialize, Serialize};
use std::fmt;

/// 64-bit hash (XXH3) of a module's original words, little-endian, and of the specialisation data of the rewrite, if any.
///
/// In JSON a string of 16 hexadecimal digits: many readers lose the low bits of 64-bit numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ModuleHash(pub u64);

impl From<ModuleHash> for String {
    fn from(hash: ModuleHash) -> Self {
        hash.to_string()
    }
}

impl TryFrom<String> for ModuleHash {
    type Error = &'static str;

    fn try_from(digits: String) -> Result<Self, Self::Error> {
        let hexadecimal = digits.len() == 16 && digits.bytes().all(|b| b.is_ascii_hexdigit());
        match u64::from_str_radix(&digits, 16) {
            Ok(hash) if hexadecimal => Ok(Self(hash)),
            _ => Err("a module hash is 16 hexadecimal digits"),
        }
    }
}

impl fmt::Display for ModuleHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Identifies the code that writes a record: the module and what its rewrite has added to it. Stored in every record.
///
/// Equal to the module's hash unless checks are planted or values are sent: one process may run a module with and without
/// them, and the sites of the two differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CodeHash(pub ModuleHash);

impl From<ModuleHash> for CodeHash {
    fn from(module: ModuleHash) -> Self {
        Self(module)
    }
}

/// Index of a site in its module's table, in the order of the module's functions and blocks. Stored in every record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SiteId(pub u32);

/// All sites of one module.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SiteTable {
    /// Hash of the application's module.
    pub module_hash: ModuleHash,
    /// The hash in its records, if that is not the module's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code_hash: Option<CodeHash>,
    /// Every entry point of the module, in declaration order.
    pub entry_points: Vec<EntryPoint>,
    /// Every abort, indexed by [`SiteId`].
    pub sites: Vec<Site>,
    /// Every print, if the module was rewritten with prints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prints: Vec<PrintSite>,
    /// The accesses that races name by their number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared_accesses: Vec<SharedAccess>,
    /// The operations that messages name by the numbers of their faults, in the order of these numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<SiteFault>,
    /// The scalar constants that pipelines can specialise, by `SpecId`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constants: Vec<SpecConstant>,
    /// Faults of the module that do not prevent its use, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl SiteTable {
    /// The hash in its records.
    pub fn code(&self) -> CodeHash {
        self.code_hash.unwrap_or(self.module_hash.into())
    }

    /// The site that a record's SITE word names, if the word is in range.
    pub fn site(&self, id: SiteId) -> Option<&Site> {
        self.sites.get(usize::try_from(id.0).ok()?)
    }

    /// Whether records of the module may be compact.
    pub fn has_compact_records(&self) -> bool {
        self.sites.iter().any(|site| site.template.is_some())
    }

    /// The SPIR-V execution model of all entry points. `None` if there are several.
    pub fn execution_model(&self) -> Option<u32> {
        let mut models = self.entry_points.iter().map(|entry| entry.execution_model);
        let first = models.next()?;
        models.all(|model| model == first).then_some(first)
    }

    /// The entry points that can reach a site of the table.
    pub fn entry_points_of<'a>(&'a self, site: &'a Site) -> impl Iterator<Item = &'a EntryPoint> {
        let entry_point = |index: &u32| self.entry_points.get(usize::try_from(*index).ok()?);
        site.entry_points.iter().filter_map(entry_point)
    }
}

/// One `OpEntryPoint`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EntryPoint {
    /// Name, for example `main`.
    pub name: String,
    /// SPIR-V execution model number.
    pub execution_model: u32,
    /// The workgroup size of compute, task and mesh shaders.
    pub local_size: Option<[LocalSize; 3]>,
}

impl EntryPoint {
    /// The workgroup size, if no specialisation changes it.
    pub fn constant_local_size(&self) -> Option<[u32; 3]> {
        let sizes = self.local_size?;
        let are_fixed = sizes.iter().all(|size| matches!(size, LocalSize::Fixed(_)));
        are_fixed.then(|| sizes.map(LocalSize::default_value))
    }
}

/// One `OpAbortKHR`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Site {
    /// Index in the table.
    pub id: SiteId,
    /// Word offset of the `OpAbortKHR` in the original module.
    pub word_offset: u32,
    /// Debug name of the function that contains it, else the name of its only entry point, else `%id`. For inlined code the
    /// function in the source.
    pub function: String,
    /// Indices into [`SiteTable::entry_points`] of the entry points that can reach it; empty for dead code.
    pub entry_points: Vec<u32>,
    /// A shortest call path from an entry point to `function`, outermost first, without `function` itself. Includes
    /// inlined calls.
    pub callers: Vec<Frame>,
    /// Source position of the abort.
    pub location: Option<Location>,
    /// The source text around it, if the module carries its source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snippet: Option<Snippet>,
    /// Type of the message: offsets, names, strings.
    pub message: Type,
    /// The message's leading string, if it is a constant of the module: the format string of GLSL and Slang.
    pub text: Option<String>,
    /// The check of the sanitizer that planted the abort. `None`: the module's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// Whether the message names one of [`SiteTable::faults`]: the site is where it has its effect.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_of_faults: bool,
    /// Where the faulty value of a planted check has its effect, if that is elsewhere. Few sites have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_in: Option<Box<Frame>>,
    /// The condition and the variables that a record holds besides the message.
    #[serde(default, skip_serializing_if = "SiteValues::is_empty")]
    pub values: SiteValues,
    /// How to read its compact records, if its module writes them. Only in the process that has rewritten the module.
    #[serde(skip)]
    pub template: Option<Template>,
}

/// An operation whose fault a message names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SiteFault {
    /// The number of its first part. Those of the others follow.
    pub first: u32,
    /// The number of parts of its result that may be faulty.
    pub parts: u32,
    /// The check that found it.
    pub check: String,
    /// What is wrong, with at most one conversion: of a part's number.
    pub text: String,
    /// The number of each part, if the text has a conversion.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<u32>,
    /// Word offset of the operation in the original module.
    pub word_offset: u32,
    /// See [`Site::function`].
    pub function: String,
    /// See [`Site::callers`].
    pub callers: Vec<Frame>,
    /// Source position of the operation.
    pub location: Option<Location>,
    /// The source text around it, if the module carries its source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snippet: Option<Snippet>,
}

/// One `DebugPrintf`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PrintSite {
    /// Word offset of the instruction in the original module.
    pub word_offset: u32,
    /// Debug name of the function that contains it, else the name of its only entry point, else `%id`.
    pub function: String,
    /// Source position.
    pub location: Option<Location>,
    /// The format string.
    pub format: String,
    /// The arguments in their order.
    pub arguments: Vec<PrintArgument>,
}

/// An argument of a print.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PrintArgument {
    /// A scalar or vector, which records hold.
    Value(Type),
    /// A string of the module.
    Text(String),
    /// Anything else, of which records hold nothing.
    Unknown,
}

/// A place in a function: on the call path to a site, or where a fault has its effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// Debug name of the function, else the name of its only entry point, else `%id`.
    pub function: String,
    /// Source position: of the call of the next function, or of the effect.
    pub location: Option<Location>,
}

/// A source position. Lines and columns count from 1; 0 if unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// File name from the debug information.
    pub file: String,
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
    /// The text of the line, if the module carries its source.
    pub source: Option<String>,
}

/// Consecutive lines of a source file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snippet {
    /// Number of the first line, from 1.
    pub first_line: u32,
    /// The lines, without line ends. Long lines are cut.
    pub lines: Vec<String>,
    /// The statement that the lines are about, if it could be found in the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement: Option<Span>,
}

/// A range of source text. Positions are line and column, in characters, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// Position of the first character.
    pub start: [u32; 2],
    /// Position behind the last character.
    pub end: [u32; 2],
}
