//! Tests of faults in front of their effects.
//!
//! An effect in a loop that the operation is not in only notes the fault: it is tested behind the loop, since an exit in the loop would cost
//! more than the loop. A fault of a value that is not finite counts where the value still is not.

use super::ClassTest;
use super::aborts::{Abort, Alternatives, numbers, plant_aborts, write_is_one_of};
use super::origin::FaultClass;
use super::plant::FaultWriter;
use super::shapes::larger_word;
use crate::planter::Planter;
use crate::scalars::{Scalar, float_type, write_not_finite};
use std::collections::BTreeMap;
use vkabort_analysis::effects::{Carrier, EffectPoint, TestedCarrier};
use vkabort_analysis::view::path::{Path, type_at};
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::local_variable::local_variable;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::typed::BlockIndex;
use vkabort_spirv::{Id, Words, op};

/// Most aborts at the tests of one function. Further tests are left out.
const MOST_ABORTS: usize = 512;

/// The block of operations, and the header of a loop that it is not in.
type LoopOf = (BlockIndex, BlockIndex);

/// Faults that are tested behind a loop.
struct Noted {
    variable: Id,
    /// The operations that may have one, and whether their operands can be shown.
    aborts: Vec<Abort>,
    /// The effects at which they are noted, by word offset.
    effects: BTreeMap<usize, BlockIndex>,
}

/// Plants the tests of a function.
pub(super) fn plant(writer: &mut FaultWriter<'_, '_, '_, '_>) {
    let tests = writer.faults.tests.remove(&writer.view.number).unwrap_or_default();
    let mut behind_loops: BTreeMap<LoopOf, Noted> = BTreeMap::new();
    let mut left = MOST_ABORTS;
    let mut left_out = 0;
    for ClassTest { class, test, sources } in tests {
        if !writer.view.graph.is_reachable(test.block) || !writer.planter.is_plantable(test.block) {
            continue;
        }
        let at = (test.block, test.offset);
        let aborts = test.sources.iter().filter_map(|carried| {
            let operation = *sources.get(carried.source)?;
            Some((operation, carried.is_direct || is_executed_once(writer, operation, at)))
        });
        let (noted, here): (Vec<Abort>, Vec<Abort>) =
            aborts.partition(|(operation, _)| loop_without(writer, *operation, test.block).is_some());
        let here = Alternatives {
            aborts: here,
            elsewhere: noted,
            has_more: test.has_more,
        };
        let count = here.count(writer) + here.elsewhere.len();
        if left < count {
            left_out += 1;
            continue;
        }
        left -= count;
        let Some(fault) = fault(writer, class, &test.carriers, test.offset) else {
            continue;
        };
        let point = EffectPoint {
            block: test.block,
            offset: test.offset,
        };
        for abort in &here.elsewhere {
            if let Some(of) = loop_without(writer, abort.0, test.block) {
                note(writer, (&mut behind_loops, of), &point, (fault, *abort));
            }
        }
        plant_aborts(writer, (&point, Some(&point)), fault, &here);
    }
    for (
        (from, header),
        Noted {
            variable,
            aborts,
            effects,
        },
    ) in behind_loops
    {
        // Which one of several effects has noted a fault is not known.
        let only = effects.iter().next().filter(|_| effects.len() == 1);
        let only = only.map(|(offset, block)| EffectPoint {
            block: *block,
            offset: *offset,
        });
        let own = numbers(writer, &aborts);
        let alternatives = Alternatives {
            aborts,
            elsewhere: Vec::new(),
            has_more: false,
        };
        for (block, offset) in writer.planter.exits_of(from, header) {
            let fault = writer.planter.insert(offset, |out| {
                let (uint, none) = (out.uint(), out.constant(0));
                let noted = out.emit(op::Load, uint, variable);
                let is_own = write_is_one_of(out, noted, &own);
                out.emit(op::Select, uint, (is_own, noted, none))
            });
            let point = EffectPoint { block, offset };
            plant_aborts(writer, (&point, only.as_ref()), fault, &alternatives);
        }
    }
    writer.faults.left_out += left_out;
}

/// Whether an operation is executed once, and before a place: its operands are those of the fault, whatever carried it. A function that is
/// called may run more than once.
fn is_executed_once(writer: &FaultWriter<'_, '_, '_, '_>, at: usize, (block, offset): (BlockIndex, usize)) -> bool {
    let Some(faulty) = writer.faults.all.get(at) else {
        return false;
    };
    let mut entry_points = writer.planter.index.entry_points.iter();
    faulty.function == writer.view.number
        && faulty.inst.offset < offset
        && entry_points.any(|entry| entry.function == writer.planter.function.id)
        && writer.planter.nest.innermost(faulty.block).is_none()
        && writer.view.graph.dominates(faulty.block, block)
}

