//! The data of a report: one [`SiteReport`] per abort site, and a [`Summary`].

use crate::invocation::Invocation;
use crate::message::Message;
use crate::scalar::Scalar;
use crate::site::{Frame, Location, ModuleHash, SiteId, SiteTable, Snippet};
use crate::specialization::PipelineStage;
use crate::stage::Stage;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Facts about a module that its records do not carry; empty if unknown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModuleInfo {
    /// Its abort sites.
    pub sites: Option<Arc<SiteTable>>,
    /// Its debug-utils name.
    pub name: Option<String>,
    /// The stages of pipelines and shader objects that run it.
    pub stages: Vec<PipelineStage>,
}

/// A queue on which a shader may have aborted: it has work that no successful wait covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueUse {
    /// Its debug-utils name, else `(family 0, index 1)`.
    pub name: String,
    /// It runs stages of graphics pipelines.
    pub graphics: bool,
    /// It runs compute and ray-tracing stages.
    pub compute: bool,
    /// Name of the only command buffer of that work.
    pub command_buffer: Option<String>,
    /// Its debug-utils labels under which all of that work was submitted, outermost first.
    pub labels: Vec<String>,
}

impl QueueUse {
    /// Whether shaders of a SPIR-V execution model can run on the queue. Any queue may run an unknown one.
    fn runs(&self, execution_model: u32) -> bool {
        match Stage::from_execution_model(execution_model) {
            Some(stage) if stage.is_graphics() => self.graphics,
            Some(stage) if stage == Stage::Compute || stage.is_ray_tracing() => self.compute,
            _ => true,
        }
    }
}

/// Inputs of a report besides the records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportOptions {
    /// Maximum number of messages per site; at least one is kept.
    pub samples: usize,
    /// Size of the arena in bytes, for records from an arena.
    pub arena_bytes: Option<u64>,
    /// The device's debug-utils name, else the name of the physical device.
    pub device: Option<String>,
    /// Queues that the aborts may have been on.
    pub queues: Vec<QueueUse>,
}

impl ReportOptions {
    /// The queues that can run one of these stages; all queues if `stages` is empty.
    pub(crate) fn queues_for(&self, stages: &[StageReport]) -> Vec<&QueueUse> {
        let can_run = |queue: &&QueueUse| stages.is_empty() || stages.iter().any(|s| queue.runs(s.execution_model));
        self.queues.iter().filter(can_run).collect()
    }
}

impl Default for ReportOptions {
    fn default() -> Self {
        Self {
            samples: 4,
            arena_bytes: None,
            device: None,
            queues: Vec::new(),
        }
    }
}

/// A report of all aborts of a device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The sites that aborted, in the order of their first aborts.
    pub sites: Vec<SiteReport>,
    /// Counts over all sites, and aborts that were not recorded.
    pub summary: Summary,
}

