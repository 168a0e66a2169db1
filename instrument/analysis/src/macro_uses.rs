//! Locates aborts that macros expand to at the uses of the macros. Slang gives them the lines of the definitions.
//!
//! The texts have the uses of a macro in a function, and the function has aborts with one line of the macro. If there are as many, the
//! first abort is of the first use and so on. Otherwise the same is asked of the uses and aborts between two lines of other code; one
//! use may have several aborts there.

use rustc_hash::FxHashMap as HashMap;
use vkabort_record::site::Location;
use vkabort_spirv::index::debug::Position;
use vkabort_spirv::index::source_text::Texts;
use vkabort_spirv::index::{Function, Index};
use vkabort_spirv::{Id, op};

/// An abort with the line of a macro.
struct Abort {
    offset: usize,
    /// Lines of the code before it and behind it.
    between: [Option<u32>; 2],
}

/// The aborts of a function that one line of a macro's definition expands to.
struct Expansions {
    definition: Location,
    function: Location,
    aborts: Vec<Abort>,
}

/// Locations of the uses of the macros that aborts of a function come from, by the aborts' word offsets; without those that are not
/// certain. O(words of the function) if it has any.
pub fn macro_uses(index: &Index<'_>, function: &Function, texts: &mut Texts) -> HashMap<usize, Location> {
    let blocks = index.blocks_of(function).iter();
    let mut aborts = blocks.filter(|block| index.terminator(block).opcode() == op::AbortKHR);
    let is_in_macro = aborts.any(|block| {
        let location = index.location_of(&index.position(block, block.terminator), texts);
        location.is_some_and(|location| texts.is_in_macro(&location))
    });
    let mut found = HashMap::default();
    if is_in_macro {
        for expansions in expansions(index, function, texts) {
            let uses = texts.uses_of_macro(&expansions.definition, &expansions.function);
            assign(&expansions.aborts, &uses, &mut found);
        }
    }
    found
}

/// Finds the use of each abort.
fn assign(aborts: &[Abort], uses: &[Location], found: &mut HashMap<usize, Location>) {
    let is_behind = |abort: &Abort, of: &Location| abort.between[0].is_none_or(|line| line <= of.line);
    let mut pairs = aborts.iter().zip(uses);
    if aborts.len() == uses.len() && pairs.all(|(abort, of)| is_behind(abort, of)) {
        found.extend(aborts.iter().zip(uses).map(|(abort, of)| (abort.offset, of.clone())));
        return;
    }
    for aborts in aborts.chunk_by(|a, b| a.between == b.between) {
        let Some(first) = aborts.first() else {
            continue;
        };
        let is_before = |of: &Location| first.between[1].is_none_or(|line| of.line <= line);
        let between: Vec<&Location> = uses.iter().filter(|of| is_behind(first, of) && is_before(of)).collect();
        match between.as_slice() {
            [only] => found.extend(aborts.iter().map(|abort| (abort.offset, (*only).clone()))),
            several if several.len() == aborts.len() => {
                found.extend(
                    aborts
                        .iter()
                        .zip(several)
                        .map(|(abort, of)| (abort.offset, (*of).clone())),
                );
            }
            _ => {}
        }
    }
}

/// The aborts of a function with lines of macros, by definition and by inlined function.
fn expansions(index: &Index<'_>, function: &Function, texts: &mut Texts) -> Vec<Expansions> {
    let mut all: Vec<Expansions> = Vec::new();
    let mut by_place: HashMap<(Id, String, [u32; 2]), usize> = HashMap::default();
    // By inlined function: the last line that is not of a macro, and aborts that no line has followed.
    let mut lines: HashMap<Id, u32> = HashMap::default();
    let mut open: HashMap<Id, Vec<(usize, usize)>> = HashMap::default();
    for block in index.blocks_of(function) {
        let mut position = Position::default();
        for inst in index.insts(block.offset, block.end) {
            let before = position.line_offset();
            index.advance(&mut position, inst.offset, inst.end());
            let is_abort = inst.opcode() == op::AbortKHR;
            if !is_abort && position.line_offset() == before {
                continue;
            }
            let Some(location) = index.location_of(&position, texts) else {
                continue;
            };
            let Some(function) = index.function_location(&position, texts) else {
                continue;
            };
            let frame = position.inlined_at();
            match texts.is_in_macro(&location) {
                true if is_abort => {
                    let place = (frame, location.file.clone(), [location.line, location.column]);
                    let at = *by_place.entry(place).or_insert_with(|| {
                        all.push(Expansions {
                            definition: location,
                            function,
                            aborts: Vec::new(),
                        });
                        all.len() - 1
                    });
                    if let Some(expansions) = all.get_mut(at) {
                        open.entry(frame).or_default().push((at, expansions.aborts.len()));
                        expansions.aborts.push(Abort {
                            offset: inst.offset,
                            between: [lines.get(&frame).copied(), None],
                        });
                    }
                }
                false if location.file == function.file => {
                    lines.insert(frame, location.line);
                    for (at, number) in open.remove(&frame).unwrap_or_default() {
                        let abort = all.get_mut(at).and_then(|expansions| expansions.aborts.get_mut(number));
                        if let Some(abort) = abort {
                            // The code behind a loop's body has an earlier line.
                            abort.between[1] =
                                Some(location.line).filter(|line| abort.between[0].is_none_or(|first| first <= *line));
                        }
                    }
                }
                _ => {}
            }
        }
    }
    all
}
