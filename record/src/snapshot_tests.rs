use super::*;
use crate::site::Site;
use crate::template::{Template, TemplateWord};

/// An arena of `capacity` units, into which records are written as the GPU writes them.
struct Arena {
    words: Vec<u32>,
    capacity: u32,
    /// The counter of DROPPED for the next abort.
    counter: u32,
}

impl Arena {
    fn new(capacity: u32) -> Self {
        Self {
            words: vec![0; (CONTROL_BYTES / 4 + capacity * UNIT_WORDS) as usize],
            capacity,
            counter: 0,
        }
    }

    fn reserve(&mut self, size: u32) -> Option<u32> {
        let (slot, slots) = (self.words[0], record_units(size).div_ceil(SLOT_UNITS));
        let capacity = self.capacity / SLOT_UNITS;
        let fits = slot + slots <= capacity;
        let mut count = 1;
        if slot < capacity {
            self.words[0] += slots;
            count = 1_u32.wrapping_sub((slot + slots).saturating_sub(capacity));
        }
        if !fits {
            let counter = &mut self.words[((DROPPED_OFFSET + self.counter * DROPPED_STRIDE) / 4) as usize];
            *counter = counter.wrapping_add(count);
            self.counter = (self.counter + 1) % DROPPED_COUNTERS;
        }
        fits.then_some(slot * SLOT_UNITS)
    }

    fn at(&mut self, unit: u32, word: u32) -> &mut u32 {
        &mut self.words[(CONTROL_BYTES / 4 + unit * UNIT_WORDS + word) as usize]
    }

    fn push(&mut self, site: u32, payload: &[u8]) -> Option<u32> {
        let unit = self.reserve(payload.len() as u32)?;
        *self.at(unit, header::LENGTH) = record_units(payload.len() as u32);
        *self.at(unit, header::SIZE) = payload.len() as u32;
        *self.at(unit, header::SITE) = site;
        *self.at(unit, header::STAGE) = 5;
        for (i, byte) in payload.iter().enumerate() {
            *self.at(unit, header::WORDS + i as u32 / 4) |= u32::from(*byte) << (8 * (i % 4));
        }
        *self.at(unit, header::COMMIT) = commit_word(unit);
        self.words[(ABORTED_OFFSET / 4) as usize] = 1;
        Some(unit)
    }

    fn read(&self) -> Records {
        Snapshot::from_words(self.words.clone()).records(self.capacity)
    }
}

#[test]
fn records_are_read_in_order_with_their_exact_bytes() {
    let mut arena = Arena::new(64);
    arena.push(1, b"hello").expect("fits");
    arena.push(2, b"").expect("fits");
    arena.push(3, &[7; 33]).expect("fits");
    let found = arena.read();
    assert_eq!(found.records.iter().map(|r| r.site.0).collect::<Vec<_>>(), [1, 2, 3]);
    let messages: Vec<_> = found.records.iter().map(|record| found.message(record)).collect();
    assert_eq!(messages, [b"hello".as_slice(), b"", &[7; 33]]);
    assert_eq!((found.unfinished, found.dropped), (0, 0));
}

#[test]
fn a_message_of_the_largest_size_fits_into_the_smallest_arena() {
    let mut arena = Arena::new(crate::layout::minimum_capacity(4096));
    arena.push(0, &[1; 4096]).expect("the first record always fits");
    assert_eq!(arena.push(1, b"no room"), None);
    let found = arena.read();
    assert_eq!(found.records.len(), 1);
    assert_eq!(found.message(&found.records[0]).len(), 4096);
}

#[test]
fn a_full_arena_keeps_its_records_and_counts_the_others() {
    let mut arena = Arena::new(11);
    for site in 0..100 {
        arena.push(site, &[site as u8; 16]);
    }
    let found = arena.read();
    assert_eq!(found.records.len(), 2);
    assert_eq!(found.dropped, 98);
    assert_eq!(found.unfinished, 0);
}

