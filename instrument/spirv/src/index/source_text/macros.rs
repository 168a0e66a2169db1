//! Uses of preprocessor macros.

use super::text::Text;
use super::tokens::{Kind, Tokens};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::ops::Range;

/// The macros of a module's texts.
#[derive(Debug, Default)]
pub(super) struct Macros {
    /// By text and first line of the definition.
    names: HashMap<(usize, u32), String>,
    /// Macros whose definitions mention a macro.
    users: HashMap<String, HashSet<String>>,
    of_texts: Vec<Uses>,
}

/// Uses of macros in a text, outside definitions.
#[derive(Debug, Default)]
struct Uses {
    /// Offsets in bytes, ascending.
    by_name: HashMap<String, Vec<usize>>,
    /// Positions of opening curly brackets, ascending, each with that of its closing one.
    brackets: Vec<(usize, usize)>,
}

impl Macros {
    /// O(texts).
    pub(super) fn new(texts: &[Text]) -> Self {
        let mut found = Self::default();
        let mut bodies = Vec::new();
        for (number, text) in texts.iter().enumerate() {
            for lines in &text.definitions {
                let start = text.range(lines.start).map_or(0, |range| range.start);
                let end = text.range(lines.end - 1).map_or(start, |range| range.end);
                let Some(directive) = Tokens::new(text.text.get(start..end).unwrap_or_default()).next() else {
                    continue;
                };
                let body = text
                    .text
                    .get(start + directive.range.start + 1..start + directive.range.end);
                let body = body.unwrap_or_default();
                let words = Tokens::new(body).filter(|token| token.kind == Kind::Word);
                let mut words = words.filter_map(|token| body.get(token.range)).skip(1);
                if let Some(name) = words.next() {
                    found.names.insert((number, lines.start), name.to_owned());
                    bodies.push((name, words.collect::<Vec<_>>()));
                }
            }
        }
        let defined: HashSet<&str> = bodies.iter().map(|(name, _)| *name).collect();
        for (name, words) in &bodies {
            for word in words.iter().filter(|word| *word != name && defined.contains(*word)) {
                let users = found.users.entry((*word).to_owned()).or_default();
                users.insert((*name).to_owned());
            }
        }
        found.of_texts = texts.iter().map(|text| Uses::new(&text.text, &defined)).collect();
        found
    }

    /// The macro whose definition begins at a line of a text.
    pub(super) fn name(&self, text: usize, line: u32) -> Option<&str> {
        self.names.get(&(text, line)).map(String::as_str)
    }

    /// Offsets at which code uses a macro, itself or by others, between the curly brackets that open behind `start`. Ascending.
    pub(super) fn uses_behind(&self, name: &str, text: usize, start: usize) -> Vec<usize> {
        let Some(uses) = self.of_texts.get(text) else {
            return Vec::new();
        };
        let at = uses.brackets.partition_point(|(open, _)| *open < start);
        let Some(&(open, close)) = uses.brackets.get(at) else {
            return Vec::new();
        };
        let mut offsets: Vec<usize> = self
            .with_users(name)
            .iter()
            .flat_map(|name| uses.of(name, open..close))
            .copied()
            .collect();
        offsets.sort_unstable();
        offsets
    }

    /// A macro, and all others whose expansions contain it.
    fn with_users<'a>(&'a self, name: &'a str) -> Vec<&'a str> {
        let mut found = vec![name];
        let mut seen: HashSet<&str> = found.iter().copied().collect();
        let mut at = 0;
        while let Some(name) = found.get(at) {
            let users = self.users.get(*name).into_iter().flatten().map(String::as_str);
            found.extend(users.filter(|user| seen.insert(user)).collect::<Vec<_>>());
            at += 1;
        }
        found
    }
}

impl Uses {
    fn new(text: &str, defined: &HashSet<&str>) -> Self {
        let mut uses = Self::default();
        let mut open = Vec::new();
        for token in Tokens::new(text) {
            match token.kind {
                Kind::Word => {
                    let word = text.get(token.range.clone()).unwrap_or_default();
                    if defined.contains(word) {
                        let offsets = uses.by_name.entry(word.to_owned()).or_default();
                        offsets.push(token.range.start);
                    }
                }
                Kind::Mark(b'{') => open.push(token.range.start),
                Kind::Mark(b'}') => uses.brackets.extend(open.pop().map(|open| (open, token.range.start))),
                _ => {}
            }
        }
        uses.brackets.sort_unstable();
        uses
    }

    /// Offsets of the uses of a macro in a range of bytes.
    fn of(&self, name: &str, range: Range<usize>) -> &[usize] {
        let offsets = self.by_name.get(name).map_or(&[][..], Vec::as_slice);
        let start = offsets.partition_point(|offset| *offset < range.start);
        let end = offsets.partition_point(|offset| *offset < range.end);
        offsets.get(start..end).unwrap_or_default()
    }
}
