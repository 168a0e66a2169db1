//! Writes the sections of a function.

use super::Wrapper;
use super::counted_ends::CountedEnds;
use super::crossing::{CarriedValue, Crossing, Finder, Obstacle, can_pass};
use super::division::Division;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::typed::{Key, Node};
use vkabort_spirv::op::storage_class;
use vkabort_spirv::{Id, Inst, Literal, op};

/// The labels that a section adds.
struct Section {
    header: Id,
    body: Id,
    again: Id,
    end: Id,
    out: Id,
    go: Id,
}

struct Writer<'d, 'r, 'a, 'w> {
    division: &'d Division<'a, 'w>,
    wrapper: &'d mut Wrapper<'r, 'w>,
    crossing: &'d Crossing,
    /// A word that the sections compare with values that it does not have.
    word: Id,
    /// A variable: whether the invocation leaves the function.
    left: Id,
    /// A variable for the return value, if there is one.
    result: Option<Id>,
    /// By section: calls in front of its exits that its own exit makes in their stead.
    counts: Vec<Vec<Inst<'w>>>,
}

/// # Errors
///
/// A value cannot be had behind its section; nothing is edited.
pub(super) fn write<'w>(
    wrapper: &mut Wrapper<'_, 'w>,
    division: &Division<'_, 'w>,
    ends: Option<&CountedEnds>,
) -> Result<(), Obstacle> {
    let (index, function) = (division.index, division.function);
    let blocks = index.blocks_of(function);
    let is_void = index.opcode(function.result_type) == op::TypeVoid;
    let first = blocks.first().ok_or(Obstacle)?;
    if !is_void && !can_pass(index, &mut wrapper.out, &mut wrapper.words, function.result_type) {
        return Err(Obstacle);
    }
    let crossing = Finder::new(division, &mut wrapper.out, &mut wrapper.words).run()?;
    let (out, words) = (&mut wrapper.out, &mut wrapper.words);
    let bool = out.bool();
    let left = out.fresh();
    let (pointer, no) = (
        out.pointer(storage_class::Function, bool),
        out.value(op::ConstantFalse, bool, ()),
    );
    out.op(op::Variable, (pointer, left, Literal(storage_class::Function), no));
    out.name(left, "vkabort_left");
    let result = (!is_void).then(|| out.fresh());
    let returned = result.map(|variable| (variable, function.result_type));
    let passed = crossing.values.values().flatten();
    let passed = passed.map(|passed| (passed.variable, index.type_of(passed.value)));
    for (variable, ty) in returned.into_iter().chain(passed) {
        let kept = words.kept_type(index, out, ty).unwrap_or(ty);
        let pointer = out.pointer(storage_class::Function, kept);
        out.op(op::Variable, (pointer, variable, Literal(storage_class::Function)));
    }
    out.place(|code| wrapper.edits.insert(first.offset + 2, code));
    let word = wrapper.load_aborted();
    let start = index.after_variables(function).unwrap_or(first.offset + 2);
    wrapper.out.place(|code| wrapper.edits.insert(start, code));

    let sections = sections(division, &mut wrapper.out);
    let mut writer = Writer {
        division,
        wrapper,
        crossing: &crossing,
        word,
        left,
        result,
        counts: ends.map(|ends| ends.movable(division)).unwrap_or_default(),
    };
    writer.remove_counts();
    for (number, node) in division.borders.iter().enumerate() {
        let before = number.checked_sub(1);
        if let Some((before, section)) = before.and_then(|before| Some((before, sections.get(before)?))) {
            writer.end(before, section);
        }
        writer.begin(*node, sections.get(number));
    }
    writer.write_exits(&sections);
    let bodies = sections.iter().map(|section| section.body);
    let labels = bodies.chain(sections.last().map(|section| section.go));
    let labels = division.borders.iter().copied().zip(labels).collect();
    crossing.apply(division, &labels, wrapper.edits);
    Ok(())
}

fn sections(division: &Division<'_, '_>, out: &mut Emitter) -> Vec<Section> {
    let new = |_| {
        let [header, body, again, end, out, go] = [(); 6].map(|()| out.fresh());
        Section {
            header,
            body,
            again,
            end,
            out,
            go,
        }
    };
    (0..division.count()).map(new).collect()
}

