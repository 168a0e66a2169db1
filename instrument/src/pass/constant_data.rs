//! Lowers `OpConstantDataKHR` and `OpSpecConstantDataKHR` to ordinary constants.
//!
//! ```text
//! %a = ConstantDataKHR %array 0x64636261     becomes   %a = ConstantComposite %array %97 %98 %99 %100
//! ```
//!
//! Only what is still used: messages have taken their bytes already, and `strip` removes what they leave behind. The
//! data of a specialised constant comes from the options.

use crate::edit::{Code, Edits, Ids};
use crate::error::{Error, ErrorKind, Result};
use crate::index::Index;
use crate::options::Options;
use crate::spv::op::decoration;
use crate::spv::words::MAX_INST_WORDS;
use crate::spv::{Inst, op};

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
            let signed = element.word(3) != 0;
            let low = match bytes {
                // Literals narrower than a word are sign-extended in it.
                1 if signed => value as u8 as i8 as i32 as u32,
                2 if signed => value as u16 as i16 as i32 as u32,
                _ => value as u32,
            };
            let high = [(value >> 32) as u32];
            code.op2(
                op::Constant,
                &[element.word(1), id, low],
                if bytes == 8 { &high } else { &[] },
            );
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

/// Replaces the data of specialised constants by the data in the options, and the lengths of their arrays by what the
/// options say, before anything else looks at them. The `SpecId`s go, so that the driver does not see them.
pub(crate) fn specialize(index: &Index<'_>, options: &Options) -> Result<Edits> {
    let mut edits = Edits::default();
    let specialised = index.constant_data.iter();
    for inst in specialised.filter(|i| i.opcode() == op::SpecConstantDataKHR) {
        let Some(spec_id) = index.decoration(inst.result(), decoration::SpecId) else {
            continue;
        };
        for decorate in index.insts(index.sections.memory_model, index.sections.annotations) {
            let own = decorate.opcode() == op::Decorate && decorate.word(1) == inst.result();
            if own && decorate.word(2) == decoration::SpecId {
                edits.remove(decorate.offset, decorate.words.len());
            }
        }
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
        freeze_length(index, inst, options, &mut edits);
    }
    Ok(edits)
}

fn freeze_length(index: &Index<'_>, data: &Inst<'_>, options: &Options, edits: &mut Edits) {
    let length = index.def(data.result_type()).and_then(|array| index.def(array.word(3)));
    let Some(length) = length.filter(|l| l.opcode() == op::SpecConstant) else {
        return;
    };
    let Some(value) = index.length(length.result(), options) else {
        return;
    };
    let mut code = Code::default();
    code.op(
        op::SpecConstant,
        &[length.result_type(), length.result(), value.value() as u32],
    );
    edits.replace(length.offset, length.words.len(), &code.words);
}
