//! Keeps `src/operand_table.rs` equal to rspirv's grammar, with the instructions of our three
//! extensions and those of newer grammars added. `VKABORT_BLESS=1` rewrites the file.

use rspirv::grammar::{INSTRUCTION_TABLE, Instruction, OperandKind, OperandQuantifier};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Longest line of the table.
const MAX_LINE: usize = 120;
/// Columns that continuation lines are indented by.
const INDENT: usize = 8;

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

fn pattern(inst: &Instruction<'_>) -> String {
    let mut codes = String::new();
    for operand in inst.operands {
        let either = |one, many| match operand.quantifier {
            OperandQuantifier::ZeroOrMore => many,
            _ => one,
        };
        let code = match operand.kind {
            OperandKind::IdResultType => 't',
            OperandKind::IdResult => 'r',
            OperandKind::IdRef | OperandKind::IdScope | OperandKind::IdMemorySemantics => either('i', 'I'),
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
                if ["Id", "IdEXT"].iter().any(|end| inst.opname.ends_with(end)) {
                    'I'
                } else {
                    'L'
                }
            }
            _ => either('l', 'L'),
        };
        codes.push(code);
    }
    codes
}

fn table() -> String {
    let added = ADDED.iter().map(|&(opcode, _, codes)| (opcode, codes.into()));
    let mut rows: Vec<(u16, String)> = added.collect();
    for inst in INSTRUCTION_TABLE.iter() {
        let opcode = inst.opcode as u16;
        if rows.iter().all(|row| row.0 != opcode) {
            rows.push((opcode, pattern(inst)));
        }
    }
    let mut opcodes_by_pattern: BTreeMap<String, Vec<u16>> = BTreeMap::new();
    rows.sort();
    for (opcode, codes) in rows {
        opcodes_by_pattern.entry(codes).or_default().push(opcode);
    }
    let mut text = String::from(
        "//! Generated from rspirv's grammar by `tests/operand_table.rs`; do not edit. `VKABORT_BLESS=1` rewrites it.\n\
         //! The letters are explained in `operands.rs`.\n\n\
         /// Operand patterns, each with the opcodes of the instructions that have it.\n\
         #[rustfmt::skip]\n\
         pub(crate) static TABLE: &[(&str, &[u16])] = &[\n",
    );
    for (codes, opcodes) in opcodes_by_pattern {
        let numbers: Vec<String> = opcodes.iter().map(u16::to_string).collect();
        let row = format!("    (\"{codes}\", &[{}]),\n", numbers.join(", "));
        if row.len() <= MAX_LINE {
            text.push_str(&row);
            continue;
        }
        writeln!(text, "    (\"{codes}\", &[").expect("written to a string");
        for line in numbers.chunks((MAX_LINE - INDENT) / "1234, ".len()) {
            writeln!(text, "{:INDENT$}{},", "", line.join(", ")).expect("written to a string");
        }
        text.push_str("    ]),\n");
    }
    text.push_str("];\n");
    text
}

#[test]
fn the_operand_table_is_what_the_grammar_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/operand_table.rs");
    let expected = table();
    if std::env::var_os("VKABORT_BLESS").is_some() {
        std::fs::write(path, &expected).expect("the table can be written");
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(found == expected, "{path} is out of date: run with VKABORT_BLESS=1");
}
