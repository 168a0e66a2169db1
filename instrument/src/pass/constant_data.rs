//! Lowers `OpConstantDataKHR` and `OpSpecConstantDataKHR` to ordinary constants (SPV_KHR_constant_data).
//!
//! ```text
//! %a = ConstantDataKHR %array 0x64636261     becomes   %a = ConstantComposite %array %97 %98 %99 %100
//! ```
//!
//! [`specialize`] runs first: it replaces the data of `OpSpecConstantDataKHR` by specialisation data, since a pipeline can
//! change data and length of it and no ordinary constant can follow. [`lower`] runs last, on data that more than messages
//! use: messages have copied their bytes before, and `strip` has removed the rest.
//!
//! Not handled: tables of more than [`MAX_CONSTITUENTS`] elements, which no `OpConstantComposite` holds, and element types
//! other than integers of 8, 16, 32 and 64 bits.

use crate::analysis::index::Index;
use crate::analysis::index::constant::literal_words;
use crate::edit::{Edits, Ids};
use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::spv::op::decoration;
use crate::spv::words::MAX_INST_WORDS;
use crate::spv::{Code, Id, Inst, Words, op};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

const PASS: &str = "constant_data";
/// Most constituents of an `OpConstantComposite`: its words less opcode, type and result.
const MAX_CONSTITUENTS: usize = MAX_INST_WORDS - 3;

/// Lowers all constant data of a module.
///
/// # Errors
///
/// Data that does not match its array type, an element type that is not handled, or too large a table.
pub(crate) fn lower(index: &Index<'_>) -> Result<Edits> {
    let mut edits = Edits::default();
    let mut ids = Ids::new(index.bound);
    for inst in &index.constant_data {
        lower_one(index, inst, &mut ids, &mut edits)?;
    }
    edits.take_ids(&ids);
    Ok(edits)
}

fn lower_one(index: &Index<'_>, inst: &Inst<'_>, ids: &mut Ids, edits: &mut Edits) -> Result<()> {
    let fail = |kind, message: String| Err(Error::new(kind, PASS, inst.offset as u32, message));
    let array = index.def(inst.result_type()).filter(|t| t.opcode() == op::TypeArray);
    let element = array
        .and_then(|a| index.def(a.element_type()))
        .filter(|t| t.opcode() == op::TypeInt);
    let (Some(array), Some(element)) = (array, element) else {
        return fail(ErrorKind::Invalid, "constant data is not an array of integers".into());
    };
    let bytes = match element.width() {
        bits @ (8 | 16 | 32 | 64) => bits as usize / 8,
        bits => return fail(ErrorKind::Unsupported, format!("constant data of {bits}-bit integers")),
    };
    // `specialize` has made the specialised lengths the defaults.
    let length = index.length(array.array_length(), &Options::default());
    let Some(count) = length.map(|l| l.value() as usize) else {
        return fail(ErrorKind::Invalid, "constant data has an unknown length".into());
    };
    let data = inst.from(3);
    let words = data.len();
    if words != count.saturating_mul(bytes).div_ceil(4) {
        let message = format!("constant data has {words} words, not {count} elements of {bytes} bytes");
        return fail(ErrorKind::Invalid, message);
    }
    if count > MAX_CONSTITUENTS {
        let message = format!("constant data has {count} elements, more than {MAX_CONSTITUENTS}; split it");
        return fail(ErrorKind::Limit, message);
    }
    let data: Vec<u8> = data.iter().flat_map(|w| w.to_le_bytes()).collect();
    let mut code = Code::default();
    let mut constants: HashMap<u64, Id> = HashMap::default();
    let mut parts = Vec::with_capacity(count);
    for element_bytes in data.chunks_exact(bytes).take(count) {
        let mut padded = [0; 8];
        padded[..bytes].copy_from_slice(element_bytes);
        let value = u64::from_le_bytes(padded);
        let id = *constants.entry(value).or_insert_with(|| {
            let id = ids.fresh();
            code.op(
                op::Constant,
                (element.result(), id, Words(&literal_words(&element, value))),
            );
            id
        });
        parts.push(id);
    }
    code.op(
        op::ConstantComposite,
        (inst.result_type(), inst.result(), parts.as_slice()),
    );
    edits.replace_inst(inst, &code);
    Ok(())
}

/// `SpecId`s of a module's `OpSpecConstantDataKHR`.
pub(crate) fn spec_ids(index: &Index<'_>) -> Vec<u32> {
    let data = index.constant_data.iter();
    data.filter(|i| i.opcode() == op::SpecConstantDataKHR)
        .filter_map(|i| index.decoration(i.result(), decoration::SpecId))
        .collect()
}

