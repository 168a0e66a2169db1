//! Keeps `src/spv/operand_table.rs` equal to what rspirv's grammar says, with the instructions of our three
//! extensions and those of newer grammars added. `VKABORT_BLESS=1` rewrites the file.

use rspirv::grammar::{INSTRUCTION_TABLE, OperandKind, OperandQuantifier};
use std::fmt::Write;

/// Instructions that rspirv's grammar lacks or that have changed since: (opcode, name, pattern).
const ADDED: &[(u16, &str, &str)] = &[
    (4195, "BitcastExtractEXT", "trii"),
    (4545, "ImageGatherQCOM", "triiiiG"),
    (5121, "AbortKHR", "ii"),
    (5147, "ConstantDataKHR", "trL"),
    (5148, "SpecConstantDataKHR", "trL"),
    (5158, "PoisonKHR", "tr"),
    (5159, "FreezeKHR", "tri"),
    (5304, "HitObjectRecordFromQueryEXT", "iiiii"),
    (5363, "CooperativeMatrixGetCoordinateEXT", "trii"),
    (5946, "ReadPipeBlockingALTERA", "iiii"),
    (5947, "WritePipeBlockingALTERA", "iiii"),
    (6096, "CompositeConstructContinuedINTEL", "I"),
    (6258, "PredicatedLoadINTEL", "triiim"),
    (6259, "PredicatedStoreINTEL", "iiim"),
    (6916, "FDot2MixAcc32VALVE", "triii"),
    (6917, "FDot2MixAcc16VALVE", "triii"),
    (6918, "FDot4MixAcc32VALVE", "triii"),
];

fn pattern(opcode: u16) -> Option<(String, String)> {
    let inst = INSTRUCTION_TABLE.iter().find(|i| i.opcode as u16 == opcode)?;
    let mut codes = String::new();
    for operand in inst.operands {
        let many = operand.quantifier == OperandQuantifier::ZeroOrMore;
        let code = match operand.kind {
            OperandKind::IdResultType => 't',
            OperandKind::IdResult => 'r',
            OperandKind::IdRef | OperandKind::IdScope | OperandKind::IdMemorySemantics => {
                if many {
                    'I'
                } else {
                    'i'
                }
            }
            OperandKind::PairIdRefIdRef => 'I',
            OperandKind::PairIdRefLiteralInteger => 'P',
            OperandKind::PairLiteralIntegerIdRef => 'S',
            OperandKind::LiteralString => 's',
            OperandKind::MemoryAccess => 'm',
            OperandKind::ImageOperands | OperandKind::TensorAddressingOperands => 'G',
            OperandKind::LiteralSpecConstantOpInteger => 'O',
            OperandKind::LiteralContextDependentNumber => 'L',
            // Masks and enumerants whose parameters, if any, are literals and end the instruction.
            OperandKind::LoopControl => 'L',
            OperandKind::Decoration | OperandKind::ExecutionMode => {
                codes.push('l');
                if inst.opname.ends_with("Id") { 'I' } else { 'L' }
            }
            _ => {
                if many {
                    'L'
                } else {
                    'l'
                }
            }
        };
        codes.push(code);
    }
    Some((inst.opname.to_string(), codes))
}

fn table() -> String {
    let mut rows: Vec<(u16, String, String)> = ADDED
        .iter()
        .map(|&(opcode, name, codes)| (opcode, name.into(), codes.into()))
        .collect();
    for inst in INSTRUCTION_TABLE.iter() {
        let opcode = inst.opcode as u16;
        if rows.iter().all(|row| row.0 != opcode) {
            let (name, codes) = pattern(opcode).expect("listed");
            rows.push((opcode, name, codes));
        }
    }
    rows.sort();
    let mut text = String::from(
        "//! Generated from rspirv's grammar by `tests/operand_table.rs`; do not edit. `VKABORT_BLESS=1` rewrites it.\n\
         //! The letters are explained in `operands.rs`.\n\n\
         /// (opcode, operand pattern), by opcode.\n\
         #[rustfmt::skip]\n\
         pub(crate) static TABLE: &[(u16, &str)] = &[\n",
    );
    for (opcode, name, codes) in rows {
        writeln!(text, "    ({opcode}, \"{codes}\"), // Op{name}").expect("written to a string");
    }
    text.push_str("];\n");
    text
}

#[test]
fn the_operand_table_is_what_the_grammar_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/spv/operand_table.rs");
    let expected = table();
    if std::env::var_os("VKABORT_BLESS").is_some() {
        std::fs::write(path, &expected).expect("the table can be written");
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(found == expected, "{path} is out of date: run with VKABORT_BLESS=1");
}
