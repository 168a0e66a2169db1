//! The faults of an instruction's result, by those of its operands.
//!
//! An operand that an operation drops drops its fault: the one that a selection does not take, the one beside a false of `&&`, a true of `||`
//! or a zero mask.

use super::plant::FaultWriter;
use super::shapes::{Shape, bools, component, larger_word};
use smallvec::SmallVec;
use vkabort_analysis::effects::{component_count, results};
use vkabort_analysis::view::path::{Path, part_count};
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::words::version;
use vkabort_spirv::{Id, Inst, Words, op, operands};

impl FaultWriter<'_, '_, '_, '_> {
    /// Writes the faults of a result behind the instruction. `None`: it has none.
    pub(super) fn of_operands(&mut self, inst: &Inst<'_>, shape: Shape) -> Option<Id> {
        match inst.opcode() {
            op::Load => {
                let loaded = self.load(inst.end(), inst.pointer());
                let pointer = self.values.get(&inst.pointer()).copied();
                self.with_word_of(inst, shape, (loaded, pointer))
            }
            op::FunctionCall => self.returned(inst, shape),
            op::CompositeConstruct => self.moved(inst, shape, 3, inst.words.len()),
            op::CompositeInsert if !self.values.contains_key(&inst.id(4)) => {
                let word = self.values.get(&inst.id(3)).copied()?;
                let path: Path = inst.from(5).into();
                Some(self.insert(inst.end(), |faults, out| {
                    faults.shapes.composed(out, shape, &[(path, word)])
                }))
            }
            op::CompositeInsert | op::VectorShuffle => self.moved(inst, shape, 3, 5),
            op::CompositeExtract | op::CopyObject | op::CopyLogical => self.moved(inst, shape, 3, 4),
            op::VectorExtractDynamic => self.extracted(inst, shape),
            op::VectorInsertDynamic => self.inserted(inst, shape),
            op::Select => self.selected(inst, shape),
            op::LogicalAnd | op::LogicalOr => self.junction(inst, shape),
            op::BitwiseAnd => self.masked(inst, shape),
            op::Any | op::All => self.any_or_all(inst),
            op::Undef | op::FreezeKHR => None,
            _ => self.computed(inst, shape),
        }
    }

    /// Of an instruction that moves parts of the operands in the words `from..to`: the same instruction on their faults.
    fn moved(&mut self, inst: &Inst<'_>, shape: Shape, from: usize, to: usize) -> Option<Id> {
        let ids: SmallVec<[Id; 8]> = (from..to).map(|word| inst.id(word)).collect();
        if !ids.iter().any(|id| self.values.contains_key(id)) {
            return None;
        }
        let mut faults: SmallVec<[u32; 8]> = SmallVec::new();
        for id in ids {
            let shape = self.shape_of(id)?;
            faults.push(self.fault_or_none(id, shape).word());
        }
        let ty = self.faults.shapes.ty(shape);
        let rest = inst.words.get(to..).unwrap_or_default();
        Some(self.insert(inst.end(), |_, out| {
            out.emit(inst.opcode(), ty, (Words(&faults), Words(rest)))
        }))
    }

    /// Adds a fault of one word, such as that of an index, to those of a scalar or vector.
    fn with_word_of(&mut self, inst: &Inst<'_>, shape: Shape, found: (Option<Id>, Option<Id>)) -> Option<Id> {
        match found {
            (faults, None) => faults,
            (None, Some(word)) => self.insert(inst.end(), |faults, out| faults.shapes.repeated(out, shape, word)),
            (Some(of_value), Some(word)) => self.insert(inst.end(), |faults, out| {
                let Some(word) = faults.shapes.repeated(out, shape, word) else {
                    return Some(of_value);
                };
                Some(faults.shapes.larger(out, shape, (of_value, word)))
            }),
        }
    }

    fn extracted(&mut self, inst: &Inst<'_>, shape: Shape) -> Option<Id> {
        let vector = self.values.get(&inst.id(3)).copied();
        let taken = vector.map(|vector| {
            let at = self.component_inside(inst, inst.id(3), inst.id(4));
            self.insert(inst.end(), |faults, out| {
                out.emit(op::VectorExtractDynamic, faults.shapes.ty(shape), (vector, at))
            })
        });
        let of_index = self.values.get(&inst.id(4)).copied();
        self.with_word_of(inst, shape, (taken, of_index))
    }

