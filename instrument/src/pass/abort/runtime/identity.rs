//! Which invocation: each entry point that can reach an abort stores its execution model and identity once, at its start,
//! where `reserve` picks them up. Compilers remove the stores where no abort is taken.
//!
//! A built-in variable that the entry point has is reused, whatever integer or vector type the producer gave it; others are
//! added to the interface, which for built-ins no other stage sees.

use super::Runtime;
use crate::analysis::index::{EntryPoint, Index};
use crate::edit::globals::Globals;
use crate::edit::{Edits, Rank};
use crate::spv::op::{built_in, decoration, execution_model as model, storage_class};
use crate::spv::{Code, Id, op};
use smallvec::SmallVec;

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

impl Wanted {
    const fn new(built_in: u32, components: u32, at: usize) -> Self {
        Self {
            built_in,
            components,
            at,
            float: built_in == built_in::FragCoord,
        }
    }
}

fn wanted(execution_model: u32) -> &'static [Wanted] {
    use Wanted as W;
    match execution_model {
        model::Vertex => {
            const {
                &[
                    W::new(built_in::VertexIndex, 1, 0),
                    W::new(built_in::InstanceIndex, 1, 1),
                ]
            }
        }
        model::TessellationControl | model::Geometry => {
            const {
                &[
                    W::new(built_in::PrimitiveId, 1, 0),
                    W::new(built_in::InvocationId, 1, 1),
                ]
            }
        }
        model::TessellationEvaluation => const { &[W::new(built_in::PrimitiveId, 1, 0)] },
        model::Fragment => const { &[W::new(built_in::FragCoord, 2, 0)] },
        model::GLCompute | model::TaskNV | model::MeshNV | model::TaskEXT | model::MeshEXT => {
            const {
                &[
                    W::new(built_in::GlobalInvocationId, 3, 0),
                    W::new(built_in::LocalInvocationIndex, 1, 3),
                ]
            }
        }
        model::RayGenerationKHR..=model::CallableKHR => const { &[W::new(built_in::LaunchIdKHR, 3, 0)] },
        _ => &[],
    }
}

/// An entry point, and the variables to add to its interface.
pub(crate) struct Interface<'w> {
    pub(crate) entry: EntryPoint<'w>,
    pub(crate) added: SmallVec<[Id; 6]>,
}

/// Adds the stores of the given entry points. Those that share a function read the same variables.
pub(crate) fn store(
    index: &Index<'_>,
    entry_points: &mut [Interface<'_>],
    runtime: &mut Runtime,
    globals: &mut Globals,
    edits: &mut Edits,
) {
    // Variables added here, with their built-ins: entry points share them.
    let mut shared: SmallVec<[(u32, Id); 6]> = SmallVec::new();
    // By function: there may be very many of either.
    let mut by_function: SmallVec<[(Id, usize); 4]> = SmallVec::new();
    by_function.extend(
        entry_points
            .iter()
            .enumerate()
            .map(|(number, e)| (e.entry.function, number)),
    );
    by_function.sort_unstable();
    for number in 0..entry_points.len() {
        let Some(Interface { entry, .. }) = entry_points.get(number) else {
            break;
        };
        let (id, model) = (entry.function, entry.model);
        let first = by_function.partition_point(|(function, _)| *function < id);
        let same = by_function.get(first..).unwrap_or(&[]);
        let same = same
            .get(..same.partition_point(|(function, _)| *function == id))
            .unwrap_or(&[]);
        if same.first().is_none_or(|(_, first)| *first != number) {
            continue;
        }
        let Some(function) = index.function_of(id).and_then(|f| index.functions.get(f)) else {
            continue;
        };
        let Some(at) = index.after_variables(function) else {
            continue;
        };
        let same = || same.iter().map(|(_, number)| *number);
        let ambiguous = same()
            .filter_map(|n| entry_points.get(n))
            .any(|e| e.entry.model != model);
        let execution_model = if ambiguous { AMBIGUOUS } else { model };

        let mut code = Code::with_room(64);
        let stage = runtime.stage(globals);
        let value = globals.constant(execution_model);
        code.op(op::Store, &[stage, value]);
        let zero = globals.constant(0);
        let mut words = [zero; 4];
        for want in wanted(execution_model) {
            // No interface may have a built-in twice. No compiler makes these members of blocks, or entry points of one
            // function that read different variables.
            let mut own = None;
            let cannot_share = same().filter_map(|n| entry_points.get(n)).any(|e| {
                let variable = existing(index, &e.entry, want.built_in);
                let other = variable.is_some_and(|variable| *own.get_or_insert(variable) != variable);
                other || is_member(index, &e.entry, want.built_in)
            });
            if cannot_share {
                continue;
            }
            let variable = own.unwrap_or_else(|| {
                let known = shared.iter().find(|(built_in, _)| *built_in == want.built_in);
                known.map(|(_, variable)| *variable).unwrap_or_else(|| {
                    let variable = new_variable(want, globals);
                    shared.push((want.built_in, variable));
                    variable
                })
            });
            for number in same() {
                let interface = entry_points.get_mut(number);
                if let Some(interface) = interface.filter(|e| !e.entry.interface().contains(&variable)) {
                    interface.added.push(variable);
                }
            }
            read(index, variable, want, &mut words, &mut code, globals);
        }
        let uint = globals.uint();
        let uvec4 = globals.vector(uint, 4);
        let all = globals.fresh();
        let identity = runtime.identity(globals);
        code.op2(op::CompositeConstruct, &[uvec4, all], &words);
        code.op(op::Store, &[identity, all]);
        edits.insert_ranked(at, Rank::Entry, &code.words);
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

/// Whether an entry point has a built-in as a member of an input block.
fn is_member(index: &Index<'_>, entry: &EntryPoint<'_>, built_in: u32) -> bool {
    let is_input = |block: Id| {
        entry
            .interface()
            .iter()
            .filter_map(|id| index.def(*id))
            .any(|variable| {
                let input = variable.opcode() == op::Variable && variable.word(3) == storage_class::Input;
                input
                    && index
                        .def(variable.result_type())
                        .is_some_and(|ty| index.under_arrays(ty.word(3)) == block)
            })
    };
    let mut members = index.decorations.iter().filter(|d| d.member.is_some());
    members.any(|d| d.kind == decoration::BuiltIn && d.value == built_in && is_input(d.target))
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
