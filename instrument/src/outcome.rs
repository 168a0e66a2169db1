//! The result of a rewrite, and the functions that a rewrite calls.

use std::fmt;
use vkabort_options::PrintNumbers;
use vkabort_record::site::{CodeHash, SiteTable};

/// The result of a rewrite.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one of a module, at the time of its creation"
)]
pub enum Outcome {
    /// The module declares none of the capabilities that [`Options::lowers`] selects. Use it unchanged.
    Unchanged,
    /// The module was rewritten.
    Instrumented(Instrumented),
}

/// A rewritten module.
#[derive(Clone, Debug, PartialEq)]
pub struct Instrumented {
    /// The new module.
    pub words: Vec<u32>,
    /// Its abort sites.
    pub sites: SiteTable,
    /// `SpecId`s of the `OpSpecConstantDataKHR` in the module, which the new module lacks. A pipeline that specialises one of
    /// them needs another rewrite with all its constants in `Options::specialization`.
    pub data_spec_ids: Vec<u32>,
    /// `SpecId`s of the constants that lengths of constant data, sizes of checked shared memory and the choice of the counted loops depend on.
    /// A pipeline that specialises one of them needs another rewrite too.
    pub length_spec_ids: Vec<u32>,
    /// `SpecId` of the added constant that records carry: the key of the pipeline's specialisation. `None` if the module has no
    /// other constants to specialise.
    pub key_spec_id: Option<u32>,
    /// Whether invocations read TICKS, which the host then advances.
    pub reads_ticks: bool,
}

/// Called after each pass with its name and the words of the module.
pub type AfterPass<'a> = dyn FnMut(&'static str, &[u32]) + 'a;
/// Stores words where the device can read them, and returns their device address.
pub type Place<'a> = dyn FnMut(&[u32]) -> Option<u64> + 'a;
/// Why a module has no checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unplanted<'a> {
    /// They cannot be planted, or the module would be refused with them.
    Refused(&'a str),
    /// Those that have a place in it are all left out.
    LeftOut(&'a str),
}

impl fmt::Display for Unplanted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Refused(reason) | Self::LeftOut(reason)) = self;
        f.write_str(reason)
    }
}

/// Called with the reason why a module is not sanitized. It is then rewritten as if no check were selected.
pub type NotSanitized<'a> = dyn FnMut(Unplanted<'_>) + 'a;
/// Called with the reason why the prints of a module cannot be rewritten.
pub type NotPrinted<'a> = dyn FnMut(&str) + 'a;

/// Whether code may write compact records.
pub type ClaimCompact<'a> = dyn FnMut(CodeHash) -> bool + 'a;

/// Returns the numbers and counters of a code's prints, of which there are so many.
pub type ClaimPrints<'a> = dyn FnMut(CodeHash, u32) -> PrintNumbers + 'a;

/// Functions that a rewrite calls, if they are set.
#[derive(Default)]
pub struct Hooks<'a> {
    /// Called after each pass that edits the module.
    pub after_pass: Option<&'a mut AfterPass<'a>>,
    /// Stores the words of large constant data. The address must be a multiple of 4. Data without an address becomes a
    /// constant, which many drivers take minutes to compile.
    pub place: Option<&'a mut Place<'a>>,
    /// Asked before compact records are written (`Options::compact_records`): of codes with equal low bits, at most one may.
    pub claim_compact: Option<&'a mut ClaimCompact<'a>>,
    /// Called with the reason if checks cannot be planted, or if all are left out.
    pub not_sanitized: Option<&'a mut NotSanitized<'a>>,
    /// Asked before prints are rewritten. Without it, both begin at 0.
    pub claim_prints: Option<&'a mut ClaimPrints<'a>>,
    /// Called with the reason if prints cannot be rewritten. They then stay as they are.
    pub not_printed: Option<&'a mut NotPrinted<'a>>,
}
