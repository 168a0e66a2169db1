//! Handwritten modules, most of them invalid, that once made the rewriter panic or use excessive time, memory or stack.

use vkabort_oracle::op::{self, capability, execution_mode};
use vkabort_oracle::targets::{Verdict, words};
use vkabort_oracle::words::{MAGIC, push, to_bytes};

/// Greater than any id here.
const BOUND: u32 = 1 << 17;

/// Assembles a compute shader: a 32-bit integer type %3, the declarations, which may end with functions of type %2, and a
/// function %4 that starts with `code`.
fn module(declarations: &[(u16, &[u32])], code: &[(u16, &[u32])]) -> Vec<u8> {
    let before: [(u16, &[u32]); 10] = [
        (17, &[1]),
        (17, &[5120]),
        (17, &[capability::ConstantDataKHR]),
        (17, &[capability::PoisonFreezeKHR]),
        (14, &[0, 1]),
        (15, &[5, 4, 0x6e69_616d, 0]),
        (16, &[4, 17, 1, 1, 1]),
        (19, &[1]),
        (33, &[2, 1]),
        (21, &[3, 32, 0]),
    ];
    let begin: [(u16, &[u32]); 2] = [(54, &[1, 4, 0, 2]), (248, &[5])];
    let mut module = vec![MAGIC, 0x10300, 0, BOUND, 0];
    let parts = [&before[..], declarations, &begin, code, &[(56, &[])]];
    for (opcode, operands) in parts.concat() {
        push(&mut module, opcode, operands);
    }
    to_bytes(&module)
}

/// Values that are copies of each other, which is invalid. The rewriter followed them endlessly.
#[test]
fn cyclic_copies_are_rewritten() {
    let module = module(&[], &[(83, &[3, 6, 7]), (83, &[3, 7, 6]), (5121, &[3, 6])]);
    assert_eq!(words(&module), Verdict::Valid);
}

/// Pointers that are copies of each other, used in a continue construct that is outlined.
#[test]
fn cyclic_pointers_are_outlined() {
    let declarations: [(u16, &[u32]); 4] = [(32, &[6, 7, 3]), (20, &[7]), (41, &[7, 8]), (43, &[3, 9, 0])];
    let code: [(u16, &[u32]); 20] = [
        (249, &[10]),
        (248, &[10]),
        (246, &[11, 12, 0]),
        (249, &[13]),
        (248, &[13]),
        (83, &[6, 14, 15]),
        (83, &[6, 15, 14]),
        (249, &[12]),
        (248, &[12]),
        (62, &[14, 9]),
        (247, &[16, 0]),
        (250, &[8, 17, 16]),
        (248, &[17]),
        (5121, &[3, 9]),
        (248, &[16]),
        (250, &[8, 10, 11]),
        (248, &[11]),
        (253, &[]),
        (248, &[18]),
        (253, &[]),
    ];
    assert_eq!(words(&module(&declarations, &code)), Verdict::Valid);
}

/// A matrix whose columns are vectors of large arrays, which is invalid. Its size overflowed.
#[test]
fn matrices_of_arrays_are_rejected() {
    let declarations: [(u16, &[u32]); 5] = [
        (43, &[3, 7, 0x3fff_ffff]),
        (28, &[8, 3, 7]),
        (23, &[9, 8, 4]),
        (24, &[10, 9, 4]),
        (1, &[10, 11]),
    ];
    assert_eq!(words(&module(&declarations, &[(5121, &[10, 11])])), Verdict::Invalid);
}

/// A vector with four billion components, which is invalid. A constant with as many parts took 16 GiB.
#[test]
fn oversized_vectors_are_rejected() {
    let declarations: [(u16, &[u32]); 3] = [
        (23, &[6, 3, 0xFFFF_FFF0]),
        (1, &[6, 7]),
        (16, &[4, execution_mode::ArithmeticPoisonKHR]),
    ];
    let module = module(&declarations, &[(134, &[6, 8, 7, 7]), (253, &[])]);
    assert_eq!(words(&module), Verdict::Invalid);
}

