//! Which invocation aborts: each entry point that can reach an abort stores its execution model and identity once, at its
//! start, where `reserve` loads them. Compilers sink or remove the stores where no abort follows.
//!
//! ```text
//! Store %vkabort_stage %model
//! %value = Load %built_in ..., %words = CompositeConstruct %uvec4 ..
//! Store %vkabort_identity %words
//! ```
//!
//! A built-in variable of the entry point is reused, with any integer or vector type; others are added to the interface,
//! which for built-ins no other stage sees.
//!
//! Not handled: a built-in that an entry point has in an input block, or that the entry points of one function have in
//! different variables. No compiler produces these; their words are 0.

use super::state::Runtime;
use crate::analysis::index::{EntryPoint, Index};
use crate::edit::globals::Globals;
use crate::edit::{Edits, Rank};
use crate::spv::op::{built_in, decoration, execution_model as model, storage_class};
use crate::spv::{Code, Id, Inst, Literal, op};
use smallvec::SmallVec;

/// STAGE of a function that is the entry point of several execution models.
const AMBIGUOUS: u32 = u32::MAX;

/// A built-in, and the words of the identity that it fills.
struct IdentityInput {
    built_in: u32,
    /// Components used.
    components: u32,
    /// First word of the identity that they fill.
    first_word: usize,
}

impl IdentityInput {
    fn is_float(&self) -> bool {
        self.built_in == built_in::FragCoord
    }

    /// Whether its variable is a vector: FragCoord has four components, however many are used.
    fn is_vector(&self) -> bool {
        self.components > 1 || self.is_float()
    }

    /// The type of a variable that this pass adds.
    fn ty(&self, globals: &mut Globals) -> Id {
        let scalar = self.scalar(globals);
        match self.is_vector() {
            true => globals.vector(scalar, if self.is_float() { 4 } else { self.components }),
            false => scalar,
        }
    }

    fn scalar(&self, globals: &mut Globals) -> Id {
        if self.is_float() {
            globals.float(32)
        } else {
            globals.uint()
        }
    }
}

/// The built-ins that identify an invocation of a stage, as `vkabort_record::invocation` reads them.
fn identity_inputs(execution_model: u32) -> impl Iterator<Item = IdentityInput> {
    let inputs: &[(u32, u32, usize)] = match execution_model {
        model::Vertex => &[(built_in::VertexIndex, 1, 0), (built_in::InstanceIndex, 1, 1)],
        model::TessellationControl | model::Geometry => {
            &[(built_in::PrimitiveId, 1, 0), (built_in::InvocationId, 1, 1)]
        }
        model::TessellationEvaluation => &[(built_in::PrimitiveId, 1, 0)],
        model::Fragment => &[(built_in::FragCoord, 2, 0)],
        model::GLCompute | model::TaskNV | model::MeshNV | model::TaskEXT | model::MeshEXT => &[
            (built_in::GlobalInvocationId, 3, 0),
            (built_in::LocalInvocationIndex, 1, 3),
        ],
        model::RayGenerationKHR..=model::CallableKHR => &[(built_in::LaunchIdKHR, 3, 0)],
        _ => &[],
    };
    inputs.iter().map(|&(built_in, components, first_word)| IdentityInput {
        built_in,
        components,
        first_word,
    })
}

/// An entry point, and the variables to add to its interface.
pub(crate) struct EntryInterface<'w> {
    pub(crate) entry: EntryPoint<'w>,
    pub(crate) added: SmallVec<[Id; 6]>,
}

