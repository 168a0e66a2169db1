//! Frames of call chains: functions with source positions, inlined ones included.

use crate::callgraph::CallGraph;
use vkabort_record::site::Frame;
use vkabort_spirv::Id;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::debug::{InlinedFunction, Position};
use vkabort_spirv::index::names::Names;
use vkabort_spirv::index::source_text::Texts;
use vkabort_spirv::index::typed::FunctionIndex;

/// Most frames of a call chain.
pub const MAX_FRAMES: usize = 64;

/// The frames of a position in a function, innermost first: functions inlined there, then the function itself.
pub fn collect_frames(
    index: &Index<'_>,
    names: &Names,
    function: Id,
    position: &Position<'_>,
    texts: &mut Texts,
) -> Vec<Frame> {
    let chain = index.inlined(position, texts);
    let last = chain.len().saturating_sub(1);
    let frame = |(at, inlined): (usize, InlinedFunction)| Frame {
        function: match inlined.function {
            // `OpName` is right even where the debug information is wrong.
            _ if at == last => names.function(index, function),
            Some(name) => name,
            None => "(inlined)".to_owned(),
        },
        location: inlined.location,
    };
    chain.into_iter().enumerate().map(frame).collect()
}

/// The frames of a shortest call chain from an entry point to a function, innermost first, without the function itself.
pub fn collect_callers(
    index: &Index<'_>,
    graph: &CallGraph,
    names: &Names,
    function: FunctionIndex,
    texts: &mut Texts,
) -> Vec<Frame> {
    let mut frames = Vec::new();
    let mut at = function;
    while let Some(call) = graph.reach.get(at).and_then(|r| r.via).and_then(|c| index.calls.get(c)) {
        if frames.len() >= MAX_FRAMES {
            break;
        }
        let block = index.blocks.get(call.block);
        let position = block.map_or_else(Position::default, |block| index.position(block, call.offset));
        let caller = index.functions.get(call.caller).map_or(Id::NONE, |f| f.id);
        frames.extend(collect_frames(index, names, caller, &position, texts));
        at = call.caller;
    }
    frames.shrink_to_fit();
    frames
}
