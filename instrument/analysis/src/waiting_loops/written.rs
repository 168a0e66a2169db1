//! Variables that the module writes: a loop that reads others does not wait for another invocation of it.

use super::pointers::Pointers;
use rustc_hash::FxHashSet as HashSet;
use vkabort_spirv::index::Index;
use vkabort_spirv::op::{decoration, storage_class};
use vkabort_spirv::op_sets::{base_pointer, is_atomic_read};
use vkabort_spirv::{Id, Inst, op, operands};

/// Binding of a variable, or the variable if it has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Resource {
    Binding(u32, u32),
    Variable(Id),
}

/// The variables of shared memory that a module writes.
#[derive(Default)]
pub(super) struct WrittenVariables {
    all: HashSet<Resource>,
    /// It may write any of them: through a pointer that is not formed from a variable, or since variables alias.
    is_unknown: bool,
}

impl WrittenVariables {
    /// O(words of the functions).
    pub(super) fn new(pointers: &Pointers<'_, '_>) -> Self {
        let index = pointers.index;
        let aliases = [decoration::Aliased, decoration::AliasedPointer];
        let mut written = Self {
            is_unknown: index.decorations.iter().any(|found| aliases.contains(&found.kind)),
            ..Self::default()
        };
        for (_, function) in index.functions.iter() {
            for inst in index.insts(function.offset, function.end) {
                written.read(pointers, &inst);
            }
        }
        written
    }

    fn read(&mut self, pointers: &Pointers<'_, '_>, inst: &Inst<'_>) {
        match inst.opcode() {
            op::Load | op::ArrayLength | op::ImageRead | op::ImageSparseRead | op::AtomicLoad => {}
            op::Store => {
                self.add(pointers, inst.pointer());
                self.add(pointers, inst.stored_value());
            }
            op::CopyMemory => self.add(pointers, inst.id(1)),
            opcode if is_atomic_read(opcode) => self.add(pointers, inst.pointer()),
            _ if base_pointer(inst).is_some() || pointers.index.is_debug_inst(inst) => {}
            _ => {
                // Everything else may write where it gets a pointer or an image.
                let selector_words = pointers.index.selector_words(inst);
                let mut ids = Vec::new();
                if !operands::visit_ids(inst, selector_words, |word| ids.push(inst.id(word))) {
                    ids.extend(inst.ids(1));
                }
                ids.into_iter().for_each(|id| self.add(pointers, id));
            }
        }
    }

    /// Adds the variable of a pointer, or the image that a handle was loaded for.
    fn add(&mut self, pointers: &Pointers<'_, '_>, id: Id) {
        let index = pointers.index;
        let ty = index.type_of(id);
        let is_image = index.opcode(ty) == op::TypeImage;
        let pointer = if is_image { pointers.handle(id) } else { id };
        let class = index.storage_class(index.type_of(pointer));
        let is_handle = class == Some(storage_class::UniformConstant);
        // `OpImageTexelPointer` counts as a write of the image itself.
        let is_texel = index.opcode(pointers.base(pointer)) == op::ImageTexelPointer;
        if is_texel || !is_image && !is_handle && (class.is_none() || !pointers.is_shared(pointer)) {
            return;
        }
        match resource(index, pointers.base(pointer)) {
            Some(resource) => {
                self.all.insert(resource);
            }
            None => self.is_unknown = true,
        }
    }

    /// Whether the module may write the pointee of a pointer.
    pub(super) fn contains(&self, pointers: &Pointers<'_, '_>, pointer: Id) -> bool {
        let resource = resource(pointers.index, pointers.base(pointer));
        self.is_unknown || resource.is_none_or(|resource| self.all.contains(&resource))
    }
}

/// The resource of a variable. `None` for other pointers.
fn resource(index: &Index<'_>, variable: Id) -> Option<Resource> {
    if !matches!(index.opcode(variable), op::Variable | op::UntypedVariableKHR) {
        return None;
    }
    let set = index.decoration(variable, decoration::DescriptorSet);
    let binding = index.decoration(variable, decoration::Binding);
    let bound = set.zip(binding).map(|(set, binding)| Resource::Binding(set, binding));
    Some(bound.unwrap_or(Resource::Variable(variable)))
}
