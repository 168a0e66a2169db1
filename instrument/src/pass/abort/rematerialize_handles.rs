//! Images, samplers and what is made of them must be made in the block that uses them: what a block made before a call
//! after which it is split is made again behind it.

use super::unwind::Unwinder;
use crate::analysis::index::Block;
use crate::spv::{Code, Id, op, operands};
use rustc_hash::FxHashMap as HashMap;

impl Unwinder<'_, '_> {
    /// Makes images, samplers and the like again in the pieces of a split block that use them.
    pub(super) fn rematerialize_handles(&mut self, block: &Block, splits: &mut [(usize, Code)]) {
        // The piece in which a handle was made, and its instruction.
        let mut made: HashMap<Id, (usize, usize)> = HashMap::default();
        let mut names: HashMap<Id, Id> = HashMap::default();
        let mut piece = 0;
        for inst in self.index.insts(block.offset, block.end).skip(1) {
            while splits.get(piece).is_some_and(|(at, _)| *at <= inst.offset) {
                piece += 1;
                names.clear();
            }
            let mut used = Vec::new();
            let width = self.index.selector_words(&inst);
            operands::visit_ids(&inst, width, |i| used.push(inst.word(i)));
            let mut stale: Vec<Id> = used
                .into_iter()
                .filter(|id| made.get(id).is_some_and(|(p, _)| *p < piece))
                .collect();
            stale.sort_unstable();
            stale.dedup();
            // As many handles as a block has may be made again in as many pieces.
            if self.globals.is_out_of_ids() {
                return;
            }
            for id in &stale {
                self.remake(*id, piece, &made, &mut names, splits);
            }
            if !stale.is_empty() {
                let mut code = Code::default();
                code.copy_mapped(&inst, width, |id| names.get(&id).copied().unwrap_or(id));
                self.edits.replace(inst.offset, inst.words.len(), &code.words);
            }
            let remakable = matches!(inst.opcode(), op::Load | op::SampledImage | op::Image | op::CopyObject);
            if remakable && self.index.is_opaque(inst.result_type()) {
                made.insert(inst.result(), (piece, inst.offset));
            }
        }
    }

    /// Makes a handle again, after all that it is made of. What that is may be as deep as a block is long.
    fn remake(
        &mut self,
        id: Id,
        piece: usize,
        made: &HashMap<Id, (usize, usize)>,
        names: &mut HashMap<Id, Id>,
        splits: &mut [(usize, Code)],
    ) {
        let Some((_, code)) = piece.checked_sub(1).and_then(|p| splits.get_mut(p)) else {
            return;
        };
        let mut stale: Vec<usize> = Vec::new();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            let Some((_, offset)) = made.get(&id).filter(|_| !names.contains_key(&id)) else {
                continue;
            };
            names.insert(id, id);
            stale.push(*offset);
            let inst = self.index.inst(*offset);
            operands::visit_ids(&inst, 1, |i| {
                let is_older = |(p, o): &&(usize, usize)| *p < piece && o < offset;
                open.extend(made.get(&inst.word(i)).filter(is_older).map(|_| inst.word(i)));
            });
        }
        // In their old order each stands behind what it is made of.
        stale.sort_unstable();
        for inst in stale.into_iter().map(|offset| self.index.inst(offset)) {
            let (id, name) = (inst.result(), self.globals.fresh());
            names.insert(id, name);
            self.globals.inherit_non_uniform(self.index, id, &[name]);
            code.copy_mapped(&inst, 1, |i| names.get(&i).copied().unwrap_or(i));
        }
    }
}
