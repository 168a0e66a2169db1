//! Finds the variable or parameter that a pointer points into.

use rustc_hash::FxHashMap as HashMap;
use vkabort_spirv::index::Index;
use vkabort_spirv::op::storage_class;
use vkabort_spirv::op_sets::base_pointer;
use vkabort_spirv::{Id, op};

/// The pointers of a module.
pub(super) struct Pointers<'a, 'w> {
    pub(super) index: &'a Index<'w>,
    /// Results of [`Pointers::base`] for pointers that are formed from others.
    bases: HashMap<Id, Id>,
}

impl<'a, 'w> Pointers<'a, 'w> {
    /// O(words of the module).
    pub(super) fn new(index: &'a Index<'w>) -> Self {
        let mut pointers = Self {
            index,
            bases: HashMap::default(),
        };
        // Each is defined before those that are formed from it.
        for inst in index.insts(index.sections.globals, index.words.len()) {
            if let Some(from) = base_pointer(&inst) {
                pointers.bases.insert(inst.result(), pointers.base(from));
            }
        }
        pointers
    }

    /// The variable or parameter that a pointer points into, or the instruction where access chains and copies end.
    pub(super) fn base(&self, pointer: Id) -> Id {
        self.bases.get(&pointer).copied().unwrap_or(pointer)
    }

    /// The type that a typed pointer points to, [`Id::NONE`] for untyped pointers.
    pub(super) fn pointee(&self, pointer: Id) -> Id {
        self.index
            .def(self.index.type_of(pointer))
            .map_or(Id::NONE, |t| t.pointee())
    }

    /// Whether other invocations can write the memory that a pointer points to. Storage class `UniformConstant` holds handles
    /// only, not the contents of images.
    pub(super) fn is_shared(&self, pointer: Id) -> bool {
        let class = self.index.storage_class(self.index.type_of(pointer));
        !matches!(
            class,
            Some(
                storage_class::Function
                    | storage_class::Private
                    | storage_class::Input
                    | storage_class::UniformConstant
                    | storage_class::PushConstant
            )
        )
    }

    /// The pointer from which an image handle is loaded, or the value itself if it is not loaded.
    pub(super) fn handle(&self, image: Id) -> Id {
        let base = self.base(image);
        let load = self.index.def(base).filter(|inst| inst.opcode() == op::Load);
        load.map_or(base, |load| load.pointer())
    }
}
