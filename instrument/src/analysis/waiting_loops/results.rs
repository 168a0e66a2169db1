//! Functions whose results depend on reads of shared memory: returned, stored through pointer parameters, or stored to private
//! variables. Each is examined once, after its callees.

use super::scope::Scope;
use super::shared_reads::{Results, SharedReads};
use crate::analysis::index::Index;
use crate::analysis::index::typed::FunctionIndex;
use crate::analysis::view::{AccessKind, ControlDependence, FunctionView, ObjectClass};
use crate::spv::Id;

/// The shared reads of a module and what depends on them. `None` if there are none. O(words of the module + functions * variables).
pub(super) fn summarize<'a, 'w>(index: &'a Index<'w>) -> Option<SharedReads<'a, 'w>> {
    let mut shared = SharedReads::new(index)?;
    let (order, in_recursions) = shared.view.graph.callees_first();
    for number in in_recursions {
        shared.set_results(number, anything(&shared, number));
    }
    for number in order {
        // Without a read there is nothing to depend on, and entry points have no callers.
        if shared.may_read(number) && !shared.view.is_entry_point(number) {
            let found = results_of(&shared, number);
            shared.set_results(number, found);
        }
    }
    Some(shared)
}

/// All results of a function depend on shared reads: it has no view, or is part of a recursion.
fn anything(shared: &SharedReads<'_, '_>, number: FunctionIndex) -> Results {
    let written = shared.view.summary(number).map(|summary| summary.writes.clone());
    Results {
        returned: true,
        private: written.unwrap_or_default(),
    }
}

fn results_of(shared: &SharedReads<'_, '_>, number: FunctionIndex) -> Results {
    let Some(own) = shared.view.function(number) else {
        return anything(shared, number);
    };
    let control = ControlDependence::new(own, &own.function.blocks.iter().collect(), None);
    let scope = Scope::new(own, shared, control, false);
    let mut found = Results {
        returned: scope.returns_shared(),
        ..Results::default()
    };
    if scope.leaves_shared(|class| class == ObjectClass::Private) {
        found.private.extend(private_stores(own));
    }
    let callees = shared.view.graph.callees_in(number);
    for callee in callees.filter_map(|callee| shared.results(callee)) {
        found.private.extend(&callee.private);
    }
    found
}

/// Private variables that a function stores to itself.
fn private_stores<'v>(own: &'v FunctionView<'_, '_>) -> impl Iterator<Item = Id> + 'v {
    let accesses = own.accesses.accesses.values().iter();
    let writes = accesses.filter(|access| {
        !matches!(
            access.kind,
            AccessKind::Load(_) | AccessKind::CopyFrom | AccessKind::Argument(_)
        )
    });
    let objects = writes.filter_map(|access| own.accesses.objects.get(access.place.object));
    let private = objects.filter(|object| object.class == ObjectClass::Private);
    private.map(|object| object.pointer)
}
