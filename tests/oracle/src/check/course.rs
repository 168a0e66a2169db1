//! What the invocations of a compute shader do, for comparison with a driver.

use super::run::{self, Plan, Run};
use super::{STEPS, Setting, Subject};
use crate::interpret::{Ended, Message, Trouble};
use crate::module::Module;
use crate::op::execution_model;
use std::collections::HashMap;
use vkabort_instrument::Options;

/// Invocations of a workgroup of what is generated here.
pub const INVOCATIONS: usize = run::INVOCATIONS;

/// What a run leaves behind.
#[derive(Clone, Debug)]
pub struct Course {
    /// Buffers by binding, as words.
    pub buffers: Vec<(u32, Vec<u32>)>,
    /// Messages of the invocations that aborted, in the order of invocations.
    pub messages: Vec<Message>,
    /// How often each invocation asked whether it was due.
    pub ticks: Vec<u32>,
}

/// The words that each buffer starts with, by binding.
pub fn start(due: &[u32]) -> Vec<(u32, Vec<u32>)> {
    let mut all: Vec<_> = run::buffers(due)
        .into_iter()
        .map(|(binding, region)| (binding, words(region.bytes())))
        .collect();
    all.sort_by_key(|(binding, _)| *binding);
    all
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes
        .chunks_exact(4)
        .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect()
}

/// Interprets the first compute shader of a module, one invocation after another; `due` says when each aborts. `None` if it
/// takes too many steps.
///
/// # Errors
///
/// It cannot be interpreted.
pub fn follow(subject: Subject<'_>, due: &[u32]) -> Result<Option<Course>, String> {
    let module = Module::parse(subject.words).ok_or("the module cannot be read")?;
    let compute = |entry: &&crate::module::Entry| entry.model == execution_model::GLCompute;
    let entry = module
        .entries
        .iter()
        .find(compute)
        .ok_or("there is no compute shader")?;
    let setting = Setting {
        options: Options::default(),
        specialization: HashMap::new(),
    };
    let plan = Plan::new(entry, due.to_vec());
    let run = match Run::original(&module, &plan, &setting, Some(subject.ticks), STEPS) {
        Err(Trouble::Steps(_)) => return Ok(None),
        other => other.map_err(|error| error.to_string())?,
    };
    let messages = run.ends.into_iter().filter_map(|end| match end {
        Ended::Aborted { message, .. } => Some(message),
        _ => None,
    });
    Ok(Some(Course {
        messages: messages.collect(),
        buffers: run
            .buffers
            .iter()
            .map(|(binding, region)| (*binding, words(region.bytes())))
            .collect(),
        ticks: run.ticks,
    }))
}
