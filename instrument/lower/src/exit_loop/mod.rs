//! Wraps a function with many early returns in a loop of one iteration.
//!
//! ```text
//! %start: Variable ..            becomes    %start:  Variable .., Branch %header
//!         code                              %header: LoopMerge %end %again, Branch %body
//!                                           %body:   code
//!         Return                                     Branch %again
//!                                           %again:  %word = AtomicLoad ABORTED
//!                                                    %never = IEqual %word 2
//!                                                    BranchConditional %never %header %end
//!                                           %end:    Return
//! ```
//!
//! Mesa turns an early return into a condition around the rest of the function, but within a loop into a break. Its compiler for
//! CPUs has room for 80 nested conditions and ignores those further in: the 80th abort of a function would be taken by
//! every invocation (`analysis::nesting`). All other returns stay as they are.
//!
//! The condition of the back edge is not known to compilers: Mesa dissolves loops that do not repeat into nested conditions
//! again. The loaded word is 0 or 1, or all zeros or ones once the device is lost.
//!
//! For llvmpipe, these loops begin with a return that is never reached, and those of [`sections`] with such a break
//! (`Options::breaks_at_starts`).
//!
//! Runs after `reconverge`, the last pass that moves exits. Functions that return only from loops stay as they are, with a
//! warning.
//!
//! The decisions and their reasons: `docs/design/ending.md`.

mod counted_ends;
mod crossing;
mod division;
pub mod pointer_variables;
mod regions;
pub mod sections;
mod write;

use rustc_hash::FxHashSet as HashSet;
use vkabort_analysis::nesting::{DeepFunction, deep_functions};
use vkabort_options::{Arena, Options};
use vkabort_record::layout::{ABORTED, ABORTED_OFFSET};
use vkabort_spirv::edit::Edits;
use vkabort_spirv::edit::address_words::AddressWords;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::phi::PhiRenames;
use vkabort_spirv::edit::placeholder::Placeholders;
use vkabort_spirv::index::typed::FunctionIndex;
use vkabort_spirv::index::{Block, Function, Index};
use vkabort_spirv::op::{capability, decoration, memory_model, scope, storage_class};
use vkabort_spirv::{Id, Literal, Words, op};

/// A function with this many times the exits of a loop takes a driver long to compile.
const MANY: usize = 4;

/// Wraps the functions that nest too deep, among those whose first block is one of `first_blocks`. Returns a warning if some
/// cannot be wrapped, or if [`sections::divide`] has left one with many more returns.
pub fn wrap(index: &Index<'_>, options: &Options, first_blocks: &HashSet<Id>) -> (Edits, Option<String>) {
    let mut edits = Edits::default();
    let functions = deep(index, options, first_blocks);
    let undivided = |deep: &&DeepFunction<'_>| deep.early_returns > MANY * options.loop_exits;
    let undivided = functions.iter().filter(undivided).count();
    let stay = functions.iter().filter(|deep| deep.outer_return.is_none()).count();
    let warning = (stay > 0).then(|| {
        format!(
            "functions that return only from more than {} loops: {stay}; Mesa's drivers for CPUs may end their \
             invocations without an abort",
            max_levels(options)
        )
    });
    let warning = warning.or_else(|| {
        (undivided > 0).then(|| {
            format!(
                "functions with more than {} early returns that are not divided: {undivided}; Mesa may take long to compile \
                 them",
                MANY * options.loop_exits
            )
        })
    });
    if stay == functions.len() {
        return (edits, warning);
    }
    let mut wrapper = Wrapper::new(index, options, &mut edits);
    for deep in &functions {
        if let Some(last) = deep.outer_return {
            wrapper.wrap(deep.function, last);
        }
    }
    let out = wrapper.out;
    out.finish(index, &mut edits);
    (edits, warning)
}

/// Most levels of nested conditions that a function and its callees may reach by early returns.
fn max_levels(options: &Options) -> usize {
    options.loop_exits + options.loop_exits / 2
}

/// The functions that nest too deep, among those whose first block is one of `first_blocks`.
fn deep<'i>(index: &'i Index<'_>, options: &Options, first_blocks: &HashSet<Id>) -> Vec<DeepFunction<'i>> {
    let may_change = |number: FunctionIndex| {
        let function = index.functions.get(number);
        let first = function.and_then(|function| index.blocks_of(function).first());
        first.is_some_and(|block| first_blocks.contains(&block.label))
    };
    deep_functions(index, max_levels(options), may_change)
}

/// Writes loops that do not repeat.
struct Wrapper<'a, 'w> {
    index: &'a Index<'w>,
    out: Emitter,
    words: AddressWords,
    edits: &'a mut Edits,
    arena: Arena,
    breaks_at_starts: bool,
    /// Type of pointers to the control block from ABORTED on, its address, and the type of pointers to ABORTED.
    aborted: Option<[Id; 3]>,
    /// Conditions written so far.
    conditions: u32,
}

