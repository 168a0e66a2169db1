//! Modules of few words whose aborts send many values.

use vkabort_instrument::{ErrorKind, Options, Outcome, Result, instrument};

/// Distinct values that are not constant, too many for a deferred message.
const VALUES: u32 = 20;
/// Elements of a message.
const ELEMENTS: u32 = 16_000;

/// A message type and the value that all sites send.
struct Message {
    /// Declares the type `%50`. `%4` is `uint`, `%8` has the value 16000 and `%9` 125.
    types: Vec<u32>,
    /// Defines the message `%60`. `%20` and the following [`VALUES`] are values.
    value: Vec<u32>,
}

/// An instruction.
fn inst(opcode: u32, operands: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let mut words = vec![0];
    words.extend(operands);
    words[0] = (words.len() as u32) << 16 | opcode;
    words
}

/// An array of [`ELEMENTS`] elements.
fn array() -> Message {
    Message {
        types: inst(28, [50, 4, 8]), // OpTypeArray
        value: inst(80, [50, 60].into_iter().chain((0..ELEMENTS).map(|i| 20 + i % VALUES))),
    }
}

/// A structure of [`ELEMENTS`] members: 128 of 125.
fn structure() -> Message {
    Message {
        // OpTypeStruct
        types: [
            inst(30, [51].into_iter().chain([4; 125])),
            inst(30, [50].into_iter().chain([51; 128])),
        ]
        .concat(),
        // OpCompositeConstruct
        value: [
            inst(80, [51, 61].into_iter().chain((0..125).map(|i| 20 + i % VALUES))),
            inst(80, [50, 60].into_iter().chain([61; 128])),
        ]
        .concat(),
    }
}

/// A module with `sites` aborts, one behind the other, that send `message`.
fn module(message: &Message, sites: u32) -> Vec<u32> {
    let labels = 100;
    let bound = labels + 2 * sites;
    let mut words: Vec<u32> = [
        vec![0x0723_0203, 0x1_0500, 0, bound, 0],
        inst(17, [1]),                        // OpCapability Shader
        inst(17, [5120]),                     // OpCapability AbortKHR
        inst(14, [0, 1]),                     // OpMemoryModel Logical GLSL450
        inst(15, [5, 1, 0x6e69_616d, 0, 12]), // OpEntryPoint GLCompute %1 "main" %12
        inst(16, [1, 17, 1, 1, 1]),           // OpExecutionMode %1 LocalSize 1 1 1
        inst(19, [2]),                        // OpTypeVoid
        inst(33, [3, 2]),                     // OpTypeFunction
        inst(21, [4, 32, 0]),                 // OpTypeInt
        inst(20, [5]),                        // OpTypeBool
        inst(48, [5, 6]),                     // OpSpecConstantTrue
        inst(43, [4, 8, ELEMENTS]),           // OpConstant
        inst(32, [11, 6, 4]),                 // OpTypePointer Private
        inst(59, [11, 12, 6]),                // OpVariable
        message.types.clone(),
        inst(54, [2, 1, 0, 3]), // OpFunction
        inst(248, [99]),        // OpLabel
    ]
    .concat();
    for value in 0..VALUES {
        words.extend(inst(61, [4, 20 + value, 12])); // OpLoad
    }
    words.extend(&message.value);
    for site in 0..sites {
        let (abort, next) = (labels + 2 * site, labels + 2 * site + 1);
        words.extend([inst(247, [next, 0]), inst(250, [6, abort, next])].concat()); // OpSelectionMerge, OpBranchConditional
        words.extend([inst(248, [abort]), inst(5121, [50, 60]), inst(248, [next])].concat());
    }
    words.extend([inst(253, []), inst(56, [])].concat()); // OpReturn, OpFunctionEnd
    words
}

/// Words of the rewritten module.
fn rewritten(module: &[u32]) -> Result<usize> {
    Ok(match instrument(module, &Options::default())? {
        Outcome::Instrumented(new) => new.words.len(),
        Outcome::Unchanged => 0,
    })
}

#[test]
fn an_array_that_many_sites_send_is_written_by_loops() {
    let module = module(&array(), 300);
    let words = rewritten(&module).expect("is rewritten");
    let for_a_site = (words - module.len()) / 300;
    assert!(for_a_site < 200, "{for_a_site} words of code for a site");
}

/// Checks that so many messages of a structure are beyond a limit.
fn refuses(sites: u32, pass: &str, text: &str) {
    let module = module(&structure(), sites);
    let error = rewritten(&module).expect_err("beyond the limit");
    assert_eq!((error.kind, error.pass), (ErrorKind::Limit, pass));
    assert!(error.message.contains(text), "{error}");
    let offset = error.offset.expect("an abort");
    assert_eq!(module[offset as usize], 3 << 16 | 5121);
}

#[test]
fn the_code_for_messages_is_limited() {
    refuses(60, "abort", "need more than 4194304 words of code");
}

#[test]
fn the_parts_of_all_messages_are_limited() {
    refuses(300, "layout", "have more than 1048576 parts");
}
