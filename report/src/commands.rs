//! The commands of pending work that can have run an invocation: the candidates for "which draw was it".
//!
//! A command is a candidate if its pipeline or shader objects run the code of the record in its stage with its specialisation, and
//! if its arguments admit the invocation. Arguments that are not known, as those in buffers, admit every invocation.

use serde::{Deserialize, Serialize};
use std::sync::Arc;
use vkabort_record::invocation::Invocation;

/// Commands that are written out; the others are counted.
const SHOWN_COMMANDS: usize = 3;

/// A command that draws, dispatches or traces, in a command buffer that was pending.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PendingCommand {
    /// Its name.
    pub name: &'static str,
    /// Its arguments that are numbers, by the names of parameters in snake case.
    pub arguments: Vec<(&'static str, i64)>,
    /// It has parameters that are not numbers, such as buffers.
    pub has_other_arguments: bool,
    /// First vertex or index and count of each draw of a multi-draw command.
    pub draws: Vec<[u32; 2]>,
    /// The render area: offset and extent.
    pub area: Option<([i32; 2], [u32; 2])>,
    /// Execution models and specialisation keys in which its pipeline or shader objects run the module.
    pub stages: Arc<[(u32, u32)]>,
    /// Position among the commands of its command buffer that draw, dispatch or trace, from 1.
    pub number: u64,
    /// Where it was recorded.
    pub place: Arc<CommandPlace>,
}

/// A place in command buffers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandPlace {
    /// Debug-utils names of the command buffer and, before it, of those that execute it; empty where it has none.
    pub command_buffers: Vec<String>,
    /// Debug-utils labels that are open, outermost first.
    pub labels: Vec<String>,
}

/// A command that can have run an invocation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandReport {
    /// Its name.
    pub command: String,
    /// Its arguments that are numbers.
    pub arguments: Vec<ArgumentReport>,
    /// It has arguments that are not numbers, such as buffers.
    pub has_other_arguments: bool,
    /// Position among the commands of its command buffer that draw, dispatch or trace, from 1.
    pub number: u64,
    /// Debug-utils names of the command buffer and, before it, of those that execute it; empty where it has none.
    pub command_buffers: Vec<String>,
    /// Debug-utils labels that are open at the command, outermost first.
    pub labels: Vec<String>,
}

/// An argument of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArgumentReport {
    /// Name of the parameter.
    pub name: String,
    /// Its value.
    pub value: i64,
}

/// How far a queue came before the driver lost the device: between the end of one command and that of another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueProgress {
    /// Name of the queue, or its family and index.
    pub queue: String,
    /// The last command that had ended, if one is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<CommandReport>,
    /// The last command that had begun. Those between the two may have ended.
    pub begun: CommandReport,
}

impl PendingCommand {
    fn argument(&self, name: &str) -> Option<i64> {
        self.arguments
            .iter()
            .find(|(other, _)| *other == name)
            .map(|(_, value)| *value)
    }

    /// Whether it runs the module in a stage of this execution model, with a specialisation if its `key` is known.
    fn runs(&self, execution_model: u32, key: Option<u32>) -> bool {
        let fits = |(model, of_stage): &(u32, u32)| *model == execution_model && key.is_none_or(|key| key == *of_stage);
        self.stages.iter().any(fits)
    }

    /// Whether its arguments admit an invocation.
    fn admits(&self, invocation: Option<&Invocation>) -> bool {
        const COUNTS: [&str; 12] = [
            "vertex_count",
            "index_count",
            "instance_count",
            "draw_count",
            "max_draw_count",
            "task_count",
            "group_count_x",
            "group_count_y",
            "group_count_z",
            "width",
            "height",
            "depth",
        ];
        if COUNTS.iter().any(|name| self.argument(name) == Some(0)) {
            return false;
        }
        match invocation {
            Some(Invocation::Global {
                workgroup: Some(workgroup),
                ..
            }) => self.admits_workgroup(workgroup.map(i64::from)),
            Some(Invocation::Vertex { vertex, instance }) => self.admits_vertex(*vertex, *instance),
            Some(Invocation::Fragment { pixel }) => self.area.is_none_or(|(offset, extent)| {
                let axes = offset.into_iter().zip(extent).zip(pixel);
                axes.into_iter()
                    .all(|((offset, extent), at)| is_within(i64::from(*at), offset.into(), extent.into()))
            }),
            Some(Invocation::Primitive { primitive, .. }) => {
                let counts = ["vertex_count", "index_count"].map(|name| self.argument(name));
                let longest = self.draws.iter().map(|[_, count]| i64::from(*count)).max();
                let count = counts.into_iter().flatten().next().or(longest);
                count.is_none_or(|count| i64::from(*primitive) < count)
            }
            Some(Invocation::Launch { id }) => {
                let mut axes = ["width", "height", "depth"].into_iter().zip(id);
                axes.all(|(name, id)| self.argument(name).is_none_or(|size| i64::from(*id) < size))
            }
            Some(Invocation::Global { .. } | Invocation::Unknown { .. }) | None => true,
        }
    }