/// The outermost loop around a block that an operation of the function is not in.
fn loop_without(writer: &FaultWriter<'_, '_, '_, '_>, at: usize, block: BlockIndex) -> Option<LoopOf> {
    let faulty = writer.faults.all.get(at)?;
    if faulty.function != writer.view.number {
        return None;
    }
    let found = writer.planter.outermost_without(faulty.block, block)?;
    Some((faulty.block, found.header))
}

/// Notes a fault in a variable that is tested behind a loop.
fn note(
    writer: &mut FaultWriter<'_, '_, '_, '_>,
    (behind_loops, of): (&mut BTreeMap<LoopOf, Noted>, LoopOf),
    point: &EffectPoint,
    (fault, (at, is_direct)): (Id, Abort),
) {
    let planter: &mut Planter<'_, '_, '_> = &mut *writer.planter;
    let noted = behind_loops.entry(of).or_insert_with(|| {
        let module = &mut *planter.module;
        let (uint, none) = (module.out.uint(), module.out.constant(0));
        let target = (&mut module.out, &mut module.edits);
        let variable = local_variable(planter.index, planter.function, target, (uint, Some(none)));
        module.planted.fault_variables.insert(variable);
        Noted {
            variable,
            aborts: Vec::new(),
            effects: BTreeMap::new(),
        }
    });
    // The operation is not executed again before the end of the loop: its operands stay.
    match noted.aborts.iter_mut().find(|(other, _)| *other == at) {
        Some((_, all_direct)) => *all_direct &= is_direct,
        None => noted.aborts.push((at, is_direct)),
    }
    if noted.effects.insert(point.offset, point.block).is_some() {
        return;
    }
    let variable = noted.variable;
    planter.insert(point.offset, |out| {
        let uint = out.uint();
        let before = out.emit(op::Load, uint, variable);
        let larger = larger_word(out, fault, before);
        out.op(op::Store, (variable, larger));
    });
}

/// Writes the largest fault of the parts of carriers that have an effect.
fn fault(
    writer: &mut FaultWriter<'_, '_, '_, '_>,
    class: FaultClass,
    carriers: &[TestedCarrier],
    at: usize,
) -> Option<Id> {
    let mut largest = None;
    for (carrier, parts) in carriers {
        let (value, found) = match carrier {
            Carrier::Value(_, id) => {
                let fault = writer.values.get(id).copied();
                (Some(*id), fault.zip(writer.shape_of(*id)))
            }
            Carrier::Variable(variable) => (None, writer.load_all(at, *variable)),
            Carrier::Result(_) => (None, None),
        };
        let Some((faults, shape)) = found else { continue };
        let paths = parts.clone().unwrap_or_else(|| writer.faults.shapes.words_of(shape));
        let index = writer.planter.index;
        let word = writer.insert(at, |all, out| match (class, value) {
            (FaultClass::NotFinite, Some(value)) => not_finite(out, index, value, (faults, &paths)),
            _ => all.shapes.largest(out, faults, shape, &paths),
        });
        largest = match (largest, word) {
            (Some(one), Some(other)) => Some(writer.insert(at, |_, out| larger_word(out, one, other))),
            (one, other) => one.or(other),
        };
    }
    largest
}

/// The largest fault of parts of a value that are not finite.
fn not_finite(out: &mut Emitter, index: &Index<'_>, value: Id, (faults, paths): (Id, &[Path])) -> Option<Id> {
    let uint = out.uint();
    let mut largest = None;
    for path in paths {
        let ty = type_at(index, index.type_of(value), path);
        let scalar = index.def(ty)?;
        let (id, word) = match path.as_slice() {
            [] => (value, faults),
            path => (
                out.emit(op::CompositeExtract, ty, (value, Words(path))),
                out.emit(op::CompositeExtract, uint, (faults, Words(path))),
            ),
        };
        let is_float = float_type(index, ty).is_some();
        let value = match is_float {
            true => Scalar { ty, id },
            false if scalar.opcode() == op::TypeInt && scalar.width() == 32 => {
                let float = out.float(32);
                let id = out.emit(op::Bitcast, float, id);
                Scalar { ty: float, id }
            }
            false => continue,
        };
        let is_not_finite = write_not_finite(out, value, scalar.width());
        let none = out.constant(0);
        let word = out.emit(op::Select, uint, (is_not_finite, word, none));
        largest = Some(match largest {
            None => word,
            Some(other) => larger_word(out, other, word),
        });
    }
    largest
}