/// The size in bytes of a table of 2^62 words is 0 modulo 2^64, which equals the size of its data.
#[test]
fn oversized_tables_are_rejected() {
    let declarations: [(u16, &[u32]); 4] = [
        (21, &[6, 64, 0]),
        (43, &[6, 7, 0, 1 << 30]),
        (28, &[8, 3, 7]),
        (op::ConstantDataKHR, &[8, 9]),
    ];
    let code: [(u16, &[u32]); 2] = [(83, &[8, 10, 9]), (253, &[])];
    assert_eq!(words(&module(&declarations, &code)), Verdict::Invalid);
}

/// The result of an unknown instruction cannot be written. It was written as zeros.
#[test]
fn messages_from_unknown_instructions_are_rejected() {
    let code: [(u16, &[u32]); 2] = [(8190, &[3, 6, 7, 7]), (5121, &[3, 6])];
    assert_eq!(words(&module(&[], &code)), Verdict::Invalid);
}

/// An image that is copied repeatedly before a call and used after it. Each copy took a stack frame to rematerialise.
#[test]
fn long_chains_of_handle_copies_are_rematerialized() {
    let declarations: [(u16, &[u32]); 8] = [
        (25, &[6, 3, 1, 0, 0, 0, 1, 0]),
        (32, &[7, 0, 6]),
        (59, &[7, 8, 0]),
        (43, &[3, 9, 7]),
        // A function that aborts.
        (54, &[1, 10, 0, 2]),
        (248, &[11]),
        (5121, &[3, 9]),
        (56, &[]),
    ];
    let last = 112_000;
    let mut code = vec![(61, vec![6, 12, 8])];
    code.extend((12..last).map(|id| (83, vec![6, id + 1, id])));
    code.extend([
        (57, vec![1, last + 1, 10]),
        (83, vec![6, last + 2, last]),
        (253, vec![]),
    ]);
    assert_eq!(words(&module(&declarations, &borrowed(&code))), Verdict::Valid);
}

/// Nested structures with 60 members each, with 60^5 scalars in total. The rewriter visited each scalar.
fn wide_structures() -> Vec<(u16, Vec<u32>)> {
    let structure = |id: u32, member: u32| (30, [vec![id], vec![member; 60]].concat());
    (0..5)
        .map(|n| structure(6 + n, if n == 0 { 3 } else { 5 + n }))
        .collect()
}

fn borrowed(instructions: &[(u16, Vec<u32>)]) -> Vec<(u16, &[u32])> {
    instructions
        .iter()
        .map(|(opcode, operands)| (*opcode, operands.as_slice()))
        .collect()
}

#[test]
fn undefined_wide_structures_are_rewritten() {
    let mut declarations = wide_structures();
    declarations.push((1, vec![10, 11]));
    let code: [(u16, &[u32]); 2] = [(op::PoisonKHR, &[10, 12]), (253, &[])];
    assert_eq!(words(&module(&borrowed(&declarations), &code)), Verdict::Valid);
}

/// The value is not of the Message Type, which is invalid, and has 60^5 scalars.
#[test]
fn wide_structures_of_another_type_are_refused_quickly() {
    let mut declarations = wide_structures();
    declarations.extend([(32, vec![11, 6, 10]), (59, vec![11, 12, 6])]);
    let code: [(u16, &[u32]); 2] = [(61, &[10, 13, 12]), (5121, &[3, 13])];
    assert_eq!(words(&module(&borrowed(&declarations), &code)), Verdict::Invalid);
}

/// A constant that is a part of itself, which is invalid. The rewriter followed it endlessly.
#[test]
fn cyclic_constants_are_rewritten() {
    let declarations: [(u16, &[u32]); 4] = [
        (23, &[6, 3, 2]),
        (44, &[6, 7, 7, 7]),
        (1, &[6, 9]),
        (16, &[4, execution_mode::ArithmeticPoisonKHR]),
    ];
    let module = module(&declarations, &[(134, &[6, 8, 9, 7]), (253, &[])]);
    assert_eq!(words(&module), Verdict::Valid);
}

