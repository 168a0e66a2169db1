//! Recordings: the actions of a command buffer, which draw, dispatch or trace, and the state that they depend on, as a stream of words.
//!
//! A step is a word with its kind in the low 8 bits and the number of words behind it in the others, and these words. An action of
//! three arguments takes 16 bytes. `report::gather::replay` replays the stream.

use super::action::{ACTIONS, Action, ActionNumber, halves, whole};
use crate::device::features::markers::Slot;
use ash::vk::{self, Handle as _};
use std::sync::Arc;

const BIND_PIPELINE: u8 = 0xf0;
const BIND_SHADER: u8 = 0xf1;
const BEGIN_LABEL: u8 = 0xf2;
const INSERT_LABEL: u8 = 0xf3;
const END_LABEL: u8 = 0xf4;
const AREA: u8 = 0xf5;
const EXECUTE: u8 = 0xf6;
const _: () = assert!(ACTIONS.len() < BIND_PIPELINE as usize);

/// A step of a recording.
#[derive(Debug)]
pub enum Step<'a> {
    /// An action, and the words of its arguments.
    Action(&'static Action, &'a [u32]),
    /// A pipeline is bound.
    BindPipeline(vk::PipelineBindPoint, u64),
    /// A shader object is bound to a stage.
    BindShader(vk::ShaderStageFlags, u64),
    /// A label begins.
    BeginLabel(&'a str),
    /// A label is inserted.
    InsertLabel(&'a str),
    /// A label ends.
    EndLabel,
    /// A render pass begins, with the offset and the extent of its area.
    Area([i32; 2], [u32; 2]),
    /// Secondary command buffers are executed.
    Execute(&'a [Arc<Recording>]),
}

/// The commands of a command buffer since it was begun.
#[derive(Debug, Default)]
pub struct Recording {
    /// The command buffer.
    pub buffer: vk::CommandBuffer,
    words: Vec<u32>,
    /// The labels, one after the other.
    labels: String,
    secondaries: Vec<Arc<Self>>,
    /// Number of its actions.
    pub actions: u32,
    /// The place of the markers of its actions.
    pub slot: Option<Slot>,
}

impl Recording {
    /// Forgets the commands. Keeps the memory for those to come.
    pub fn clear(&mut self) {
        self.words.clear();
        self.labels.clear();
        self.secondaries.clear();
        self.actions = 0;
    }

    /// Bytes that it takes.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        self.words.capacity() * size_of::<u32>() + self.labels.capacity()
    }

    fn step(&mut self, kind: u8, words: &[u32]) {
        self.words.reserve(words.len() + 1);
        self.words.push(u32::from(kind) | (words.len() as u32) << 8);
        self.words.extend_from_slice(words);
    }

    /// Adds an action, whose arguments `push` adds.
    #[inline]
    pub fn action(&mut self, number: ActionNumber, push: impl FnOnce(&mut Vec<u32>)) {
        let at = self.words.len();
        self.actions = self.actions.saturating_add(1);
        self.words.push(number as u32);
        push(&mut self.words);
        let count = self.words.len() - at - 1;
        if let Some(first) = self.words.get_mut(at) {
            *first |= (count as u32) << 8;
        }
    }

    /// Adds `vkCmdBindPipeline`.
    pub fn bind_pipeline(&mut self, point: vk::PipelineBindPoint, pipeline: vk::Pipeline) {
        let [low, high] = halves(pipeline.as_raw());
        self.step(BIND_PIPELINE, &[point.as_raw() as u32, low, high]);
    }

    /// Adds a stage of `vkCmdBindShadersEXT`.
    pub fn bind_shader(&mut self, stage: vk::ShaderStageFlags, shader: vk::ShaderEXT) {
        let [low, high] = halves(shader.as_raw());
        self.step(BIND_SHADER, &[stage.as_raw(), low, high]);
    }

    /// Adds `vkCmdBeginDebugUtilsLabelEXT`.
    pub fn begin_label(&mut self, name: &str) {
        self.label(BEGIN_LABEL, name);
    }

    /// Adds `vkCmdInsertDebugUtilsLabelEXT`.
    pub fn insert_label(&mut self, name: &str) {
        self.label(INSERT_LABEL, name);
    }

    fn label(&mut self, kind: u8, name: &str) {
        let begin = self.labels.len() as u32;
        self.labels.push_str(name);
        self.step(kind, &[begin, self.labels.len() as u32]);
    }

    /// Adds `vkCmdEndDebugUtilsLabelEXT`.
    pub fn end_label(&mut self) {
        self.step(END_LABEL, &[]);
    }

    /// Adds the begin of a render pass.
    pub fn begin_rendering(&mut self, area: vk::Rect2D) {
        let (offset, extent) = (area.offset, area.extent);
        self.step(AREA, &[offset.x as u32, offset.y as u32, extent.width, extent.height]);
    }

    /// Adds `vkCmdExecuteCommands`.
    pub fn execute(&mut self, secondaries: impl Iterator<Item = Arc<Self>>) {
        let begin = self.secondaries.len() as u32;
        self.secondaries.extend(secondaries);
        self.step(EXECUTE, &[begin, self.secondaries.len() as u32]);
    }

    /// Calls `each` with this and the secondary command buffers that it executes, in any order.
    pub fn for_each(&self, mut each: impl FnMut(&Self)) {
        let mut stack = vec![self];
        while let Some(recording) = stack.pop() {
            each(recording);
            stack.extend(recording.secondaries.iter().map(|secondary| &**secondary));
        }
    }

    fn text(&self, begin: u32, end: u32) -> &str {
        self.labels.get(begin as usize..end as usize).unwrap_or_default()
    }

    /// The step at a position in the words, and the position of the next.
    pub fn step_at(&self, position: usize) -> Option<(Step<'_>, usize)> {
        let first = *self.words.get(position)?;
        let next = position + 1 + (first >> 8) as usize;
        let words = self.words.get(position + 1..next)?;
        let step = match (first as u8, words) {
            (BIND_PIPELINE, &[point, low, high]) => {
                Step::BindPipeline(vk::PipelineBindPoint::from_raw(point as i32), whole(low, high))
            }
            (BIND_SHADER, &[stage, low, high]) => {
                Step::BindShader(vk::ShaderStageFlags::from_raw(stage), whole(low, high))
            }
            (BEGIN_LABEL, &[begin, end]) => Step::BeginLabel(self.text(begin, end)),
            (INSERT_LABEL, &[begin, end]) => Step::InsertLabel(self.text(begin, end)),
            (END_LABEL, []) => Step::EndLabel,
            (AREA, &[x, y, width, height]) => Step::Area([x as i32, y as i32], [width, height]),
            (EXECUTE, &[begin, end]) => Step::Execute(self.secondaries.get(begin as usize..end as usize)?),
            (action, words) => Step::Action(ACTIONS.get(usize::from(action))?, words),
        };
        Some((step, next))
    }
}

#[cfg(test)]
mod tests {
    use super::super::action::Argument as _;
    use super::*;

    #[test]
    fn a_step_reads_back_as_it_was_recorded() {
        let mut recording = Recording::default();
        recording.begin_label("shadows");
        recording.bind_pipeline(vk::PipelineBindPoint::COMPUTE, vk::Pipeline::from_raw(7 << 40));
        recording.action(ActionNumber::vkCmdDrawIndexed, |words| {
            words.extend([3, 1, 0]);
            (-5i32).push(words);
            2u32.push(words);
        });
        recording.action(ActionNumber::vkCmdDrawIndirect, |words| {
            vk::Buffer::null().push(words);
            (1u64 << 33).push(words);
            words.extend([4, 16]);
        });
        recording.end_label();
        let mut position = 0;
        let mut texts = Vec::new();
        while let Some((step, next)) = recording.step_at(position) {
            texts.push(match step {
                Step::Action(action, words) => format!("{} {:?}", action.name, action.arguments(words).0),
                other => format!("{other:?}"),
            });
            position = next;
        }
        let drawn = r#"[("index_count", 3), ("instance_count", 1), ("first_index", 0), ("vertex_offset", -5), ("first_instance", 2)]"#;
        let indirect = r#"[("offset", 8589934592), ("draw_count", 4), ("stride", 16)]"#;
        assert_eq!(
            texts,
            [
                "BeginLabel(\"shadows\")".to_owned(),
                format!("BindPipeline(COMPUTE, {})", 7u64 << 40),
                format!("vkCmdDrawIndexed {drawn}"),
                format!("vkCmdDrawIndirect {indirect}"),
                "EndLabel".to_owned(),
            ]
        );
    }

    #[test]
    fn a_recording_that_is_repeated_does_not_grow() {
        let mut recording = Recording::default();
        let mut sizes = Vec::new();
        let rounds = if cfg!(miri) { 20 } else { 10_000 };
        for _ in 0..rounds {
            recording.clear();
            for _ in 0..10 {
                recording.begin_label("pass");
                recording.action(ActionNumber::vkCmdDispatch, |words| words.extend([1, 2, 3]));
                recording.end_label();
            }
            sizes.push(recording.bytes());
        }
        assert!(
            sizes.iter().all(|size| *size == sizes[0]) && sizes[0] < 1024,
            "{sizes:?}"
        );
    }
}