impl Writer<'_, '_, '_, '_> {
    /// Ends a section behind the phis of a border.
    fn end(&mut self, number: usize, section: &Section) {
        let index = self.division.index;
        let passed = self.crossing.values.get(&number).map_or(&[][..], Vec::as_slice);
        let out = &mut self.wrapper.out;
        for CarriedValue { value, variable, .. } in passed {
            let kept = self.wrapper.words.keep(index, out, index.type_of(*value), *value);
            out.op(op::Store, (*variable, kept));
        }
        out.branch(section.again);
        out.label(section.again);
        let never = self.wrapper.never(self.word);
        let out = &mut self.wrapper.out;
        out.op(op::BranchConditional, (never, section.header, section.end));
        out.label(section.end);
        let bool = out.bool();
        let left = out.emit(op::Load, bool, self.left);
        out.branch_if(left, section.out, section.go, section.go);
        out.label(section.out);
        if let Some(count) = self.counts.get(number).and_then(|counts| counts.first()) {
            out.emit(op::FunctionCall, count.result_type(), count.callee());
        }
        match self.result {
            Some(result) => {
                let ty = self.division.function.result_type;
                let value = out.fresh();
                self.wrapper.words.load(index, out, ty, (result, value));
                out.op(op::ReturnValue, value);
            }
            None => out.op(op::Return, ()),
        }
        out.label(section.go);
        for CarriedValue {
            value,
            variable,
            loaded,
        } in passed
        {
            let ty = index.type_of(*value);
            self.wrapper.words.load(index, out, ty, (*variable, *loaded));
        }
    }

    fn remove_counts(&mut self) {
        for count in self.counts.iter().flatten() {
            self.wrapper.edits.remove_inst(count);
        }
    }

    /// Makes the blocks that return from a section go to its end.
    fn write_exits(&mut self, sections: &[Section]) {
        let index = self.division.index;
        let out = &mut self.wrapper.out;
        for (position, block) in index.blocks_of(self.division.function).iter().enumerate() {
            let node = Node::from_usize(position);
            let section = self
                .division
                .section(node)
                .filter(|_| self.division.exits.contains(&node));
            let Some(section) = section.and_then(|number| sections.get(number)) else {
                continue;
            };
            if let (Some(result), Some(value)) = (self.result, self.crossing.returned.get(&node)) {
                let ty = self.division.function.result_type;
                let kept = self.wrapper.words.keep(index, out, ty, *value);
                out.op(op::Store, (result, kept));
            }
            let bool = out.bool();
            let yes = out.value(op::ConstantTrue, bool, ());
            out.op(op::Store, (self.left, yes));
            out.branch(section.end);
            let end = index.terminator(block);
            out.place(|code| self.wrapper.edits.replace_inst(&end, code));
        }
    }

    /// Begins a section behind the phis of a border, if one is left.
    fn begin(&mut self, border: Node, section: Option<&Section>) {
        let (index, function) = (self.division.index, self.division.function);
        let Some(block) = index.blocks_of(function).get(border.to_usize()) else {
            return;
        };
        let breaks = section.is_some() && self.wrapper.breaks_at_starts;
        let never = breaks.then(|| self.wrapper.never(self.word));
        let out = &mut self.wrapper.out;
        if let Some(section) = section {
            out.branch(section.header);
            out.label(section.header);
            out.op(op::LoopMerge, (section.end, section.again, Literal(0)));
            match never {
                Some(never) => out.op(op::BranchConditional, (never, section.end, section.body)),
                None => out.branch(section.body),
            }
            out.label(section.body);
        }
        let is_first = border == Node::default();
        let phis = index.body(block).filter(|inst| inst.opcode() == op::Phi);
        let start = phis.last().map_or(block.offset + 2, |inst| inst.end());
        let start = index.after_variables(function).filter(|_| is_first).unwrap_or(start);
        out.write_position(&index.position(block, start));
        out.place(|code| self.wrapper.edits.insert(start, code));
    }
}