/// Replaces the data of specialised constants by the data in the options, and gives the specialisation constants that the
/// lengths of their arrays depend on the values in the options. Removes the `SpecId`s of constant data, so that the driver
/// does not see them.
///
/// # Errors
///
/// [`ErrorKind::Invalid`] if the data for a constant is empty or too large.
pub(crate) fn specialize(index: &Index<'_>, options: &Options) -> Result<Edits> {
    let mut edits = Edits::default();
    let mut specialised: HashSet<Id> = HashSet::default();
    // Constants visited by `freeze_length`: lengths may share them.
    let mut frozen: HashSet<Id> = HashSet::default();
    let data = index.constant_data.iter();
    for inst in data.filter(|i| i.opcode() == op::SpecConstantDataKHR) {
        let Some(spec_id) = index.decoration(inst.result(), decoration::SpecId) else {
            continue;
        };
        specialised.insert(inst.result());
        let Some(bytes) = options.specialization.get(&spec_id) else {
            continue;
        };
        let mut padded = bytes.clone();
        padded.resize(padded.len().next_multiple_of(4), 0);
        let words: Vec<u32> = padded
            .chunks_exact(4)
            .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            .collect();
        if words.is_empty() || words.len() > MAX_CONSTITUENTS {
            let (bytes, max) = (bytes.len(), MAX_CONSTITUENTS * 4);
            let message =
                format!("specialisation data for SpecId {spec_id} has {bytes} bytes; it must have 1 to {max}");
            return Err(Error::new(ErrorKind::Invalid, PASS, inst.offset as u32, message));
        }
        let mut code = Code::default();
        code.op(
            op::SpecConstantDataKHR,
            (inst.result_type(), inst.result(), Words(&words)),
        );
        edits.replace_inst(inst, &code);
        if let Some(array) = index.def(inst.result_type()) {
            freeze_length(index, array.array_length(), options, &mut frozen, &mut edits);
        }
    }
    drop_spec_ids(index, &specialised, &mut edits);
    Ok(edits)
}

/// Removes the `SpecId` decorations of constants. One that has its `SpecId` from a decoration group leaves the group and gets
/// the group's other decorations itself.
fn drop_spec_ids(index: &Index<'_>, constants: &HashSet<Id>, edits: &mut Edits) {
    let annotations = || index.insts(index.sections.memory_model, index.sections.annotations);
    let is_spec_id = |inst: &Inst<'_>| inst.opcode() == op::Decorate && inst.decoration() == decoration::SpecId;
    let is_decorate = |inst: &Inst<'_>| matches!(inst.opcode(), op::Decorate | op::DecorateId | op::DecorateString);
    let mut group_decorations: Vec<Inst<'_>> = annotations()
        .filter(|inst| is_decorate(inst) && index.opcode(inst.target()) == op::DecorationGroup)
        .collect();
    group_decorations.sort_by_key(|inst| inst.target());
    for inst in annotations() {
        let first = inst.target();
        if is_spec_id(&inst) && constants.contains(&first) {
            edits.remove_inst(&inst);
        }
        if inst.opcode() != op::GroupDecorate {
            continue;
        }
        let start = group_decorations.partition_point(|decorate| decorate.target() < first);
        let end = group_decorations.partition_point(|decorate| decorate.target() <= first);
        let decorations = group_decorations.get(start..end).unwrap_or(&[]);
        let (leaving, staying): (Vec<Id>, Vec<Id>) = inst.ids(2).partition(|target| constants.contains(target));
        if leaving.is_empty() || !decorations.iter().any(is_spec_id) {
            continue;
        }
        let mut code = Code::default();
        if !staying.is_empty() {
            code.op(op::GroupDecorate, (first, staying.as_slice()));
        }
        for decorate in decorations.iter().filter(|decorate| !is_spec_id(decorate)) {
            for target in &leaving {
                code.op(decorate.opcode(), (*target, Words(decorate.from(2))));
            }
        }
        edits.replace_inst(&inst, &code);
    }
}

/// Makes the values in the options the defaults of the specialisation constants that a length depends on. `frozen` holds the
/// constants visited before.
fn freeze_length(index: &Index<'_>, length: Id, options: &Options, frozen: &mut HashSet<Id>, edits: &mut Edits) {
    let mut worklist = vec![length];
    while let Some(id) = worklist.pop() {
        let Some(inst) = index.def(id).filter(|_| frozen.insert(id)) else {
            continue;
        };
        let mut code = Code::default();
        let head = [inst.result_type(), id];
        match inst.opcode() {
            op::SpecConstantOp if inst.spec_opcode() == op::CompositeExtract => worklist.push(inst.id(4)),
            op::SpecConstantOp => worklist.extend(inst.ids(4)),
            op::SpecConstantComposite => worklist.extend(inst.ids(3)),
            op::SpecConstant | op::SpecConstantTrue | op::SpecConstantFalse => {
                let (Some(ty), Some(value)) = (index.def(inst.result_type()), index.value(id, options)) else {
                    continue;
                };
                match (inst.opcode(), value.value()) {
                    (op::SpecConstant, value) => code.op(op::SpecConstant, (head, Words(&literal_words(&ty, value)))),
                    (_, 0) => code.op(op::SpecConstantFalse, head.as_slice()),
                    _ => code.op(op::SpecConstantTrue, head.as_slice()),
                }
                edits.replace_inst(&inst, &code);
            }
            _ => {}
        }
    }
}
