//! The modules of a crate, and those among them that import each other.

use super::imports::{Path, Source};
use super::rust_files;
use anyhow::Result;
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use std::collections::{BTreeMap, BTreeSet};

/// The source files of a crate by the module paths that they define. The path of the root is empty.
struct Modules(BTreeMap<Path, Source>);

/// The imports between the modules of the crate whose sources are in `folder`: pairs of a module and one that it imports.
///
/// # Errors
///
/// A file cannot be read or is not Rust.
pub fn imports(folder: &std::path::Path) -> Result<BTreeSet<(Path, Path)>> {
    let modules = Modules::read(folder)?;
    let mut found = BTreeSet::new();
    for (from, source) in &modules.0 {
        for import in &source.imports {
            if let Some(to) = modules.resolve(from, import, LONGEST)
                && to != *from
                && modules.0.contains_key(&to)
            {
                found.insert((from.clone(), to));
            }
        }
    }
    Ok(found)
}

/// The import circles of the crate whose sources are in `folder`: each as the sorted paths of its modules.
///
/// # Errors
///
/// As [`imports`].
pub fn find(folder: &std::path::Path) -> Result<Vec<Vec<String>>> {
    let imports = imports(folder)?;
    let graph: DiGraphMap<&Path, ()> = imports.iter().map(|(from, to)| (from, to)).collect();
    let circles = tarjan_scc(&graph).into_iter().filter(|component| component.len() > 1);
    let names = circles.map(|mut component| {
        component.sort();
        let names = component.iter().map(|path| format!("crate::{}", path.join("::")));
        names.collect()
    });
    Ok(names.collect())
}

/// More re-exports than this in a row are a circle of re-exports.
const LONGEST: usize = 32;

impl Modules {
    fn read(folder: &std::path::Path) -> Result<Self> {
        let mut modules = BTreeMap::new();
        let has_library = folder.join("lib.rs").is_file();
        for (file, tokens) in rust_files(folder)? {
            // Programs beside a library are crates of their own, of one file.
            if has_library && (file == folder.join("main.rs") || file.starts_with(folder.join("bin"))) {
                continue;
            }
            let path = file.strip_prefix(folder)?.with_extension("");
            let mut path: Path = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            if path.last().is_some_and(|name| name == "mod") || path == ["lib"] || path == ["main"] {
                path.pop();
            }
            if path.iter().any(|name| name.ends_with("tests")) {
                continue;
            }
            let mut source = Source::default();
            source.add(tokens);
            modules.insert(path, source);
        }
        Ok(Self(modules))
    }

    /// The module that defines the item of a path in the code of the module `from`, or none if it does not lead into this
    /// crate by way of a module. Follows at most `left` re-exports.
    fn resolve(&self, from: &[String], path: &[String], left: usize) -> Option<Path> {
        let left = left.checked_sub(1)?;
        let (first, mut rest) = path.split_first()?;
        let mut place = from.to_vec();
        match first.as_str() {
            "crate" => place.clear(),
            "self" => {}
            "super" => _ = place.pop(),
            name if self.has(from, name) => place.push(name.to_owned()),
            name => {
                let target = self.0.get(from)?.names.get(name)?;
                // `use name::..` names another crate.
                let is_local = target.first() != Some(first);
                return is_local
                    .then(|| self.resolve(from, &[target, rest].concat(), left))
                    .flatten();
            }
        }
        while let [segment, after @ ..] = rest {
            if segment == "super" {
                place.pop();
            } else if self.has(&place, segment) {
                place.push(segment.clone());
            } else {
                return Some(self.follow(&place, segment, after, left).unwrap_or(place));
            }
            rest = after;
        }
        Some(place)
    }

    /// The module that defines an item that `place` re-exports, by name or by a glob.
    fn follow(&self, place: &[String], name: &str, rest: &[String], left: usize) -> Option<Path> {
        let module = self.0.get(place)?;
        if let Some(target) = module.names.get(name) {
            return self.resolve(place, &[target, rest].concat(), left);
        }
        module.globs.iter().find_map(|glob| {
            let target = self.resolve(place, glob, left)?;
            self.0.get(&target)?.items.contains(name).then_some(target)
        })
    }

    fn has(&self, parent: &[String], name: &str) -> bool {
        self.0.contains_key(&[parent, &[name.to_owned()]].concat())
    }
}