/// Counts over all sites.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Name of the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Invocations whose messages were recorded.
    pub invocations: u64,
    /// Messages that were started but not completed.
    pub unfinished: u64,
    /// Aborts that did not fit into the arena.
    pub dropped: u64,
    /// Whether the arena was too small for all messages.
    pub full: bool,
    /// Whether the abort count was lost with the device: there may have been more aborts.
    #[serde(default, skip_serializing_if = "is_false")]
    pub control_lost: bool,
    /// The driver's own description of a device loss, by line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub driver: Vec<String>,
    /// Invocations at sites that the filter removed from the report.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ignored: u64,
    /// Size of the arena, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arena_bytes: Option<u64>,
    /// The setting to raise for a larger arena.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raise: Option<String>,
    /// Folder of the dump.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dump: Option<String>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// One site that aborted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SiteReport {
    /// Hash of the module; `None` for messages from the driver's own debug info.
    pub module_hash: Option<ModuleHash>,
    /// Debug-utils name of the module.
    pub module_name: Option<String>,
    /// Index of the site in its module.
    pub site: Option<SiteId>,
    /// Word offset of the `OpAbortKHR` in the module.
    pub word_offset: Option<u32>,
    /// The function that aborted.
    pub function: Option<String>,
    /// A shortest call path to it from an entry point, outermost first.
    pub callers: Vec<Frame>,
    /// Source position of the abort.
    pub location: Option<Location>,
    /// The source text around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snippet: Option<Snippet>,
    /// Stages in which it was reached.
    pub stages: Vec<StageReport>,
    /// Names of the pipelines and shader objects that the aborting invocations may have run.
    pub pipelines: Vec<String>,
    /// Number of such objects without a name.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unnamed_pipelines: u64,
    /// The values of the module's specialisation constants. Empty if it has none, or if they are not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub specializations: Vec<SpecializationReport>,
    /// Names of the queues that the aborting invocations may have run on.
    pub queues: Vec<String>,
    /// Debug-utils name of the command buffer, if only one can have aborted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_buffer: Option<String>,
    /// Debug-utils labels of the queue under which all work that can have aborted was submitted, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queue_labels: Vec<String>,
    /// Invocations that aborted here.
    pub invocations: u64,
    /// For aborts at a site that was reported before: the minimum number of submits in which they happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<u64>,
    /// Distinct messages among those invocations; 0 with `repeats`.
    pub distinct_messages: u64,
    /// Smallest and largest ids of the invocations, if their stage has ids in three dimensions or pixels.
    pub extent: Option<Extent>,
    /// Some of the messages: distinct ones first, each in the order of their invocations. With `repeats`, the first message
    /// that was ever reported.
    pub samples: Vec<Sample>,
    /// Sites that can send the same message, if the bytes do not identify one.
    pub also_possible: Vec<String>,
}

/// A stage in which a site was reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StageReport {
    /// SPIR-V execution model.
    pub execution_model: u32,
    /// Name of the stage.
    pub stage: String,
    /// Entry points of that stage that can reach the site.
    pub entry_points: Vec<String>,
    /// Size of its workgroups, if it has any and all aborts agree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workgroup_size: Option<[u32; 3]>,
    /// Invocations of that stage that aborted there; 0 if the messages do not identify the stage.
    pub invocations: u64,
}

/// Values of the specialisation constants of pipelines in which a site was reached.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpecializationReport {
    /// SPIR-V execution model of the stage.
    pub execution_model: u32,
    /// Identifies the values among those of the module's pipelines; 0 for the defaults.
    pub key: u32,
    /// The values. Empty if they are not known.
    pub constants: Vec<ConstantValue>,
    /// Size of the workgroups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workgroup_size: Option<[u32; 3]>,
    /// Names of the pipelines and shader objects with these values.
    pub pipelines: Vec<String>,
    /// Number of such objects without a name.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unnamed_pipelines: u64,
    /// Invocations that aborted with these values.
    pub invocations: u64,
}

/// The value of a specialisation constant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConstantValue {
    /// Its `SpecId`.
    pub id: u32,
    /// Its debug name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its value.
    pub value: Scalar,
}

/// Bounds of the ids of the invocations, by coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extent {
    /// Smallest coordinates.
    pub min: [u32; 3],
    /// Largest coordinates.
    pub max: [u32; 3],
}

/// One invocation and its message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// The invocation; `None` for messages from the driver's own debug info.
    pub invocation: Option<Invocation>,
    /// Index of its values in [`SiteReport::specializations`], if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub specialization: Option<usize>,
    /// The message.
    pub message: Message,
}

impl Report {
    /// Whether no site is reported and no message is missing.
    pub fn is_empty(&self) -> bool {
        self.sites.is_empty() && self.summary.unfinished == 0 && self.summary.dropped == 0
    }

    /// Text of the first message.
    pub fn first_message(&self) -> Option<String> {
        Some(self.sites.first()?.samples.first()?.message.text.clone())
    }
}
