//! Finds the site of a message from a driver's own debug info, which consists of payloads only: by size and leading text.

use crate::data::ModuleInfo;
use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeMap;
use std::ptr;
use vkabort_record::decode::{fits, fixed_size};
use vkabort_record::escape::trim_padding;
use vkabort_record::message_type::Type;
use vkabort_record::site::{Site, SiteTable};

/// A site that may have sent a message.
#[derive(Clone, Copy)]
pub(crate) struct Origin<'a> {
    /// Its module.
    pub(crate) module: &'a ModuleInfo,
    /// The module's table.
    pub(crate) table: &'a SiteTable,
    /// The site.
    pub(crate) site: &'a Site,
}

impl Origin<'_> {
    /// `shaders/cull.comp:31 in check, module "cull"`.
    pub(crate) fn describe(&self) -> String {
        let place = match &self.site.location {
            Some(l) => format!("{}:{}", l.file, l.line),
            None => format!("word {}", self.site.word_offset),
        };
        let module = match &self.module.name {
            Some(name) => format!("\"{name}\""),
            None => self.table.module_hash.to_string(),
        };
        format!("{place} in `{}`, module {module}", self.site.function)
    }
}

/// The sites of modules, by the messages that they can have sent: of the message's size, and with its leading text where both have
/// one.
///
/// Sites whose text matches win over sites without a text. Several sites are a group if they have the same type, which decodes the
/// message either way; sites of different types match nothing.
pub(crate) struct SiteIndex<'a> {
    /// Sites whose messages have one size, by this size.
    of_size: HashMap<usize, Vec<Origin<'a>>>,
    /// Sites whose pipelines specialise the lengths of arrays in their messages.
    specialised: Vec<Origin<'a>>,
    /// By size, for the sizes that were looked up.
    classes: HashMap<usize, SizeClass<'a>>,
    groups: Vec<Vec<Origin<'a>>>,
    /// Number of sites and texts that were examined.
    examined: usize,
}

/// A number of a group of sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Group(usize);

/// Sites whose messages can have one size.
#[derive(Default)]
struct SizeClass<'a> {
    /// By the size of the leading array, and by the text without padding.
    by_text: BTreeMap<usize, HashMap<&'a [u8], SiteSet>>,
    without_text: Option<SiteSet>,
}

/// Sites that the same messages match.
#[derive(Clone, Copy)]
struct SiteSet {
    group: Group,
    /// Whether their types differ.
    is_mixed: bool,
}

impl<'a> SiteIndex<'a> {
    /// O(sites).
    pub(crate) fn new(modules: &'a [ModuleInfo]) -> Self {
        let mut index = Self {
            of_size: HashMap::default(),
            specialised: Vec::new(),
            classes: HashMap::default(),
            groups: Vec::new(),
            examined: 0,
        };
        // A module with checks and without has its own aborts in two tables.
        let mut first_tables = HashMap::default();
        for module in modules {
            let Some(table) = module.sites.as_deref() else { continue };
            for site in &table.sites {
                let key = (table.module_hash, site.word_offset, &site.check, &site.text);
                if !ptr::eq(*first_tables.entry(key).or_insert(table), table) {
                    continue;
                }
                let origin = Origin { module, table, site };
                match fixed_size(&site.message) {
                    Some(size) => index.of_size.entry(size).or_default().push(origin),
                    None => index.specialised.push(origin),
                }
            }
        }
        index
    }

    /// The sites that can have sent a message. O(bytes of the message * sizes of texts in messages of its size), the first time for a
    /// size O(sites).
    pub(crate) fn find(&mut self, payload: &[u8]) -> Option<Group> {
        let size = payload.len();
        if !self.classes.contains_key(&size) {
            let class = self.class(size);
            self.classes.insert(size, class);
        }
        let class = self.classes.get(&size)?;
        self.examined += 1 + class.by_text.len();
        let texts = class.by_text.iter().filter_map(|(length, texts)| {
            let start = payload.get(..*length.min(&size)).unwrap_or_default();
            texts.get(trim_padding(start))
        });
        let mut sets = texts.copied();
        let set = match (sets.next(), sets.next()) {
            // Texts of different sizes are of different types.
            (Some(_), Some(_)) => return None,
            (Some(set), None) => set,
            (None, _) => class.without_text?,
        };
        (!set.is_mixed).then_some(set.group)
    }

    /// The sites of a group.
    pub(crate) fn origins(&self, group: Group) -> &[Origin<'a>] {
        self.groups.get(group.0).map_or(&[], Vec::as_slice)
    }

    /// Sorts the sites whose messages can have a size.
    fn class(&mut self, size: usize) -> SizeClass<'a> {
        let mut class = SizeClass::default();
        let fixed = self.of_size.remove(&size).unwrap_or_default();
        self.examined += fixed.len() + self.specialised.len();
        let specialised = self.specialised.iter().copied();
        for origin in fixed
            .into_iter()
            .chain(specialised.filter(|origin| fits(&origin.site.message, size)))
        {
            let text = origin
                .site
                .text
                .as_deref()
                .zip(leading_array_size(&origin.site.message));
            let new = SiteSet {
                group: Group(self.groups.len()),
                is_mixed: false,
            };
            let set = match text {
                Some((text, length)) => {
                    let texts = class.by_text.entry(length).or_default();
                    texts.entry(trim_padding(text.as_bytes())).or_insert(new)
                }
                None => class.without_text.get_or_insert(new),
            };
            match self.groups.get_mut(set.group.0) {
                Some(group) => {
                    set.is_mixed |= group
                        .first()
                        .is_some_and(|first| first.site.message != origin.site.message);
                    group.push(origin);
                }
                None => self.groups.push(vec![origin]),
            }
        }
        class
    }
}

/// Size of the message's leading array, in bytes.
fn leading_array_size(message: &Type) -> Option<usize> {
    match message {
        Type::Struct { members, .. } => leading_array_size(&members.first()?.ty),
        Type::Array { .. } => Some(message.size() as usize),
        _ => None,
    }
}

#[cfg(test)]
#[path = "site_match_tests.rs"]
mod tests;
