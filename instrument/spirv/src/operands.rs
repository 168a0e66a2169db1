//! Operands by opcode, from the generated table of patterns: the words of an instruction that are ids, and its result.
//!
//! A letter an operand; optional operands are missing at the end:
//!
//! ```text
//! t result type   r result          i id                I ids up to the end
//! l literal word  L literals to end  s string           m memory operands   G mask word, then ids
//! P id/literal pairs   S literal/label pairs (OpSwitch)   O opcode, then that instruction's operands
//! ```

use super::op::memory_operands::{ALIGNED, MAKE_POINTER_AVAILABLE, MAKE_POINTER_VISIBLE};
use super::operand_table::TABLE;
use super::{Inst, literal};

const OPCODES: usize = 8192;

/// Facts by opcode.
#[derive(Clone, Copy)]
struct Entry {
    /// Index into [`TABLE`] plus one, 0 for opcodes that it lacks.
    row: u8,
    /// Word index of the result id, 0 for opcodes without one: 2 where a result type comes first.
    result: u8,
}

static BY_OPCODE: [Entry; OPCODES] = {
    let mut entries = [Entry { row: 0, result: 0 }; OPCODES];
    assert!(TABLE.len() < 255, "rows plus one fit in a byte");
    let mut row = 0;
    while row < TABLE.len() {
        let (letters, opcodes) = TABLE[row];
        let result = match letters.as_bytes() {
            [b't', ..] => 2,
            [b'r', ..] => 1,
            _ => 0,
        };
        row += 1;
        let mut i = 0;
        while i < opcodes.len() {
            entries[opcodes[i] as usize] = Entry { row: row as u8, result };
            i += 1;
        }
    }
    entries
};

/// Index into [`TABLE`].
fn row(opcode: u16) -> Option<usize> {
    let entry = BY_OPCODE.get(usize::from(opcode))?;
    usize::from(entry.row).checked_sub(1)
}

/// The operand pattern of an opcode, if the table has it.
pub(crate) fn pattern(opcode: u16) -> Option<&'static [u8]> {
    let (letters, _) = TABLE.get(row(opcode)?)?;
    Some(letters.as_bytes())
}

/// Whether an opcode has a result type, which is then its first operand.
pub fn has_type(opcode: u16) -> bool {
    result_index(opcode) == Some(2)
}

/// Word index of an opcode's result id.
pub fn result_index(opcode: u16) -> Option<usize> {
    let entry = BY_OPCODE.get(usize::from(opcode))?;
    (entry.result != 0).then_some(entry.result.into())
}

/// A precomputed pattern. Most instructions consist of ids and single literals, perhaps with a run of either at the end, so
/// their ids are found without decoding letters.
#[derive(Clone, Copy)]
struct Shape {
    /// Bit `i`: word `i` is an id.
    ids: u16,
    /// Words that `ids` covers.
    covered: u8,
    /// The operands that follow them.
    rest: Rest,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    Ids,
    Literals,
    /// By the letters of the pattern.
    Letters,
}

/// Shapes by row of [`TABLE`].
static SHAPES: [Shape; TABLE.len()] = {
    let mut shapes = [Shape {
        ids: 0,
        covered: 1,
        rest: Rest::Literals,
    }; TABLE.len()];
    let mut row = 0;
    while row < TABLE.len() {
        let letters = TABLE[row].0.as_bytes();
        let mut at = 0;
        while at < letters.len() {
            let shape = &mut shapes[row];
            match letters[at] {
                b't' | b'i' | b'r' | b'l' if shape.covered < 16 => {
                    if letters[at] == b't' || letters[at] == b'i' {
                        shape.ids |= 1 << shape.covered;
                    }
                    shape.covered += 1;
                }
                b'I' => {
                    shape.rest = Rest::Ids;
                    break;
                }
                b'L' => break,
                _ => {
                    shape.rest = Rest::Letters;
                    break;
                }
            }
            at += 1;
        }
        row += 1;
    }
    shapes
};

/// Calls `visit` with the word index of every id operand, the result type included and the result not.
///
/// `selector_words` is the width of an `OpSwitch`'s literals in words. Returns false, having visited nothing, if the
/// instruction is unknown: then any of its words may be an id.
#[inline]
pub fn visit_ids(inst: &Inst<'_>, selector_words: usize, mut visit: impl FnMut(usize)) -> bool {
    let Some(shape) = row(inst.opcode()).and_then(|row| SHAPES.get(row)) else {
        return false;
    };
    let end = inst.words.len();
    let covered = usize::from(shape.covered);
    if shape.rest != Rest::Letters || end <= covered {
        let mut ids = u32::from(shape.ids) & ((1u32 << end.min(16)) - 1);
        while ids != 0 {
            visit(ids.trailing_zeros() as usize);
            ids &= ids - 1;
        }
        if shape.rest == Rest::Ids {
            (covered..end).for_each(visit);
        }
    } else {
        visit_letters(inst, selector_words, visit);
    }
    true
}

