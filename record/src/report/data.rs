//! What aborted, where, why and how often: plain data, one [`SiteReport`] per abort site.
//!
//! [`Report::text`] is the view for people, [`Report::json_lines`] the one for programs.

use crate::invocation::Invocation;
use crate::message::Message;
use crate::site::{Frame, Location, ModuleHash, SiteId, SiteTable};
use crate::stage::Stage;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What is known of a module beside its records. Whatever is unknown stays empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModuleInfo {
    /// Its abort sites.
    pub sites: Option<Arc<SiteTable>>,
    /// Its debug-utils name.
    pub name: Option<String>,
    /// Names of the pipelines and shader objects made from it.
    pub pipelines: Vec<String>,
}

/// A queue on which a shader may have aborted: it had work that was not known to have ended well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueUse {
    /// Its debug-utils name, else `(family 0, index 1)`.
    pub name: String,
    /// It runs stages of graphics pipelines.
    pub graphics: bool,
    /// It runs compute and ray-tracing stages.
    pub compute: bool,
}

impl QueueUse {
    /// Whether shaders of a SPIR-V execution model can run on it.
    fn runs(&self, execution_model: u32) -> bool {
        match Stage::from_execution_model(execution_model) {
            Some(stage) if stage.is_graphics() => self.graphics,
            Some(stage) if stage == Stage::Compute || stage.is_ray_tracing() => self.compute,
            _ => true,
        }
    }
}

/// What shapes a report besides the records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportOptions {
    /// Messages shown per site. Different messages come first.
    pub samples: usize,
    /// Bytes of the arena, where the records come from one: named when it was too small.
    pub arena_bytes: Option<u64>,
    /// The device's debug-utils name, else the physical device's.
    pub device: Option<String>,
    /// Queues that the aborts may have been on.
    pub queues: Vec<QueueUse>,
}

impl ReportOptions {
    /// The queues that can run one of these stages; all, when none is known.
    pub(crate) fn queues_for(&self, stages: &[StageReport]) -> Vec<String> {
        let fits = |queue: &&QueueUse| stages.is_empty() || stages.iter().any(|s| queue.runs(s.execution_model));
        self.queues
            .iter()
            .filter(fits)
            .map(|queue| queue.name.clone())
            .collect()
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

/// All that is known after shaders aborted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// One entry per site, in the order of their first aborts.
    pub sites: Vec<SiteReport>,
    /// What could not be recorded.
    pub summary: Summary,
}

/// Counts over all sites.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// The device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Invocations whose messages were recorded.
    pub invocations: u64,
    /// Records that were begun and never completed.
    pub unfinished: u64,
    /// Aborts that found no room: at least this many.
    pub dropped: u64,
    /// There was no room for every message.
    pub full: bool,
    /// The device took its count of aborts with it: there may have been more.
    #[serde(default, skip_serializing_if = "is_false")]
    pub control_lost: bool,
    /// What the driver says of a loss of its own, a line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub driver: Vec<String>,
    /// Invocations at sites that a filter takes out of the report.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ignored: u64,
    /// Size of the memory for messages, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arena_bytes: Option<u64>,
    /// The setting to raise, when there was no room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raise: Option<String>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// One place that aborted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SiteReport {
    /// Hash of the module; unknown for messages that came without a record.
    pub module_hash: Option<ModuleHash>,
    /// Debug-utils name of the module.
    pub module_name: Option<String>,
    /// Index of the site in its module.
    pub site: Option<SiteId>,
    /// Word offset of the `OpAbortKHR` in the module.
    pub word_offset: Option<u32>,
    /// The function that aborted.
    pub function: Option<String>,
    /// A shortest way to it from an entry point, outermost first.
    pub callers: Vec<Frame>,
    /// Source position of the abort.
    pub location: Option<Location>,
    /// In which stages it was reached, by whom and how often.
    pub stages: Vec<StageReport>,
    /// Names of the pipelines that contain it.
    pub pipelines: Vec<String>,
    /// The queue that it ran on, by name; several, if nothing tells which of them it was.
    pub queues: Vec<String>,
    /// Invocations that aborted here.
    pub invocations: u64,
    /// Different messages among theirs.
    pub distinct_messages: u64,
    /// Smallest and largest ids of the invocations, where their stage has ids in three dimensions or pixels.
    pub extent: Option<Extent>,
    /// Some of the messages; the first one first.
    pub samples: Vec<Sample>,
    /// Other sites that send the same message: the bytes do not tell which of them it was.
    pub also_possible: Vec<String>,
}

/// A stage in which a site was reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StageReport {
    /// SPIR-V execution model.
    pub execution_model: u32,
    /// Its name.
    pub stage: String,
    /// Entry points of that stage that can reach the site.
    pub entry_points: Vec<String>,
    /// Invocations of that stage that aborted there.
    pub invocations: u64,
}

/// The box that holds the ids of all invocations.
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
    /// Who; unknown for messages that came without a record.
    pub invocation: Option<Invocation>,
    /// What.
    pub message: Message,
}

impl Report {
    /// Nothing aborted, or nothing that is to be reported.
    pub fn is_empty(&self) -> bool {
        self.sites.is_empty() && self.summary.unfinished == 0 && self.summary.dropped == 0
    }

    /// The text of the first message.
    pub fn first_message(&self) -> Option<String> {
        Some(self.sites.first()?.samples.first()?.message.text.clone())
    }
}
