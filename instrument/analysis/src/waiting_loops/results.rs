//! Functions whose results depend on reads of shared memory: returned, stored through pointer parameters, or stored to private
//! variables. Each is examined once, after its callees.

use super::scope::Scope;
use super::shared_reads::{Results, SharedReads};
use crate::view::{AccessKind, ControlDependence, FunctionView, ObjectClass};
use vkabort_spirv::Id;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::typed::FunctionIndex;

/// The shared reads of a module, and the results that depend on them. `None` if there are none. O(words of the module + functions * variables).
pub(super) fn summarize<'a, 'w>(index: &'a Index<'w>) -> Option<SharedReads<'a, 'w>> {
    let mut shared = SharedReads::new(index)?;
    let (order, in_recursions) = shared.view.graph.callees_first();
    examine(&mut shared, &order, &in_recursions);
    shared.private_has_shared = !in_recursions.is_empty() || order.iter().any(|number| stores_shared(&shared, *number));
    if shared.private_has_shared {
        examine(&mut shared, &order, &in_recursions);
    }
    Some(shared)
}

/// Examines the functions, callees first.
fn examine(shared: &mut SharedReads<'_, '_>, order: &[FunctionIndex], in_recursions: &[FunctionIndex]) {
    for &number in in_recursions {
        shared.set_results(number, anything(shared, number));
    }
    for &number in order {
        // Without a read there is nothing to depend on, and entry points have no callers.
        if shared.may_read(number) && !shared.view.is_entry_point(number) {
            let found = results_of(shared, number);
            shared.set_results(number, found);
        }
    }
}

/// Whether a function stores a shared read to memory that only the invocation sees.
fn stores_shared(shared: &SharedReads<'_, '_>, number: FunctionIndex) -> bool {
    shared.may_read(number)
        && shared
            .view
            .function(number)
            .is_none_or(|own| whole(own, shared).stores_shared())
}

/// All of a function.
fn whole<'s, 'a, 'w>(own: &'s FunctionView<'a, 'w>, shared: &'s SharedReads<'a, 'w>) -> Scope<'s, 'a, 'w> {
    let control = ControlDependence::new(own, &own.function.blocks.iter().collect(), None);
    Scope::new(own, shared, control, false)
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
    let scope = whole(own, shared);
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