/// Each of thirty expressions uses its predecessor twice.
#[test]
fn shared_length_operands_are_evaluated_once() {
    let mut declarations = vec![(50, vec![3, 6, 1])];
    declarations.extend((7..37).map(|id| (52, vec![3, id, 199, id - 1, id - 1])));
    declarations.extend([(28, vec![37, 3, 36]), (46, vec![37, 38])]);
    let module = module(&borrowed(&declarations), &[(5121, &[37, 38])]);
    assert_eq!(words(&module), Verdict::Valid);
}

/// Arrays of arrays of empty structures: eight trillion parts without a byte.
#[test]
fn messages_of_many_empty_parts_are_rewritten() {
    let declarations: [(u16, &[u32]); 6] = [
        (30, &[6]),
        (43, &[3, 7, 20_000]),
        (28, &[8, 6, 7]),
        (28, &[9, 8, 7]),
        (28, &[10, 9, 7]),
        (46, &[10, 11]),
    ];
    assert_eq!(words(&module(&declarations, &[(5121, &[10, 11])])), Verdict::Valid);
}

/// With a stride of 0, a message with any number of parts has the size of one part.
#[test]
fn messages_with_too_many_parts_are_rejected() {
    let declarations: [(u16, &[u32]); 4] = [
        (71, &[8, 6, 0]),
        (43, &[3, 7, 0x1000_0000]),
        (28, &[8, 3, 7]),
        (46, &[8, 9]),
    ];
    assert_eq!(words(&module(&declarations, &[(5121, &[8, 9])])), Verdict::Invalid);
}

/// Without elements the message is empty, but the offset of an element overflowed.
#[test]
fn overflowing_offsets_in_empty_arrays_are_rejected() {
    let declarations: [(u16, &[u32]); 8] = [
        (71, &[6, 1, 0]),
        (72, &[7, 0, 35, 0x8000_0000]),
        (72, &[8, 0, 35, 0x8000_0000]),
        (50, &[3, 6, 0]),
        (30, &[7, 3]),
        (30, &[8, 7]),
        (28, &[9, 8, 6]),
        (1, &[9, 10]),
    ];
    assert_eq!(words(&module(&declarations, &[(5121, &[9, 10])])), Verdict::Invalid);
}

/// Many values of one structure with many members, used in a continue construct that is outlined. The rewriter visited all
/// members of each value.
#[test]
fn values_of_wide_structures_are_limited() {
    assert_eq!(words(&wide_structure_values(200)), Verdict::Valid);
    assert_eq!(words(&wide_structure_values(2000)), Verdict::Invalid);
}

fn wide_structure_values(values: u32) -> Vec<u8> {
    let declarations = [
        (20, vec![7]),
        (41, vec![7, 8]),
        (43, vec![3, 9, 1]),
        (33, vec![10, 1]),
        // A 16-bit type, whose values cannot be passed to functions.
        (21, vec![11, 16, 0]),
        (30, [vec![6], vec![3; 60_000]].concat()),
        // A function that aborts.
        (54, vec![1, 12, 0, 10]),
        (248, vec![13]),
        (5121, vec![3, 9]),
        (56, vec![]),
    ];
    let mut code: Vec<(u16, Vec<u32>)> = (0..values).map(|i| (1, vec![6, 1000 + i])).collect();
    code.extend([
        (249, vec![20]),
        (248, vec![20]),
        (246, vec![21, 22, 0]),
        (249, vec![23]),
        (248, vec![23]),
        (249, vec![22]),
        (248, vec![22]),
        // Two calls, because a construct with a single call could stay in place.
        (57, vec![1, 24, 12]),
        (57, vec![1, 25, 12]),
    ]);
    code.extend((0..values).map(|i| (83, vec![6, 10_000 + i, 1000 + i])));
    code.extend([(250, vec![8, 20, 21]), (248, vec![21]), (253, vec![])]);
    module(&borrowed(&declarations), &borrowed(&code))
}
