//! `OpPhi`: predecessors of its operands, and updates when a predecessor changes its label.

use crate::edit::Edits;
use crate::index::{Function, Index};
use crate::{Code, Id, Inst, op};
use rustc_hash::FxHashMap as HashMap;

/// New labels of predecessors, by edge: (block, predecessor).
#[derive(Debug, Default)]
pub struct PhiRenames {
    renames: HashMap<(Id, Id), Id>,
}

impl PhiRenames {
    /// The edge `from` -> `block` now comes from `to`.
    pub fn edge(&mut self, block: Id, from: Id, to: Id) {
        self.renames.insert((block, from), to);
    }

    /// All edges out of the block `from`, whose terminator is now in the block `to`.
    pub fn moved(&mut self, successors: &[Id], from: Id, to: Id) {
        for successor in successors {
            self.edge(*successor, from, to);
        }
    }

    /// `phi` in `block` with renamed predecessors. `None` if none changes.
    fn renamed(&self, block: Id, phi: &Inst<'_>) -> Option<Code> {
        let mut code = Code::default();
        code.copy(phi);
        let mut changed = false;
        for label in code.words.iter_mut().skip(4).step_by(2) {
            if let Some(to) = self.renames.get(&(block, Id::new(*label))) {
                *label = to.word();
                changed = true;
            }
        }
        changed.then_some(code)
    }

    /// Edits the phis of a function.
    pub fn apply(&self, index: &Index<'_>, function: &Function, edits: &mut Edits) {
        if self.renames.is_empty() {
            return;
        }
        for block in index.blocks_of(function) {
            for phi in index.body(block).filter(|i| i.opcode() == op::Phi) {
                if let Some(code) = self.renamed(block.label, &phi) {
                    edits.replace_inst(&phi, &code);
                }
            }
        }
    }
}

/// The predecessor of the (value, predecessor) pair that word `word` of a phi belongs to; `None` for the words before the pairs.
pub fn predecessor(phi: &Inst<'_>, word: usize) -> Option<Id> {
    const FIRST: usize = 3;
    let operand = word.checked_sub(FIRST)?;
    Some(phi.id(FIRST + (operand | 1)))
}
