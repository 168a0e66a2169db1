//! Origins of faults: operations that tell whether parts of their result are faulty.

use crate::message::Message;
use vkabort_analysis::expressions::Expressions;
use vkabort_analysis::view::path::Path;
use vkabort_spirv::Id;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::Index;

/// Kind of a fault, which decides what its effects are. Of two faults that meet, the one of the later kind goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum FaultClass {
    /// NaN and infinities: their only effect is a store.
    NotFinite,
    /// Contents of memory that nothing has stored: a copy of a part that need not be read is no effect.
    Unstored,
    /// Undefined results.
    Undefined,
}

impl FaultClass {
    pub(super) const ALL: [Self; 3] = [Self::NotFinite, Self::Unstored, Self::Undefined];
}

/// The fault that a test has found, and the first number of its operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) fault: Id,
    pub(crate) first: u32,
    /// Whether the operands of the operation are those of the faulty value.
    pub(crate) is_direct: bool,
}

/// An operation whose result may be faulty.
pub(crate) trait Origin<'w> {
    /// The parts of the result that may be faulty. Each has a number of its own.
    fn parts(&self) -> Vec<Path>;

    /// Writes whether each part is faulty, behind the operation.
    fn write_failed(&self, out: &mut Emitter, index: &Index<'_>) -> Vec<Id>;

    /// The text of the message, without the values of operands unless `is_direct`.
    fn text(&self, names: &Expressions<'_, '_>, is_direct: bool) -> Message;

    /// The number of each part, where the text without values has a conversion for it.
    fn numbers(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Adds the values of the conversions of the text.
    fn with_values(&self, out: &mut Emitter, index: &Index<'_>, message: Message, found: Found) -> Message;
}

/// Writes the position of the part that a test has found.
pub(crate) fn write_part(out: &mut Emitter, found: Found) -> Id {
    let first = out.constant(found.first);
    out.calculate(vkabort_spirv::op::ISub, (found.fault, first))
}

/// Writes the number that belongs to the part that a test has found, of those of all parts.
pub(crate) fn write_number(out: &mut Emitter, found: Found, numbers: &[u32]) -> Id {
    use vkabort_spirv::op;
    let (bool, uint) = (out.bool(), out.uint());
    let mut number = out.constant(numbers.first().copied().unwrap_or_default());
    if numbers.iter().copied().eq(0..numbers.len() as u32) {
        return write_part(out, found);
    }
    for (part, other) in (0..).zip(numbers).skip(1) {
        let [of_part, other] = [found.first + part, *other].map(|word| out.constant(word));
        let is_it = out.emit(op::IEqual, bool, (found.fault, of_part));
        number = out.emit(op::Select, uint, (is_it, other, number));
    }
    number
}
