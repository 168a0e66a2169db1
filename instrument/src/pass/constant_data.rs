//! Lowers `OpConstantDataKHR` and `OpSpecConstantDataKHR` to ordinary constants.
//!
//! ```text
//! %a = ConstantDataKHR %array 0x64636261     becomes   %a = ConstantComposite %array %97 %98 %99 %100
//! ```
//!
//! Only what is still used: messages have taken their bytes already, and `strip` removes what they leave behind. The
//! data of a specialised constant comes from the options.

use crate::analysis::index::Index;
use crate::analysis::index::constant::literal_words;
use crate::edit::{Edits, Ids};
use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::spv::op::decoration;
use crate::spv::words::MAX_INST_WORDS;
use crate::spv::{Code, Id, Inst, op};
use rustc_hash::FxHashSet as HashSet;

const PASS: &str = "constant_data";
/// Constituents that fit into one `OpConstantComposite`.
const MAX_CONSTITUENTS: usize = MAX_INST_WORDS - 3;

/// Lowers all constant data of a module.
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
    let fail = |kind, what: String| Err(Error::new(kind, PASS, inst.offset as u32, what));
    let array = index.def(inst.result_type()).filter(|t| t.opcode() == op::TypeArray);
    let element = array
        .and_then(|a| index.def(a.word(2)))
        .filter(|t| t.opcode() == op::TypeInt);
    let (Some(array), Some(element)) = (array, element) else {
        return fail(ErrorKind::Invalid, "constant data is not an array of integers".into());
    };
    let bytes = match element.word(2) {
        bits @ (8 | 16 | 32 | 64) => bits as usize / 8,
        bits => return fail(ErrorKind::Unsupported, format!("constant data of {bits}-bit integers")),
    };
    // What data and lengths are specialised to are their defaults by now.
    let Some(count) = index
        .length(array.word(3), &Options::default())
        .map(|l| l.value() as usize)
    else {
        return fail(
            ErrorKind::Invalid,
            "the length of constant data is not a constant".into(),
        );
    };
    let data = inst.from(3);
    if data.len() != count.saturating_mul(bytes).div_ceil(4) {
        return fail(
            ErrorKind::Invalid,
            format!(
                "constant data of {} words for {count} elements of {bytes} bytes",
                data.len()
            ),
        );
    }
    if count > MAX_CONSTITUENTS {
        return fail(
            ErrorKind::Limit,
            format!(
                "a table of {count} constants, more than the {MAX_CONSTITUENTS} that ordinary constants can hold; split it"
            ),
        );
    }
    let all: Vec<u8> = data.iter().flat_map(|w| w.to_le_bytes()).collect();
    let mut code = Code::default();
    let mut known = std::collections::HashMap::new();
    let mut parts = Vec::with_capacity(count);
    for raw in all.chunks_exact(bytes).take(count) {
        let mut wide = [0; 8];
        wide[..bytes].copy_from_slice(raw);
        let value = u64::from_le_bytes(wide);
        let id = *known.entry(value).or_insert_with(|| {
            let id = ids.fresh();
            code.op2(op::Constant, &[element.word(1), id], &literal_words(&element, value));
            id
        });
        parts.push(id);
    }
    code.op2(op::ConstantComposite, &[inst.result_type(), inst.result()], &parts);
    edits.replace(inst.offset, inst.words.len(), &code.words);
    Ok(())
}

/// `SpecId`s of a module's `OpSpecConstantDataKHR`.
pub(crate) fn spec_ids(index: &Index<'_>) -> Vec<u32> {
    let data = index.constant_data.iter();
    data.filter(|i| i.opcode() == op::SpecConstantDataKHR)
        .filter_map(|i| index.decoration(i.result(), decoration::SpecId))
        .collect()
}

