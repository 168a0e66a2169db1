//! Variables and pointer parameters whose faults can be followed.

use crate::view::{AccessKind, ModuleView, ObjectClass};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use vkabort_spirv::Id;
use vkabort_spirv::index::typed::{AccessIndex, FunctionIndex, ObjectIndex};

/// A variable or parameter.
#[derive(Debug, Default)]
struct Variable {
    /// The functions that access it.
    functions: Vec<(FunctionIndex, ObjectIndex)>,
    accesses: Vec<(FunctionIndex, AccessIndex)>,
    /// Whether it belongs to the invocation, until the stage ends.
    is_own: bool,
    /// Whether an access to it is not known, or not followed, in any function.
    is_lost: bool,
}

/// The variables and parameters of a module, by their ids.
#[derive(Debug, Default)]
pub(super) struct Variables {
    all: HashMap<Id, Variable>,
    /// Variables that carry faults and are not followed.
    left_out: HashSet<Id>,
}

impl Variables {
    /// O(accesses of the module).
    pub(super) fn new(view: &ModuleView<'_, '_>, is_written: &dyn Fn(FunctionIndex) -> bool) -> Self {
        let mut all: HashMap<Id, Variable> = HashMap::default();
        for number in view.index.functions.keys() {
            let reach = view.graph.reach.get(number);
            let Some(accesses) = view
                .accesses(number)
                .filter(|_| reach.is_some_and(|of| !of.entry_points.is_empty()))
            else {
                continue;
            };
            let is_followed = is_written(number) && view.function(number).is_some();
            for (object, of) in accesses.objects.iter() {
                let is_own = match of.class {
                    ObjectClass::Function | ObjectClass::Private | ObjectClass::Parameter(_) => true,
                    ObjectClass::Output => !view.shares_outputs(number),
                    ObjectClass::Workgroup | ObjectClass::Described(_) => false,
                };
                let variable = all.entry(of.pointer).or_insert_with(|| Variable {
                    is_own: true,
                    ..Variable::default()
                });
                variable.functions.push((number, object));
                variable.is_own &= is_own;
                variable.is_lost |= of.is_escaped || !is_followed;
            }
            for (at, access) in accesses.accesses.iter() {
                let object = accesses.objects.get(access.place.object);
                if let Some(variable) = object.and_then(|object| all.get_mut(&object.pointer)) {
                    variable.accesses.push((number, at));
                    variable.is_lost |= access.kind == AccessKind::Other;
                }
            }
        }
        Self {
            all,
            left_out: HashSet::default(),
        }
    }

    /// Whether the faults of a variable or parameter are followed: all of its accesses in all functions are known, and others see it only
    /// where the stage ends.
    pub(super) fn follows(&mut self, pointer: Id) -> bool {
        let Some(variable) = self.all.get(&pointer).filter(|variable| variable.is_own) else {
            return false;
        };
        if variable.is_lost {
            self.left_out.insert(pointer);
        }
        !variable.is_lost
    }

    /// The functions that access a variable.
    pub(super) fn functions(&self, pointer: Id) -> Vec<(FunctionIndex, ObjectIndex)> {
        self.all.get(&pointer).map_or_else(Vec::new, |of| of.functions.clone())
    }

    /// The accesses to a variable, in module order.
    pub(super) fn accesses(&self, pointer: Id) -> Vec<(FunctionIndex, AccessIndex)> {
        self.all.get(&pointer).map_or_else(Vec::new, |of| of.accesses.clone())
    }

    /// Variables that are not followed, for the log.
    pub(super) fn given_up(&self) -> Option<String> {
        let count = self.left_out.len();
        (count > 0).then(|| {
            format!("variables that carry no faults, since pointers to them are used in several ways: {count}")
        })
    }
}
