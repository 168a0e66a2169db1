//! Functions that checks plant with placeholder bodies; the pass `abort` writes their bodies or calls them.

use crate::Id;

/// Ids of planted functions that depend on the runtime's memory. `None`: no check needs the function.
#[derive(Debug, Default)]
pub struct RuntimeHooks {
    /// The function without parameters that an invocation calls before it ends because another one has aborted.
    pub end: Option<Id>,
    /// The function without parameters that is to return TICKS.
    pub ticks: Option<Id>,
    /// The function without parameters that is to return true, which no compiler knows.
    pub holds: Option<Id>,
    /// The function that is to find the buffer of an address.
    pub find_buffer: Option<Id>,
    /// The functions that are to execute an atomic on a word of the shadow area, with its opcode.
    pub area_atomics: Vec<(u16, Id)>,
    /// The function without parameters that every invocation is to call once, after all others.
    pub leave: Option<Id>,
}
