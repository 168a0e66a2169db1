//! Declares the variables that hold initialisation bits.

use super::super::module::ModulePlanter;
use super::init_bits::InitBits;
use super::layout::Layout;
use rustc_hash::FxHashMap as HashMap;
use vkabort_spirv::Id;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::local_variable::local_variable;
use vkabort_spirv::index::Function;
use vkabort_spirv::op::storage_class;

/// Declares the variables that hold initialisation bits, whose array types are shared.
#[derive(Debug, Default)]
pub(super) struct InitBitsDeclarations {
    arrays: HashMap<u32, Id>,
}

impl InitBitsDeclarations {
    fn ty(&mut self, out: &mut Emitter, words: u32) -> Id {
        let uint = out.uint();
        if words == 1 {
            return uint;
        }
        let length = out.constant(words);
        *self.arrays.entry(words).or_insert_with(|| out.array(uint, length))
    }

    /// The bits of a variable of the module.
    pub(super) fn private(&mut self, out: &mut Emitter, layout: Layout) -> InitBits {
        let words = layout.words();
        let ty = self.ty(out, words);
        let null = out.null(ty);
        InitBits {
            layout,
            variable: out.private(ty, null),
            class: storage_class::Private,
            words,
            base: 0,
        }
    }

    /// The bits of a variable in shared memory. `None` if there is no room for them.
    pub(super) fn shared(&self, module: &mut ModulePlanter<'_, '_>, layout: Layout) -> Option<InitBits> {
        let words = layout.words();
        let ModulePlanter { out, shared_words, .. } = module;
        let base = shared_words.reserve(words)?;
        Some(InitBits {
            layout,
            variable: shared_words.variable(out),
            class: storage_class::Workgroup,
            words,
            base,
        })
    }

    /// The bits of a variable of a function.
    pub(super) fn local(
        &mut self,
        module: &mut ModulePlanter<'_, '_>,
        function: &Function,
        layout: Layout,
    ) -> InitBits {
        let ModulePlanter { index, out, edits, .. } = module;
        let words = layout.words();
        let ty = self.ty(out, words);
        let null = out.null(ty);
        InitBits {
            layout,
            variable: local_variable(index, function, (out, edits), (ty, Some(null))),
            class: storage_class::Function,
            words,
            base: 0,
        }
    }
}
