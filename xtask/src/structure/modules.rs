//! The modules of a crate: one for each source file, with the names that it re-exports.

use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use syn::{Attribute, File, Item, Meta, UseTree, Visibility};

/// The path of a module from the crate's root: empty for the root itself.
pub type ModulePath = Vec<String>;

/// The source files of a crate by the module paths that they define.
#[derive(Default)]
pub struct Modules {
    files: BTreeMap<ModulePath, Module>,
}

/// One source file.
pub struct Module {
    /// Its syntax tree.
    pub syntax: File,
    /// Names that `use` brings into its scope, with the segments of the paths that they stand for.
    names: BTreeMap<String, Vec<String>>,
    /// Modules whose names it re-exports with a glob.
    globs: Vec<Vec<String>>,
}

impl Modules {
    /// Reads every file below `folder` that a crate with `lib.rs` or `main.rs` there declares, except those of
    /// `#[cfg(test)]` modules.
    ///
    /// # Errors
    ///
    /// A file cannot be read or is not Rust.
    pub fn read(folder: &Path) -> Result<Self> {
        let root = ["lib.rs", "main.rs"].map(|name| folder.join(name));
        let root = root
            .into_iter()
            .find(|file| file.is_file())
            .with_context(|| format!("{} has neither lib.rs nor main.rs", folder.display()))?;
        let mut modules = Self::default();
        modules.add(root, folder.to_path_buf(), Vec::new())?;
        Ok(modules)
    }

    /// Adds the module at `path` and those that it declares, whose files are below `children`.
    fn add(&mut self, file: PathBuf, children: PathBuf, path: ModulePath) -> Result<()> {
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let syntax = syn::parse_file(&text).with_context(|| format!("{} is not Rust", file.display()))?;
        for item in &syntax.items {
            let Item::Mod(declared) = item else { continue };
            if declared.content.is_some() || is_test(&declared.attrs) {
                continue;
            }
            let name = declared.ident.to_string();
            let folder = children.join(&name);
            let candidates = [children.join(format!("{name}.rs")), folder.join("mod.rs")];
            let file = candidates
                .into_iter()
                .find(|file| file.is_file())
                .with_context(|| format!("{} declares {name}, which has no file", file.display()))?;
            let mut path = path.clone();
            path.push(name);
            self.add(file, folder, path)?;
        }
        let mut module = Module {
            names: BTreeMap::new(),
            globs: Vec::new(),
            syntax,
        };
        for item in &module.syntax.items {
            if let Item::Use(import) = item {
                let is_public = !matches!(import.vis, Visibility::Inherited);
                collect(&import.tree, &mut Vec::new(), &mut |name, segments| match name {
                    Some(name) => _ = module.names.insert(name, segments),
                    None if is_public => module.globs.push(segments),
                    None => {}
                });
            }
        }
        self.files.insert(path, module);
        Ok(())
    }

    /// Every module with its path.
    pub fn iter(&self) -> impl Iterator<Item = (&ModulePath, &Module)> {
        self.files.iter()
    }

    /// The module that defines what `segments` name in the code of the module `from`, or none if they do not lead into
    /// this crate by way of a module.
    pub fn resolve(&self, from: &[String], segments: &[String]) -> Option<ModulePath> {
        /// More re-exports than this in a row are a circle of re-exports.
        const LONGEST: usize = 32;
        self.resolve_within(from, segments, LONGEST)
    }

    fn resolve_within(&self, from: &[String], segments: &[String], left: usize) -> Option<ModulePath> {
        let left = left.checked_sub(1)?;
        let (first, rest) = segments.split_first()?;
        let mut place = from.to_vec();
        match first.as_str() {
            "crate" => place.clear(),
            "self" => {}
            "super" => _ = place.pop(),
            name if self.is_module(from, name) => place.push(name.to_owned()),
            name => {
                let mut target = self.files.get(from)?.names.get(name)?.clone();
                if target.first().map(String::as_str) == Some(name) && !self.is_module(from, name) {
                    // `use name::..` names another crate.
                    return None;
                }
                target.extend(rest.iter().cloned());
                return self.resolve_within(from, &target, left);
            }
        }
        for (index, segment) in rest.iter().enumerate() {
            if segment == "super" {
                place.pop();
            } else if self.is_module(&place, segment) {
                place.push(segment.clone());
            } else {
                let rest = rest.get(index + 1..)?;
                return Some(self.follow(&place, segment, rest, left).unwrap_or(place));
            }
        }
        Some(place)
    }

    /// The module that defines an item that `place` re-exports, by name or by a glob.
    fn follow(&self, place: &[String], name: &str, rest: &[String], left: usize) -> Option<ModulePath> {
        let module = self.files.get(place)?;
        if let Some(target) = module.names.get(name) {
            let mut target = target.clone();
            target.extend(rest.iter().cloned());
            return self.resolve_within(place, &target, left);
        }
        module.globs.iter().find_map(|glob| {
            let target = self.resolve_within(place, glob, left)?;
            self.defines(&target, name).then_some(target)
        })
    }

    fn is_module(&self, parent: &[String], name: &str) -> bool {
        let mut path = parent.to_vec();
        path.push(name.to_owned());
        self.files.contains_key(&path)
    }

    fn defines(&self, path: &[String], name: &str) -> bool {
        let Some(module) = self.files.get(path) else {
            return false;
        };
        module.syntax.items.iter().any(|item| match item {
            Item::Const(item) => item.ident == name,
            Item::Enum(item) => item.ident == name,
            Item::Fn(item) => item.sig.ident == name,
            Item::Static(item) => item.ident == name,
            Item::Struct(item) => item.ident == name,
            Item::Trait(item) => item.ident == name,
            Item::Type(item) => item.ident == name,
            Item::Union(item) => item.ident == name,
            _ => false,
        })
    }
}

/// Whether an item exists in tests only.
pub fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string().starts_with("test"),
        _ => false,
    })
}

/// Calls `found` with each name that a `use` brings into scope, or none for a glob, and the path behind it.
pub fn collect(tree: &UseTree, prefix: &mut Vec<String>, found: &mut impl FnMut(Option<String>, Vec<String>)) {
    match tree {
        UseTree::Path(path) => {
            prefix.push(path.ident.to_string());
            collect(&path.tree, prefix, found);
            prefix.pop();
        }
        UseTree::Name(name) if name.ident == "self" => found(prefix.last().cloned(), prefix.clone()),
        UseTree::Name(name) => {
            let name = name.ident.to_string();
            found(Some(name.clone()), prefix.iter().cloned().chain([name]).collect());
        }
        UseTree::Rename(rename) => {
            let path = prefix.iter().cloned().chain([rename.ident.to_string()]);
            found(Some(rename.rename.to_string()), path.collect());
        }
        UseTree::Glob(_) => found(None, prefix.clone()),
        UseTree::Group(group) => group.items.iter().for_each(|tree| collect(tree, prefix, found)),
    }
}
