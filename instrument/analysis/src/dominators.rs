//! Dominator trees of control flow graphs.

use vkabort_spirv::index::typed::{Node, Table};

/// The dominator tree of the nodes that node 0 reaches.
#[derive(Debug)]
pub struct Dominators {
    /// Immediate dominators; the root's is the root. `None` for unreachable nodes.
    parents: Table<Node, Option<Node>>,
    /// Times at which a walk of the tree enters and leaves each node.
    times: Table<Node, (u32, u32)>,
    /// Reachable nodes, each after those that it reaches first.
    postorder: Vec<Node>,
}

impl Dominators {
    /// By the algorithm of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance Algorithm"): O(edges) for reducible graphs of
    /// bounded loop nesting.
    pub fn new(successors: &Table<Node, Vec<Node>>) -> Self {
        let root = Node::default();
        let postorder = postorder(successors, root);
        let mut numbers: Table<Node, usize> = successors.map(|_| usize::MAX);
        for (number, node) in postorder.iter().enumerate() {
            if let Some(slot) = numbers.get_mut(*node) {
                *slot = number;
            }
        }
        let number = |node| numbers.get(node).copied().unwrap_or(usize::MAX);
        let predecessors = successors.reversed();
        let mut parents: Table<Node, Option<Node>> = successors.map(|_| None);
        if let Some(slot) = parents.get_mut(root) {
            *slot = Some(root);
        }
        let mut changed = true;
        while changed {
            changed = false;
            for node in postorder.iter().rev().filter(|node| **node != root) {
                let mut common = None;
                for before in predecessors.get(*node).into_iter().flatten() {
                    if parent(&parents, *before).is_none() {
                        continue;
                    }
                    common = Some(match common {
                        None => *before,
                        Some(other) => meet(&parents, &number, *before, other),
                    });
                }
                if let Some(slot) = parents.get_mut(*node).filter(|slot| **slot != common) {
                    *slot = common;
                    changed = true;
                }
            }
        }
        let times = times(&parents, &postorder);
        Self {
            parents,
            times,
            postorder,
        }
    }

    pub fn is_reachable(&self, node: Node) -> bool {
        parent(&self.parents, node).is_some()
    }

    /// The immediate dominator. `None` for the root and for unreachable nodes.
    pub fn parent(&self, node: Node) -> Option<Node> {
        parent(&self.parents, node).filter(|parent| *parent != node)
    }

    /// Whether all paths to the reachable node `to` pass `from`. O(1).
    pub fn dominates(&self, from: Node, to: Node) -> bool {
        let times = |node| self.times.get(node).filter(|_| self.is_reachable(node));
        let (Some((enter, leave)), Some((at, _))) = (times(from), times(to)) else {
            return false;
        };
        (enter..leave).contains(&at)
    }

    /// Reachable nodes, each after its predecessors but for those of back edges.
    pub(crate) fn reverse_postorder(&self) -> impl Iterator<Item = Node> {
        self.postorder.iter().rev().copied()
    }

    /// The times at which a walk of the tree enters and leaves a node: those of the nodes that it dominates are between.
    pub(crate) fn times(&self, node: Node) -> (u32, u32) {
        self.times.get(node).copied().unwrap_or_default()
    }

    /// The dominance frontier of each node: the nodes where its dominance ends, in which paths with and without it meet. Towards the
    /// end of a graph whose edges are reversed, these are the branches that decide whether the node is passed.
    pub(crate) fn frontiers(&self, predecessors: &Table<Node, Vec<Node>>) -> Table<Node, Vec<Node>> {
        let mut frontiers: Table<Node, Vec<Node>> = predecessors.map(|_| Vec::new());
        for node in self.reverse_postorder() {
            let above = self.parent(node);
            for from in predecessors.get(node).into_iter().flatten() {
                let mut at = Some(*from).filter(|from| self.is_reachable(*from));
                while let Some(runner) = at.filter(|at| Some(*at) != above) {
                    if let Some(list) = frontiers.get_mut(runner) {
                        // Reached on another path, with all above.
                        if list.last() == Some(&node) {
                            break;
                        }
                        list.push(node);
                    }
                    at = self.parent(runner);
                }
            }
        }
        frontiers
    }

