//! Joins the exits behind a test of planted checks into one: selections decide what is stored, in place of branches.
//!
//! ```text
//! %failed: SelectionMerge %other, BranchConditional %first %one %other
//! %one:    Store %vkabort_value0 %a, Store %vkabort_key 7, Return
//! %other:  Store %vkabort_value0 %b, Store %vkabort_value1 %c, Store %vkabort_key 8, Return
//!
//! becomes
//!
//! %failed: %value = Select %first %a %b, %key = Select %first 7 8
//!          Store %vkabort_value0 %value, Store %vkabort_value1 %c, Store %vkabort_key %key, Return
//! ```
//!
//! A test of a value that may have the faults of many operations has an exit for each, and drivers for CPUs take long to compile exits. A value
//! that the record of the key does not have is not read.

mod exit;

use exit::Exit;
use rustc_hash::FxHashMap as HashMap;
use vkabort_options::Options;
use vkabort_spirv::edit::Edits;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::{Block, Function, Index};
use vkabort_spirv::{Id, Inst, op};

/// Joins exits behind the branches whose conditions are not below `bound`, the application's. Returns the labels of removed blocks, too, each
/// with that of the block in which its exit is now. O(words of the functions).
pub fn join(index: &Index<'_>, options: &Options, bound: Id) -> (Edits, HashMap<Id, Id>) {
    let (mut edits, mut moved) = (Edits::default(), HashMap::default());
    let mut out = Emitter::new(index);
    for function in index.functions.values() {
        let blocks = index.blocks_of(function);
        if blocks.iter().any(|block| branch(index, block, bound).is_some()) {
            let ways = Ways::new(index, function, bound, &mut out);
            moved.extend(ways.write(options.branches_at_exits, &mut out, &mut edits));
        }
    }
    out.finish(index, &mut edits);
    (edits, moved)
}

/// The planted branch that ends a block and whose merge block is one of its two targets.
fn branch<'w>(index: &Index<'w>, block: &Block, bound: Id) -> Option<Inst<'w>> {
    let end = index.terminator(block);
    let merge = index
        .merge(block)
        .filter(|merge| merge.opcode() == op::SelectionMerge)?;
    let is_planted = end.opcode() == op::BranchConditional && end.condition() >= bound;
    let targets = is_planted.then(|| [end.true_label(), end.false_label()])?;
    (targets[0] != targets[1] && targets.contains(&merge.merge_block())).then_some(end)
}

/// The ways out of a function that begin at a block and lead nowhere else.
enum Way {
    Exit(Box<Exit>),
    Branch(Box<Branch>),
}

/// A branch whose targets are exits.
struct Branch {
    condition: Id,
    /// The exits if the condition is true, and if it is false.
    exits: [Exit; 2],
    /// The block in front of the branch, if it may be a part of an exit.
    front: Option<Exit>,
}

impl Branch {
    fn joined(&self, index: &Index<'_>, out: &mut Emitter) -> Option<Exit> {
        let [yes, no] = &self.exits;
        Exit::joined(index, (self.condition, yes, no), out)
    }
}

/// The ways out of a function.
struct Ways<'a, 'w> {
    index: &'a Index<'w>,
    function: &'a Function,
    /// By the labels of their first blocks.
    ways: HashMap<Id, Way>,
}

impl<'a, 'w> Ways<'a, 'w> {
    fn new(index: &'a Index<'w>, function: &'a Function, bound: Id, out: &mut Emitter) -> Self {
        let references = references(index, function);
        let mut ways = Self {
            index,
            function,
            ways: HashMap::default(),
        };
        // Blocks come behind those that dominate them.
        for block in index.blocks_of(function).iter().rev() {
            let branch = branch(index, block, bound);
            let exits = branch.and_then(|branch| ways.targets(block, &branch, &references, out));
            let way = match branch.zip(exits) {
                Some((branch, exits)) => Some(Way::Branch(Box::new(Branch {
                    condition: branch.condition(),
                    exits,
                    front: Exit::front(index, block, bound),
                }))),
                None => Exit::of_block(index, block, bound).map(|exit| Way::Exit(Box::new(exit))),
            };
            ways.ways.extend(way.map(|way| (block.label, way)));
        }
        ways
    }

    /// The exits that are the targets of a branch, if nothing else leads there.
    fn targets(
        &self,
        block: &Block,
        branch: &Inst<'_>,
        references: &HashMap<Id, u32>,
        out: &mut Emitter,
    ) -> Option<[Exit; 2]> {
        let merge = self.index.merge(block)?.merge_block();
        let mut exit = |label: Id| {
            let here = 1 + u32::from(label == merge);
            let way = self.ways.get(&label).filter(|_| references.get(&label) == Some(&here));
            match way? {
                Way::Exit(exit) => Some(Exit::clone(exit)),
                Way::Branch(branch) => branch.front.as_ref()?.followed_by(branch.joined(self.index, out)?),
            }
        };
        Some([exit(branch.true_label())?, exit(branch.false_label())?])
    }

    /// Writes joined exits, and returns the labels of removed blocks. `keeps_branches`: of the branches that lead to exits only, the first one
    /// stays, since the driver jumps over blocks with branches.
    fn write(mut self, keeps_branches: bool, out: &mut Emitter, edits: &mut Edits) -> HashMap<Id, Id> {
        let mut removed: HashMap<Id, Id> = HashMap::default();
        let mut replaced: HashMap<Id, Exit> = HashMap::default();
        for block in self.index.blocks_of(self.function) {
            if removed.contains_key(&block.label) {
                edits.remove(block.offset, block.end - block.offset);
                continue;
            }
            let end = self.index.terminator(block);
            if let Some(exit) = replaced.remove(&block.label) {
                let body = block.offset + 2;
                edits.remove(body, block.terminator - body);
                exit.write(out);
                out.place(|code| edits.replace_inst(&end, code));
                continue;
            }
            let (Some(Way::Branch(branch)), Some(merge)) = (self.ways.remove(&block.label), self.index.merge(block))
            else {
                continue;
            };
            let whole = (!keeps_branches).then(|| branch.joined(self.index, out)).flatten();
            if let Some(exit) = whole {
                edits.remove_inst(&merge);
                exit.write(out);
                out.place(|code| edits.replace_inst(&end, code));
                removed.extend(exit.labels.into_iter().map(|label| (label, block.label)));
                continue;
            }
            for (label, exit) in [end.true_label(), end.false_label()].into_iter().zip(branch.exits) {
                let others = exit.labels.iter().filter(|other| **other != label);
                removed.extend(others.map(|other| (*other, label)));
                if exit.labels.len() > 1 {
                    replaced.insert(label, exit);
                }
            }
        }
        removed
    }
}

/// Number of branches and merge instructions that name a label.
fn references(index: &Index<'_>, function: &Function) -> HashMap<Id, u32> {
    let mut references = HashMap::default();
    for block in index.blocks_of(function) {
        let merge = index.merge(block).map(|merge| merge.merge_block());
        let continue_target = index.loop_merge(block).map(|(_, target)| target);
        let named = index.successors(block).into_iter().chain(merge).chain(continue_target);
        named.for_each(|label| *references.entry(label).or_insert(0) += 1);
    }
    references
}
