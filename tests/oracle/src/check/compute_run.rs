//! Runs of a compute shader, for comparison with a driver.

use super::inputs::{CheckOptions, STEPS, Subject};
use super::run::{self, Run, Schedule};
use crate::interpret::UndefinedValues;
use crate::interpret::{InterpretError, InvocationEnd, Region};
use crate::module::Module;
use crate::op::execution_model;
use crate::words::from_bytes;
use std::collections::HashMap;
use vkabort_instrument::Options;

/// Invocations in a workgroup of a compiled program.
pub const INVOCATIONS: usize = run::INVOCATIONS;

/// Result of a run.
#[derive(Clone, Debug)]
pub struct ComputeRun {
    /// Buffers by binding, as words.
    pub buffers: Vec<(u32, Vec<u32>)>,
    /// Messages of the aborted invocations, in invocation order.
    pub messages: Vec<Region>,
    /// Number of calls of `due` by each invocation.
    pub ticks: Vec<u32>,
}

/// Initial words of each buffer, by binding.
pub fn initial_buffers(due: &[u32]) -> Vec<(u32, Vec<u32>)> {
    let mut all: Vec<_> = run::buffers(due)
        .into_iter()
        .map(|(binding, region)| (binding, from_bytes(region.bytes())))
        .collect();
    all.sort_by_key(|(binding, _)| *binding);
    all
}

/// Interprets the first compute shader of a module, one invocation after another. `due` holds the call of `due` at which each
/// invocation aborts, or 0. `None` if an invocation takes too many steps.
///
/// # Errors
///
/// The module is malformed or cannot be interpreted.
pub fn interpret_compute(subject: Subject<'_>, due: &[u32]) -> Result<Option<ComputeRun>, String> {
    let module = Module::parse(subject.words).ok_or("the module is malformed")?;
    let compute = |entry: &&crate::module::Entry| entry.model == execution_model::GLCompute;
    let entry = module
        .entries
        .iter()
        .find(compute)
        .ok_or("there is no compute shader")?;
    let options = CheckOptions {
        rewrite: Options::default(),
        constants: Vec::new(),
        specialization: HashMap::new(),
        budget: None,
        keeps_frames: false,
        undefined: UndefinedValues::Refused,
    };
    let schedule = Schedule::new(entry, due.to_vec());
    let run = match Run::original(&module, &schedule, &options, Some(subject.ticks), STEPS) {
        Err(InterpretError::StepLimit(_)) => return Ok(None),
        other => other.map_err(|error| error.to_string())?,
    };
    let messages = run.ends.into_iter().filter_map(|end| match end {
        InvocationEnd::Aborted { message, .. } => Some(message),
        _ => None,
    });
    Ok(Some(ComputeRun {
        messages: messages.collect(),
        buffers: run
            .buffers
            .iter()
            .map(|(binding, region)| (*binding, from_bytes(region.bytes())))
            .collect(),
        ticks: run.ticks,
    }))
}
