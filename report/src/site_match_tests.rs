//! Tests of [`super`].

use super::*;
use std::sync::Arc;
use vkabort_record::message_type::{Length, Member};
use vkabort_record::scalar_type::ScalarType;
use vkabort_record::site::{ModuleHash, SiteId};

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
