//! The inputs of a report besides the records, and the parts of its sites.

use crate::commands::PendingCommand;
use crate::message::Message;
use crate::rows::is_zero;
use crate::value_json;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use vkabort_record::invocation::Invocation;
use vkabort_record::scalar::Scalar;
use vkabort_record::site::SiteTable;
use vkabort_record::specialization::PipelineStage;
use vkabort_record::stage::{PipelineKind, Stage};
use vkabort_record::value::Value;

/// Facts about a module that its records do not carry; empty if unknown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModuleInfo {
    /// Its abort sites.
    pub sites: Option<Arc<SiteTable>>,
    /// Its debug-utils name.
    pub name: Option<String>,
    /// The stages of pipelines and shader objects that run it.
    pub stages: Vec<PipelineStage>,
    /// The commands of pending work that run it, in the order of their submission.
    pub commands: Vec<PendingCommand>,
}

/// A queue on which a shader may have aborted: it has work that no successful wait covers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
        match Stage::of(execution_model).map(|stage| stage.pipeline) {
            Some(PipelineKind::Graphics) => self.graphics,
            Some(PipelineKind::Compute | PipelineKind::RayTracing) => self.compute,
            Some(PipelineKind::None) | None => true,
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
    /// Position among the records of the site, from 1, in the order in which invocations reserved them; `None` for messages
    /// from the driver's own debug info.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// The invocation; `None` for messages from the driver's own debug info.
    pub invocation: Option<Invocation>,
    /// Index of its values in [`specializations`](crate::SiteReport::specializations), if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub specialization: Option<usize>,
    /// The message.
    pub message: Message,
    /// The condition that led to the abort, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<ConditionReport>,
    /// Variables in scope at the abort, nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<NamedValue>,
}

impl Sample {
    /// A message about whose invocation nothing is known.
    pub fn new(message: Message) -> Self {
        Self {
            number: None,
            invocation: None,
            specialization: None,
            message,
            condition: None,
            values: Vec::new(),
        }
    }
}

/// A condition that was true when the invocation aborted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConditionReport {
    /// The expression.
    pub text: String,
    /// The values of the operands that it names.
    pub values: Vec<NamedValue>,
}

/// A variable or an expression, and its value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedValue {
    /// Its name.
    pub name: String,
    /// Its value; absent if the compiler has removed it.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "value_json::optional")]
    pub value: Option<Value>,
}
