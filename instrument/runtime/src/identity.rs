//! Writes code that reads the identity of the aborting invocation, where the entry point writes the record. Values kept from the
//! start of the entry point would occupy registers all the time.
//!
//! ```text
//! %value = Load %built_in ..., %words = CompositeConstruct %uvec4 ..
//! ```
//!
//! A built-in variable of the entry point is reused, with any integer or vector type; others are added to the interface,
//! which for built-ins no other stage sees. LocalInvocationIndex is calculated from LocalInvocationId where the workgroup size
//! is constant: with the built-in, Mesa 22.3's llvmpipe makes a loop in front of it a third slower. On GPUs, the number of
//! instructions is the same within three percent.
//!
//! Not handled: a built-in that an entry point has in an input block. No compiler produces these; its words are 0.

use smallvec::{SmallVec, smallvec};
use vkabort_record::stage::{Identity, Stage};
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::{EntryPoint, Index};
use vkabort_spirv::op::{built_in, decoration, storage_class};
use vkabort_spirv::{Id, Inst, Literal, op};

/// A built-in, and how many of its components identify an invocation.
struct IdentityInput {
    built_in: u32,
    components: u32,
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
    fn ty(&self, out: &mut Emitter) -> Id {
        let scalar = self.scalar(out);
        match self.is_vector() {
            true => out.vector(scalar, if self.is_float() { 4 } else { self.components }),
            false => scalar,
        }
    }

    fn scalar(&self, out: &mut Emitter) -> Id {
        if self.is_float() { out.float(32) } else { out.uint() }
    }
}

/// The built-ins that identify an invocation of a stage, and the first word of the identity that each fills, as
/// `vkabort_record::invocation` reads them.
fn identity_inputs(execution_model: u32) -> impl Iterator<Item = (IdentityInput, usize)> {
    let inputs: &[(u32, u32, usize)] = match Stage::identity_of(execution_model) {
        Identity::Vertex => &[(built_in::VertexIndex, 1, 0), (built_in::InstanceIndex, 1, 1)],
        Identity::Primitive => &[(built_in::PrimitiveId, 1, 0), (built_in::InvocationId, 1, 1)],
        Identity::Patch => &[(built_in::PrimitiveId, 1, 0)],
        Identity::Pixel => &[(built_in::FragCoord, 2, 0)],
        Identity::Global => &[
            (built_in::GlobalInvocationId, 3, 0),
            (built_in::LocalInvocationIndex, 1, 3),
        ],
        Identity::Launch => &[(built_in::LaunchIdKHR, 3, 0)],
        Identity::None => &[],
    };
    let input = |(built_in, components, first_word)| (IdentityInput { built_in, components }, first_word);
    inputs.iter().copied().map(input)
}

/// An entry point, and the variables to add to its interface.
pub struct EntryInterface<'w> {
    pub entry: EntryPoint<'w>,
    /// Its index in the module.
    pub number: u32,
    /// Invocations of a workgroup, if the numbers are constant.
    pub workgroup_size: Option<[u32; 3]>,
    pub added: SmallVec<[Id; 6]>,
}

impl EntryInterface<'_> {
    /// Whether invocations have a LocalInvocationIndex that does not follow from GlobalInvocationId.
    pub(crate) fn has_local_index(&self) -> bool {
        let is_of_workgroup = |(input, _): (IdentityInput, usize)| input.built_in == built_in::LocalInvocationIndex;
        self.workgroup_size.is_none() && identity_inputs(self.entry.model).any(is_of_workgroup)
    }
}

/// Built-in variables that this pass adds, by built-in; entry points share them.
pub type AddedBuiltIns = SmallVec<[(u32, Id); 6]>;

/// Reads the four words of the identity as a `uvec4`; variables that the entry point lacks are added to its interface.
/// `is_compact`: without a LocalInvocationIndex that follows from GlobalInvocationId.
pub fn load_identity(
    index: &Index<'_>,
    interface: &mut EntryInterface<'_>,
    is_compact: bool,
    added: &mut AddedBuiltIns,
    out: &mut Emitter,
) -> Id {
    let zero = out.constant(0);
    let mut words = [zero; 4];
    for (input, first_word) in identity_inputs(interface.entry.model) {
        if is_compact && input.built_in == built_in::LocalInvocationIndex && !interface.has_local_index() {
            continue;
        }
        let loaded = match input.built_in {
            built_in::LocalInvocationIndex => load_local_index(index, interface, added, out),
            _ => load_input(index, interface, added, &input, out),
        };
        for (word, id) in words.iter_mut().skip(first_word).zip(loaded) {
            *word = id;
        }
    }
    let uint = out.uint();
    let uvec4 = out.vector(uint, 4);
    out.emit(op::CompositeConstruct, uvec4, words)
}

