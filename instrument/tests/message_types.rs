//! Declarations that no disassembly shows: lengths that can be specialised, floats without a size in bytes, unused constant data.

use vkabort_instrument::{Error, ErrorKind, Options, Rule, check, sites};
use vkabort_record::message_type::{Length, Type};
use vkabort_record::scalar_type::ScalarType;

/// A module that sends `%20`, an undefined value of the type `%10`, which `declarations` declare.
fn module(decorations: &[u32], declarations: &[u32]) -> Vec<u32> {
    [
        &[0x0723_0203, 0x1_0500, 0, 30, 0][..],
        &[2 << 16 | 17, 1, 2 << 16 | 17, 5120], // OpCapability Shader, AbortKHR
        &[3 << 16 | 14, 0, 1],                  // OpMemoryModel Logical GLSL450
        &[5 << 16 | 15, 5, 1, 0x6e69_616d, 0],  // OpEntryPoint GLCompute %1 "main"
        &[6 << 16 | 16, 1, 17, 1, 1, 1],        // OpExecutionMode %1 LocalSize 1 1 1
        decorations,
        &[2 << 16 | 19, 2, 3 << 16 | 33, 3, 2], // %2 = OpTypeVoid, %3 = OpTypeFunction %2
        &[4 << 16 | 21, 4, 32, 0],              // %4 = OpTypeInt 32 0
        &[4 << 16 | 43, 4, 5, 1],               // %5 = OpConstant %4 1
        declarations,
        &[5 << 16 | 54, 2, 1, 0, 3, 2 << 16 | 248, 7], // %1 = OpFunction, %7 = OpLabel
        &[3 << 16 | 1, 10, 20],                        // %20 = OpUndef %10
        &[3 << 16 | 5121, 10, 20, 1 << 16 | 56],       // OpAbortKHR %20, OpFunctionEnd
    ]
    .concat()
}

/// The type of the message of [`module`].
fn message(decorations: &[u32], declarations: &[u32]) -> Result<Type, Error> {
    let table = sites(&module(decorations, declarations), &Options::default())?.expect("the module declares AbortKHR");
    Ok(table.sites[0].message.clone())
}

#[test]
fn only_a_constant_has_a_spec_id() {
    const SPEC_CONSTANT: [u32; 4] = [4 << 16 | 50, 4, 8, 6]; // %8 = OpSpecConstant %4 6
    for id in [0, u32::MAX] {
        let decorate = [4 << 16 | 71, 8, 1, id]; // OpDecorate %8 SpecId
        let array = |length| [4 << 16 | 28, 10, 4, length]; // %10 = OpTypeArray %4
        let specialised = |spec_id, default| Type::array(Length::Specialised { spec_id, default }, 4, ScalarType::U32);
        let by_constant = message(&decorate, &[SPEC_CONSTANT, array(8)].concat());
        assert_eq!(by_constant, Ok(specialised(Some(id), 6)));
        let sum = [6 << 16 | 52, 4, 9, 128, 8, 5]; // %9 = OpSpecConstantOp %4 IAdd %8 %5
        let by_expression = message(&decorate, &[&SPEC_CONSTANT[..], &sum, &array(9)].concat());
        assert_eq!(by_expression, Ok(specialised(None, 7)));
    }
}

#[test]
fn floats_of_4_and_6_bits_are_refused() {
    for (bits, encoding) in [(4, 4225), (6, 4223), (6, 4224)] {
        let float = [4 << 16 | 22, 10, bits, encoding]; // %10 = OpTypeFloat
        let error = message(&[], &float).expect_err("has no size in bytes");
        assert_eq!(error.kind, ErrorKind::Unsupported);
        let text = format!("message type %10 contains a float of {bits} bits with an encoding of its own");
        assert_eq!(error.message, text);
    }
}

#[test]
fn malformed_constant_data_that_nothing_uses_is_a_finding() {
    const ARRAY: [u32; 4] = [4 << 16 | 28, 10, 4, 5]; // %10 = OpTypeArray %4 %5, one uint
    let findings = |data: &[u32]| {
        let checked = check(&module(&[], &[&ARRAY, data].concat()), &Options::default()).expect("is rewritten");
        let findings = checked.expect("the module declares AbortKHR").findings.into_iter();
        let of_rule = findings.filter(|finding| finding.rule == Rule::ConstantData);
        of_rule.map(|finding| finding.message).collect::<Vec<_>>()
    };
    assert_eq!(findings(&[4 << 16 | 5147, 10, 11, 7]), [""; 0]); // %11 = OpConstantDataKHR %10 7
    let wrong = findings(&[5 << 16 | 5147, 10, 11, 7, 8]);
    assert_eq!(wrong.len(), 1);
    assert!(
        wrong[0].contains("constant data has 2 words, not 1 elements of 4 bytes"),
        "{wrong:?}"
    );
}
