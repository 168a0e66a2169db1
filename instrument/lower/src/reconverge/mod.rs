//! Makes an abort take effect before the loops that wait for it.
//!
//! ```text
//! SelectionMerge %merge, BranchConditional %c %then %merge     becomes    the same, and
//! %then: .. Store %aborted true, Return                                   %then: .. Store %aborted true, Branch %merge
//! %merge: more, a loop that waits                                         %merge: %a = Load %aborted
//!                                                                                 SelectionMerge %go, BranchConditional %a %leave %go
//!                                                                                 %leave: Return
//!                                                                                 %go: more, a loop that waits
//! ```
//!
//! A block that returns from inside a selection need not be executed before the code behind the selection: SPIR-V promises
//! no progress there, and SwiftShader executes a loop at the merge block first, for ever. A block that goes on to the merge
//! block is executed before it.
//!
//! Runs after `abort`, on the blocks in which that pass ends invocations (`ExitBlock`), and only where a waiting loop can
//! follow. Phases: (1) `detours` decides where the exits of a function go, from its constructs (`flow`) and the loops that
//! wait (`waits`). (2) `values` finds values that the new edges cut off from their uses. (3) `rewrite` writes the
//! blocks, with `phis` and `switches`.
//!
//! Not handled: functions with unknown instructions, and pointers or handles that would have to be selected by a phi: their
//! exits stay as they are, with a warning. A selection that breaks out of a switch around it cannot become a switch: its
//! exits go further out.
//!
//! The decisions and their reasons: `docs/design/waiting-loops.md`.

mod detours;
mod flow;
mod phis;
mod rewrite;
mod switches;
mod values;
mod waits;

use detours::Detours;
use flow::Flow;
use rewrite::rewrite;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::collections::BTreeMap;
use values::Obstacle;
use vkabort_analysis::exit_plan::{ExitBlock, ExitKind};
use vkabort_spirv::Id;
use vkabort_spirv::edit::Edits;
use vkabort_spirv::edit::abort_flag::AbortFlag;
use vkabort_spirv::edit::address_words::AddressWords;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::placeholder::Placeholders;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::names::Names;
use vkabort_spirv::index::typed::{FunctionIndex, Node};
use waits::Waits;

/// How aborted invocations leave a module with waiting loops.
pub struct EarlyExits {
    /// Set where they leave.
    pub flag: AbortFlag,
    pub blocks: Vec<ExitBlock>,
    /// Labels of the headers of waiting loops.
    pub headers: HashSet<Id>,
}

impl EarlyExits {
    /// Names the blocks in which exits are after they have moved, each once.
    pub fn move_to(&mut self, moved: &HashMap<Id, Id>) {
        let mut seen = HashSet::default();
        self.blocks.retain_mut(|exit| {
            exit.label = moved.get(&exit.label).copied().unwrap_or(exit.label);
            seen.insert(exit.label)
        });
    }
}

/// Lets exits reach merge blocks. Returns a warning besides, if a function keeps its exits.
pub fn reconverge(index: &Index<'_>, exits: &EarlyExits) -> (Edits, Option<String>) {
    let mut edits = Edits::default();
    let mut unprotected: Vec<(Id, Obstacle)> = Vec::new();
    let flag = exits.flag;
    let waits = Waits::new(index, &exits.headers);
    let mut out: Option<Emitter> = None;
    let (mut placeholders, mut words) = (Placeholders::default(), AddressWords::default());
    for (number, exits) in by_function(index, &exits.blocks) {
        let Some(function) = index.functions.get(number) else {
            continue;
        };
        let flow = Flow::new(index, function);
        let exits: Vec<(Node, ExitKind)> = exits
            .into_iter()
            .filter_map(|exit| Some((flow.node(exit.label)?, exit.kind)))
            .collect();
        let mut is_exit = flow.successors.map(|_| false);
        exits.iter().for_each(|(node, _)| {
            is_exit.set(*node);
        });
        let detours = Detours::new(&flow, &waits.nodes_and_returns(number, &flow, &is_exit), &exits);
        if !detours.exits.is_empty() {
            let out = out.get_or_insert_with(|| Emitter::new(index));
            if let Err(obstacle) = rewrite(&flow, &detours, flag, out, (&mut placeholders, &mut words), &mut edits) {
                unprotected.push((function.id, obstacle));
            }
        }
    }
    if let Some(out) = out.filter(|_| !edits.is_empty()) {
        out.finish(index, &mut edits);
    }
    (edits, warning(index, &unprotected))
}

/// Describes the functions that keep their exits, and the first obstacle.
fn warning(index: &Index<'_>, unprotected: &[(Id, Obstacle)]) -> Option<String> {
    let &(function, obstacle) = unprotected.first()?;
    // The function of an entry point is called by a new one that has its id.
    let callers = index.calls.values().iter().filter(|call| call.callee == function);
    let mut callers = callers.filter_map(|call| Some(index.functions.get(call.caller)?.id));
    let entry = callers.find(|caller| index.entry_points.iter().any(|entry| entry.function == *caller));
    let name = Names::new(index).function(index, entry.unwrap_or(function));
    let functions = match unprotected.len() {
        1 => String::new(),
        2 => " and another function".to_owned(),
        count => format!(" and {} other functions", count - 1),
    };
    let cause = match obstacle {
        Obstacle::UnknownInstruction(opcode) => {
            format!(
                "the function contains an unknown instruction (opcode {opcode}); move it into a function without aborts"
            )
        }
        Obstacle::Value(id) => {
            let definition = index.opcode(id);
            format!(
                "a pointer or handle from before the merge block is used behind it (opcode {definition}); compute it behind \
                 the selection with the abort"
            )
        }
    };
    Some(format!(
        "in `{name}`{functions}, an invocation that aborts inside a selection leaves there although a loop that waits for it \
         follows, so that some drivers never end the loop: {cause}"
    ))
}

/// The exits of each function.
fn by_function<'e>(index: &Index<'_>, exits: &'e [ExitBlock]) -> BTreeMap<FunctionIndex, Vec<&'e ExitBlock>> {
    let mut all: BTreeMap<FunctionIndex, Vec<&ExitBlock>> = BTreeMap::new();
    for exit in exits {
        if let Some(function) = index.function_with(exit.label) {
            all.entry(function).or_default().push(exit);
        }
    }
    all
}