/// Reads LocalInvocationIndex, which a variable that the entry point lacks is added for, as [`load_identity`] does. Empty if the
/// built-in is a member of an input block.
pub fn load_local_index(
    index: &Index<'_>,
    interface: &mut EntryInterface<'_>,
    added: &mut AddedBuiltIns,
    out: &mut Emitter,
) -> SmallVec<[Id; 4]> {
    let Some(size) = interface.workgroup_size else {
        return load_number(index, interface, added, built_in::LocalInvocationIndex, out);
    };
    let local = IdentityInput {
        built_in: built_in::LocalInvocationId,
        components: 3,
    };
    let local = load_input(index, interface, added, &local, out);
    match local.is_empty() {
        true => local,
        false => smallvec![local_index(&local, size, out)],
    }
}

/// Reads a built-in that is a number, like [`load_local_index`].
pub fn load_number(
    index: &Index<'_>,
    interface: &mut EntryInterface<'_>,
    added: &mut AddedBuiltIns,
    built_in: u32,
    out: &mut Emitter,
) -> SmallVec<[Id; 4]> {
    let components = 1;
    load_input(index, interface, added, &IdentityInput { built_in, components }, out)
}

/// Loads the components of a built-in as words; none of a member of an input block. A built-in that the entry point lacks is
/// added to the interface.
fn load_input(
    index: &Index<'_>,
    interface: &mut EntryInterface<'_>,
    added: &mut AddedBuiltIns,
    input: &IdentityInput,
    out: &mut Emitter,
) -> SmallVec<[Id; 4]> {
    if is_block_member(index, &interface.entry, input.built_in) {
        return SmallVec::new();
    }
    let variable = find_variable(index, &interface.entry, input.built_in).unwrap_or_else(|| {
        let shared = added.iter().find(|(built_in, _)| *built_in == input.built_in);
        let variable = shared.map(|(_, variable)| *variable).unwrap_or_else(|| {
            let variable = declare_variable(input, out);
            added.push((input.built_in, variable));
            variable
        });
        if !interface.added.contains(&variable) {
            interface.added.push(variable);
        }
        variable
    });
    load_words(index, variable, input, out)
}

/// LocalInvocationIndex, by the formula of "Vulkan Specification, Built-In Variables":
///
/// ```text
/// local.x + size.x * (local.y + size.y * local.z)
/// ```
fn local_index(local: &[Id], size: [u32; 3], out: &mut Emitter) -> Id {
    let uint = out.uint();
    let mut index: Option<Id> = None;
    for (&id, count) in local.iter().zip(size).rev() {
        // The id is 0.
        if count <= 1 {
            continue;
        }
        index = Some(index.map_or(id, |outer| {
            let (count, [scaled, sum]) = (out.constant(count), [(); 2].map(|()| out.fresh()));
            out.op(op::IMul, (uint, scaled, outer, count));
            out.op(op::IAdd, (uint, sum, scaled, id));
            sum
        }));
    }
    index.unwrap_or_else(|| out.constant(0))
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

fn declare_variable(input: &IdentityInput, out: &mut Emitter) -> Id {
    let ty = input.ty(out);
    let variable = out.variable(storage_class::Input, ty, None);
    out.decorate(variable, decoration::BuiltIn, &[input.built_in]);
    variable
}

/// Loads a built-in and converts its components to words.
fn load_words(index: &Index<'_>, variable: Id, input: &IdentityInput, out: &mut Emitter) -> SmallVec<[Id; 4]> {
    let uint = out.uint();
    // Variables of the module may have other types than those declared here.
    let pointee = index.def(index.type_of(variable)).map(|pointer| pointer.pointee());
    let ty = pointee.unwrap_or_else(|| input.ty(out));
    let scalar = match pointee {
        Some(ty) if input.is_vector() => index.part_type(ty, 0),
        Some(ty) => ty,
        None => input.scalar(out),
    };
    let value = out.emit(op::Load, ty, variable);
    let mut words = SmallVec::new();
    for component in 0..input.components {
        let mut word = value;
        if input.is_vector() {
            word = out.fresh();
            out.op(op::CompositeExtract, (scalar, word, value, Literal(component)));
        }
        if scalar != uint {
            let converted = out.fresh();
            let opcode = if input.is_float() { op::ConvertFToU } else { op::Bitcast };
            out.op(opcode, (uint, converted, word));
            word = converted;
        }
        words.push(word);
    }
    words
}
