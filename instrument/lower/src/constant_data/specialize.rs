//! Replaces the data of `OpSpecConstantDataKHR` by specialisation data, and specialises the lengths of constant data.
//!
//! ```text
//! Decorate %data SpecId 1, Decorate %length SpecId 2
//! %length = SpecConstant %uint 3                        becomes   %length = SpecConstant %uint 5
//! %data = SpecConstantDataKHR %array 0x00636261                   %data = SpecConstantDataKHR %array 0x6C6C6568 0x6F
//! ```
//!
//! The drivers specialise the length to the same value again; they do not see the `SpecId` of the data.

use super::data::PASS;
use rustc_hash::FxHashSet as HashSet;
use vkabort_options::Options;
use vkabort_spirv::edit::Edits;
use vkabort_spirv::error::{Error, ErrorKind, Result};
use vkabort_spirv::index::Index;
use vkabort_spirv::index::constant::{Length, literal_words};
use vkabort_spirv::index::spec_constants::{constants_of, is_spec_scalar, spec_ids_of};
use vkabort_spirv::op::decoration;
use vkabort_spirv::words::MAX_INST_WORDS;
use vkabort_spirv::{Code, Id, Inst, Words, op};

/// Most words of constant data: those of an instruction less opcode, type and result.
const MAX_DATA_WORDS: usize = MAX_INST_WORDS - 3;

/// `SpecId`s that the lowered constant data of a module depends on.
#[derive(Default)]
pub struct SpecIds {
    /// Those of `OpSpecConstantDataKHR`.
    pub data: Vec<u32>,
    /// Those of the constants that the lengths of constant data depend on, sorted.
    pub lengths: Vec<u32>,
}

impl SpecIds {
    /// Whether no specialisation changes the constant data.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty() && self.lengths.is_empty()
    }
}

/// Finds the `SpecId`s that the lowered constant data of a module depends on.
pub fn spec_ids(index: &Index<'_>) -> SpecIds {
    let spec_id = |id| index.decoration(id, decoration::SpecId);
    let data = index.constant_data.iter();
    let data = data.filter(|inst| inst.opcode() == op::SpecConstantDataKHR);
    SpecIds {
        data: data.filter_map(|inst| spec_id(inst.result())).collect(),
        lengths: spec_ids_of(index, &length_constants(index)),
    }
}

/// Replaces the data of specialised constants by the data in the options, and gives the specialisation constants that the
/// lengths of constant data depend on the values in the options. Removes the `SpecId`s of constant data, so that the driver
/// does not see them.
///
/// # Errors
///
/// [`ErrorKind::Invalid`] if the data for a constant is empty or too large, or does not have its specialised length.
pub fn specialize(index: &Index<'_>, options: &Options) -> Result<Edits> {
    let mut edits = Edits::default();
    let mut specialised: HashSet<Id> = HashSet::default();
    for inst in &index.constant_data {
        let is_spec = inst.opcode() == op::SpecConstantDataKHR;
        let spec_id = index.decoration(inst.result(), decoration::SpecId).filter(|_| is_spec);
        specialised.extend(spec_id.map(|_| inst.result()));
        let bytes = spec_id.and_then(|id| options.specialization.get(&id));
        if let (Some(spec_id), Some(bytes)) = (spec_id, bytes) {
            let mut code = Code::default();
            let words = words_of(bytes);
            if words.is_empty() || words.len() > MAX_DATA_WORDS {
                let (bytes, max) = (bytes.len(), MAX_DATA_WORDS * 4);
                let message =
                    format!("specialisation data for SpecId {spec_id} has {bytes} bytes; it must have 1 to {max}");
                return Err(Error::new(ErrorKind::Invalid, PASS, inst.offset as u32, message));
            }
            code.op(
                op::SpecConstantDataKHR,
                (inst.result_type(), inst.result(), Words(&words)),
            );
            edits.replace_inst(inst, &code);
            check_length(index, inst, words.len(), options)?;
        } else if is_length_specialised(index, inst, options) {
            check_length(index, inst, inst.from(3).len(), options)?;
        }
    }
    freeze_lengths(index, options, &mut edits);
    drop_spec_ids(index, &specialised, &mut edits);
    Ok(edits)
}

/// Bytes as words, the last one padded with zeros.
fn words_of(bytes: &[u8]) -> Vec<u32> {
    let chunks = bytes.chunks(4).map(|chunk| {
        let mut word = [0; 4];
        word[..chunk.len()].copy_from_slice(chunk);
        u32::from_le_bytes(word)
    });
    chunks.collect()
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

/// The length of the array type of constant data.
fn length_of(index: &Index<'_>, data: &Inst<'_>) -> Option<Id> {
    let array = index.def(data.result_type()).filter(|ty| ty.opcode() == op::TypeArray);
    array.map(|array| array.array_length())
}

/// Whether the options specialise the length of constant data.
fn is_length_specialised(index: &Index<'_>, data: &Inst<'_>, options: &Options) -> bool {
    let is_specialised = |inst: &Inst<'_>| {
        let spec_id = index.decoration(inst.result(), decoration::SpecId);
        spec_id.is_some_and(|id| options.specialization.contains_key(&id))
    };
    let constants = constants_of(index, length_of(index, data));
    constants.iter().any(is_specialised)
}

/// Checks that constant data has as many words as its length in `options` requires.
fn check_length(index: &Index<'_>, data: &Inst<'_>, words: usize, options: &Options) -> Result<()> {
    let count = length_of(index, data).and_then(|length| index.length(length, &options.specialization));
    let width = index
        .def(index.part_type(data.result_type(), 0))
        .map(|element| element.width());
    let (Some(count), Some(width)) = (count.map(Length::value), width) else {
        // `lower` refuses such types.
        return Ok(());
    };
    let expected = count.saturating_mul(u64::from(width)).div_ceil(32);
    if expected == words as u64 {
        return Ok(());
    }
    let message = format!(
        "constant data has {words} words, but {count} elements of {width} bits, its specialised length, have {expected}; \
         specialise data and length together"
    );
    Err(Error::new(ErrorKind::Invalid, PASS, data.offset as u32, message))
}

/// Makes the values in the options the defaults of the specialisation constants that lengths of constant data depend on.
fn freeze_lengths(index: &Index<'_>, options: &Options, edits: &mut Edits) {
    for inst in length_constants(index) {
        if !is_spec_scalar(inst.opcode()) {
            continue;
        }
        let head = [inst.result_type(), inst.result()];
        let mut code = Code::default();
        let (Some(ty), Some(value)) = (
            index.def(inst.result_type()),
            index.value(inst.result(), &options.specialization),
        ) else {
            continue;
        };
        match (inst.opcode(), value.value()) {
            (op::SpecConstant, value) => code.op(op::SpecConstant, (head, Words(&literal_words(&ty, value)))),
            (_, 0) => code.op(op::SpecConstantFalse, head.as_slice()),
            _ => code.op(op::SpecConstantTrue, head.as_slice()),
        }
        edits.replace_inst(&inst, &code);
    }
}

/// The constants that the lengths of all constant data depend on, each once: lengths may share them.
fn length_constants<'w>(index: &Index<'w>) -> Vec<Inst<'w>> {
    constants_of(
        index,
        index.constant_data.iter().filter_map(|data| length_of(index, data)),
    )
}
