//! Checks the conditions and variables of reports against the values of the interpreter.

use super::condition::{Number, evaluate};
use super::inputs::{CheckOptions, STEPS, rewrite_once};
use super::run::{self, Run, Schedule};
use crate::choices::Choices;
use crate::interpret::UndefinedValues;
use crate::interpret::value::{self as interpret, Value};
use crate::interpret::{Frame, InterpretError};
use crate::module::{Id, Module};
use crate::op;
use crate::words::read_string;
use std::collections::HashMap;
use std::sync::Arc;
use vkabort_instrument::{Arena, Instrumented, Options, Values};
use vkabort_record::invocation::Invocation;
use vkabort_record::layout::{CONTROL_BYTES, UNIT_BYTES};
use vkabort_record::scalar::{self, Scalar};
use vkabort_record::snapshot::Snapshot;
use vkabort_record::value::Value as Shown;
use vkabort_report::{ModuleInfo, NamedValue, Report, ReportOptions, Sample};

/// Calls of `due` among which the abort of an invocation is chosen.
const MAX_CALLS: u32 = 12;
/// Capacity in units of an arena that holds all records.
const CAPACITY: u32 = 8192;

/// Counts of the values that reports showed.
#[derive(Clone, Copy, Debug, Default)]
pub struct ValueSummary {
    /// Aborted invocations.
    pub aborts: u32,
    /// Conditions whose values say that they held.
    pub held: u32,
    /// Conditions whose values are not all shown.
    pub undetermined: u32,
    /// Operands and variables with their right values.
    pub right: u32,
    /// Variables of which nothing is defined, and those with text.
    pub without_value: u32,
    /// Expressions, which the interpreter does not know by a name.
    pub expressions: u32,
}

impl ValueSummary {
    /// Adds the counts of other reports.
    pub fn add(&mut self, other: Self) {
        self.aborts += other.aborts;
        self.held += other.held;
        self.undetermined += other.undetermined;
        self.right += other.right;
        self.without_value += other.without_value;
        self.expressions += other.expressions;
    }
}

/// Runs a module whose values have names, and compares every report of an abort with the values that the interpreter has there.
///
/// # Errors
///
/// The first difference found.
pub fn check_values(words: &[u32], choices: &mut Choices) -> Result<ValueSummary, String> {
    let module = Module::parse(words).ok_or("the module is malformed")?;
    let rewrite = Options {
        arena: Arena::at(0x1000, CONTROL_BYTES + CAPACITY * UNIT_BYTES),
        values: Values::On,
        values_size: 240,
        compact_records: choices.chance(50),
        ..Options::default()
    };
    let mut summary = ValueSummary::default();
    let Some((rewritten, result)) = rewrite_once(words, &rewrite)? else {
        return Ok(summary);
    };
    let options = CheckOptions {
        rewrite,
        constants: Vec::new(),
        specialization: HashMap::new(),
        budget: None,
        keeps_frames: true,
        undefined: UndefinedValues::Refused,
    };
    let names = Names::new(&module);
    for entry in &module.entries {
        let due = (0..run::INVOCATIONS).map(|_| choices.below(MAX_CALLS)).collect();
        let schedule = Schedule::new(entry, due);
        let context = |error: String| format!("entry point {}: {error}", entry.name);
        let original = match Run::original(&module, &schedule, &options, None, STEPS) {
            Err(InterpretError::StepLimit(_)) => continue,
            other => other.map_err(|error| context(format!("the original: {error}")))?,
        };
        let second = Run::rewritten(&result, &schedule, &options, STEPS * 20);
        let second = second.map_err(|error| context(format!("the rewrite: {error}")))?;
        for sample in samples(&rewritten, &second) {
            let number = invocation(&sample).ok_or("a sample has no invocation")?;
            let frame = original.frames.get(number).and_then(Option::as_ref);
            let frame = frame.ok_or_else(|| context(format!("invocation {number} did not abort")))?;
            summary.aborts += 1;
            let difference = |error| context(format!("invocation {number}: {error}"));
            compare(&sample, frame, &names, &mut summary).map_err(difference)?;
        }
    }
    Ok(summary)
}

/// Everything that a report shows of a run.
fn samples(module: &Instrumented, run: &Run) -> Vec<Sample> {
    let sites = Arc::new(module.sites.clone());
    let records = Snapshot::from_bytes(run.arena.bytes()).records_of(CAPACITY, &|_| Some(Arc::clone(&sites)));
    let info = |_| ModuleInfo {
        sites: Some(Arc::clone(&sites)),
        ..ModuleInfo::default()
    };
    let options = ReportOptions {
        samples: run::INVOCATIONS,
        ..ReportOptions::default()
    };
    let report = Report::build(&records, &info, &options);
    report.sites.into_iter().flat_map(|site| site.samples).collect()
}

/// The number of an invocation of a [`Schedule`], which is the first word of its identity.
fn invocation(sample: &Sample) -> Option<usize> {
    let number = match sample.invocation? {
        Invocation::Global { global: [x, ..], .. } | Invocation::Launch { id: [x, ..] } => x,
        Invocation::Vertex { vertex, .. } => vertex,
        Invocation::Fragment { pixel: [x, _] } => x,
        Invocation::Primitive { primitive, .. } => primitive,
        Invocation::Unknown { words: [x, ..] } => x,
    };
    usize::try_from(number).ok()
}

