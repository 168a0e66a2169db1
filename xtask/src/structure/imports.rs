//! The import graph of a crate.

use super::modules::{ModulePath, Modules, collect, is_test};
use std::collections::{BTreeMap, BTreeSet};
use syn::visit::{self, Visit};
use syn::{Item, ItemFn, ItemImpl, ItemMod, ItemUse, Macro, Path, Visibility};

/// By module: the modules that it imports.
pub type Edges = BTreeMap<ModulePath, BTreeSet<ModulePath>>;

/// The imports of every module of a crate.
pub fn edges(modules: &Modules) -> Edges {
    let mut edges = Edges::new();
    for (path, module) in modules.iter() {
        let mut visitor = Imports {
            modules,
            path,
            found: BTreeSet::new(),
        };
        visitor.visit_file(&module.syntax);
        visitor.found.remove(path);
        edges.insert(path.clone(), visitor.found);
    }
    edges
}

struct Imports<'a> {
    modules: &'a Modules,
    path: &'a ModulePath,
    found: BTreeSet<ModulePath>,
}

impl Imports<'_> {
    fn add(&mut self, segments: &[String]) {
        self.found.extend(self.modules.resolve(self.path, segments));
    }

    /// Paths in the arguments of a macro, which have no syntax tree: `crate::` and what follows.
    fn add_tokens(&mut self, tokens: &str) {
        for (start, _) in tokens.match_indices("crate ::") {
            let path = tokens.get(start..).unwrap_or_default();
            let is_name =
                |segment: &&str| !segment.is_empty() && segment.chars().all(|c| c.is_alphanumeric() || c == '_');
            let segments = path
                .split("::")
                .map(|segment| segment.trim().split(' ').next().unwrap_or_default());
            let segments: Vec<String> = segments.take_while(is_name).map(str::to_owned).collect();
            self.add(&segments);
        }
    }
}

impl<'ast> Visit<'ast> for Imports<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = match item {
            Item::Fn(ItemFn { attrs, .. }) | Item::Mod(ItemMod { attrs, .. }) | Item::Impl(ItemImpl { attrs, .. }) => {
                attrs
            }
            Item::Use(ItemUse { attrs, .. }) => attrs,
            _ => return visit::visit_item(self, item),
        };
        if !is_test(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if matches!(item.vis, Visibility::Inherited) {
            collect(&item.tree, &mut Vec::new(), &mut |_, segments| self.add(&segments));
        }
    }

    fn visit_path(&mut self, path: &'ast Path) {
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        // A single name is an item of this module, or one that a `use` has brought here.
        if segments.len() > 1 {
            self.add(&segments);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, macro_: &'ast Macro) {
        self.add_tokens(&macro_.tokens.to_string());
        visit::visit_macro(self, macro_);
    }
}
