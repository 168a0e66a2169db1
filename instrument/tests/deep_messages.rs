//! Messages nested as deeply as SPIR-V allows: 255 structures ("Universal Limits"), each in an array.

use vkabort_instrument::{Error, ErrorKind, Options, Outcome, instrument};

/// Stack of a thread that an application creates pipelines on, in bytes.
const STACK: usize = 512 << 10;

/// A module that aborts with `%6`, loaded from a variable: a structure in an array in a structure and so on, around a `uint`.
fn module(structures: u32) -> Vec<u32> {
    let first = 10;
    let bound = first + 2 * structures;
    let mut words: Vec<u32> = [
        &[0x0723_0203, 0x1_0500, 0, bound, 0][..],
        &[2 << 16 | 17, 1, 2 << 16 | 17, 5120], // OpCapability Shader, AbortKHR
        &[3 << 16 | 14, 0, 1],                  // OpMemoryModel Logical GLSL450
        &[5 << 16 | 15, 5, 1, 0x6e69_616d, 0],  // OpEntryPoint GLCompute %1 "main"
        &[6 << 16 | 16, 1, 17, 1, 1, 1],        // OpExecutionMode %1 LocalSize 1 1 1
        &[2 << 16 | 19, 2, 3 << 16 | 33, 3, 2], // %2 = OpTypeVoid, %3 = OpTypeFunction %2
        &[4 << 16 | 21, 4, 32, 0],              // %4 = OpTypeInt 32 0
        &[4 << 16 | 43, 4, 5, 1],               // %5 = OpConstant %4 1
    ]
    .concat();
    let mut inner = 4;
    for number in 0..structures {
        let (array, structure) = (first + 2 * number, first + 2 * number + 1);
        words.extend([4 << 16 | 28, array, inner, 5]); // OpTypeArray
        words.extend([3 << 16 | 30, structure, array]); // OpTypeStruct
        inner = structure;
    }
    words.extend([4 << 16 | 32, 8, 6, inner, 4 << 16 | 59, 8, 9, 6]); // %8 = OpTypePointer Private, %9 = OpVariable
    words.extend([5 << 16 | 54, 2, 1, 0, 3, 2 << 16 | 248, 7]); // %1 = OpFunction, %7 = OpLabel
    words.extend([4 << 16 | 61, inner, 6, 9]); // %6 = OpLoad %9
    words.extend([3 << 16 | 5121, inner, 6, 1 << 16 | 56]); // OpAbortKHR %6, OpFunctionEnd
    words
}

fn rewrite(structures: u32) -> Result<u32, Error> {
    let thread = std::thread::Builder::new().stack_size(STACK);
    let thread = thread.spawn(move || {
        Ok(match instrument(&module(structures), &Options::default())? {
            Outcome::Instrumented(new) => new.sites.sites[0].message.size(),
            Outcome::Unchanged => 0,
        })
    });
    thread.expect("the thread starts").join().expect("no panic")
}

#[test]
fn a_message_of_255_nested_structures_is_rewritten() {
    assert_eq!(rewrite(255), Ok(4));
}

#[test]
fn deeper_nesting_is_refused() {
    let error = rewrite(20_000).expect_err("beyond every limit");
    assert_eq!(error.kind, ErrorKind::Limit);
}
