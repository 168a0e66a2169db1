//! Actions: the commands that draw, dispatch or trace, and how their arguments are kept.

use crate::loader::recorded::recorded;
use ash::vk;
use std::ffi::c_void;

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

/// The form in which an argument is kept.
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
    /// The form in which it is kept.
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

/// The low and the high word of a number.
pub fn halves(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

/// A number from its low and its high word.
pub fn whole(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
