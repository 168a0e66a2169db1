//! Values of which a part is undefined, as `spirv-opt` leaves of parts that nothing reads.
//!
//! ```text
//! %v = CompositeConstruct %v2uint %undef %y     the first component of all three, not the second
//! %w = IAdd %v2uint %v %v
//! %p = Phi %v2uint %w %a %o %b
//! ```

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use vkabort_analysis::effects::{ValuePart, results};
use vkabort_analysis::view::FunctionView;
use vkabort_analysis::view::path::Path;
use vkabort_spirv::index::Index;
use vkabort_spirv::{Id, Inst, op};

/// Undefined parts of a value that are told apart; with more, all of it counts as undefined.
const MOST_PARTS: usize = 16;

/// Limit on the length of a path, which stands for its parts.
const LONGEST_PATH: usize = 8;

/// The values of a function with undefined parts, each with the paths to them.
#[derive(Debug, Default)]
pub(super) struct UndefinedParts {
    parts: HashMap<Id, HashSet<Path>>,
}

impl UndefinedParts {
    /// O(words of the module's constants and of the function).
    pub(super) fn new(flow: &FunctionView<'_, '_>) -> Self {
        let index = flow.index;
        let mut constants: HashSet<Id> = HashSet::default();
        for inst in index.globals() {
            let is_undefined = match inst.opcode() {
                op::Undef => true,
                op::ConstantComposite | op::SpecConstantComposite => inst.ids(3).any(|part| constants.contains(&part)),
                _ => false,
            };
            if is_undefined {
                constants.insert(inst.result());
            }
        }
        let mut found = Self::default();
        let mut worklist = Vec::new();
        for block in index.blocks_of(flow.function) {
            for inst in index.body(block).filter(|inst| !index.is_debug_inst(inst)) {
                if inst.opcode() == op::Undef {
                    found.add(ValuePart::whole(inst.result()), &mut worklist);
                } else if inst.result().is_some() {
                    let operands = 3..inst.words.len();
                    for word in operands.filter(|word| constants.contains(&inst.id(*word))) {
                        found.add_results(index, &inst, word, &Path::new(), &mut worklist);
                    }
                }
            }
        }
        while let Some(part) = worklist.pop() {
            for at in flow.uses.of(part.id) {
                found.add_results(index, &index.inst(at.offset), at.word, &part.path, &mut worklist);
            }
        }
        found
            .parts
            .extend(constants.into_iter().map(|id| (id, HashSet::from_iter([Path::new()]))));
        found
    }

    /// Whether a value has an undefined part.
    pub(super) fn has(&self, value: Id) -> bool {
        self.parts.contains_key(&value)
    }

    /// Adds the parts of a result that an undefined part of an operand makes undefined.
    fn add_results(&mut self, index: &Index<'_>, inst: &Inst<'_>, word: usize, path: &Path, new: &mut Vec<ValuePart>) {
        let id = inst.result();
        match inst.opcode() {
            _ if !id.is_some() => {}
            op::Phi => self.add(ValuePart { id, path: path.clone() }, new),
            op::VectorExtractDynamic | op::VectorInsertDynamic => self.add(ValuePart::whole(id), new),
            _ => {
                for path in results(index, inst, word, path) {
                    self.add(ValuePart { id, path }, new);
                }
            }
        }
    }

    fn add(&mut self, mut part: ValuePart, new: &mut Vec<ValuePart>) {
        let parts = self.parts.entry(part.id).or_default();
        part.path.truncate(LONGEST_PATH);
        if parts.len() >= MOST_PARTS {
            part.path = Path::new();
        }
        if !parts.contains(&Path::new()) && parts.insert(part.path.clone()) {
            new.push(part);
        }
    }
}
