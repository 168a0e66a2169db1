//! Lowers `SPV_KHR_poison_freeze`.
//!
//! ```text
//! PoisonKHR, Undef              become   the null value of their type, or what comes closest (see `nothing`)
//! FreezeKHR %v                  becomes  CopyObject %v
//! Variable Function             becomes  Variable Function %null, if anything is frozen
//! UDiv %a %b                    becomes  UDiv %a (%b == 0 ? 1 : %b)
//! SDiv %a %b                    becomes  SDiv %a (%b == 0 || %b == -1 && %a == MIN ? 1 : %b)
//! ConvertFToS %v                becomes  ConvertFToS (%v in range ? %v : 0)
//! ```
//!
//! The null value is one value at every use, so freezing it is no work, and what is computed from it is as stable. What is
//! loaded from a variable without an initializer is undefined, so those that only the invocation sees begin as null where
//! there is a null value of their type. The
//! arithmetic is made total only under the execution mode `ArithmeticPoisonKHR`, in which its undefined behaviour became
//! poison, and only where no constant operand rules that behaviour out. `NoSignedWrap` and `NoUnsignedWrap` go then, since
//! without them overflow wraps.

mod float_bounds;
mod total_arithmetic;

use crate::analysis::index::Index;
use crate::edit::Edits;
use crate::edit::globals::Globals;
use crate::edit::placeholder;
use crate::error::{Error, ErrorKind, Result};
use crate::spv::op::{decoration, execution_mode, storage_class};
use crate::spv::{Code, Id, Inst, op};
use rustc_hash::FxHashSet as HashSet;
use total_arithmetic::{Declared, Total};

/// More components than any vector has whose count is a literal.
const MAX_COMPONENTS: u32 = 4096;
/// The same of all vector types together.
const MAX_ALL_COMPONENTS: u32 = 1 << 18;

/// Lowers a module that declares `PoisonFreezeKHR`.
pub(crate) fn lower(index: &Index<'_>) -> Result<Edits> {
    let mut edits = Edits::default();
    let mut globals = Globals::new(index);
    let modes = index
        .execution_modes
        .iter()
        .filter(|m| m.word(2) == execution_mode::ArithmeticPoisonKHR);
    let mut arithmetic = false;
    for mode in modes {
        edits.remove(mode.offset, mode.words.len());
        arithmetic = true;
    }
    if arithmetic {
        drop_wrap_decorations(index, &mut edits);
    }
    let has_freeze = index
        .functions
        .iter()
        .any(|f| index.insts(f.offset, f.end).any(|i| i.opcode() == op::FreezeKHR));
    let mut declared = Declared::default();
    let mut vectors = Vectors::default();
    for inst in index.globals() {
        if has_freeze && is_unset(&inst) {
            let null = globals.fresh();
            let pointee = index.def(inst.result_type()).map_or(0, |pointer| pointer.word(3));
            if placeholder::has_null(index, &mut globals, pointee) {
                let mut code = Code::default();
                code.op(op::ConstantNull, &[pointee, null]);
                code.op2(op::Variable, inst.from(1), &[null]);
                edits.replace(inst.offset, inst.words.len(), &code.words);
            }
        }
        if matches!(inst.opcode(), op::PoisonKHR | op::Undef) {
            let ty = inst.result_type();
            let opcode = match inst.opcode() {
                _ if placeholder::has_null(index, &mut globals, ty) => op::ConstantNull,
                op::PoisonKHR => op::Undef,
                _ => continue,
            };
            let mut code = Code::default();
            code.op(opcode, &[ty, inst.result()]);
            edits.replace(inst.offset, inst.words.len(), &code.words);
        }
        if arithmetic && inst.opcode() == op::SpecConstantOp {
            vectors.check(index, &inst, inst.from(4))?;
            let total = Total {
                index,
                globals: &mut globals,
                code: Code::default(),
                specialized: Some(&mut declared),
            };
            if let Some(code) = total.rewrite(&inst, inst.word(3) as u16, inst.from(4)) {
                edits.replace(inst.offset, inst.words.len(), &code.words);
            }
        }
    }
    for inst in index.functions.iter().flat_map(|f| index.insts(f.offset, f.end)) {
        let (ty, result) = (inst.result_type(), inst.result());
        let mut code = Code::default();
        match inst.opcode() {
            op::PoisonKHR | op::Undef => match placeholder::stable_placeholder(index, &mut globals, &mut code, ty) {
                Some(value) => code.op(op::CopyObject, &[ty, result, value]),
                None if inst.opcode() == op::PoisonKHR => code.op(op::Undef, &[ty, result]),
                None => continue,
            },
            op::FreezeKHR => {
                // Where a global declaration has no null value, instructions may make one here.
                let undefined = index
                    .def(inst.word(3))
                    .filter(|v| matches!(v.opcode(), op::PoisonKHR | op::Undef));
                let is_global = undefined.is_some_and(|v| v.offset < index.sections.globals);
                let stable = is_global.then(|| placeholder::stable_placeholder(index, &mut globals, &mut code, ty));
                let stable = stable.flatten().unwrap_or(inst.word(3));
                code.op(op::CopyObject, &[ty, result, stable]);
            }
            op::Variable if has_freeze && is_unset(&inst) => {
                let pointee = index.def(ty).map_or(0, |pointer| pointer.word(3));
                if !placeholder::has_null(index, &mut globals, pointee) {
                    continue;
                }
                let null = globals.null(pointee);
                code.op2(op::Variable, inst.from(1), &[null]);
            }
            opcode if arithmetic => {
                vectors.check(index, &inst, inst.from(3))?;
                let total = Total {
                    index,
                    globals: &mut globals,
                    code: Code::default(),
                    specialized: None,
                };
                match total.rewrite(&inst, opcode, inst.from(3)) {
                    Some(rewritten) => code = rewritten,
                    None => continue,
                }
            }
            _ => continue,
        }
        edits.replace(inst.offset, inst.words.len(), &code.words);
    }
    globals.finish(index, &mut edits);
    Ok(edits)
}

