//! Finds the site of a message from a driver's own debug info, which consists of payloads only: by size and leading text.

use crate::decode::{fits, fixed_size};
use crate::escape::trim_padding;
use crate::message_type::Type;
use crate::report::data::ModuleInfo;
use crate::site::{Site, SiteTable};
use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeMap;
use std::ptr;

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
mod tests {
    use super::*;
    use crate::message_type::{Length, Member};
    use crate::scalar_type::ScalarType;
    use crate::site::{ModuleHash, SiteId};
    use std::sync::Arc;

    fn site(id: u32, text: &str, arguments: u32) -> Site {
        let length = text.len() as u32 / 4 + 1;
        let mut members = vec![Member::new(
            None,
            0,
            Type::array(Length::Constant(length), 4, ScalarType::U32),
        )];
        members.extend((0..arguments).map(|i| Member::new(None, (length + i) * 4, ScalarType::U32)));
        Site {
            id: SiteId(id),
            word_offset: id * 10,
            function: "f".into(),
            message: Type::structure(members),
            text: Some(text.to_owned()),
            ..Site::default()
        }
    }

    fn modules(sites: Vec<Site>) -> Vec<ModuleInfo> {
        vec![ModuleInfo {
            sites: Some(Arc::new(SiteTable {
                module_hash: ModuleHash(1),
                sites,
                ..SiteTable::default()
            })),
            ..ModuleInfo::default()
        }]
    }

    fn ids(payload: &[u8], modules: &[ModuleInfo]) -> Vec<u32> {
        let mut index = SiteIndex::new(modules);
        let group = index.find(payload);
        group.map_or_else(Vec::new, |group| {
            index.origins(group).iter().map(|o| o.site.id.0).collect()
        })
    }

    #[test]
    fn text_and_size_identify_a_site() {
        let modules = modules(vec![
            site(0, "aaa", 1),
            site(1, "bbb", 1),
            site(2, "bbb", 2),
            site(3, "aaa", 1),
        ]);
        assert_eq!(ids(b"bbb\0\x01\0\0\0", &modules), [1]);
        assert_eq!(ids(b"bbb\0\x01\0\0\0\x02\0\0\0", &modules), [2]);
        assert_eq!(ids(b"aaa\0\x01\0\0\0", &modules), [0, 3], "the bytes fit both");
        assert!(ids(b"ccc\0\x01\0\0\0", &modules).is_empty());
        assert!(ids(b"aaa\0", &modules).is_empty());
        let mut index = SiteIndex::new(&modules);
        let group = index.find(b"bbb\0\x01\0\0\0").expect("a site");
        assert_eq!(
            index.origins(group)[0].describe(),
            "word 10 in `f`, module 0000000000000001"
        );
    }

    #[test]
    fn the_abort_of_a_module_with_and_without_checks_is_one_site() {
        let planted = Site {
            check: Some("divide".into()),
            ..site(0, "division", 1)
        };
        let mut written = site(1, "aaa", 1);
        let mut both = modules(vec![planted, written.clone()]);
        written.id = SiteId(0);
        both.extend(modules(vec![written]));
        assert_eq!(ids(b"aaa\0\x01\0\0\0", &both), [1]);
    }

    #[test]
    fn sites_of_different_types_without_text_match_nothing() {
        let mut a = site(0, "", 1);
        let mut b = site(1, "", 1);
        (a.text, b.text) = (None, None);
        a.message = ScalarType::U32.into();
        b.message = ScalarType::F32.into();
        assert!(ids(&[0; 4], &modules(vec![a.clone(), b])).is_empty());
        assert_eq!(ids(&[0; 4], &modules(vec![a])), [0]);
    }

    #[test]
    fn a_text_wins_over_sites_without_and_texts_of_two_sizes_match_nothing() {
        let mut without = site(0, "abc", 1);
        without.text = None;
        assert_eq!(
            ids(b"abc\0\0\0\0\0", &modules(vec![without.clone(), site(1, "abc", 1)])),
            [1]
        );
        assert_eq!(
            ids(b"abd\0\0\0\0\0", &modules(vec![without.clone(), site(1, "abc", 1)])),
            [0]
        );
        let mut long = site(2, "abcdefg", 0);
        long.text = Some("abc".into());
        assert!(ids(b"abc\0\0\0\0\0", &modules(vec![site(1, "abc", 1), long])).is_empty());
    }

    #[test]
    fn a_specialised_length_fits_several_sizes() {
        let mut specialised = site(0, "a", 0);
        let length = Length::Specialised {
            spec_id: Some(3),
            default: 1,
        };
        specialised.message = Type::array(length, 4, ScalarType::U32);
        specialised.text = None;
        let modules = modules(vec![specialised, site(1, "bbb", 1)]);
        assert_eq!(ids(&[0; 12], &modules), [0]);
        assert_eq!(ids(b"bbb\0\x01\0\0\0", &modules), [1]);
    }

    #[test]
    fn the_work_is_linear_in_sites_and_messages() {
        const SITES: u32 = 2000;
        const MESSAGES: usize = 1000;
        let alike = |id| site(id, "same", 1);
        let other = |id: u32| site(id, &format!("text {id:05}"), 1);
        for modules in [
            modules((0..SITES).map(alike).collect()),
            modules((0..SITES).map(other).collect()),
        ] {
            let mut index = SiteIndex::new(&modules);
            for number in 0..MESSAGES {
                let text = format!("text {number:05}\0\0\x01\0\0\0");
                let group = index
                    .find(text.as_bytes())
                    .or_else(|| index.find(b"same\0\0\0\0\x01\0\0\0"));
                assert!(group.is_some());
            }
            assert!(
                index.examined <= SITES as usize + 4 * MESSAGES,
                "{} examined",
                index.examined
            );
        }
    }
}
