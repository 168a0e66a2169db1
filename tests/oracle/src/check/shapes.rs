//! Compares programs of a shape with and without checks: they are sound, so that every check is silent and all results are the same.

use super::addresses::{TABLE, table};
use super::inputs::{STEPS, plant};
use super::loop_values::uses_values_behind_loops;
use crate::choices::Choices;
use crate::generate::{Shape, ShapeInputs, generate_shape};
use crate::interpret::{InvocationEnd, Physical, Region, Setup, WorkgroupRun, run_workgroup};
use crate::module::{Id, Module};
use crate::op::{self, storage_class as class};
use crate::words::{from_bytes, to_bytes};
use std::collections::HashMap;
use vkabort_instrument::{Arena, Checks, LoweredFeatures, Options};
use vkabort_record::layout::{CONTROL_BYTES, CURSOR_OFFSET, UNIT_BYTES};

/// Address of the nodes.
const NODES: u64 = 0x7f00_0000_0000;
/// Units of the arena's records.
const CAPACITY: u32 = 64;

/// Memory that a sound program leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapeResults {
    /// Buffers by binding, as words.
    pub buffers: Vec<(u32, Vec<u32>)>,
    /// The words of the nodes.
    pub nodes: Vec<u32>,
}

/// Generates a program of a shape, and plants each set of checks into it, with aborts that the rewriter lowers and with others.
///
/// # Errors
///
/// The first report or other difference; a variable with a pointer, or a use of a value behind its loop, that the program does not have.
pub fn check_shape(choices: &mut Choices, shape: Shape, sets: &[&str]) -> Result<(), String> {
    let (words, invocations) = generate_shape(choices, shape);
    let original = Module::parse(&words).ok_or("the program is malformed")?;
    let inputs = ShapeInputs::new(NODES);
    let expected = run(&original, &inputs, Vec::new(), invocations, choices)?;
    let expected = results(&expected).ok_or("the program is not sound")?;
    for set in sets {
        for is_lowered in [true, false] {
            let context =
                |error: String| format!("{set}, aborts {}lowered: {error}", if is_lowered { "" } else { "not " });
            let mut options = options(is_lowered);
            options.sanitize.checks = set.parse::<Checks>()?;
            let (checked, _) = plant(&words, &options).map_err(context)?;
            let added = memory(&options, &inputs, choices);
            let found = run(&checked, &inputs, added, invocations, choices).map_err(context)?;
            match results(&found) {
                Some(found) if found == expected => {}
                Some(_) => return Err(context("other results".to_owned())),
                None => return Err(context(format!("a report: {:?}", found.ends))),
            }
            // Drivers that execute aborts compute such values for each invocation.
            let may_differ = is_lowered && !uses_values_behind_loops(&original, &original);
            if may_differ && uses_values_behind_loops(&checked, &original) {
                return Err(context("a value of a loop is used behind it".to_owned()));
            }
            let pointers = [&original, &checked].map(pointer_variables);
            if pointers[1] > pointers[0] {
                return Err(context(format!(
                    "{} variables with a pointer, not {}",
                    pointers[1], pointers[0]
                )));
            }
        }
    }
    Ok(())
}

/// Interprets a sound program of a shape. `None` if it is not sound.
///
/// # Errors
///
/// The module is malformed or cannot be interpreted.
pub fn interpret_shape(
    words: &[u32],
    inputs: &ShapeInputs,
    invocations: u32,
    choices: &mut Choices,
) -> Result<Option<ShapeResults>, String> {
    let module = Module::parse(words).ok_or("the program is malformed")?;
    let run = run(&module, inputs, Vec::new(), invocations, choices)?;
    Ok(results(&run))
}

fn options(is_lowered: bool) -> Options {
    let mut options = Options {
        arena: Arena::at(0x1000, CONTROL_BYTES + CAPACITY * UNIT_BYTES),
        remembers_loop_values: true,
        ..Options::default()
    };
    if !is_lowered {
        options.lowers = LoweredFeatures::default();
    }
    options.sanitize.buffer_table = Some(TABLE);
    options
}

/// The memory of the layer.
fn memory(options: &Options, inputs: &ShapeInputs, choices: &mut Choices) -> Vec<Physical> {
    let zeroed = |address: u64, bytes: u32| Physical {
        address,
        region: Region::new(vec![0; bytes as usize]),
    };
    let end = NODES + inputs.nodes.len() as u64 * 4;
    vec![
        table(vec![(NODES, end)], choices),
        zeroed(options.arena.control, CONTROL_BYTES),
        zeroed(options.arena.records, CAPACITY * UNIT_BYTES),
    ]
}

fn run(
    module: &Module,
    inputs: &ShapeInputs,
    mut physical: Vec<Physical>,
    invocations: u32,
    choices: &mut Choices,
) -> Result<WorkgroupRun, String> {
    let entry = module.entries.first().ok_or("no entry point")?;
    physical.insert(
        0,
        Physical {
            address: inputs.address(),
            region: Region::new(to_bytes(&inputs.nodes)),
        },
    );
    let buffers = inputs.buffers().into_iter();
    let setup = Setup {
        buffers: buffers
            .map(|(binding, words)| (binding, Region::new(to_bytes(words))))
            .collect(),
        specialization: HashMap::new(),
        physical,
        steps: STEPS,
    };
    run_workgroup(module, entry, setup, invocations, choices).map_err(|error| error.to_string())
}

/// Memory that a run leaves. `None` if it has a race, a divergent barrier or a report.
fn results(run: &WorkgroupRun) -> Option<ShapeResults> {
    let is_quiet = |end: &(u32, InvocationEnd)| end.1 == InvocationEnd::Returned;
    let has_report = run
        .physical
        .get(2)
        .is_some_and(|control| control.word(CURSOR_OFFSET) != 0);
    let is_sound = run.races.is_empty() && run.divergences.is_empty() && run.ends.iter().all(is_quiet) && !has_report;
    is_sound.then(|| ShapeResults {
        buffers: run
            .buffers
            .iter()
            .map(|(binding, region)| (*binding, from_bytes(region.bytes())))
            .collect(),
        nodes: run
            .physical
            .first()
            .map(|nodes| from_bytes(nodes.region.bytes()))
            .unwrap_or_default(),
    })
}

/// Number of variables of functions and invocations that hold a pointer, which some drivers cannot compile.
fn pointer_variables(module: &Module) -> usize {
    let blocks = module.functions.iter().flat_map(|function| &function.blocks);
    let all = module.globals.iter().chain(blocks.flat_map(|block| &block.insts));
    let types: HashMap<Id, (u32, Id)> = module
        .globals
        .iter()
        .filter(|inst| inst.op == op::TypePointer)
        .map(|inst| (inst.word(0), (inst.word(1), inst.word(2))))
        .collect();
    let holds_pointer = |inst: &&crate::words::Inst| {
        let pointee = types.get(&inst.word(0)).map(|(_, pointee)| pointee);
        let is_own = [class::Function, class::Private].contains(&inst.word(2));
        inst.op == op::Variable && is_own && pointee.is_some_and(|pointee| types.contains_key(pointee))
    };
    all.filter(holds_pointer).count()
}