    fn inserted(&mut self, inst: &Inst<'_>, shape: Shape) -> Option<Id> {
        let [vector, value] = [3, 4].map(|word| self.values.get(&inst.id(word)).copied());
        let put = (vector.is_some() || value.is_some()).then(|| {
            let at = self.component_inside(inst, inst.id(3), inst.id(5));
            self.insert(inst.end(), |faults, out| {
                let ty = faults.shapes.ty(shape);
                let vector = vector.unwrap_or_else(|| out.null(ty));
                let value = value.unwrap_or_else(|| out.constant(0));
                out.emit(op::VectorInsertDynamic, ty, (vector, value, at))
            })
        });
        let of_index = self.values.get(&inst.id(5)).copied();
        self.with_word_of(inst, shape, (put, of_index))
    }

    fn component_inside(&mut self, inst: &Inst<'_>, vector: Id, at: Id) -> Id {
        let index = self.planter.index;
        let count = part_count(index, index.type_of(vector)).unwrap_or(1);
        self.clamped(inst.end(), at, count)
    }

    fn selected(&mut self, inst: &Inst<'_>, shape: Shape) -> Option<Id> {
        let index = self.planter.index;
        let [condition, yes, no] = [3, 4, 5].map(|word| self.values.get(&inst.id(word)).copied());
        let is_vector = index.opcode(index.type_of(inst.id(3))) == op::TypeVector;
        let is_composite = self.faults.shapes.components(shape).is_none();
        // Before SPIR-V 1.4, a scalar selects scalars only.
        let is_plain = self.faults.shapes.components(shape) == Some(1) || is_vector || index.version >= version(1, 4);
        let taken = (is_plain && (yes.is_some() || no.is_some())).then(|| {
            self.insert(inst.end(), |faults, out| {
                let ty = faults.shapes.ty(shape);
                let [yes, no] = [yes, no].map(|fault| fault.unwrap_or_else(|| out.null(ty)));
                out.emit(op::Select, ty, (inst.id(3), yes, no))
            })
        });
        match condition {
            Some(of_each) if is_vector => self.insert(inst.end(), |faults, out| {
                let taken = taken.map(|taken| faults.shapes.larger(out, shape, (taken, of_each)));
                Some(taken.unwrap_or(of_each))
            }),
            condition => self.with_word_of(inst, shape, (taken, condition.filter(|_| !is_composite))),
        }
    }

    /// `&&` and `||`: an operand that has no fault and decides the result drops the other one.
    fn junction(&mut self, inst: &Inst<'_>, shape: Shape) -> Option<Id> {
        let is_and = inst.opcode() == op::LogicalAnd;
        self.dropped(inst, shape, |out, bool, value| match is_and {
            true => Some(value),
            false => Some(out.emit(op::LogicalNot, bool, value)),
        })
    }

    /// A mask of 0 that has no fault drops the other operand.
    fn masked(&mut self, inst: &Inst<'_>, shape: Shape) -> Option<Id> {
        let index = self.planter.index;
        let ty = inst.result_type();
        if index.def(ty).is_none_or(|number| index.lacks_arithmetic(&number)) {
            return self.computed(inst, shape);
        }
        self.dropped(inst, shape, |out, bool, mask| {
            let constant = index.def(mask).filter(|mask| mask.opcode() == op::Constant);
            if constant
                .and_then(|constant| index.literal(&constant))
                .is_some_and(|value| value != 0)
            {
                return None;
            }
            let zero = out.null(ty);
            Some(out.emit(op::INotEqual, bool, (mask, zero)))
        })
    }

