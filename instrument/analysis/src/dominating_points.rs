//! Finds the point, out of a set of points of a function, that dominates another one.
//!
//! A walk of the dominator tree enters a block, then those that it dominates, and leaves it: the times of two blocks overlap only if one
//! dominates the other. Of such points the first one is enough. So the point that dominates a block, if there is one, is that which was
//! entered last before it. O(log points) each.

use super::graph::FunctionGraph;
use std::collections::BTreeMap;
use vkabort_spirv::index::typed::BlockIndex;

/// A place in a function: before the instruction at a word offset.
pub type Point = (BlockIndex, usize);

/// Points, each with a value.
#[derive(Debug)]
pub struct DominatingPoints<T> {
    /// By the time at which the walk enters the block.
    points: BTreeMap<u32, Entry<T>>,
}

#[derive(Debug)]
struct Entry<T> {
    /// The time at which the walk leaves the block.
    leave: u32,
    offset: usize,
    value: T,
}

impl<T> Default for DominatingPoints<T> {
    fn default() -> Self {
        Self {
            points: BTreeMap::new(),
        }
    }
}

impl<T> DominatingPoints<T> {
    /// The value of the point that is on every path to another one, or is it. `None` for unreachable blocks.
    pub fn find(&self, graph: &FunctionGraph, (block, offset): Point) -> Option<&T> {
        let (enter, _) = graph.tree_times(block);
        self.find_at(enter, offset).filter(|_| graph.is_reachable(block))
    }

    /// Adds a point in place of those that it dominates, unless another one dominates it or its block is unreachable.
    pub fn insert(&mut self, graph: &FunctionGraph, (block, offset): Point, value: T) {
        if graph.is_reachable(block) {
            self.insert_at(graph.tree_times(block), offset, value);
        }
    }

    fn find_at(&self, at: u32, offset: usize) -> Option<&T> {
        let (enter, entry) = self.points.range(..=at).next_back()?;
        let is_before = if *enter == at {
            entry.offset <= offset
        } else {
            at < entry.leave
        };
        is_before.then_some(&entry.value)
    }

    fn insert_at(&mut self, (enter, leave): (u32, u32), offset: usize, value: T) {
        if self.find_at(enter, offset).is_some() {
            return;
        }
        let dominated: Vec<u32> = self.points.range(enter..leave.max(enter)).map(|(at, _)| *at).collect();
        for at in dominated {
            self.points.remove(&at);
        }
        let entry = Entry { leave, offset, value };
        self.points.insert(enter, entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks 0 to 5 by their times: 0 dominates all, 1 dominates 2 and 3, 4 dominates 5.
    const TIMES: [(u32, u32); 6] = [(0, 6), (1, 4), (2, 3), (3, 4), (4, 6), (5, 6)];

    fn dominates((a, x): (usize, usize), (b, y): (usize, usize)) -> bool {
        if a == b {
            x <= y
        } else {
            (TIMES[a].0..TIMES[a].1).contains(&TIMES[b].0)
        }
    }

    /// Every sequence of three points of six blocks with two offsets, against a search of all of them.
    #[test]
    fn a_dominating_point_is_found_if_there_is_one() {
        let all: Vec<(usize, usize)> = (0..12).map(|number| (number / 2, number % 2)).collect();
        for number in 0..12_usize.pow(3) {
            let inserted = [number % 12, number / 12 % 12, number / 144].map(|at| all[at]);
            let mut points = DominatingPoints::default();
            for point in inserted {
                points.insert_at(TIMES[point.0], point.1, point);
            }
            for query in &all {
                let found = points.find_at(TIMES[query.0].0, query.1);
                let exists = inserted.iter().any(|point| dominates(*point, *query));
                assert_eq!(found.is_some(), exists, "{inserted:?} {query:?}");
                assert!(
                    found.is_none_or(|found| dominates(*found, *query)),
                    "{found:?} {query:?}"
                );
            }
        }
    }
}
