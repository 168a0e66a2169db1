//! Finds the site of a message from a driver's own debug info, which consists of payloads only: by size and leading text.

use crate::decode::fits;
use crate::escape::trim_padding;
use crate::message_type::Type;
use crate::report::data::ModuleInfo;
use crate::site::{Site, SiteTable};
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
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

/// Origins are equal if they are the same site of the same table, not if their contents are alike.
impl PartialEq for Origin<'_> {
    fn eq(&self, other: &Self) -> bool {
        ptr::eq(self.site, other.site)
    }
}

impl Eq for Origin<'_> {}

impl Hash for Origin<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        ptr::from_ref(self.site).hash(state);
    }
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

/// The sites that can have sent `payload`: of its size, and with its leading text where both have one.
///
/// Sites whose text matches win over sites without a text. Several sites are returned if they have the same type, which
/// decodes the message either way; none if their types differ.
pub(crate) fn match_payload<'a>(payload: &[u8], modules: &'a [ModuleInfo]) -> Vec<Origin<'a>> {
    let mut origins = Vec::new();
    for module in modules {
        let Some(table) = module.sites.as_deref() else { continue };
        for site in &table.sites {
            origins.push(Origin { module, table, site });
        }
    }
    origins.retain(|o| fits(&o.site.message, payload.len()) && text_agrees(o.site, payload) != Some(false));
    // A module with checks and without has its own aborts in two tables.
    let mut first_tables = HashMap::new();
    origins.retain(|o| {
        let key = (o.table.module_hash, o.site.word_offset, &o.site.check, &o.site.text);
        ptr::eq(*first_tables.entry(key).or_insert(o.table), o.table)
    });
    if origins.iter().any(|o| text_agrees(o.site, payload) == Some(true)) {
        origins.retain(|o| text_agrees(o.site, payload) == Some(true));
    }
    let first = origins.first().copied();
    if origins
        .iter()
        .any(|o| first.is_some_and(|first| first.site.message != o.site.message))
    {
        origins.clear();
    }
    origins
}

/// Whether the payload starts with the site's constant text; `None` if the site has none.
fn text_agrees(site: &Site, payload: &[u8]) -> Option<bool> {
    let text = site.text.as_deref()?;
    let length = leading_array_size(&site.message)?;
    let start = payload.get(..length.min(payload.len())).unwrap_or_default();
    Some(trim_padding(start) == trim_padding(text.as_bytes()))
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
        match_payload(payload, modules).iter().map(|o| o.site.id.0).collect()
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
        assert_eq!(
            match_payload(b"bbb\0\x01\0\0\0", &modules)[0].describe(),
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
}