/// Adds the stores to the functions of `entry_points`, and the variables that they need to the interfaces.
pub(crate) fn store_identity(
    index: &Index<'_>,
    entry_points: &mut [EntryInterface<'_>],
    runtime: &mut Runtime,
    globals: &mut Globals,
    edits: &mut Edits,
) {
    // Phase 1: group the entry points by function, in the order of their first entry points.
    let mut by_function: SmallVec<[(Id, usize); 4]> = SmallVec::new();
    let numbered = entry_points.iter().enumerate();
    by_function.extend(numbered.map(|(number, interface)| (interface.entry.function, number)));
    by_function.sort_unstable();
    let mut groups: SmallVec<[&[(Id, usize)]; 4]> = by_function.chunk_by(|(a, _), (b, _)| a == b).collect();
    groups.sort_unstable_by_key(|group| group.first().map(|(_, number)| *number));

    // Phase 2: for each function, select the variables and write the stores.
    // Variables added here by built-in; entry points share them.
    let mut added: SmallVec<[(u32, Id); 6]> = SmallVec::new();
    for group in groups {
        let numbers = || group.iter().map(|(_, number)| *number);
        let Some(model) = numbers()
            .next()
            .and_then(|n| entry_points.get(n))
            .map(|e| e.entry.model)
        else {
            continue;
        };
        let function = group.first().and_then(|(id, _)| index.function_of(*id));
        let Some(at) = function
            .and_then(|f| index.functions.get(f))
            .and_then(|f| index.after_variables(f))
        else {
            continue;
        };
        let is_ambiguous = numbers()
            .filter_map(|n| entry_points.get(n))
            .any(|e| e.entry.model != model);
        let model = if is_ambiguous { AMBIGUOUS } else { model };

        let mut code = Code::with_room(64);
        let stage = runtime.stage(globals);
        let value = globals.constant(model);
        code.op(op::Store, (stage, value));
        let zero = globals.constant(0);
        let mut words = [zero; 4];
        for input in identity_inputs(model) {
            let entries = numbers().filter_map(|n| entry_points.get(n)).map(|e| &e.entry);
            let Ok(existing) = find_shared_variable(index, entries, input.built_in) else {
                continue;
            };
            let variable = existing.unwrap_or_else(|| {
                let shared = added.iter().find(|(built_in, _)| *built_in == input.built_in);
                shared.map(|(_, variable)| *variable).unwrap_or_else(|| {
                    let variable = declare_variable(&input, globals);
                    added.push((input.built_in, variable));
                    variable
                })
            });
            for number in numbers() {
                let interface = entry_points.get_mut(number);
                if let Some(interface) = interface.filter(|e| !e.entry.has_in_interface(variable)) {
                    interface.added.push(variable);
                }
            }
            load_words(index, variable, &input, &mut words, &mut code, globals);
        }
        let uint = globals.uint();
        let uvec4 = globals.vector(uint, 4);
        let whole = globals.fresh();
        let identity = runtime.identity(globals);
        code.op(op::CompositeConstruct, (uvec4, whole, words.as_slice()));
        code.op(op::Store, (identity, whole));
        edits.insert_ranked(at, Rank::Entry, &code.words);
    }
}

/// The variable that entry points of one function have for a built-in; `None` if none has one.
///
/// # Errors
///
/// The function cannot read one variable for all of them: the entry points have the built-in in a block or in different
/// variables, and no interface may have it twice (VUID-StandaloneSpirv-OpEntryPoint-09658).
fn find_shared_variable<'e>(
    index: &Index<'_>,
    entries: impl Iterator<Item = &'e EntryPoint<'e>>,
    built_in: u32,
) -> Result<Option<Id>, ()> {
    let mut shared = None;
    for entry in entries {
        let variable = find_variable(index, entry, built_in);
        let differs = variable.is_some_and(|variable| *shared.get_or_insert(variable) != variable);
        if differs || is_block_member(index, entry, built_in) {
            return Err(());
        }
    }
    Ok(shared)
}

fn find_variable(index: &Index<'_>, entry: &EntryPoint<'_>, built_in: u32) -> Option<Id> {
    let mut inputs = input_variables(index, entry).map(|variable| variable.result());
    inputs.find(|id| index.decoration(*id, decoration::BuiltIn) == Some(built_in))
}

fn input_variables<'i>(index: &'i Index<'i>, entry: &EntryPoint<'i>) -> impl Iterator<Item = Inst<'i>> {
    let variables = entry.interface().filter_map(|id| index.def(id));
    variables.filter(|inst| inst.opcode() == op::Variable && inst.storage_class() == storage_class::Input)
}

/// Whether an entry point has a built-in as a member of an input block.
fn is_block_member(index: &Index<'_>, entry: &EntryPoint<'_>, built_in: u32) -> bool {
    let is_input_block = |block: Id| {
        let mut pointers = input_variables(index, entry).filter_map(|variable| index.def(variable.result_type()));
        pointers.any(|pointer| index.under_arrays(pointer.pointee()) == block)
    };
    let mut members = index.decorations.iter().filter(|d| d.member.is_some());
    members.any(|d| d.kind == decoration::BuiltIn && d.value == built_in && is_input_block(d.target))
}

fn declare_variable(input: &IdentityInput, globals: &mut Globals) -> Id {
    let ty = input.ty(globals);
    let variable = globals.variable(storage_class::Input, ty, None);
    globals.decorate(variable, decoration::BuiltIn, &[input.built_in]);
    variable
}

/// Loads a built-in and converts its components to the words that they fill.
fn load_words(
    index: &Index<'_>,
    variable: Id,
    input: &IdentityInput,
    words: &mut [Id; 4],
    code: &mut Code,
    globals: &mut Globals,
) {
    let uint = globals.uint();
    // Variables of the module may have other types than those declared here.
    let pointee = index.def(index.type_of(variable)).map(|pointer| pointer.pointee());
    let ty = pointee.unwrap_or_else(|| input.ty(globals));
    let scalar = match pointee {
        Some(ty) if input.is_vector() => index.part_type(ty, 0),
        Some(ty) => ty,
        None => input.scalar(globals),
    };
    let value = globals.fresh();
    code.op(op::Load, (ty, value, variable));
    for component in 0..input.components {
        let mut word = value;
        if input.is_vector() {
            word = globals.fresh();
            code.op(op::CompositeExtract, (scalar, word, value, Literal(component)));
        }
        if scalar != uint {
            let converted = globals.fresh();
            let opcode = if input.is_float() { op::ConvertFToU } else { op::Bitcast };
            code.op(opcode, (uint, converted, word));
            word = converted;
        }
        if let Some(slot) = words.get_mut(input.first_word + component as usize) {
            *slot = word;
        }
    }
}
