//! What a command buffer records: its actions, which draw, dispatch or trace, and the state that they depend on, as a stream of words.
//!
//! A step is a word with its kind in the low 8 bits and the number of words behind it in the others, and these words. An action of
//! three arguments takes 16 bytes. `report::commands` replays the stream.

use crate::loader::recorded::recorded;
use ash::vk::{self, Handle as _};
use std::ffi::c_void;
use std::sync::Arc;

const BIND_PIPELINE: u8 = 0xf0;
const BIND_SHADER: u8 = 0xf1;
const BEGIN_LABEL: u8 = 0xf2;
const INSERT_LABEL: u8 = 0xf3;
const END_LABEL: u8 = 0xf4;
const AREA: u8 = 0xf5;
const EXECUTE: u8 = 0xf6;

/// Draws of a multi-draw command whose vertices are kept, so that the length of a step fits. `maxMultiDrawCount` is far lower.
const MAX_DRAWS: u32 = 1 << 22;

/// The pipelines that an action runs, by bind point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Graphics.
    Graphics,
    /// Compute.
    Compute,
    /// Ray tracing.
    RayTracing,
    /// `VK_PIPELINE_BIND_POINT_SUBPASS_SHADING_HUAWEI`.
    SubpassShading,
    /// `VK_PIPELINE_BIND_POINT_EXECUTION_GRAPH_AMDX`.
    Graph,
    /// Any: the command may bind others.
    Any,
}

/// How an argument is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// A word.
    Unsigned,
    /// A word.
    Signed,
    /// Two words.
    Wide,
    /// Not a number: it is not kept.
    None,
}

/// An argument of an action.
pub trait Argument {
    /// How it is kept.
    const NUMBER: Number;

    /// Adds its words.
    fn push(self, words: &mut Vec<u32>);
}

impl Argument for u32 {
    const NUMBER: Number = Number::Unsigned;

    fn push(self, words: &mut Vec<u32>) {
        words.push(self);
    }
}

impl Argument for i32 {
    const NUMBER: Number = Number::Signed;

    fn push(self, words: &mut Vec<u32>) {
        words.push(self as u32);
    }
}

impl Argument for u64 {
    const NUMBER: Number = Number::Wide;

    fn push(self, words: &mut Vec<u32>) {
        words.extend(halves(self));
    }
}

impl Argument for vk::Buffer {
    const NUMBER: Number = Number::None;

    fn push(self, _: &mut Vec<u32>) {}
}

impl<T> Argument for *const T {
    const NUMBER: Number = Number::None;

    fn push(self, _: &mut Vec<u32>) {}
}

fn halves(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

fn whole(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// A command that draws, dispatches or traces.
#[derive(Debug)]
pub struct Action {
    /// Its name.
    pub name: &'static str,
    /// The pipelines that it runs.
    pub bound: Bound,
    /// Its parameters.
    pub parameters: &'static [(&'static str, Number)],
    /// It has a list of draws.
    pub has_draws: bool,
}

type Region = *const vk::StridedDeviceAddressRegionKHR;

macro_rules! actions {
    (
        actions {
            $($action:ident $(| $alias:ident)*: $pfn:ty => ($bound:ident $(, $draws:expr)?)
                ($($parameter:ident: $type:ty),*);)*
        }
        states $states:tt
    ) => {
        /// The actions by number.
        pub static ACTIONS: &[Action] = &[$(Action {
            name: stringify!($action),
            bound: Bound::$bound,
            parameters: &[$((stringify!($parameter), <$type as Argument>::NUMBER)),*],
            has_draws: [$(stringify!($draws),)? ""].len() > 1,
        }),*];

        /// The numbers of actions.
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy)]
        #[repr(u8)]
        pub enum ActionNumber { $($action),* }
    };
}
recorded!(actions);

const _: () = assert!(ACTIONS.len() < BIND_PIPELINE as usize);

impl Action {
    /// The arguments that are numbers, and the draws, from the words of a step.
    pub fn arguments(&self, words: &[u32]) -> (Vec<(&'static str, i64)>, Vec<[u32; 2]>) {
        let mut words = words.iter().copied();
        let mut arguments = Vec::with_capacity(self.parameters.len());
        for (name, number) in self.parameters {
            let mut next = || words.next().unwrap_or_default();
            let value = match number {
                Number::Unsigned => i64::from(next()),
                Number::Signed => i64::from(next() as i32),
                Number::Wide => whole(next(), next()) as i64,
                Number::None => continue,
            };
            arguments.push((*name, value));
        }
        let rest: Vec<u32> = words.collect();
        let draws = rest.chunks_exact(2).map(|draw| [draw[0], draw[1]]);
        (arguments, draws.filter(|_| self.has_draws).collect())
    }
}

/// The draws of a multi-draw command, which begin with the first vertex or index and the count.
///
/// # Safety
/// `infos` must point to `count` structures, `stride` bytes apart.
pub unsafe fn draws(
    count: u32,
    infos: *const vk::MultiDrawInfoEXT,
    stride: u32,
) -> impl Iterator<Item = [u32; 2]> + Clone {
    let kept = if count > MAX_DRAWS || infos.is_null() {
        0
    } else {
        count as usize
    };
    (0..kept).map(move |index| {
        // SAFETY: there are as many structures, which begin with these members (the caller's contract).
        let draw = unsafe { infos.byte_add(index * stride as usize).read_unaligned() };
        [draw.first_vertex, draw.vertex_count]
    })
}

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

/// What a command buffer has recorded since it was begun.
#[derive(Debug, Default)]
pub struct Recording {
    /// The command buffer.
    pub buffer: vk::CommandBuffer,
    words: Vec<u32>,
    /// The labels, one after the other.
    labels: String,
    secondaries: Vec<Arc<Self>>,
}

impl Recording {
    /// Forgets the commands. Keeps the memory for those to come.
    pub fn clear(&mut self) {
        self.words.clear();
        self.labels.clear();
        self.secondaries.clear();
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
    fn the_draws_of_a_multi_draw_are_read_by_their_stride() {
        let infos = [[0u32, 3, 0], [30, 6, 0]];
        // SAFETY: two structures of 12 bytes each.
        let draws = unsafe { draws(2, infos.as_ptr().cast(), 12) };
        assert!(draws.eq([[0, 3], [30, 6]]));
        let multi = ACTIONS
            .iter()
            .find(|action| action.name == "vkCmdDrawMultiEXT")
            .expect("a row");
        let (arguments, draws) = multi.arguments(&[2, 1, 0, 12, 0, 3, 30, 6]);
        assert_eq!(arguments.len(), 4);
        assert_eq!(draws, [[0, 3], [30, 6]]);
    }

    #[test]
    fn a_recording_that_is_repeated_does_not_grow() {
        let mut recording = Recording::default();
        let mut sizes = Vec::new();
        for _ in 0..10_000 {
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
