//! Which values are known to have an effect on every path.

use super::lane::{Lane, Path};
use rustc_hash::FxHashMap as HashMap;

/// Limit on values that are derived from each other. Beyond it, an effect is not found.
const MAX_DEPTH: u32 = 100;

/// A question whose answer is kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Question {
    Value(Lane),
    /// The store at a word offset, and the part that it writes.
    Store(usize, Path),
}

/// Whether there is an effect on every path.
#[derive(Clone, Copy, Debug)]
enum Answer {
    /// By what has been seen so far: a value that a loop leads back to itself has the effects that it has elsewhere.
    Observed,
    Dropped,
    /// The search that began at this depth of a chain came to the limit.
    TooLong(u32),
}

/// Answers, and what they depend on.
#[derive(Debug, Default)]
pub(super) struct Answers {
    all: HashMap<Question, Answer>,
    /// Questions answered by [`Answer::Observed`], in the order in which their searches began.
    observed: Vec<Question>,
    /// How often a search came to the limit.
    cuts: u32,
}

/// The state in which a search began.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    observed: usize,
    cuts: u32,
}

impl Answers {
    /// The answer to a question that is asked at a depth of a chain, if it is known.
    pub(super) fn get(&mut self, question: &Question, depth: u32) -> Option<bool> {
        match self.all.get(question) {
            Some(Answer::Observed) => return Some(true),
            Some(Answer::Dropped) => return Some(false),
            Some(Answer::TooLong(from)) if *from <= depth => {}
            _ if depth > MAX_DEPTH => {}
            _ => return None,
        }
        self.cuts += 1;
        Some(false)
    }

    /// Assumes that the answer is yes.
    pub(super) fn assume(&mut self, question: Question) -> State {
        let state = State {
            observed: self.observed.len(),
            cuts: self.cuts,
        };
        self.all.insert(question.clone(), Answer::Observed);
        self.observed.push(question);
        state
    }

    /// Takes the assumption back: answers that may have followed from it are open again.
    pub(super) fn refute(&mut self, question: Question, depth: u32, before: State) {
        for other in self.observed.split_off(before.observed) {
            self.all.remove(&other);
        }
        let answer = match self.cuts == before.cuts {
            true => Answer::Dropped,
            false => Answer::TooLong(depth),
        };
        self.all.insert(question, answer);
    }
}
