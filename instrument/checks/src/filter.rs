//! Selects the places of a module at which the options allow checks.

use vkabort_analysis::callgraph::Reach;
use vkabort_analysis::expressions::Expressions;
use vkabort_analysis::frames::collect_frames;
use vkabort_options::{Options, PlantingPlace};
use vkabort_record::site::{Frame, Location, ModuleHash};
use vkabort_spirv::index::debug::Position;
use vkabort_spirv::index::source_text::Texts;
use vkabort_spirv::index::{Function, Index};

/// Names and source positions of the places of a module.
pub(super) struct Places<'a, 'w> {
    index: &'a Index<'w>,
    options: &'a Options,
    hashes: [ModuleHash; 2],
    pub(super) expressions: Expressions<'a, 'w>,
    texts: Texts,
    /// By entry point.
    entry_points: Vec<String>,
}

impl<'a, 'w> Places<'a, 'w> {
    pub(super) fn new(index: &'a Index<'w>, options: &'a Options, hashes: [ModuleHash; 2]) -> Self {
        Self {
            index,
            options,
            hashes,
            expressions: Expressions::new(index),
            texts: Texts::default(),
            entry_points: index.entry_points.iter().map(|entry| entry.name()).collect(),
        }
    }

    /// The innermost function at a position, and the position.
    pub(super) fn frame(&mut self, function: &Function, position: &Position<'_>) -> Option<Frame> {
        let frames = collect_frames(
            self.index,
            &self.expressions.names,
            function.id,
            position,
            &mut self.texts,
        );
        frames.into_iter().next()
    }

    /// The source location of a position.
    pub(super) fn location(&mut self, function: &Function, position: &Position<'_>) -> Option<Location> {
        self.frame(function, position)?.location
    }

    /// Whether the options select a position.
    pub(super) fn selects(&mut self, function: &Function, reach: &Reach, position: &Position<'_>) -> bool {
        let Some(frame) = self.frame(function, position) else {
            return false;
        };
        let entry_point = |number: &u32| self.entry_points.get(*number as usize).map(String::as_str);
        let entry_points: Vec<&str> = reach.entry_points.iter().filter_map(entry_point).collect();
        let location = frame.location.as_ref();
        self.options.sanitize.filter.selects(&PlantingPlace {
            function: &frame.function,
            location: location.map(|location| (location.file.as_str(), location.line)),
            entry_points: &entry_points,
            modules: self.hashes,
        })
    }
}
