//! Counts the searches for the buffers of pointers, whose number in a module is limited.

use vkabort_analysis::callgraph::CallGraph;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::typed::{FunctionIndex, Table};

/// Most searches of a module once its calls are inlined. The time to compile them grows with their square: on lavapipe 22.3, 32 take 1.8 s
/// and 64 take 6.4 s, and SwiftShader ends the process at 240.
const MAX_SEARCHES: u64 = 40;

/// The searches of a module.
#[derive(Debug, Default)]
pub(crate) struct Searches {
    /// How often each function is inlined.
    call_paths: Option<Table<FunctionIndex, u64>>,
    searches: u64,
    left_out: usize,
}

impl Searches {
    /// Counts another search in a function, unless the module has enough.
    pub(super) fn take(&mut self, index: &Index<'_>, graph: &CallGraph, function: FunctionIndex) -> bool {
        let paths = self.call_paths.get_or_insert_with(|| graph.call_paths(index));
        let more = paths.get(function).copied().unwrap_or(1).max(1);
        let has_room = self.searches.saturating_add(more) <= MAX_SEARCHES;
        match has_room {
            true => self.searches += more,
            false => self.left_out += 1,
        }
        has_room
    }

    /// Warning of the searches that were left out, for the log.
    pub(crate) fn warning(&self) -> Option<String> {
        let count = self.left_out;
        (count > 0).then(|| {
            format!(
                "accesses through addresses that are not checked: {count}. Each pointer takes a search for its buffer, and drivers take too \
                 long to compile more than {MAX_SEARCHES}"
            )
        })
    }
}