    /// Reachable nodes, each after its immediate dominator.
    pub fn preorder(&self) -> Vec<Node> {
        let mut nodes: Vec<Node> = self.parents.keys().filter(|node| self.is_reachable(*node)).collect();
        nodes.sort_by_key(|node| self.times.get(*node).map(|(enter, _)| *enter));
        nodes
    }
}

fn parent(parents: &Table<Node, Option<Node>>, node: Node) -> Option<Node> {
    parents.get(node).copied().flatten()
}

/// The closest common ancestor in the tree so far.
fn meet(parents: &Table<Node, Option<Node>>, number: &impl Fn(Node) -> usize, mut one: Node, mut other: Node) -> Node {
    while one != other {
        let lower = if number(one) < number(other) {
            &mut one
        } else {
            &mut other
        };
        let Some(above) = parent(parents, *lower) else {
            return Node::default();
        };
        *lower = above;
    }
    one
}

/// Nodes that `root` reaches, each after those that it reaches first. Without recursion, since functions may be long.
fn postorder(successors: &Table<Node, Vec<Node>>, root: Node) -> Vec<Node> {
    let mut order = Vec::with_capacity(successors.count());
    let mut seen = successors.map(|_| false);
    let mut stack = Vec::new();
    if seen.set(root) {
        stack.push((root, 0));
    }
    while let Some((node, next)) = stack.last_mut() {
        match successors.get(*node).and_then(|list| list.get(*next)) {
            Some(to) => {
                *next += 1;
                if seen.set(*to) {
                    stack.push((*to, 0));
                }
            }
            None => {
                order.push(*node);
                stack.pop();
            }
        }
    }
    order
}

fn times(parents: &Table<Node, Option<Node>>, postorder: &[Node]) -> Table<Node, (u32, u32)> {
    // Sizes of subtrees: a node comes after all that it dominates.
    let mut sizes: Table<Node, u32> = parents.map(|_| 1);
    for node in postorder {
        let size = sizes.get(*node).copied().unwrap_or(1);
        if let Some(above) = parent(parents, *node).filter(|above| above != node)
            && let Some(slot) = sizes.get_mut(above)
        {
            *slot += size;
        }
    }
    // A node's interval lies in its parent's, after those of the siblings before it.
    let mut times = parents.map(|_| (0, 0));
    let mut free: Table<Node, u32> = parents.map(|_| 1);
    for node in postorder.iter().rev() {
        let size = sizes.get(*node).copied().unwrap_or(1);
        let above = parent(parents, *node).filter(|above| above != node);
        let enter = above.and_then(|above| free.get_mut(above)).map_or(0, |free| {
            let enter = *free;
            *free += size;
            enter
        });
        if let Some(slot) = times.get_mut(*node) {
            *slot = (enter, enter + size);
        }
        if let Some(slot) = free.get_mut(*node) {
            *slot = enter + 1;
        }
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkabort_spirv::index::typed::Key;

    fn of(edges: &[&[usize]]) -> Dominators {
        let nodes = edges
            .iter()
            .map(|to| to.iter().copied().map(Node::from_usize).collect());
        Dominators::new(&nodes.collect::<Vec<Vec<Node>>>().into())
    }

    #[test]
    fn a_loop_with_a_selection() {
        // 0 -> 1 (header) -> 2 -> {3, 4} -> 5 -> 1, 1 -> 6; 7 is unreachable.
        let tree = of(&[&[1], &[2, 6], &[3, 4], &[5], &[5], &[1], &[], &[6]]);
        let node = Node::from_usize;
        let parents: Vec<Option<usize>> = (0..8).map(|n| tree.parent(node(n)).map(|p| p.to_usize())).collect();
        assert_eq!(
            parents,
            [None, Some(0), Some(1), Some(2), Some(2), Some(2), Some(1), None]
        );
        for (from, to, expected) in [(0, 6, true), (2, 5, true), (3, 5, false), (5, 5, true), (7, 6, false)] {
            assert_eq!(tree.dominates(node(from), node(to)), expected, "{from} {to}");
        }
        assert!(!tree.is_reachable(node(7)));
        let order = tree.preorder();
        assert_eq!(order.len(), 7);
        let at = |n| order.iter().position(|o| *o == node(n));
        assert!(at(2) < at(5) && at(1) < at(6));
    }
}