/// Replaces the data of specialised constants by the data in the options, and what the lengths of their arrays depend on by
/// what the options say, before anything else looks at them. The `SpecId`s go, so that the driver does not see them.
pub(crate) fn specialize(index: &Index<'_>, options: &Options) -> Result<Edits> {
    let mut edits = Edits::default();
    let mut specialised: HashSet<Id> = HashSet::default();
    // Lengths and what they are made of: data may share them.
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
            return Err(Error::new(
                ErrorKind::Invalid,
                PASS,
                inst.offset as u32,
                format!("specialisation data of {} bytes for constant {spec_id}", bytes.len()),
            ));
        }
        let mut code = Code::default();
        code.op2(op::SpecConstantDataKHR, &[inst.result_type(), inst.result()], &words);
        edits.replace(inst.offset, inst.words.len(), &code.words);
        if let Some(array) = index.def(inst.result_type()) {
            freeze(index, array.word(3), options, &mut frozen, &mut edits);
        }
    }
    drop_spec_ids(index, &specialised, &mut edits);
    Ok(edits)
}

/// Removes the `SpecId`s of constants, and takes those that have theirs from a decoration group out of it.
fn drop_spec_ids(index: &Index<'_>, constants: &HashSet<Id>, edits: &mut Edits) {
    let decorates = || index.insts(index.sections.memory_model, index.sections.annotations);
    let is_spec_id = |inst: &Inst<'_>| inst.opcode() == op::Decorate && inst.word(2) == decoration::SpecId;
    let is_simple = |inst: &Inst<'_>| matches!(inst.opcode(), op::Decorate | op::DecorateId | op::DecorateString);
    let mut of_groups: Vec<Inst<'_>> = decorates()
        .filter(|inst| is_simple(inst) && index.opcode(inst.word(1)) == op::DecorationGroup)
        .collect();
    of_groups.sort_by_key(|inst| inst.word(1));
    for inst in decorates() {
        let first = inst.word(1);
        if is_spec_id(&inst) && constants.contains(&first) {
            edits.remove(inst.offset, inst.words.len());
        }
        if inst.opcode() != op::GroupDecorate {
            continue;
        }
        let start = of_groups.partition_point(|decorate| decorate.word(1) < first);
        let end = of_groups.partition_point(|decorate| decorate.word(1) <= first);
        let of_group = of_groups.get(start..end).unwrap_or(&[]);
        let (out, rest): (Vec<Id>, Vec<Id>) = inst.from(2).iter().partition(|target| constants.contains(target));
        if out.is_empty() || !of_group.iter().any(is_spec_id) {
            continue;
        }
        let mut code = Code::default();
        if !rest.is_empty() {
            code.op2(op::GroupDecorate, &[first], &rest);
        }
        for decorate in of_group.iter().filter(|decorate| !is_spec_id(decorate)) {
            for target in &out {
                code.op2(decorate.opcode(), &[*target], decorate.from(2));
            }
        }
        edits.replace(inst.offset, inst.words.len(), &code.words);
    }
}

/// Gives the specialisation constants of which a length is made the values in the options, so that the length has its value
/// without them too. `frozen` is what has been looked at.
fn freeze(index: &Index<'_>, length: Id, options: &Options, frozen: &mut HashSet<Id>, edits: &mut Edits) {
    let mut open = vec![length];
    while let Some(id) = open.pop() {
        let Some(inst) = index.def(id).filter(|_| frozen.insert(id)) else {
            continue;
        };
        let mut code = Code::default();
        let head = [inst.result_type(), id];
        match inst.opcode() {
            op::SpecConstantOp if inst.word(3) as u16 == op::CompositeExtract => open.push(inst.word(4)),
            op::SpecConstantOp => open.extend(inst.from(4)),
            op::SpecConstantComposite => open.extend(inst.from(3)),
            op::SpecConstant | op::SpecConstantTrue | op::SpecConstantFalse => {
                let (Some(ty), Some(value)) = (index.def(inst.result_type()), index.value(id, options)) else {
                    continue;
                };
                match (inst.opcode(), value.value()) {
                    (op::SpecConstant, value) => code.op2(op::SpecConstant, &head, &literal_words(&ty, value)),
                    (_, 0) => code.op(op::SpecConstantFalse, &head),
                    _ => code.op(op::SpecConstantTrue, &head),
                }
                edits.replace(inst.offset, inst.words.len(), &code.words);
            }
            _ => {}
        }
    }
}
