//! Range without side effects in which a test may move. It moves behind its operation only if no access in the range has an address that
//! may come from an undefined result:
//!
//! ```text
//! %q = UDiv %a %b            tested
//! %r = IAdd %q %c            passed
//! %v = Load %p               passed: the address is from before
//! %e = AccessChain %array %r
//! %w = Load %e               not passed
//! ```

use rustc_hash::FxHashSet as HashSet;
use vkabort_spirv::debug_set::debug_info;
use vkabort_spirv::index::Index;
use vkabort_spirv::op::glsl as set;
use vkabort_spirv::{Id, Inst, op, op_sets, operands};

/// Most instructions between the first test and the branch, since the operands of the tests stay in registers for so long. A test behind them
/// begins another branch, so that none is lost.
const MAX_INSTRUCTIONS: usize = 32;

/// Instructions of a block that have no effect, from a test on.
pub(super) struct EffectFreeRange<'i, 'w> {
    index: &'i Index<'w>,
    /// The imports of `GLSL.std.450`.
    glsl: &'i [Id],
    end: usize,
    instructions: usize,
    /// Results that may be undefined: of operations that are undefined for some operands, and of those that use them.
    undefined: HashSet<Id>,
    reads_at_undefined: bool,
}

impl<'i, 'w> EffectFreeRange<'i, 'w> {
    /// An empty range at a word offset.
    pub(super) fn new(index: &'i Index<'w>, glsl: &'i [Id], offset: usize) -> Self {
        Self {
            index,
            glsl,
            end: offset,
            instructions: 0,
            undefined: HashSet::default(),
            reads_at_undefined: false,
        }
    }

    /// Extends it to the word offset `end`, unless an instruction before has an effect or there are too many.
    pub(super) fn extend(&mut self, end: usize) -> bool {
        let index = self.index;
        for inst in index.insts(self.end, end) {
            self.instructions += 1;
            if self.instructions > MAX_INSTRUCTIONS || !self.passes(&inst) {
                return false;
            }
        }
        self.end = self.end.max(end);
        true
    }

    /// Whether an invocation that failed a test at its start may execute it: no address depends on an undefined result.
    pub(super) fn is_harmless(&self) -> bool {
        !self.reads_at_undefined
    }

    fn passes(&mut self, inst: &Inst<'_>) -> bool {
        if is_position(self.index, inst) {
            return true;
        }
        let mut has_undefined = false;
        operands::visit_ids(inst, 1, |at| has_undefined |= self.undefined.contains(&inst.id(at)));
        if is_read(inst.opcode()) {
            self.reads_at_undefined |= has_undefined;
            return true;
        }
        if has_undefined || !is_defined(self.index, inst) {
            self.undefined.insert(inst.result());
        }
        is_computation(self.glsl, inst)
    }
}

/// Whether an instruction has no effect but its result, and reads no memory.
pub(super) fn is_computation(glsl: &[Id], inst: &Inst<'_>) -> bool {
    match inst.opcode() {
        op::ExtInst => {
            let has_pointer = matches!(
                inst.ext_inst(),
                set::Modf
                    | set::Frexp
                    | set::InterpolateAtCentroid
                    | set::InterpolateAtSample
                    | set::InterpolateAtOffset
            );
            !has_pointer && glsl.contains(&inst.ext_inst_set())
        }
        opcode => op_sets::writes_no_memory(opcode) && !is_read(opcode) && inst.result().is_some(),
    }
}

/// Reads through a pointer or an image.
fn is_read(opcode: u16) -> bool {
    matches!(
        opcode,
        op::Load | op::ArrayLength | op::ImageFetch | op::ImageRead | op::ImageSampleExplicitLod
    )
}

/// Whether the result is defined for all operands, or for the constants that an instruction has.
fn is_defined(index: &Index<'_>, inst: &Inst<'_>) -> bool {
    /// Neither 0 nor -1 as a divisor, and less than any width.
    const HARMLESS: std::ops::Range<u64> = 1..8;
    match inst.opcode() {
        op::UDiv | op::SDiv | op::UMod | op::SRem | op::SMod | op::ShiftRightLogical..=op::ShiftLeftLogical => {
            let constant = index.def(inst.id(4)).filter(|inst| inst.opcode() == op::Constant);
            let literal = constant.and_then(|constant| index.literal(&constant));
            literal.is_some_and(|literal| HARMLESS.contains(&literal))
        }
        op::AccessChain..=op::InBoundsPtrAccessChain | op::ExtInst => true,
        opcode => op_sets::is_total(opcode),
    }
}

/// Whether an instruction only names a place in the source.
fn is_position(index: &Index<'_>, inst: &Inst<'_>) -> bool {
    match inst.opcode() {
        op::Line | op::NoLine => true,
        op::ExtInst => {
            let is_place = matches!(
                inst.ext_inst(),
                debug_info::LINE | debug_info::NO_LINE | debug_info::SCOPE | debug_info::NO_SCOPE
            );
            is_place && index.is_debug_info(inst)
        }
        _ => false,
    }
}