#[test]
fn invocations_that_waited_are_counted() {
    let mut arena = Arena::new(64);
    arena.push(1, b"hello").expect("fits");
    arena.words[(ENDED_OFFSET / 4) as usize] = 31;
    assert_eq!(arena.read().ended, 31);
    // Until all invocations have ended, there may be more.
    let mut running = arena.read();
    running.keep_finished(0);
    assert_eq!((running.records.len(), running.ended), (1, 0));
}

#[test]
fn an_unfinished_record_does_not_hide_the_next_one() {
    let mut arena = Arena::new(64);
    arena.push(1, b"first");
    let torn = arena.reserve(20).expect("fits");
    *arena.at(torn, header::LENGTH) = record_units(20);
    arena.push(2, b"second");
    arena.reserve(40).expect("fits");
    arena.push(3, b"third");
    let found = arena.read();
    assert_eq!(found.records.iter().map(|r| r.site.0).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(found.unfinished, 2);
}

#[test]
fn an_unfinished_compact_record_does_not_hide_the_next_one() {
    const UNITS: u32 = 3;
    let mut arena = Arena::new(64);
    let tag = |site| Tag {
        site,
        entry_point: 0,
        has_specialization: false,
        has_local_index: false,
    };
    for site in 0..3 {
        let unit = arena.words[0] * SLOT_UNITS;
        arena.words[0] += 1;
        let tag = if site == 1 { None } else { tag(site).word() };
        *arena.at(unit, header::LENGTH) = Origin::word(ModuleHash(7).into(), UNITS);
        // Values that look like the LENGTH of a long record.
        (2..UNITS * 4 - 1).for_each(|word| *arena.at(unit, word) = 40);
        *arena.at(unit, UNITS * 4 - 1) = tag.unwrap_or(0);
    }
    let found = arena.read();
    let sites: Vec<_> = found.records.iter().map(|r| (r.site.0, r.code)).collect();
    assert_eq!(sites, [0, 2].map(|site| (site, ModuleHash(7).into())));
    assert_eq!((found.unfinished, found.dropped), (1, 0));
}

#[test]
fn records_behind_an_unfinished_one_wait_until_it_is_complete() {
    let mut arena = Arena::new(64);
    arena.push(1, b"first");
    let torn = arena.reserve(20).expect("fits");
    arena.push(2, b"second");
    let read = |arena: &Arena, from| {
        let mut found = arena.read();
        let end = found.keep_finished(from);
        assert_eq!((found.unfinished, found.dropped), (0, 0));
        (found.records.iter().map(|r| r.site.0).collect::<Vec<_>>(), end)
    };
    assert_eq!(read(&arena, 0), (vec![1], torn));
    assert_eq!(read(&arena, torn), (vec![], torn));
    *arena.at(torn, header::LENGTH) = record_units(20);
    *arena.at(torn, header::SIZE) = 20;
    *arena.at(torn, header::SITE) = 7;
    *arena.at(torn, header::COMMIT) = commit_word(torn);
    let end = torn + record_units(20).next_multiple_of(SLOT_UNITS) + record_units(6);
    assert_eq!(read(&arena, torn), (vec![7, 2], end));
    assert_eq!(read(&arena, end), (vec![], end));
}

#[test]
fn compact_records_that_are_finished_keep_their_messages() {
    let module = ModuleHash(7);
    let template = Template {
        size: 8,
        end: 16,
        words: vec![(0, TemplateWord::Constant(5)), (1, TemplateWord::Value(0))],
        values: 1,
    };
    let sites = SiteTable {
        module_hash: module,
        sites: vec![Site {
            template: Some(template),
            ..Site::default()
        }],
        ..SiteTable::default()
    };
    let sites = Arc::new(sites);
    let mut arena = Arena::new(64);
    arena.words[0] = 2;
    let tag = Tag {
        site: 0,
        entry_point: 0,
        has_specialization: false,
        has_local_index: false,
    };
    // The second record lacks its TAG.
    for (unit, tag) in [(0, tag.word()), (SLOT_UNITS, None)] {
        *arena.at(unit, header::LENGTH) = Origin::word(module.into(), 1);
        *arena.at(unit, compact::FIRST_WORD) = 9;
        *arena.at(unit, 3) = tag.unwrap_or(0);
    }
    let snapshot = Snapshot::from_words(arena.words.clone());
    let mut found = snapshot.records_of(arena.capacity, &|_| Some(Arc::clone(&sites)));
    assert_eq!((found.records.len(), found.unfinished), (1, 1));
    let messages = |found: &Records| Vec::from_iter(found.records.iter().map(|r| found.message(r).into_owned()));
    assert_eq!(messages(&found), [[5, 0, 0, 0, 9, 0, 0, 0]]);
    assert_eq!(found.keep_finished(0), SLOT_UNITS);
    assert_eq!(messages(&found), [[5, 0, 0, 0, 9, 0, 0, 0]]);
}

#[test]
fn a_lost_control_block_does_not_hide_records() {
    let mut arena = Arena::new(64);
    for site in 0..5 {
        arena.push(site, &[site as u8; 20]);
    }
    let torn = arena.reserve(20).expect("fits");
    *arena.at(torn, header::LENGTH) = record_units(20);
    arena.push(5, b"last");
    let whole = arena.read();
    assert_eq!(
        (whole.records.len(), whole.unfinished, whole.control_lost),
        (6, 1, false)
    );
    for lost in [0, u32::MAX, 0xCDCD_CDCD] {
        arena.words[..(CONTROL_BYTES / 4) as usize].fill(lost);
        let found = arena.read();
        assert_eq!(found.records, whole.records, "{lost:#x}");
        assert_eq!(found.unfinished, 1, "{lost:#x}");
        assert!(found.control_lost && found.dropped == 0, "{lost:#x}");
    }
    // A stale cursor.
    arena.words[..(CONTROL_BYTES / 4) as usize].fill(0);
    arena.words[0] = 3;
    assert_eq!(arena.read().records, whole.records);
    assert!(arena.read().control_lost);
}

#[test]
fn lost_memory_has_no_records() {
    for lost in [0, u32::MAX] {
        let mut arena = Arena::new(64);
        arena.push(1, b"gone");
        arena.words.fill(lost);
        let found = arena.read();
        assert_eq!(
            (found.records.len(), found.unfinished, found.dropped),
            (0, 0, 0),
            "{lost:#x}"
        );
        assert_eq!(found.control_lost, lost != 0);
    }
}

#[test]
fn hostile_words_never_lead_outside_the_snapshot() {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    for round in 0..2000 {
        let words: Vec<u32> = (0..round % 97)
            .map(|i| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                match state % 5 {
                    0 => u32::MAX,
                    1 => commit_word(i / 4),
                    2 => (state >> 32) as u32 % 16,
                    _ => (state >> 32) as u32,
                }
            })
            .collect();
        let total = words.len() * 4;
        let found = Snapshot::from_words(words).records(u32::MAX);
        assert!(
            found
                .records
                .iter()
                .map(|record| found.message(record).len())
                .sum::<usize>()
                <= total
        );
    }
}

#[test]
fn a_truncated_arena_yields_its_whole_records() {
    let mut arena = Arena::new(64);
    arena.push(1, b"first");
    arena.push(2, &[9; 64]);
    let bytes: Vec<u8> = arena.words.iter().flat_map(|w| w.to_le_bytes()).collect();
    for cut in 0..bytes.len() {
        let found = Snapshot::from_bytes(&bytes[..cut]).records(64);
        assert!(found.records.len() <= 2);
    }
    let used = Snapshot::used_bytes(arena.words[0], bytes.len());
    assert_eq!(Snapshot::from_bytes(&bytes[..used]).records(64), arena.read());
}