impl<'a, 'w> Wrapper<'a, 'w> {
    fn new(index: &'a Index<'w>, options: &Options, edits: &'a mut Edits) -> Self {
        Self {
            index,
            out: Emitter::new(index),
            words: AddressWords::default(),
            edits,
            arena: options.arena,
            breaks_at_starts: options.breaks_at_starts,
            aborted: None,
            conditions: 0,
        }
    }

    /// Wraps a function, with `last` as the return behind the loop.
    fn wrap(&mut self, function: &Function, last: &Block) {
        let index = self.index;
        let Some(first) = index.blocks_of(function).first() else {
            return;
        };
        let [header, body, again, end] = [(); 4].map(|()| self.out.fresh());
        let variables = index.body(first).filter(|inst| inst.opcode() == op::Variable);
        let start = variables.last().map_or(first.offset + 2, |inst| inst.end());
        let word = self.breaks_at_starts.then(|| self.load_aborted());
        self.out.branch(header);
        self.out.label(header);
        self.out.op(op::LoopMerge, (end, again, Literal(0)));
        if let Some(word) = word {
            self.return_never(function, word, body);
        } else {
            self.out.branch(body);
        }
        self.out.label(body);
        self.out.write_position(&index.position(first, start));
        self.out.place(|code| self.edits.insert(start, code));
        let mut renames = PhiRenames::default();
        renames.moved(&index.successors(first), first.label, body);
        renames.apply(index, function, self.edits);

        self.out.branch(again);
        let terminator = index.terminator(last);
        self.out.place(|code| self.edits.replace_inst(&terminator, code));
        self.out.label(again);
        let word = word.unwrap_or_else(|| self.load_aborted());
        let never = self.never(word);
        self.out.op(op::BranchConditional, (never, header, end));
        self.out.label(end);
        self.out.op(terminator.opcode(), Words(terminator.from(1)));
        let after_blocks = index.blocks_of(function).last().map_or(function.end, |block| block.end);
        self.out.place(|code| self.edits.insert(after_blocks, code));
    }

    /// Branches to `next`, or returns if a condition holds that never does.
    fn return_never(&mut self, function: &Function, word: Id, next: Id) {
        let [first, early] = [(); 2].map(|()| self.out.fresh());
        self.out.branch(first);
        self.out.label(first);
        let never = self.never(word);
        self.out.branch_if(never, early, next, next);
        self.out.label(early);
        let ty = function.result_type;
        if self.index.opcode(ty) == op::TypeVoid {
            self.out.op(op::Return, ());
        } else {
            let value = Placeholders::default().placeholder_value(self.index, &mut self.out, ty);
            self.out.op(op::ReturnValue, value);
        }
    }

    /// ABORTED.
    fn load_aborted(&mut self) -> Id {
        let (index, arena) = (self.index, self.arena);
        let uint = self.out.uint();
        let [block_pointer, address, word_pointer] = *self.aborted.get_or_insert_with(|| {
            let out = &mut self.out;
            let block = out.structure(&[uint]);
            out.decorate(block, decoration::Block, &[]);
            out.decorate_member(block, 0, decoration::Offset, &[ABORTED_OFFSET]);
            let uvec2 = out.vector(uint, 2);
            let [low, high] = [arena.control as u32, (arena.control >> 32) as u32].map(|word| out.constant(word));
            let class = storage_class::PhysicalStorageBuffer;
            [
                out.pointer(class, block),
                out.value(op::ConstantComposite, uvec2, (low, high)),
                out.pointer(class, uint),
            ]
        });
        let is_vulkan = index.inst(index.sections.memory_model).memory_model() == memory_model::Vulkan;
        let is_narrow = is_vulkan && !index.has_capability(capability::VulkanMemoryModelDeviceScope);
        let scope = if is_narrow { scope::QueueFamily } else { scope::Device };
        let [scope, zero] = [scope, 0].map(|value| self.out.constant(value));
        let control = self.out.emit(op::Bitcast, block_pointer, address);
        let pointer = self.out.emit(op::AccessChain, word_pointer, (control, zero));
        self.out.emit(op::AtomicLoad, uint, (pointer, scope, zero))
    }

    /// A condition that is false: ABORTED has another value. Each has a value of its own, so that compilers do not learn one from
    /// another.
    fn never(&mut self, aborted: Id) -> Id {
        self.conditions += 1;
        let (bool, impossible) = (self.out.bool(), self.out.constant(ABORTED + self.conditions));
        self.out.emit(op::IEqual, bool, (aborted, impossible))
    }
}
