//! The commands of pending work that can have run an invocation: the candidates for "which draw was it".
//!
//! A command is a candidate if its pipeline or shader objects run the code of the record in its stage with its specialisation, and
//! if its arguments admit the invocation. Arguments that are not known, as those in buffers, admit every invocation.

use crate::invocation::Invocation;
use crate::report::phrases::list;
use crate::report::rows::Lines;
use crate::report::site_report::SiteReport;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

    fn report(&self) -> CommandReport {
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

impl SiteReport {
    /// Adds the commands that can have run an invocation of one of these execution models. `key`: of its specialisation.
    pub(crate) fn add_commands(
        &mut self,
        pending: &[PendingCommand],
        models: &[u32],
        key: Option<u32>,
        invocation: Option<&Invocation>,
    ) {
        let candidates: Vec<&PendingCommand> = pending
            .iter()
            .filter(|command| models.iter().any(|model| command.runs(*model, key)))
            // A mesh shader may run behind a task shader, which chooses its workgroups.
            .filter(|command| command.admits(invocation.filter(|_| !models.iter().any(|model| is_mesh(*model)))))
            .collect();
        self.labels = common_prefix(candidates.iter().map(|command| command.place.labels.as_slice()));
        self.command_count = candidates.len() as u64;
        self.commands = candidates
            .iter()
            .take(SHOWN_COMMANDS)
            .map(|command| command.report())
            .collect();
    }
}

fn is_mesh(execution_model: u32) -> bool {
    matches!(execution_model, 5268 | 5365)
}

/// `command: vkCmdDispatch(8, 8, 1), the 12th of command buffer "frame"`; a line for each if there are several.
pub(crate) fn commands(site: &SiteReport) -> Option<Lines> {
    match site.commands.as_slice() {
        [] => None,
        [only] if site.command_count <= 1 => Some(format!("command: {}", phrase(only)).into()),
        several => {
            let mut lines = vec![format!("one of {} commands:", site.command_count)];
            lines.extend(several.iter().map(|command| {
                let own = command.labels.get(site.labels.len()..).unwrap_or_default();
                match own {
                    [] => phrase(command),
                    own => format!("{} (labels: {})", phrase(command), own.join(" > ")),
                }
            }));
            let more = site.command_count.saturating_sub(several.len() as u64);
            lines.extend((more > 0).then(|| format!("... {more} more")));
            Some(Lines(lines))
        }
    }
}

/// `labels: shadows > cull`.
pub(crate) fn labels(site: &SiteReport) -> Option<String> {
    (!site.labels.is_empty()).then(|| format!("labels: {}", site.labels.join(" > ")))
}

/// `vkCmdDispatch(8, 8, 1), the 12th of command buffer "frame"`.
fn phrase(command: &CommandReport) -> String {
    let arguments: Vec<String> = command
        .arguments
        .iter()
        .map(|argument| match command.has_other_arguments {
            true => format!("{} {}", argument.name, argument.value),
            false => argument.value.to_string(),
        })
        .collect();
    let named: Vec<String> = command
        .command_buffers
        .iter()
        .rev()
        .map(|name| match name.is_empty() {
            true => "a command buffer without a name".to_owned(),
            false => list("command buffer", std::slice::from_ref(name)).unwrap_or_default(),
        })
        .collect();
    let (name, arguments, number) = (&command.command, arguments.join(", "), ordinal(command.number));
    match named.is_empty() {
        true => format!("{name}({arguments}), the {number} of its command buffer"),
        false => format!("{name}({arguments}), the {number} of {}", named.join(" in ")),
    }
}

/// `1st`, `2nd`, `11th`.
fn ordinal(number: u64) -> String {
    let suffix = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{suffix}")
}

#[cfg(test)]
#[path = "commands_tests.rs"]
mod tests;
