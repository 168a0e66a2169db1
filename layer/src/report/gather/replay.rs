//! Replays what pending command buffers have recorded: the commands that run some code, with their arguments and labels.

use crate::device::features::recordings::Recording;
use crate::device::features::recordings::action::{Action, Bound};
use crate::device::features::recordings::recording::Step;
use crate::device::state::{Objects, Users};
use ash::vk::{Handle as _, ObjectType, PipelineBindPoint as Point, ShaderStageFlags as Stages};
use std::collections::BTreeMap;
use std::sync::Arc;
use vkabort_record::site::CodeHash;
use vkabort_report::{CommandPlace, PendingCommand};

const SUBPASS_SHADING: i32 = 1_000_369_003;
const EXECUTION_GRAPH: i32 = 1_000_134_000;

/// The commands of pending command buffers that run this code, in the order of their recording. O(commands that the device executes).
pub fn pending_commands(objects: &Objects, pending: &[Arc<Recording>], code: CodeHash) -> Vec<PendingCommand> {
    if pending.is_empty() {
        return Vec::new();
    }
    let users = objects.users(code);
    let replayed = pending.iter().flat_map(|recording| replay(objects, recording, &users));
    replayed.map(|(_, command)| command).collect()
}

/// The commands of a command buffer, and of the secondary ones that it executes, each with what recorded it.
pub(super) fn replay<'a>(
    objects: &Objects,
    recording: &'a Recording,
    users: &Users,
) -> Vec<(&'a Recording, PendingCommand)> {
    let mut commands = Vec::new();
    // A command buffer, and those that execute it.
    let mut stack = vec![Replay::new(objects, recording, None)];
    while let Some(replay) = stack.last_mut() {
        match replay.run(users, &mut commands) {
            Some(secondary) => {
                let inner = Replay::new(objects, secondary, Some(replay));
                stack.push(inner);
            }
            None => drop(stack.pop()),
        }
    }
    commands
}

/// A command buffer while it is replayed.
struct Replay<'a> {
    recording: &'a Recording,
    position: usize,
    /// Secondary command buffers to replay before the next step.
    secondaries: &'a [Arc<Recording>],
    /// Actions so far.
    number: u64,
    pipelines: BTreeMap<i32, u64>,
    shaders: BTreeMap<Stages, u64>,
    area: Option<([i32; 2], [u32; 2])>,
    /// Labels that are open, and the names of command buffers.
    place: CommandPlace,
    /// Labels of the command buffer that executes this one.
    outer_labels: usize,
    /// The last label is an inserted one.
    has_inserted: bool,
    /// The place of the last command, unless the labels have changed.
    shared_place: Option<Arc<CommandPlace>>,
}

impl<'a> Replay<'a> {
    fn new(objects: &Objects, recording: &'a Recording, outer: Option<&Self>) -> Self {
        let name = objects.name(ObjectType::COMMAND_BUFFER, recording.buffer.as_raw());
        let mut place = outer.map(|outer| outer.place.clone()).unwrap_or_default();
        place.command_buffers.push(name.unwrap_or_default());
        Self {
            recording,
            position: 0,
            secondaries: &[],
            number: 0,
            pipelines: BTreeMap::new(),
            shaders: BTreeMap::new(),
            area: outer.and_then(|outer| outer.area),
            outer_labels: place.labels.len(),
            place,
            has_inserted: false,
            shared_place: None,
        }
    }

    /// Replays up to the end, or to the next secondary command buffer, which is returned.
    fn run(&mut self, users: &Users, commands: &mut Vec<(&'a Recording, PendingCommand)>) -> Option<&'a Recording> {
        loop {
            if let Some((first, others)) = self.secondaries.split_first() {
                self.secondaries = others;
                return Some(first);
            }
            let (step, next) = self.recording.step_at(self.position)?;
            self.position = next;
            match step {
                Step::Action(action, words) => {
                    self.number += 1;
                    let command = self.action(users, action, words);
                    commands.extend(command.map(|command| (self.recording, command)));
                }
                Step::BindPipeline(point, pipeline) => {
                    self.shaders.retain(|stage, _| point_of(*stage) != point);
                    self.pipelines.insert(point.as_raw(), pipeline);
                }
                Step::BindShader(stage, shader) => {
                    self.pipelines.remove(&point_of(stage).as_raw());
                    self.shaders.insert(stage, shader);
                }
                Step::BeginLabel(name) => self.label(|labels| labels.push(name.to_owned())),
                Step::EndLabel => {
                    let outer = self.outer_labels;
                    // One that another command buffer has begun is not known.
                    self.label(|labels| labels.truncate((labels.len().saturating_sub(1)).max(outer)));
                }
                Step::InsertLabel(name) => {
                    self.label(|labels| labels.push(name.to_owned()));
                    self.has_inserted = true;
                }
                Step::Area(offset, extent) => self.area = Some((offset, extent)),
                Step::Execute(secondaries) => self.secondaries = secondaries,
            }
        }
    }

    /// Changes the labels. An inserted label ends at the next one.
    fn label(&mut self, change: impl FnOnce(&mut Vec<String>)) {
        if std::mem::take(&mut self.has_inserted) {
            self.place.labels.pop();
        }
        change(&mut self.place.labels);
        self.shared_place = None;
    }

    fn action(&mut self, users: &Users, action: &'static Action, words: &[u32]) -> Option<PendingCommand> {
        let stages = self.stages(users, action.bound);
        if stages.is_empty() {
            return None;
        }
        let (arguments, draws) = action.arguments(words);
        let place = self.shared_place.get_or_insert_with(|| Arc::new(self.place.clone()));
        Some(PendingCommand {
            name: action.name,
            has_other_arguments: arguments.len() < action.parameters.len(),
            arguments,
            draws,
            area: self.area.filter(|_| action.bound == Bound::Graphics),
            stages: stages.into(),
            number: self.number,
            place: Arc::clone(place),
        })
    }

    /// The stages in which an action runs the code.
    fn stages(&self, users: &Users, bound: Bound) -> Vec<(u32, u32)> {
        let point = match bound {
            Bound::Graphics => Point::GRAPHICS,
            Bound::Compute => Point::COMPUTE,
            Bound::RayTracing => Point::RAY_TRACING_KHR,
            Bound::SubpassShading => Point::from_raw(SUBPASS_SHADING),
            Bound::Graph => Point::from_raw(EXECUTION_GRAPH),
            Bound::Any => return users.all_stages(),
        };
        let pipeline = self.pipelines.get(&point.as_raw());
        if let Some(pipeline) = pipeline {
            return users.stages_of(ObjectType::PIPELINE, *pipeline).to_vec();
        }
        let shaders = self.shaders.iter().filter(|(stage, _)| point_of(**stage) == point);
        let of_shader = |(_, shader): (_, &u64)| users.stages_of(ObjectType::SHADER_EXT, *shader);
        shaders
            .filter(|(_, shader)| **shader != 0)
            .flat_map(of_shader)
            .copied()
            .collect()
    }
}

/// The bind point of a stage of shader objects.
fn point_of(stage: Stages) -> Point {
    match stage {
        Stages::COMPUTE => Point::COMPUTE,
        _ => Point::GRAPHICS,
    }
}

#[cfg(test)]
#[path = "replay_tests.rs"]
mod tests;