    /// The faults of two operands, where the other one keeps the result from being decided without it, or is faulty itself. `write_keeps`
    /// writes whether it does, as booleans of the type that it gets; nothing if it always does.
    fn dropped(
        &mut self,
        inst: &Inst<'_>,
        shape: Shape,
        write_keeps: impl Fn(&mut Emitter, Id, Id) -> Option<Id>,
    ) -> Option<Id> {
        let count = self.faults.shapes.components(shape)?;
        let [one, other] = [3, 4].map(|word| {
            let id = inst.id(word);
            (id, self.values.get(&id).copied())
        });
        let kept = [(one, other), (other, one)].into_iter().filter_map(|(own, beside)| {
            let ((_, fault), (value, of_beside)) = (own, beside);
            let fault = fault?;
            Some(self.insert(inst.end(), |faults, out| {
                let (bool, ty) = (bools(out, count), faults.shapes.ty(shape));
                let none = out.null(ty);
                let Some(mut keeps) = write_keeps(out, bool, value) else {
                    return fault;
                };
                if let Some(of_beside) = of_beside {
                    let is_faulty = out.emit(op::INotEqual, bool, (of_beside, none));
                    keeps = out.emit(op::LogicalOr, bool, (keeps, is_faulty));
                }
                out.emit(op::Select, ty, (keeps, fault, none))
            }))
        });
        match *kept.collect::<SmallVec<[Id; 2]>>() {
            [] => None,
            [only] => Some(only),
            [one, other, ..] => Some(self.insert(inst.end(), |all, out| all.shapes.larger(out, shape, (one, other)))),
        }
    }

    /// A component that has no fault and decides the result drops the others.
    fn any_or_all(&mut self, inst: &Inst<'_>) -> Option<Id> {
        let fault = self.values.get(&inst.id(3)).copied()?;
        let index = self.planter.index;
        let count = component_count(index, index.type_of(inst.id(3)));
        let is_all = inst.opcode() == op::All;
        Some(self.insert(inst.end(), |_, out| {
            let (bool, uint) = (out.bool(), out.uint());
            let (mut largest, mut decides) = (out.constant(0), out.value(op::ConstantFalse, bool, ()));
            let none = out.constant(0);
            for number in 0..count {
                let word = component(out, fault, number);
                let value = out.emit(op::CompositeExtract, bool, (inst.id(3), vkabort_spirv::Literal(number)));
                let decided = match is_all {
                    true => out.emit(op::LogicalNot, bool, value),
                    false => value,
                };
                let has_none = out.emit(op::IEqual, bool, (word, none));
                let decided = out.emit(op::LogicalAnd, bool, (decided, has_none));
                decides = out.emit(op::LogicalOr, bool, (decides, decided));
                largest = larger_word(out, largest, word);
            }
            out.emit(op::Select, uint, (decides, none, largest))
        }))
    }

    /// Of any other computation: the largest fault of its operands, component by component where it computes so.
    fn computed(&mut self, inst: &Inst<'_>, shape: Shape) -> Option<Id> {
        let index = self.planter.index;
        let mut words = Vec::new();
        let is_listed = operands::visit_ids(inst, index.selector_words(inst), |word| words.push(word));
        if !is_listed {
            words = (3..inst.words.len()).collect();
        }
        let mut of_components: Option<Id> = None;
        let mut of_all: Option<Id> = None;
        for word in words.into_iter().filter(|word| *word > 2) {
            let id = inst.id(word);
            let Some(fault) = self.values.get(&id).copied() else {
                continue;
            };
            let operand = self.shape_of(id)?;
            let first: Path = std::iter::once(0).collect();
            let is_by_component = operand == shape
                && results(index, inst, word, &first)
                    .first()
                    .is_some_and(|path| *path == first);
            let is_scalar = self.faults.shapes.components(shape) == Some(1);
            let is_same = is_by_component || (is_scalar && operand == shape);
            if is_same {
                of_components = Some(match of_components {
                    None => fault,
                    Some(other) => self.insert(inst.end(), |all, out| all.shapes.larger(out, shape, (other, fault))),
                });
                continue;
            }
            let paths = self.faults.shapes.words_of(operand);
            let reduced = self.insert(inst.end(), |all, out| all.shapes.largest(out, fault, operand, &paths))?;
            of_all = Some(match of_all {
                None => reduced,
                Some(other) => self.insert(inst.end(), |_, out| larger_word(out, other, reduced)),
            });
        }
        match self.faults.shapes.components(shape) {
            Some(_) => self.with_word_of(inst, shape, (of_components, of_all)),
            None => of_all.map(|word| self.filled(inst, shape, word)),
        }
    }

    /// One word for every word of a composite, such as the two results of an addition with carry.
    fn filled(&mut self, inst: &Inst<'_>, shape: Shape, word: Id) -> Id {
        let paths = self.faults.shapes.words_of(shape);
        let words: Vec<(Path, Id)> = paths.into_iter().map(|path| (path, word)).collect();
        self.insert(inst.end(), |faults, out| faults.shapes.composed(out, shape, &words))
    }
}
