//! Strongly connected components of the import graph.

use super::imports::Edges;
use super::modules::Modules;
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;

/// The sets of two or more modules that import each other: each sorted, by path.
pub fn find(modules: &Modules, edges: &Edges) -> Vec<Vec<String>> {
    let paths: Vec<_> = modules.iter().map(|(path, _)| path).collect();
    let mut graph = DiGraphMap::<usize, ()>::new();
    for (from, targets) in edges {
        for to in targets {
            if let (Ok(from), Ok(to)) = (paths.binary_search(&from), paths.binary_search(&to)) {
                graph.add_edge(from, to, ());
            }
        }
    }
    let mut circles: Vec<Vec<String>> = tarjan_scc(&graph)
        .into_iter()
        .filter(|component| component.len() > 1)
        .map(|component| {
            let paths = component.iter().filter_map(|index| paths.get(*index));
            let mut names: Vec<String> = paths.map(|path| format!("crate::{}", path.join("::"))).collect();
            names.sort();
            names
        })
        .collect();
    circles.sort();
    circles
}
