//! Edits of words that need not be instructions, and the origins of edited instructions.

use super::*;
use crate::op;

fn code(words: &[u32]) -> Code {
    let mut code = Code::default();
    code.words.extend(words);
    code
}

fn replace(edits: &mut Edits, offset: usize, count: usize, words: &[u32]) {
    let replaced = [0; 16];
    let words_of_inst = replaced.get(..count).unwrap_or(&[]);
    edits.replace_inst(
        &Inst {
            offset,
            words: words_of_inst,
        },
        &code(words),
    );
}

fn with_ids(ids: &Ids) -> Edits {
    let mut edits = Edits::default();
    edits.take_ids(ids);
    edits
}

#[test]
fn edits_take_effect_by_offset_then_rank_then_order() {
    let words = [0, 1, 2, 3, 4, 5, 6, 7];
    let mut edits = with_ids(&Ids::new(9));
    replace(&mut edits, 6, 1, &[62]);
    edits.insert(6, &code(&[60]));
    edits.remove(4, 2);
    edits.insert(8, &code(&[80]));
    edits.insert(6, &code(&[61]));
    edits.insert_ranked(6, Rank::Variables, &code(&[59]));
    let (out, _) = edits.apply(&words, &Origins::default(), "test").expect("few ids");
    assert_eq!(out, [0, 1, 2, 9, 59, 60, 61, 62, 7, 80]);
    assert_eq!(out.capacity(), out.len());
}

#[test]
fn the_length_of_the_edited_module_is_exact() {
    let words: Vec<u32> = (0..16).collect();
    let check = |expected: &[u32], make: fn(&mut Edits)| {
        let mut edits = Edits::default();
        make(&mut edits);
        let (out, _) = edits.apply(&words, &Origins::default(), "test").expect("few ids");
        assert_eq!(out, expected);
        assert_eq!(out.capacity(), out.len());
    };
    check(
        &[
            0, 1, 20, 21, 22, 3, 4, 50, 53, 54, 51, 52, 7, 8, 9, 10, 11, 12, 13, 14, 15, 160,
        ],
        |edits| {
            replace(edits, 2, 1, &[20, 21, 22]);
            edits.insert(5, &code(&[50]));
            replace(edits, 5, 2, &[51, 52]);
            edits.insert(5, &code(&[53, 54]));
            edits.insert(16, &code(&[160]));
        },
    );
    check(&[0, 1, 2, 30, 31, 32, 33, 7, 8, 9, 10, 11, 12, 13, 14, 15], |edits| {
        edits.insert(3, &code(&[30]));
        replace(edits, 3, 4, &[31, 32, 33]);
        edits.remove(4, 1);
    });
    check(&[0, 1, 2, 3, 7, 8, 9, 10, 11, 12, 13, 14, 15], |edits| {
        edits.remove(4, 3)
    });
    check(&[0, 1, 2, 3, 4, 5, 60, 61, 10, 11], |edits| {
        replace(edits, 6, 4, &[60, 61]);
        edits.remove(12, 4);
        edits.remove(13, 1);
    });
    check(&[0, 1, 2, 3, 4, 50, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], |edits| {
        edits.insert(5, &code(&[50]))
    });
    check(
        &[0, 1, 2, 3, 6, 7, 80, 81, 82, 83, 9, 10, 11, 12, 13, 14, 15],
        |edits| {
            edits.remove(4, 2);
            replace(edits, 8, 1, &[80, 81, 82, 83]);
        },
    );
    check(&words, |_| ());
}

#[test]
fn ids_beyond_the_limit_are_an_error_and_not_an_overflow() {
    let mut ids = Ids::new(MAX_BOUND);
    ids.fresh();
    let error = with_ids(&ids)
        .apply(&[0; 5], &Origins::default(), "test")
        .expect_err("one too many");
    assert_eq!(error.kind, ErrorKind::Limit);
    let mut ids = Ids::new(u32::MAX);
    ids.fresh();
    assert_eq!(ids.fresh().word(), u32::MAX);
}

/// Five words of a header and four instructions of two words.
const MODULE: [u32; 13] = [
    0,
    1,
    2,
    9,
    4,
    2 << 16 | 1,
    5,
    2 << 16 | 1,
    7,
    2 << 16 | 1,
    9,
    2 << 16 | 1,
    11,
];

fn inst(words: &[u32], offset: usize) -> Inst<'_> {
    inst_at(words, offset).expect("a whole instruction")
}

#[test]
fn instructions_keep_their_origin_through_every_edit() {
    let mut edits = Edits::default();
    edits.remove_inst(&inst(&MODULE, 5));
    // A planted instruction in front of the one at 9, and one without an origin.
    let mut planted = Code::default();
    planted.op(op::NoLine, ());
    planted.mark_origin(&inst(&MODULE, 9));
    planted.op(op::NoLine, ());
    planted.op(op::NoLine, ());
    edits.insert(9, &planted);
    let (words, origins) = edits.apply(&MODULE, &Origins::default(), "test").expect("few ids");
    let found: Vec<_> = [5, 7, 8, 9, 10, 12].map(|offset| origins.of(offset)).into();
    assert_eq!(found, [Some(7), None, Some(9), None, Some(9), Some(11)]);

    // The instruction that comes from 11 moves to the front; a copy of the one that comes from 7 replaces the one from 9.
    let mut edits = Edits::default();
    let last = inst(&words, 12);
    let mut moved = Code::default();
    moved.copy(&last);
    edits.insert(5, &moved);
    edits.remove_inst(&last);
    let mut replacement = Code::default();
    replacement.op(op::NoLine, ());
    replacement.copy(&inst(&words, 5));
    edits.replace_inst(&inst(&words, 10), &replacement);
    let (words, origins) = edits.apply(&words, &origins, "test").expect("few ids");
    assert_eq!(words.len(), 15);
    let found: Vec<_> = [5, 7, 9, 10, 11, 12, 13].map(|offset| origins.of(offset)).into();
    assert_eq!(found, [Some(11), Some(7), None, Some(9), None, Some(9), Some(7)]);
}
