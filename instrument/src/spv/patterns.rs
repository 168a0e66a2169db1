//! Operand patterns by opcode, from the generated table.
//!
//! A letter an operand; optional operands are missing at the end:
//!
//! ```text
//! t result type   r result          i id                I ids up to the end
//! l literal word  L literals to end  s string           m memory operands   G mask word, then ids
//! P id/literal pairs   S literal/label pairs (OpSwitch)   O opcode, then that instruction's operands
//! ```

use super::operand_table::TABLE;

const OPCODES: usize = 8192;

/// Index into [`TABLE`] plus one by opcode, 0 for opcodes that it lacks.
pub(super) static BY_OPCODE: [u16; OPCODES] = {
    let mut rows = [0; OPCODES];
    let mut i = 0;
    while i < TABLE.len() {
        rows[TABLE[i].0 as usize] = i as u16 + 1;
        i += 1;
    }
    rows
};

/// The operand pattern of an opcode, if the table has it.
pub(crate) fn pattern(opcode: u16) -> Option<&'static [u8]> {
    let row = *BY_OPCODE.get(usize::from(opcode))?;
    let (_, letters) = TABLE.get(usize::from(row).checked_sub(1)?)?;
    Some(letters.as_bytes())
}

/// Word index of the result id by opcode, 0 for opcodes without one: 2 where a result type comes first.
static RESULT: [u8; OPCODES] = {
    let mut rows = [0; OPCODES];
    let mut i = 0;
    while i < TABLE.len() {
        let letters = TABLE[i].1.as_bytes();
        if !letters.is_empty() && letters[0] == b't' {
            rows[TABLE[i].0 as usize] = 2;
        } else if !letters.is_empty() && letters[0] == b'r' {
            rows[TABLE[i].0 as usize] = 1;
        }
        i += 1;
    }
    rows
};

/// Whether an opcode has a result type, which is then its first operand.
pub(crate) fn has_type(opcode: u16) -> bool {
    RESULT.get(usize::from(opcode)) == Some(&2)
}

/// Word index of an opcode's result id.
pub(crate) fn result_index(opcode: u16) -> Option<usize> {
    match RESULT.get(usize::from(opcode)) {
        None | Some(0) => None,
        Some(index) => Some(usize::from(*index)),
    }
}
