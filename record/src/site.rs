//! What is known of every place in a module that may abort.
//!
//! A [`SiteTable`] is made once, when a module is rewritten, and travels beside its words: the layer keeps it to
//! decode messages, and `vkabort sites` prints it. It is plain data and serialises to JSON.

use crate::encoding::Encoding;
use serde::{Deserialize, Serialize};
use std::fmt;

/// 64-bit hash of a module's original words, little-endian, and of the specialisation data it was rewritten with, if any
/// (XXH3). Stored in every record.
///
/// In JSON it is a string of 16 hexadecimal digits: many readers lose the low bits of 64-bit numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
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

/// Index of a site in its module's table, in the order of the module's functions and blocks. Stored in every record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SiteId(pub u32);

/// All sites of one module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SiteTable {
    /// Hash of the module as the application gave it.
    pub module_hash: ModuleHash,
    /// Every entry point of the module, in declaration order.
    pub entry_points: Vec<EntryPoint>,
    /// Every abort, indexed by [`SiteId`].
    pub sites: Vec<Site>,
}

impl SiteTable {
    /// The site that a record's SITE word names, if the word is in range.
    pub fn site(&self, id: SiteId) -> Option<&Site> {
        self.sites.get(usize::try_from(id.0).ok()?)
    }
}

/// One `OpEntryPoint`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EntryPoint {
    /// Its name, for example `main`.
    pub name: String,
    /// SPIR-V execution model number.
    pub execution_model: u32,
    /// `LocalSize`, where it is a constant of the module.
    pub local_size: Option<[u32; 3]>,
}

/// One `OpAbortKHR`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Site {
    /// Index in the table.
    pub id: SiteId,
    /// Word offset of the `OpAbortKHR` in the original module.
    pub word_offset: u32,
    /// The function that contains it, in the source also where it was inlined: its debug name if there is one, else
    /// `%id`.
    pub function: String,
    /// Indices into [`SiteTable::entry_points`] of the entry points that can reach it. Empty: dead code.
    pub entry_points: Vec<u32>,
    /// One shortest call path from an entry point to `function`, outermost first, `function` not included. Calls that
    /// were inlined are on it.
    pub callers: Vec<Frame>,
    /// Source position of the abort.
    pub location: Option<Location>,
    /// Type of the message: offsets, names, strings.
    pub message: Type,
    /// The message's leading string when it is a constant of the module: the format, for GLSL and Slang.
    pub text: Option<String>,
}

/// A function on the way to a site, with the position of its call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// Debug name of the calling function, else `%id`.
    pub function: String,
    /// Where it calls the next one.
    pub location: Option<Location>,
}

/// A source position. Lines and columns count from 1; 0 means unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// File name as the compiler wrote it.
    pub file: String,
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
    /// The text of that line, when the module carries its source.
    pub source: Option<String>,
}

/// Length of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Length {
    /// A constant of the module.
    Constant(u32),
    /// A specialisation constant: its `SpecId` and default. The true value follows from the record's SIZE.
    Specialised {
        /// `SpecId`.
        spec_id: u32,
        /// Value when it is not specialised.
        default: u32,
    },
}

impl Length {
    /// The constant, or the default of the specialisation constant.
    pub fn default_value(self) -> u32 {
        match self {
            Self::Constant(n) | Self::Specialised { default: n, .. } => n,
        }
    }
}

/// A member of a structure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// Its `OpMemberName`, if any.
    pub name: Option<String>,
    /// Byte offset from the start of the structure.
    pub offset: u32,
    /// Its type.
    pub ty: Type,
}

