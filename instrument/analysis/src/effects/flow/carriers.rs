//! Carriers of faults, and the places at which they are tested.

use crate::view::path::Path;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;
use vkabort_spirv::Id;
use vkabort_spirv::index::typed::{BlockIndex, FunctionIndex};

/// A value, a variable or a result that carries faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Carrier {
    Value(FunctionIndex, Id),
    /// A variable of a function or of the module, or the pointee of a parameter: by the variable or parameter.
    Variable(Id),
    /// The value that a function returns.
    Result(FunctionIndex),
}

/// A value that may be faulty, and the function that computes it.
pub type Source = (FunctionIndex, Id);

/// A source whose fault a carrier has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// The position of the source.
    pub source: usize,
    /// Whether only computations are between: the operands of the source are those of the faulty value.
    pub is_direct: bool,
}

pub(super) type Sources = SmallVec<[Carried; 4]>;

/// A place at which carriers are tested: in front of the instruction at a word offset.
#[derive(Clone, Debug)]
pub struct FlowTest {
    pub function: FunctionIndex,
    pub block: BlockIndex,
    pub offset: usize,
    /// The carriers, with the parts of each that have an effect; all parts if there is no list.
    pub carriers: Vec<TestedCarrier>,
    pub sources: Sources,
    /// Whether the carriers may have faults of further sources.
    pub has_more: bool,
}

/// A carrier, and the parts of it that are tested. `None`: all.
pub type TestedCarrier = (Carrier, Option<Vec<Path>>);

/// The carriers of the sources of a module, and the places at which they are tested.
#[derive(Debug, Default)]
pub struct Flow {
    /// Carriers that lead to a test.
    pub carriers: IndexSet<Carrier, FxBuildHasher>,
    /// In module order.
    pub tests: Vec<FlowTest>,
    /// Faults that are not followed, for the log.
    pub given_up: Vec<String>,
}