fn compare(sample: &Sample, frame: &Frame, names: &Names, summary: &mut ValueSummary) -> Result<(), String> {
    let condition = sample.condition.iter();
    let mut numbers = Vec::new();
    for shown in condition.clone().flat_map(|condition| &condition.values) {
        let is_defined = is_right(shown, frame, names, summary)?;
        let lanes = scalars(shown.value.as_ref()).unwrap_or_default();
        let lanes = lanes.into_iter().map(|lane| match is_defined {
            true => number(lane),
            false => Number::Undefined,
        });
        numbers.push((shown.name.clone(), lanes.collect()));
    }
    for shown in &sample.values {
        is_right(shown, frame, names, summary)?;
    }
    for condition in condition {
        // Booleans are shown by their names alone.
        numbers.extend(names.booleans(frame));
        match evaluate(&condition.text, std::mem::take(&mut numbers))? {
            Some(true) => summary.held += 1,
            Some(false) => return Err(format!("the condition `{}` did not hold", condition.text)),
            None => summary.undetermined += 1,
        }
    }
    Ok(())
}

/// Compares a value with that of the interpreter. Returns whether all of it is defined.
fn is_right(shown: &NamedValue, frame: &Frame, names: &Names, summary: &mut ValueSummary) -> Result<bool, String> {
    let found = scalars(shown.value.as_ref()).unwrap_or_default();
    let Some(id) = names.ids.get(shown.name.trim_end_matches("[..4]")) else {
        summary.expressions += 1;
        return Ok(true);
    };
    let mut expected = Vec::new();
    leaves(
        frame
            .value(*id)
            .ok_or_else(|| format!("`{}` has no value", shown.name))?,
        &mut expected,
    );
    if found.is_empty() || expected.iter().all(|scalar| scalar.undef != 0) {
        summary.without_value += 1;
        return Ok(false);
    }
    let is_whole = !shown.name.ends_with("[..4]");
    let is_equal = found.len() == expected.len() || !is_whole && found.len() < expected.len();
    let mut pairs = found.iter().zip(&expected);
    if !is_equal
        || !pairs.all(|(found, scalar)| scalar.undef != 0 || Scalar::from_bits(found.ty(), scalar.bits) == *found)
    {
        return Err(format!("`{}` is {found:?}, expected {expected:x?}", shown.name));
    }
    summary.right += 1;
    Ok(expected.iter().all(|scalar| scalar.undef == 0))
}

fn number(scalar: Scalar) -> Number {
    match scalar.number() {
        scalar::Number::Signed(value) => Number::Int(value.into()),
        scalar::Number::Unsigned(value) => Number::Int(value.into()),
        scalar::Number::Float(value) => Number::Float(value),
        scalar::Number::Bool(value) => Number::Int(value.into()),
    }
}

/// The scalars of a value that a report shows. `None` if it has text, as arrays of bytes are shown.
fn scalars(value: Option<&Shown>) -> Option<Vec<Scalar>> {
    let all = |parts: &mut dyn Iterator<Item = &Shown>| {
        let parts: Option<Vec<_>> = parts.map(|part| scalars(Some(part))).collect();
        Some(parts?.concat())
    };
    match value? {
        Shown::Scalar(scalar) => Some(vec![*scalar]),
        Shown::Vector(lanes) => Some(lanes.clone()),
        Shown::Matrix(columns) => Some(columns.concat()),
        Shown::Array(elements) => all(&mut elements.iter()),
        Shown::Struct { members, .. } => all(&mut members.iter().map(|member| &member.value)),
        Shown::Text(_) | Shown::Missing => None,
    }
}

/// The scalars of a value of the interpreter.
fn leaves(value: &Value, out: &mut Vec<interpret::Scalar>) {
    match value {
        Value::Scalar(scalar) => out.push(*scalar),
        Value::Composite(parts) => parts.iter().for_each(|part| leaves(part, out)),
        // The interpreter's addresses are its own.
        Value::Pointer(_) => out.push(interpret::Scalar::undefined(64)),
    }
}

/// The names of a module.
struct Names {
    ids: HashMap<String, Id>,
    booleans: Vec<(String, Id)>,
}

impl Names {
    fn new(module: &Module) -> Self {
        let named = module.globals.iter().filter(|inst| inst.op == op::Name);
        let ids: HashMap<String, Id> = named
            .map(|inst| (read_string(inst.operands_from(1)), inst.word(0)))
            .collect();
        let bool = module.globals.iter().find(|inst| inst.op == op::TypeBool);
        let bool = bool.map(|inst| inst.word(0));
        let insts = module.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.insts);
        let results = insts
            .filter(|inst| op::has_result(inst.op))
            .map(|inst| (inst.word(1), inst.word(0)));
        let parameters = module
            .functions
            .iter()
            .flat_map(|f| f.parameters.iter().zip(&f.parameter_types));
        let types: HashMap<Id, Id> = results.chain(parameters.map(|(id, ty)| (*id, *ty))).collect();
        let is_boolean = |id: &Id| types.get(id).is_some_and(|ty| Some(*ty) == bool);
        let booleans = ids
            .iter()
            .filter(|(_, id)| is_boolean(id))
            .map(|(name, id)| (name.clone(), *id));
        Self {
            booleans: booleans.collect(),
            ids,
        }
    }

    /// The Booleans that have a value.
    fn booleans<'a>(&'a self, frame: &'a Frame) -> impl Iterator<Item = (String, Vec<Number>)> {
        self.booleans.iter().filter_map(|(name, id)| match frame.value(*id)? {
            Value::Scalar(scalar) => Some((name.clone(), vec![Number::Int(scalar.defined()?.into())])),
            _ => None,
        })
    }
}
