//! Lowers `SPV_KHR_poison_freeze`.
//!
//! ```text
//! PoisonKHR, Undef              become   the stable placeholder of their type (see `edit::placeholder`)
//! FreezeKHR %v                  becomes  CopyObject %v
//! Variable Function             becomes  Variable Function %null, if the module freezes anything
//! UDiv %a %b                    becomes  UDiv %a (%b == 0 ? 1 : %b)
//! SDiv %a %b                    becomes  SDiv %a (%b == 0 || %b == -1 && %a == MIN ? 1 : %b)
//! ConvertFToS %v                becomes  ConvertFToS (%v in range ? %v : 0)
//! ```
//!
//! A null value is the same at every use, and so is everything computed from it: freezing it is a copy. A load from a
//! variable without an initializer is undefined, so Private and Function variables get a null initializer where their
//! type has a null value.
//!
//! Phases: (1) the execution mode and the wrap decorations are removed; (2) global declarations and (3) function bodies
//! are rewritten. Arithmetic is made total (`total_arithmetic`) only under the execution mode `ArithmeticPoisonKHR`,
//! which turns its undefined behaviour into poison, and only where no constant operand rules that behaviour out.
//! In that mode, `NoSignedWrap` and `NoUnsignedWrap` are removed, because overflow without them wraps.
//!
//! Not handled: types without a placeholder (images, logical pointers) keep an `OpUndef`.

mod total_arithmetic;

use rustc_hash::FxHashSet as HashSet;
use total_arithmetic::{DeclaredConstants, TotalArithmetic};
use vkabort_spirv::edit::Edits;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::placeholder::Placeholders;
use vkabort_spirv::error::{Error, ErrorKind, Result};
use vkabort_spirv::index::Index;
use vkabort_spirv::op::{decoration, execution_mode, storage_class};
use vkabort_spirv::{Id, Inst, Words, op};

const PASS: &str = "poison";
/// Largest sum of the component counts of all vector types that are lowered: each lowering makes constants of as many. Compilers emit
/// far fewer.
const MAX_TOTAL_COMPONENTS: u32 = 1 << 18;

/// Lowers a module that declares `PoisonFreezeKHR`.
///
/// # Errors
///
/// [`ErrorKind::Unsupported`] if arithmetic under `ArithmeticPoisonKHR` uses vectors beyond the component limits.
pub fn lower(index: &Index<'_>) -> Result<Edits> {
    let mut edits = Edits::default();
    // Phase 1.
    let has_arithmetic_poison = remove_arithmetic_poison_mode(index, &mut edits);
    if has_arithmetic_poison {
        drop_wrap_decorations(index, &mut edits);
    }
    let mut lowering = Lowering {
        index,
        out: Emitter::new(index),
        placeholders: Placeholders::default(),
        has_freeze: function_insts(index).any(|inst| inst.opcode() == op::FreezeKHR),
        has_arithmetic_poison,
        constants: DeclaredConstants::default(),
        vectors: VectorBudget::default(),
    };
    // Phases 2 and 3.
    for inst in index.globals() {
        let is_rewritten = lowering.rewrite_global(&inst)?;
        lowering.replace(&inst, is_rewritten, &mut edits);
    }
    for inst in function_insts(index) {
        let is_rewritten = lowering.rewrite_local(&inst)?;
        lowering.replace(&inst, is_rewritten, &mut edits);
    }
    lowering.out.finish(index, &mut edits);
    Ok(edits)
}

fn function_insts<'w>(index: &Index<'w>) -> impl Iterator<Item = Inst<'w>> {
    index
        .functions
        .values()
        .iter()
        .flat_map(|f| index.insts(f.offset, f.end))
}

/// Removes the execution mode `ArithmeticPoisonKHR`; false if no entry point has it.
fn remove_arithmetic_poison_mode(index: &Index<'_>, edits: &mut Edits) -> bool {
    let modes = index
        .execution_modes
        .iter()
        .filter(|m| m.execution_mode() == execution_mode::ArithmeticPoisonKHR);
    modes.fold(false, |_, mode| {
        edits.remove_inst(mode);
        true
    })
}

fn drop_wrap_decorations(index: &Index<'_>, edits: &mut Edits) {
    for inst in index.insts(index.sections.memory_model, index.sections.annotations) {
        let wrap = matches!(inst.decoration(), decoration::NoSignedWrap | decoration::NoUnsignedWrap);
        if inst.opcode() == op::Decorate && wrap {
            edits.remove_inst(&inst);
        }
    }
}

/// Whether an instruction declares a variable private to the invocation without an initializer.
fn is_uninitialized(inst: &Inst<'_>) -> bool {
    inst.opcode() == op::Variable
        && inst.words.len() == 4
        && matches!(inst.storage_class(), storage_class::Private | storage_class::Function)
}

