//! Scopes of variables in the text of the source, for compilers that do not describe lexical blocks: Slang and glslang.

use rustc_hash::FxHashMap as HashMap;
use vkabort_analysis::macro_uses::macro_uses;
use vkabort_analysis::view::FunctionView;
use vkabort_spirv::index::debug_variables::LocalVariable;
use vkabort_spirv::index::source_text::{Extent, Texts};
use vkabort_spirv::{Id, op};

/// The scopes of a function's variables that are certain, and where its aborts are.
#[derive(Debug, Default)]
pub(super) struct SourceScopes {
    variables: HashMap<Id, Extent>,
    /// By word offset.
    aborts: HashMap<usize, Extent>,
}

impl SourceScopes {
    /// O(words of the function).
    pub(super) fn new<'v>(
        flow: &FunctionView<'_, '_>,
        variables: impl Iterator<Item = &'v LocalVariable>,
        texts: &mut Texts,
    ) -> Self {
        let index = flow.index;
        let mut found = Self::default();
        for variable in variables {
            if !found.variables.contains_key(&variable.id)
                && let Some(declaration) = variable.declaration(index, texts)
                && let Some(scope) = texts.scope(&declaration, variable.whole_name())
            {
                found.variables.insert(variable.id, scope);
            }
        }
        let macro_uses = macro_uses(index, flow.function, texts);
        let aborts = index.blocks_of(flow.function).iter();
        for block in aborts.filter(|block| index.terminator(block).opcode() == op::AbortKHR) {
            let of_macro = macro_uses.get(&block.terminator).cloned();
            let location = of_macro.or_else(|| index.location_of(&index.position(block, block.terminator), texts));
            if let Some(extent) = location.and_then(|location| texts.extent(&location)) {
                found.aborts.insert(block.terminator, extent);
            }
        }
        found
    }

    /// The offset of the declaration of a variable, if an abort is in its scope.
    pub(super) fn declared(&self, variable: &LocalVariable, abort: usize) -> Option<usize> {
        let (scope, at) = (self.variables.get(&variable.id)?, self.aborts.get(&abort)?);
        scope.contains(at).then_some(scope.range.start)
    }

    /// Whether an abort is certainly outside the scope of a variable.
    pub(super) fn has_left(&self, variable: &LocalVariable, abort: usize) -> bool {
        let places = self.variables.get(&variable.id).zip(self.aborts.get(&abort));
        places.is_some_and(|(scope, at)| !scope.overlaps(at))
    }
}