/// As [`visit_ids`], decoding the pattern.
fn visit_letters(inst: &Inst<'_>, selector_words: usize, mut visit: impl FnMut(usize)) {
    let end = inst.words.len();
    let mut at = 1;
    let mut letters = pattern(inst.opcode()).unwrap_or_default().iter();
    while let Some(letter) = letters.next() {
        if at >= end {
            break;
        }
        match letter {
            b't' | b'i' => {
                visit(at);
                at += 1;
            }
            b'I' => {
                (at..end).for_each(&mut visit);
                at = end;
            }
            b's' => at += literal::length(inst.from(at)),
            b'm' => {
                let mask = inst.word(at);
                at += 1 + usize::from(mask & ALIGNED != 0);
                // Scopes of availability and visibility, then alias scope and no-alias lists: all ids.
                for bit in [MAKE_POINTER_AVAILABLE, MAKE_POINTER_VISIBLE, 0x1_0000, 0x2_0000] {
                    if mask & bit != 0 && at < end {
                        visit(at);
                        at += 1;
                    }
                }
            }
            b'G' => {
                (at + 1..end).for_each(&mut visit);
                at = end;
            }
            b'P' => {
                (at..end).step_by(2).for_each(&mut visit);
                at = end;
            }
            b'S' => {
                let pair = selector_words + 1;
                (at + selector_words..end).step_by(pair).for_each(&mut visit);
                at = end;
            }
            b'O' => {
                let inner = pattern(inst.word(at) as u16).unwrap_or(b"trI");
                at += 1;
                letters = inner.get(2..).unwrap_or(&[]).iter();
            }
            b'L' => at = end,
            // 'r', 'l'
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op;

    fn ids(words: &[u32]) -> Vec<u32> {
        let mut found = Vec::new();
        let inst = Inst { offset: 0, words };
        assert!(visit_ids(&inst, 1, |i| found.push(words[i])));
        found
    }

    fn inst(opcode: u16, operands: &[u32]) -> Vec<u32> {
        let mut words = vec![(operands.len() as u32 + 1) << 16 | u32::from(opcode)];
        words.extend_from_slice(operands);
        words
    }

    #[test]
    fn ids_are_distinguished_from_literals() {
        assert_eq!(ids(&inst(op::Load, &[10, 11, 12, 0x2 | 0x10, 16, 13])), [10, 12, 13]);
        assert_eq!(ids(&inst(op::Switch, &[10, 11, 5, 12, 6, 13])), [10, 11, 12, 13]);
        assert_eq!(ids(&inst(op::CompositeExtract, &[10, 11, 12, 3, 4])), [10, 12]);
        assert_eq!(ids(&inst(op::SpecConstantOp, &[10, 11, 128, 12, 13])), [10, 12, 13]);
        assert_eq!(ids(&inst(op::SpecConstantOp, &[10, 11, 81, 12, 1, 2])), [10, 12]);
        assert_eq!(ids(&inst(op::Phi, &[10, 11, 12, 13, 14, 15])), [10, 12, 13, 14, 15]);
        assert_eq!(
            ids(&inst(op::EntryPoint, &[5, 10, 0x6e69_616d, 0, 11, 12])),
            [10, 11, 12]
        );
        assert_eq!(ids(&inst(op::GroupMemberDecorate, &[10, 11, 0, 12, 1])), [10, 11, 12]);
        assert_eq!(ids(&inst(op::ConstantDataKHR, &[10, 11, 12, 13])), [10]);
    }

    #[test]
    fn shapes_agree_with_the_letters() {
        for opcode in TABLE.iter().flat_map(|row| row.1) {
            for length in 1..24u32 {
                let words: Vec<u32> = (0..length)
                    .map(|i| if i == 0 { length << 16 | u32::from(*opcode) } else { i })
                    .collect();
                let inst = Inst {
                    offset: 0,
                    words: &words,
                };
                let (mut found, mut expected) = (Vec::new(), Vec::new());
                assert!(visit_ids(&inst, 1, |i| found.push(i)));
                visit_letters(&inst, 1, |i| expected.push(i));
                assert_eq!(found, expected, "opcode {opcode} of {length} words");
            }
        }
    }

    #[test]
    fn an_unknown_opcode_is_reported() {
        let words = inst(7999, &[1, 2]);
        let unknown = Inst {
            offset: 0,
            words: &words,
        };
        assert!(!visit_ids(&unknown, 1, |_| ()));
    }
}