/// The type of a message or of a part of it, with its layout in bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Type {
    /// An integer of 8, 16, 32 or 64 bits.
    Int {
        /// Width in bits.
        bits: u32,
        /// `Signedness`.
        signed: bool,
    },
    /// A floating-point number of 16, 32 or 64 bits (IEEE 754).
    Float {
        /// Width in bits.
        bits: u32,
    },
    /// A floating-point number in another format.
    EncodedFloat {
        /// The format.
        encoding: Encoding,
    },
    /// A Boolean, in modules without explicit layout: 32 bits, 0 or 1.
    Bool,
    /// A physical pointer: 64 bits.
    Pointer,
    /// A vector: `count` components, tightly packed.
    Vector {
        /// Components.
        count: u32,
        /// Component type.
        component: Box<Type>,
    },
    /// A matrix.
    Matrix {
        /// Columns.
        columns: u32,
        /// Rows.
        rows: u32,
        /// Component type.
        component: Box<Type>,
        /// `MatrixStride` in bytes: between columns, or between rows if `row_major`.
        stride: u32,
        /// `RowMajor` rather than `ColMajor`.
        row_major: bool,
    },
    /// An array.
    Array {
        /// Elements.
        length: Length,
        /// Bytes between elements.
        stride: u32,
        /// Element type.
        element: Box<Type>,
        /// Decorated `UTFEncodedKHR`.
        utf: bool,
    },
    /// A structure.
    Struct {
        /// Its `OpName`, if any.
        name: Option<String>,
        /// Members in declaration order.
        members: Vec<Member>,
    },
}

impl Type {
    /// Bytes up to the end of the last byte that a value of this type has, with default array lengths; not rounded
    /// up. Saturates.
    pub fn size(&self) -> u32 {
        match self {
            Self::Int { bits, .. } | Self::Float { bits } => bits / 8,
            Self::EncodedFloat { encoding } => encoding.bits() / 8,
            Self::Bool => 4,
            Self::Pointer => 8,
            Self::Vector { count, component } => component.size().saturating_mul(*count),
            Self::Matrix {
                columns,
                rows,
                component,
                stride,
                row_major,
            } => {
                let (major, minor) = if *row_major { (rows, columns) } else { (columns, rows) };
                let line = component.size().saturating_mul(*minor);
                stride.saturating_mul(major.saturating_sub(1)).saturating_add(line)
            }
            Self::Array {
                length,
                stride,
                element,
                ..
            } => match length.default_value() {
                0 => 0,
                n => stride.saturating_mul(n - 1).saturating_add(element.size()),
            },
            Self::Struct { members, .. } => members
                .iter()
                .map(|m| m.offset.saturating_add(m.ty.size()))
                .max()
                .unwrap_or(0),
        }
    }
}

/// The name that people know an execution model by.
pub fn stage_name(execution_model: u32) -> &'static str {
    match execution_model {
        0 => "vertex",
        1 => "tessellation control",
        2 => "tessellation evaluation",
        3 => "geometry",
        4 => "fragment",
        5 => "compute",
        6 => "kernel",
        5267 | 5364 => "task",
        5268 | 5365 => "mesh",
        5313 => "ray generation",
        5314 => "intersection",
        5315 => "any-hit",
        5316 => "closest-hit",
        5317 => "miss",
        5318 => "callable",
        _ => "unknown stage",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uint() -> Type {
        Type::Int {
            bits: 32,
            signed: false,
        }
    }

    #[test]
    fn the_size_of_a_message_ends_with_its_last_byte() {
        let text = Type::Array {
            length: Length::Constant(9),
            stride: 1,
            element: Box::new(Type::Int { bits: 8, signed: true }),
            utf: true,
        };
        let message = Type::Struct {
            name: None,
            members: vec![
                Member {
                    name: None,
                    offset: 0,
                    ty: text.clone(),
                },
                Member {
                    name: None,
                    offset: 12,
                    ty: uint(),
                },
            ],
        };
        assert_eq!(text.size(), 9);
        assert_eq!(message.size(), 16);
    }

    #[test]
    fn overlapping_and_empty_members_do_not_shrink_a_message() {
        let vec3 = Type::Vector {
            count: 3,
            component: Box::new(Type::Float { bits: 32 }),
        };
        let message = Type::Struct {
            name: None,
            members: vec![
                Member {
                    name: None,
                    offset: 0,
                    ty: vec3,
                },
                Member {
                    name: None,
                    offset: 4,
                    ty: uint(),
                },
                Member {
                    name: None,
                    offset: 64,
                    ty: Type::Struct {
                        name: None,
                        members: vec![],
                    },
                },
            ],
        };
        assert_eq!(message.size(), 64);
    }
}