    /// The workgroups of mesh shaders behind task shaders are not those of the command, so only dispatches and tasks are asked.
    fn admits_workgroup(&self, workgroup: [i64; 3]) -> bool {
        if let (Some(first), Some(count)) = (self.argument("first_task"), self.argument("task_count")) {
            return is_within(workgroup[0], first, count);
        }
        let axes = [
            ("base_group_x", "group_count_x"),
            ("base_group_y", "group_count_y"),
            ("base_group_z", "group_count_z"),
        ];
        axes.into_iter().zip(workgroup).all(|((base, count), at)| {
            let count = self.argument(count);
            count.is_none_or(|count| is_within(at, self.argument(base).unwrap_or(0), count))
        })
    }

    fn admits_vertex(&self, vertex: u32, instance: u32) -> bool {
        let (vertex, instance) = (i64::from(vertex), i64::from(instance));
        let instances = self.argument("first_instance").zip(self.argument("instance_count"));
        if instances.is_some_and(|(first, count)| !is_within(instance, first, count)) {
            return false;
        }
        match (self.argument("first_vertex"), self.argument("vertex_count")) {
            (Some(first), Some(count)) => return is_within(vertex, first, count),
            _ if self.name == "vkCmdDrawMultiEXT" && !self.draws.is_empty() => {
                let mut draws = self.draws.iter();
                return draws.any(|[first, count]| is_within(vertex, (*first).into(), (*count).into()));
            }
            _ => {}
        }
        // Indices are not known, but none is negative. `VertexIndex` is signed.
        let offset = self.argument("vertex_offset");
        offset.is_none_or(|offset| i64::from(vertex as i32) >= offset)
    }

    /// The command, for a report.
    pub fn report(&self) -> CommandReport {
        let arguments = self.arguments.iter().map(|(name, value)| ArgumentReport {
            name: camel_case(name),
            value: *value,
        });
        CommandReport {
            command: self.name.to_owned(),
            arguments: arguments.collect(),
            has_other_arguments: self.has_other_arguments,
            number: self.number,
            command_buffers: self.place.command_buffers.clone(),
            labels: self.place.labels.clone(),
        }
    }
}

fn is_within(at: i64, first: i64, count: i64) -> bool {
    (first..first.saturating_add(count)).contains(&at)
}

/// `firstVertex` of `first_vertex`.
fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let (initial, rest) = word.split_at(word.len().min(1));
        name + &initial.to_ascii_uppercase() + rest
    })
}

/// The parts that all lists begin with.
fn common_prefix<'a>(mut lists: impl Iterator<Item = &'a [String]>) -> Vec<String> {
    let first = lists.next().unwrap_or_default();
    lists
        .fold(first, |common, list| {
            let length = common.iter().zip(list).take_while(|(a, b)| a == b).count();
            common.get(..length).unwrap_or_default()
        })
        .to_vec()
}

/// The commands that can have run an invocation.
pub(crate) struct Candidates {
    /// The first of them.
    pub(crate) commands: Vec<CommandReport>,
    /// Number of all.
    pub(crate) count: u64,
    /// The labels that all have.
    pub(crate) labels: Vec<String>,
}

/// The commands that can have run an invocation of one of these execution models. `key`: of its specialisation.
pub(crate) fn candidates(
    pending: &[PendingCommand],
    models: &[u32],
    key: Option<u32>,
    invocation: Option<&Invocation>,
) -> Candidates {
    // A mesh shader may run behind a task shader, which chooses its workgroups.
    let invocation = invocation.filter(|_| !models.iter().any(|model| is_mesh(*model)));
    let runs = |command: &&PendingCommand| models.iter().any(|model| command.runs(*model, key));
    let admits = |command: &&PendingCommand| command.admits(invocation);
    let found: Vec<&PendingCommand> = pending.iter().filter(runs).filter(admits).collect();
    let shown = found.iter().take(SHOWN_COMMANDS);
    Candidates {
        labels: common_prefix(found.iter().map(|command| command.place.labels.as_slice())),
        count: found.len() as u64,
        commands: shown.map(|command| command.report()).collect(),
    }
}

fn is_mesh(execution_model: u32) -> bool {
    matches!(execution_model, 5268 | 5365)
}

#[cfg(test)]
#[path = "commands_tests.rs"]
mod tests;
