//! Which site wrote a message that does not say so: a driver's own debug info has payloads and nothing else.

use crate::decode::fits;
use crate::escape::trim_padding;
use crate::message_type::Type;
use crate::report::data::ModuleInfo;
use crate::site::{Site, SiteTable};

/// A site that may have written a message.
#[derive(Clone, Copy)]
pub(crate) struct Origin<'a> {
    /// What is known of its module.
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

/// The sites that can have written `payload`: of its size, and with its leading text where both have one. Sites whose
/// text is known and matches win over sites of which only the size is known; among the rest, those with one and the
/// same type can be told apart no further, and with different types nothing is said at all.
pub(crate) fn match_payload<'a>(payload: &[u8], modules: &'a [ModuleInfo]) -> Vec<Origin<'a>> {
    let mut found = Vec::new();
    for module in modules {
        let Some(table) = module.sites.as_deref() else { continue };
        for site in &table.sites {
            found.push(Origin { module, table, site });
        }
    }
    found.retain(|o| fits(&o.site.message, payload.len()) && text_agrees(o.site, payload) != Some(false));
    if found.iter().any(|o| text_agrees(o.site, payload) == Some(true)) {
        found.retain(|o| text_agrees(o.site, payload) == Some(true));
    }
    let same_type = |types: &[Origin<'_>]| {
        types.windows(2).all(|pair| match pair {
            [a, b] => a.site.message == b.site.message,
            _ => true,
        })
    };
    if !same_type(&found) {
        found.clear();
    }
    found
}

/// Whether the payload starts with the site's constant text; `None` where the site has none.
fn text_agrees(site: &Site, payload: &[u8]) -> Option<bool> {
    let text = site.text.as_deref()?;
    let length = leading_array(&site.message)?;
    let held = payload.get(..length.min(payload.len())).unwrap_or_default();
    Some(trim_padding(held) == trim_padding(text.as_bytes()))
}

/// Bytes of the message's leading array.
fn leading_array(message: &Type) -> Option<usize> {
    match message {
        Type::Struct { members, .. } => leading_array(&members.first()?.ty),
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
            entry_points: vec![],
            callers: vec![],
            location: None,
            message: Type::structure(members),
            text: Some(text.to_owned()),
        }
    }

    fn modules(sites: Vec<Site>) -> Vec<ModuleInfo> {
        vec![ModuleInfo {
            sites: Some(Arc::new(SiteTable {
                module_hash: ModuleHash(1),
                entry_points: vec![],
                sites,
            })),
            ..ModuleInfo::default()
        }]
    }

    fn ids(payload: &[u8], modules: &[ModuleInfo]) -> Vec<u32> {
        match_payload(payload, modules).iter().map(|o| o.site.id.0).collect()
    }

    #[test]
    fn text_and_size_tell_sites_apart() {
        let known = modules(vec![
            site(0, "aaa", 1),
            site(1, "bbb", 1),
            site(2, "bbb", 2),
            site(3, "aaa", 1),
        ]);
        assert_eq!(ids(b"bbb\0\x01\0\0\0", &known), [1]);
        assert_eq!(ids(b"bbb\0\x01\0\0\0\x02\0\0\0", &known), [2]);
        assert_eq!(ids(b"aaa\0\x01\0\0\0", &known), [0, 3], "both, the bytes do not tell");
        assert!(ids(b"ccc\0\x01\0\0\0", &known).is_empty());
        assert!(ids(b"aaa\0", &known).is_empty());
        assert_eq!(
            match_payload(b"bbb\0\x01\0\0\0", &known)[0].describe(),
            "word 10 in `f`, module 0000000000000001"
        );
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
