//! Probes: code that one invocation executes at a statement of a program: nothing, an abort, a print, or a fault.

use super::Language;

/// The invocation that executes a probe. `when` is 0 for it, which compilers cannot know.
pub const PROBED: usize = 2;

/// Text on the line of a probe.
pub const MARK: &str = "/* probe */";

/// Code that one invocation executes in front of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// Nothing: there is no line.
    Nothing,
    /// An abort that sends the variables in scope.
    Abort,
    /// A print of the variables in scope.
    Print,
    /// A fault that a planted check finds.
    Fault(Fault),
}

/// Faults that planted checks find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A division by zero.
    Divide,
    /// A shift by the width.
    Shift,
    /// An element beyond a local array.
    Bounds,
    /// A store beyond a buffer.
    Buffers,
    /// A float that an integer cannot hold.
    Convert,
    /// The square root of a negative number.
    Invalid,
    /// A loop without an end.
    Loops,
    /// A variable that nothing has stored.
    Initialized,
}

impl Fault {
    /// Every fault.
    pub const ALL: [Self; 8] = [
        Self::Divide,
        Self::Shift,
        Self::Bounds,
        Self::Buffers,
        Self::Convert,
        Self::Invalid,
        Self::Loops,
        Self::Initialized,
    ];
}

impl Probe {
    /// The extension of GLSL that it needs.
    pub(super) fn extension(self) -> Option<&'static str> {
        match self {
            Self::Abort => Some("GL_EXT_abort"),
            Self::Print => Some("GL_EXT_debug_printf"),
            Self::Nothing | Self::Fault(_) => None,
        }
    }
}

impl Fault {
    /// Statements with this fault, on one line. `when[invocation]` is 0.
    pub(super) fn code(self, language: Language) -> String {
        let result = "result[invocation * 16u] ^=";
        match self {
            Self::Divide => format!("{result} 7u / when[invocation];"),
            Self::Shift => format!("{result} 7u << (when[invocation] + 32u);"),
            Self::Bounds => {
                let array = match language {
                    Language::Glsl => "uint[](1u, 2u, 3u, 4u)",
                    Language::Slang => "{1u, 2u, 3u, 4u}",
                };
                format!("uint q[4] = {array}; {result} q[when[invocation] + 4u];")
            }
            Self::Buffers => "data[when[invocation] + 100000u] = 1u;".to_owned(),
            Self::Convert => format!("{result} uint(-3.0 - float(when[invocation]));"),
            Self::Invalid => {
                let bits = match language {
                    Language::Glsl => "floatBitsToUint",
                    Language::Slang => "asuint",
                };
                format!("result[invocation * 16u] = {bits}(sqrt(-3.0 - float(when[invocation])));")
            }
            // Optimizers remove loops without an effect.
            Self::Loops => {
                let effect = language.atomic_add("counters[7]", "0u");
                format!("for (uint q = 0u; q >= when[invocation]; ) {{ q |= 1u; {effect} }}")
            }
            Self::Initialized => format!("uint q; if (when[invocation] != 0u) q = 1u; {result} q;"),
        }
    }
}