/// Facts about the module, and state shared by the rewrites of its instructions.
struct Lowering<'a, 'w> {
    index: &'a Index<'w>,
    out: Emitter,
    placeholders: Placeholders,
    has_freeze: bool,
    has_arithmetic_poison: bool,
    /// Constants declared among the global declarations for `OpSpecConstantOp`.
    constants: DeclaredConstants,
    vectors: VectorBudget,
}

impl Lowering<'_, '_> {
    /// Replaces an instruction by the code just written, if that is its replacement.
    fn replace(&mut self, inst: &Inst<'_>, is_rewritten: bool, edits: &mut Edits) {
        let code = self.out.take_code();
        if is_rewritten {
            edits.replace_inst(inst, &code);
        }
    }

    /// Writes the replacement of a global declaration; false to keep it.
    fn rewrite_global(&mut self, inst: &Inst<'_>) -> Result<bool> {
        let (index, ty) = (self.index, inst.result_type());
        match inst.opcode() {
            op::Variable if self.has_freeze && is_uninitialized(inst) => {
                let null = self.out.fresh();
                let pointee = self.pointee(ty);
                if !self.placeholders.has_null(index, pointee) {
                    return Ok(false);
                }
                self.out.op(op::ConstantNull, (pointee, null));
                self.out.op(op::Variable, (Words(inst.from(1)), null));
            }
            op::PoisonKHR | op::Undef if self.placeholders.has_null(index, ty) => {
                self.out.op(op::ConstantNull, (ty, inst.result()));
            }
            op::PoisonKHR => self.out.op(op::Undef, (ty, inst.result())),
            op::SpecConstantOp if self.has_arithmetic_poison => {
                return self.make_total(inst, inst.spec_opcode(), 4);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Writes the replacement of an instruction of a function; false to keep it.
    fn rewrite_local(&mut self, inst: &Inst<'_>) -> Result<bool> {
        let (index, ty, result) = (self.index, inst.result_type(), inst.result());
        match inst.opcode() {
            op::PoisonKHR | op::Undef => match self.placeholders.stable_placeholder(index, &mut self.out, ty) {
                Some(value) => self.out.op(op::CopyObject, (ty, result, value)),
                None if inst.opcode() == op::PoisonKHR => self.out.op(op::Undef, (ty, result)),
                None => return Ok(false),
            },
            op::FreezeKHR => {
                // A global `OpUndef` may lack a null value where instructions here can still build a placeholder.
                let operand = index.def(inst.first_operand());
                let is_global_undef = operand.is_some_and(|v| {
                    matches!(v.opcode(), op::PoisonKHR | op::Undef) && v.offset < index.sections.globals
                });
                let stable = match is_global_undef {
                    true => self.placeholders.stable_placeholder(index, &mut self.out, ty),
                    false => None,
                };
                self.out
                    .op(op::CopyObject, (ty, result, stable.unwrap_or(inst.first_operand())));
            }
            op::Variable if self.has_freeze && is_uninitialized(inst) => {
                let pointee = self.pointee(ty);
                if !self.placeholders.has_null(index, pointee) {
                    return Ok(false);
                }
                let null = self.out.null(pointee);
                self.out.op(op::Variable, (Words(inst.from(1)), null));
            }
            opcode if self.has_arithmetic_poison => return self.make_total(inst, opcode, 3),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Writes a total form of an instruction that applies `opcode` to the operands from word `first` on.
    fn make_total(&mut self, inst: &Inst<'_>, opcode: u16, first: usize) -> Result<bool> {
        self.vectors.check(self.index, inst, first)?;
        let arithmetic = TotalArithmetic {
            index: self.index,
            out: &mut self.out,
            spec_constants: (inst.opcode() == op::SpecConstantOp).then_some(&mut self.constants),
        };
        Ok(arithmetic.rewrite(inst, opcode, first).is_some())
    }

    fn pointee(&self, pointer_type: Id) -> Id {
        self.index
            .def(pointer_type)
            .map_or(Id::NONE, |pointer| pointer.pointee())
    }
}

/// Limits the components of the vector constants that this pass makes.
#[derive(Default)]
struct VectorBudget {
    /// Vector types already counted.
    counted: HashSet<Id>,
    components: u32,
}

impl VectorBudget {
    /// Counts the vector types of an instruction's result and of its operands from word `first` on.
    fn check(&mut self, index: &Index<'_>, inst: &Inst<'_>, first: usize) -> Result<()> {
        let types = inst.ids(first).map(|operand| index.type_of(operand));
        let vectors = types.chain([inst.result_type()]).filter_map(|ty| index.def(ty));
        for vector in vectors.filter(|ty| ty.opcode() == op::TypeVector) {
            if !self.counted.insert(vector.result()) {
                continue;
            }
            self.components = self.components.saturating_add(vector.component_count());
            if self.components > MAX_TOTAL_COMPONENTS {
                let message = format!(
                    "all vector types together have more than {MAX_TOTAL_COMPONENTS} components, the most under \
                     ArithmeticPoisonKHR"
                );
                return Err(Error::new(ErrorKind::Unsupported, PASS, inst.offset as u32, message));
            }
        }
        Ok(())
    }
}
