//! Source positions of loops, and the text with which a message names those around one.

use super::planter::Planter;
use vkabort_analysis::loop_nest::Loop;
use vkabort_record::site::Location;
use vkabort_spirv::Inst;
use vkabort_spirv::index::debug::Position;
use vkabort_spirv::index::typed::BlockIndex;

/// The loops around a loop, and the loop itself if it has no position in the source.
pub(super) fn describe_around(
    planter: &mut Planter<'_, '_, '_>,
    guarded: &Inst<'_>,
    position: &Position<'_>,
    around: &[&Loop],
) -> String {
    let mut text = String::new();
    let own = planter.location(position);
    if own.is_none() {
        text = format!(" (OpLoopMerge {} {})", guarded.merge_block(), guarded.continue_target());
    }
    let names: Vec<String> = around.iter().map(|l| name(planter, l)).collect();
    if !names.is_empty() {
        text += &format!(", inside {}", names.join(" inside "));
    }
    text
}

fn name(planter: &mut Planter<'_, '_, '_>, l: &Loop) -> String {
    let position = position_of(planter, l);
    match planter.location(&position) {
        Some(at) => format!("the loop at {}:{}", at.file, at.line),
        None => format!("the loop {}", planter.label(l.header)),
    }
}

/// The position in the source of a loop: that of its header, else of the statement in front of it if that is the loop, as Slang
/// describes it, else of its first block that has one.
pub(super) fn position_of<'w>(planter: &mut Planter<'_, '_, 'w>, l: &Loop) -> Position<'w> {
    let index = planter.index;
    let of_block = |number: BlockIndex| {
        let block = index.blocks.get(number)?;
        let position = index.position(block, block.before_end());
        position.has_line().then_some(position)
    };
    if let Some(position) = of_block(l.header) {
        return position;
    }
    let blocks = planter.function.blocks;
    let before = blocks
        .offset_of(l.header)
        .and_then(|offset| blocks.at(offset.checked_sub(1)?));
    let header = index.blocks.get(l.header).map(|header| header.label);
    let enters = |number: &BlockIndex| {
        let block = index.blocks.get(*number);
        header
            .zip(block)
            .is_some_and(|(header, block)| index.successors(block).contains(&header))
    };
    if let Some(position) = before.filter(enters).and_then(of_block)
        && planter.location(&position).is_some_and(|location| is_loop(&location))
    {
        return position;
    }
    l.blocks.iter().find_map(|number| of_block(*number)).unwrap_or_default()
}

/// Whether a statement that begins with the keyword of a loop is at a location.
fn is_loop(location: &Location) -> bool {
    let before = (location.column as usize).checked_sub(1);
    let mut rest = location
        .source
        .iter()
        .zip(before)
        .map(|(source, before)| source.chars().skip(before).collect::<String>());
    rest.any(|rest| {
        let word = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next();
        matches!(word, Some("for" | "while" | "do"))
    })
}
