//! Which invocation: each entry point that can reach an abort stores its execution model and identity once, at its start,
//! where `reserve` picks them up. Compilers remove the stores where no abort is taken.
//!
//! A built-in variable that the entry point has is reused, whatever integer or vector type the producer gave it; others are
//! added to the interface, which for built-ins no other stage sees.

use super::runtime::Runtime;
use crate::edit::globals::Globals;
use crate::edit::{Code, Edits, Rank};
use crate::index::{EntryPoint, Index};
use crate::spv::op::{built_in, decoration, execution_model as model, storage_class};
use crate::spv::{Id, op};
use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeMap;

/// STAGE of a function that is the entry point of several execution models.
const AMBIGUOUS: u32 = u32::MAX;

/// A built-in and how it fills words of the identity.
struct Wanted {
    built_in: u32,
    /// Components taken.
    components: u32,
    /// First word of the identity that they fill.
    at: usize,
    float: bool,
}

fn wanted(execution_model: u32) -> Vec<Wanted> {
    let take = |built_in, components, at, float| Wanted {
        built_in,
        components,
        at,
        float,
    };
    match execution_model {
        model::Vertex => {
            vec![
                take(built_in::VertexIndex, 1, 0, false),
                take(built_in::InstanceIndex, 1, 1, false),
            ]
        }
        model::TessellationControl | model::Geometry => {
            vec![
                take(built_in::PrimitiveId, 1, 0, false),
                take(built_in::InvocationId, 1, 1, false),
            ]
        }
        model::TessellationEvaluation => vec![take(built_in::PrimitiveId, 1, 0, false)],
        model::Fragment => vec![take(built_in::FragCoord, 2, 0, true)],
        model::GLCompute | model::TaskNV | model::MeshNV | model::TaskEXT | model::MeshEXT => vec![
            take(built_in::GlobalInvocationId, 3, 0, false),
            take(built_in::LocalInvocationIndex, 1, 3, false),
        ],
        model::RayGenerationKHR..=model::CallableKHR => vec![take(built_in::LaunchIdKHR, 3, 0, false)],
        _ => Vec::new(),
    }
}

/// Variables to add to the interfaces of entry points, by the offset of the `OpEntryPoint`.
pub(crate) type Interfaces = BTreeMap<usize, Vec<Id>>;

/// Adds the stores of the given entry points.
pub(crate) fn store(
    index: &Index<'_>,
    entry_points: &[EntryPoint<'_>],
    runtime: &mut Runtime,
    globals: &mut Globals,
    edits: &mut Edits,
    interfaces: &mut Interfaces,
) {
    // Variables added here, by built-in: entry points share them.
    let mut added: HashMap<u32, Id> = HashMap::default();
    let mut done: Vec<Id> = Vec::new();
    for entry in entry_points {
        let same: Vec<&EntryPoint<'_>> = entry_points.iter().filter(|e| e.function == entry.function).collect();
        let ambiguous = same.iter().any(|e| e.model != entry.model);
        let Some(function) = index.function_of(entry.function).and_then(|f| index.functions.get(f)) else {
            continue;
        };
        let Some(at) = index.after_variables(function) else {
            continue;
        };
        let execution_model = if ambiguous { AMBIGUOUS } else { entry.model };
        let first_time = !done.contains(&entry.function);
        done.push(entry.function);

        let mut code = Code::default();
        let stage = runtime.stage(globals);
        let value = globals.constant(execution_model);
        code.op(op::Store, &[stage, value]);
        let zero = globals.constant(0);
        let mut words = [zero; 4];
        for want in wanted(execution_model) {
            let variable = existing(index, entry, want.built_in).unwrap_or_else(|| {
                let variable = *added
                    .entry(want.built_in)
                    .or_insert_with(|| new_variable(&want, globals));
                interfaces.entry(entry.inst.offset).or_default().push(variable);
                variable
            });
            read(index, variable, &want, &mut words, &mut code, globals);
        }
        let uint = globals.uint();
        let uvec4 = globals.vector(uint, 4);
        let all = globals.fresh();
        let identity = runtime.identity(globals);
        code.op2(op::CompositeConstruct, &[uvec4, all], &words);
        code.op(op::Store, &[identity, all]);
        if first_time {
            edits.insert_ranked(at, Rank::Entry, &code.words);
        }
    }
}

/// The entry point's own variable for a built-in.
fn existing(index: &Index<'_>, entry: &EntryPoint<'_>, built_in: u32) -> Option<Id> {
    entry.interface().iter().copied().find(|id| {
        index.decoration(*id, decoration::BuiltIn) == Some(built_in)
            && index
                .def(*id)
                .is_some_and(|i| i.opcode() == op::Variable && i.word(3) == storage_class::Input)
    })
}

fn new_variable(want: &Wanted, globals: &mut Globals) -> Id {
    let scalar = if want.float { globals.float(32) } else { globals.uint() };
    // FragCoord has four components whatever is taken of it.
    let ty = match (want.float, want.components) {
        (true, _) => globals.vector(scalar, 4),
        (false, 1) => scalar,
        (false, n) => globals.vector(scalar, n),
    };
    let variable = globals.variable(storage_class::Input, ty, 0);
    globals.decorate(variable, decoration::BuiltIn, &[want.built_in]);
    variable
}

/// Loads a built-in and puts its components into the identity's words.
fn read(index: &Index<'_>, variable: Id, want: &Wanted, words: &mut [Id; 4], code: &mut Code, globals: &mut Globals) {
    let uint = globals.uint();
    // A variable of the module tells its type; one added here has the type that `new_variable` gives.
    let declared = index.def(index.type_of(variable)).map(|pointer| pointer.word(3));
    let ty = declared.unwrap_or_else(|| match (want.float, want.components) {
        (true, _) => {
            let float = globals.float(32);
            globals.vector(float, 4)
        }
        (false, 1) => uint,
        (false, n) => globals.vector(uint, n),
    });
    let vector = want.components > 1 || want.float;
    let scalar = match declared {
        Some(ty) if vector => index.part_type(ty, 0),
        Some(ty) => ty,
        None if want.float => globals.float(32),
        None => uint,
    };
    let value = globals.fresh();
    code.op(op::Load, &[ty, value, variable]);
    for component in 0..want.components {
        let mut word = value;
        if vector {
            word = globals.fresh();
            code.op(op::CompositeExtract, &[scalar, word, value, component]);
        }
        if scalar != uint {
            let converted = globals.fresh();
            let opcode = if want.float { op::ConvertFToU } else { op::Bitcast };
            code.op(opcode, &[uint, converted, word]);
            word = converted;
        }
        if let Some(slot) = words.get_mut(want.at + component as usize) {
            *slot = word;
        }
    }
}
