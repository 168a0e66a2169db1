//! The graph of carriers: which carrier passes its faults to which, and the sources of the faults of each.

use super::carriers::{Carried, Carrier, Sources};
use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;
use std::mem;

/// Limit on the sources of a carrier.
const MOST_SOURCES: usize = 16;

#[derive(Debug, Default)]
struct Node {
    /// Carriers that get its faults, and whether by a computation.
    next: SmallVec<[(usize, bool); 4]>,
    sources: Sources,
    /// Whether it has further sources, beyond the limit.
    has_more: bool,
    /// Whether a path leads to a test.
    is_live: bool,
}

/// Carriers, each with a number, and the edges between them.
#[derive(Debug, Default)]
pub(super) struct Graph {
    nodes: IndexMap<Carrier, Node, FxBuildHasher>,
}

impl Graph {
    /// Adds a carrier where the faults of a source begin.
    pub(super) fn add_first(&mut self, carrier: Carrier, source: usize) {
        let node = self.node(carrier);
        self.add_source(
            node,
            Carried {
                source,
                is_direct: true,
            },
        );
    }

    pub(super) fn carrier(&self, number: usize) -> Option<Carrier> {
        self.nodes.get_index(number).map(|(carrier, _)| *carrier)
    }

    /// Whether a source begins at a carrier.
    pub(super) fn is_first(&self, number: usize) -> bool {
        let node = self.nodes.get_index(number);
        node.is_some_and(|(_, node)| !node.sources.is_empty())
    }

    /// The sources of the faults of a carrier, after [`Self::pass_on`].
    pub(super) fn sources(&self, carrier: &Carrier) -> &[Carried] {
        self.nodes.get(carrier).map_or(&[], |node| &node.sources)
    }

    /// Whether a carrier has faults of further sources.
    pub(super) fn has_more(&self, carrier: &Carrier) -> bool {
        self.nodes.get(carrier).is_some_and(|node| node.has_more)
    }

    fn node(&mut self, carrier: Carrier) -> usize {
        let entry = self.nodes.entry(carrier);
        let number = entry.index();
        entry.or_default();
        number
    }

    pub(super) fn edge(&mut self, from: usize, to: Carrier, is_direct: bool) {
        let to = self.node(to);
        if let Some((_, node)) = self.nodes.get_index_mut(from) {
            node.next.push((to, is_direct));
        }
    }

    /// Whether the carrier has changed: it did not have the source, or had it only through computations.
    fn add_source(&mut self, number: usize, carried: Carried) -> bool {
        let Some((_, node)) = self.nodes.get_index_mut(number) else {
            return false;
        };
        let count = node.sources.len();
        match node.sources.iter_mut().find(|other| other.source == carried.source) {
            Some(other) if other.is_direct && !carried.is_direct => {
                other.is_direct = false;
                true
            }
            Some(_) => false,
            None if count < MOST_SOURCES => {
                node.sources.push(carried);
                true
            }
            None => !mem::replace(&mut node.has_more, true),
        }
    }

    /// Whether the carrier did not have further sources yet.
    fn add_more(&mut self, number: usize) -> bool {
        let node = self.nodes.get_index_mut(number);
        node.is_some_and(|(_, node)| !mem::replace(&mut node.has_more, true))
    }

    /// Marks the carriers from which a path leads to a tested one.
    pub(super) fn keep_live<'c>(&mut self, tested: impl Iterator<Item = &'c Carrier>) {
        let mut before: Vec<SmallVec<[usize; 4]>> = vec![SmallVec::new(); self.nodes.len()];
        for (from, node) in self.nodes.values().enumerate() {
            for (to, _) in &node.next {
                if let Some(list) = before.get_mut(*to) {
                    list.push(from);
                }
            }
        }
        let mut worklist: Vec<usize> = tested.filter_map(|carrier| self.nodes.get_index_of(carrier)).collect();
        while let Some(at) = worklist.pop() {
            let Some((_, node)) = self.nodes.get_index_mut(at).filter(|(_, node)| !node.is_live) else {
                continue;
            };
            node.is_live = true;
            worklist.extend(before.get(at).into_iter().flatten().copied());
        }
    }

    /// Passes the sources on along the edges, until nothing changes.
    pub(super) fn pass_on(&mut self) {
        let mut worklist: Vec<usize> = (0..self.nodes.len()).rev().collect();
        let mut is_listed = vec![true; self.nodes.len()];
        while let Some(at) = worklist.pop() {
            if let Some(mark) = is_listed.get_mut(at) {
                *mark = false;
            }
            let Some((_, node)) = self.nodes.get_index(at) else {
                continue;
            };
            let (sources, has_more, next) = (node.sources.clone(), node.has_more, node.next.clone());
            for (to, is_computed) in next {
                let is_live = self.nodes.get_index(to).is_some_and(|(_, node)| node.is_live);
                let mut is_changed = false;
                for carried in sources.iter().filter(|_| is_live) {
                    let is_direct = carried.is_direct && is_computed;
                    is_changed |= self.add_source(to, Carried { is_direct, ..*carried });
                }
                is_changed |= is_live && has_more && self.add_more(to);
                if is_changed && let Some(mark) = is_listed.get_mut(to).filter(|mark| !**mark) {
                    *mark = true;
                    worklist.push(to);
                }
            }
        }
    }

    /// The carriers with faults from which a path leads to a test.
    pub(super) fn into_live(self) -> IndexSet<Carrier, FxBuildHasher> {
        let live = self
            .nodes
            .into_iter()
            .filter(|(_, node)| node.is_live && !node.sources.is_empty());
        live.map(|(carrier, _)| carrier).collect()
    }
}
