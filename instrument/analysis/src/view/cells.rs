//! Cells: the parts of a function's objects that are tracked separately.
//!
//! ```text
//! struct { vec2 a; float b[4]; } v;       v.a.x = ..; v.a.y = ..; v.b[i] = ..; f(v)
//!
//! cells: v.a.x, v.a.y, v.b                the part of an index that is not constant is one cell
//! ```

use super::access::Place;
use super::accesses::FunctionAccesses;
use super::path::{Path, overlap, part_count, type_at};
use std::collections::BTreeMap;
use vkabort_spirv::Id;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::typed::{CellIndex, Key as _, ObjectIndex, Run, Table};

/// An object whose accesses would touch more cells than this for each access, with room for [`FEW_CELL_ACCESSES`], is one cell. So the
/// cells that all accesses touch are linear in their number.
const TOUCHES_PER_ACCESS: usize = 64;
const FEW_CELL_ACCESSES: usize = 1024;

/// A part of an object.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) object: ObjectIndex,
    pub(crate) path: Path,
    /// It is the rest of the part at `path`, without the cells behind it.
    pub(crate) is_rest: bool,
    /// That rest is empty.
    pub(crate) is_empty: bool,
}

impl Cell {
    /// Whether the cell overlaps a part of its object.
    pub(crate) fn has(&self, path: &[u32]) -> bool {
        !self.is_empty && overlap(path, &self.path)
    }
}

/// A part that accesses name, with those that lead to it.
#[derive(Debug)]
struct Part {
    path: Path,
    /// The cells of which it consists.
    cells: Run<CellIndex>,
}

/// The cells of the objects of a function.
#[derive(Debug, Default)]
pub struct Cells {
    pub(crate) all: Table<CellIndex, Cell>,
    /// Sorted by path.
    parts: Table<ObjectIndex, Vec<Part>>,
    /// Objects that are one cell because their parts are too many.
    pub(super) coarse: Vec<ObjectIndex>,
}

impl Cells {
    /// O(accesses * log(accesses)).
    pub(super) fn new(index: &Index<'_>, accesses: &FunctionAccesses) -> Self {
        // How many accesses name each part, by whether all of their indices are constant.
        let mut named: Table<ObjectIndex, [BTreeMap<Path, usize>; 2]> = accesses.objects.map(|_| Default::default());
        for access in accesses.accesses.values() {
            let Place { object, path, is_exact } = &access.place;
            if let Some([exact, inexact]) = named.get_mut(*object) {
                let counts = if *is_exact { exact } else { inexact };
                *counts.entry(path.clone()).or_default() += 1;
            }
        }
        let mut cells = Self::default();
        for (object, found) in accesses.objects.iter() {
            let Some([exact, inexact]) = named.get(object) else {
                continue;
            };
            let mut counts: BTreeMap<Path, usize> = BTreeMap::from([(Path::new(), 0)]);
            for (path, count) in exact.iter().chain(inexact) {
                // The part in which an index that is not constant selects, if there is one.
                let is_one_cell = |end: &usize| path.get(..*end).is_some_and(|above| inexact.contains_key(above));
                let end = (0..path.len()).find(is_one_cell).unwrap_or(path.len());
                for end in 1..=end {
                    counts.entry(path.get(..end).unwrap_or_default().into()).or_default();
                }
                *counts.entry(path.get(..end).unwrap_or_default().into()).or_default() += count;
            }
            let first = cells.all.next_key();
            let (mut parts, mut own) = split(index, object, found.ty, &counts, first);
            let touched: usize = parts
                .iter()
                .zip(counts.values())
                .map(|(part, count)| part.cells.count() * count)
                .sum();
            if touched > counts.values().sum::<usize>() * TOUCHES_PER_ACCESS + FEW_CELL_ACCESSES {
                let whole = BTreeMap::from([(Path::new(), 0)]);
                (parts, own) = split(index, object, found.ty, &whole, first);
                cells.coarse.push(object);
            }
            own.into_iter().for_each(|cell| cells.all.push(cell));
            cells.parts.push(parts);
        }
        cells
    }

    /// The cells of which a place consists, or the one that it is in.
    pub(crate) fn of_place(&self, place: &Place) -> Run<CellIndex> {
        self.at(place.object, &place.path)
    }

    /// The cells of which a part of an object consists, or the one that it is in.
    pub fn at(&self, object: ObjectIndex, path: &[u32]) -> Run<CellIndex> {
        let parts = self.parts.get(object).map_or(&[][..], Vec::as_slice);
        let found = (0..=path.len()).rev().find_map(|end| {
            let above = path.get(..end)?;
            let at = parts.binary_search_by(|part| part.path.as_slice().cmp(above)).ok()?;
            parts.get(at)
        });
        match found {
            Some(part) if part.path.len() == path.len() || part.cells.count() == 1 => part.cells,
            // What the other parts leave of it: its first cell.
            Some(part) => Run {
                start: part.cells.start,
                end: CellIndex::from_usize(part.cells.start.to_usize() + 1),
            },
            None => Run::default(),
        }
    }
}

/// The parts with these paths, and the cells of which they consist.
fn split(
    index: &Index<'_>,
    object: ObjectIndex,
    ty: Id,
    paths: &BTreeMap<Path, usize>,
    first: CellIndex,
) -> (Vec<Part>, Vec<Cell>) {
    let (mut parts, mut cells): (Vec<Part>, Vec<Cell>) = (Vec::new(), Vec::new());
    let mut children: Vec<u64> = Vec::new();
    // Parts around the current one, as positions.
    let mut around: Vec<usize> = Vec::new();
    let mut paths = paths.keys().peekable();
    while let Some(path) = paths.next() {
        while let Some(above) = around.last().and_then(|above| parts.get_mut(*above)) {
            if path.starts_with(&above.path) {
                break;
            }
            above.cells.end = CellIndex::from_usize(first.to_usize() + cells.len());
            around.pop();
        }
        let start = CellIndex::from_usize(first.to_usize() + cells.len());
        let is_split = paths.peek().is_some_and(|next| next.starts_with(path));
        if let Some(count) = around.last().and_then(|above| children.get_mut(*above)) {
            *count += 1;
        }
        around.push(parts.len());
        children.push(0);
        parts.push(Part {
            path: path.clone(),
            cells: Run { start, end: start },
        });
        cells.push(Cell {
            object,
            path: path.clone(),
            is_rest: is_split,
            is_empty: false,
        });
    }
    let end = CellIndex::from_usize(first.to_usize() + cells.len());
    for above in around {
        if let Some(part) = parts.get_mut(above) {
            part.cells.end = end;
        }
    }
    for (cell, count) in cells.iter_mut().zip(children).filter(|(cell, _)| cell.is_rest) {
        cell.is_empty = part_count(index, type_at(index, ty, &cell.path)) == Some(count);
    }
    (parts, cells)
}