/// Whether it is a variable of an invocation's own whose first value is undefined.
fn is_unset(inst: &Inst<'_>) -> bool {
    inst.opcode() == op::Variable
        && inst.words.len() == 4
        && matches!(inst.word(3), storage_class::Private | storage_class::Function)
}

/// Vector types that were looked at.
#[derive(Default)]
struct Vectors {
    seen: HashSet<Id>,
    components: u32,
}

impl Vectors {
    /// Constants are made of as many components as the vectors of an instruction have.
    fn check(&mut self, index: &Index<'_>, inst: &Inst<'_>, operands: &[Id]) -> Result<()> {
        let types = operands.iter().map(|operand| index.type_of(*operand));
        let vectors = types.chain([inst.result_type()]).filter_map(|ty| index.def(ty));
        for vector in vectors.filter(|ty| ty.opcode() == op::TypeVector) {
            let (ty, count) = (vector.word(1), vector.word(3));
            if !self.seen.insert(ty) {
                continue;
            }
            self.components = self.components.saturating_add(count);
            if count > MAX_COMPONENTS || self.components > MAX_ALL_COMPONENTS {
                return Err(Error::new(
                    ErrorKind::Unsupported,
                    "poison",
                    inst.offset as u32,
                    format!(
                        "%{ty} is a vector of {count} components: under ArithmeticPoisonKHR vectors of up to {MAX_COMPONENTS} are \
                         lowered, and types of up to {MAX_ALL_COMPONENTS} together"
                    ),
                ));
            }
        }
        Ok(())
    }
}

fn drop_wrap_decorations(index: &Index<'_>, edits: &mut Edits) {
    for inst in index.insts(index.sections.memory_model, index.sections.annotations) {
        let wrap = matches!(inst.word(2), decoration::NoSignedWrap | decoration::NoUnsignedWrap);
        if inst.opcode() == op::Decorate && wrap {
            edits.remove(inst.offset, inst.words.len());
        }
    }
}
