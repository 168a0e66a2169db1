//! The benchmarks' shaders: those of `bench/shaders`, and generated ones of any size. Each exists in several variants, which
//! differ in the effect of a failed check.

use super::{large_message, memory_shaders};
use crate::glsl;
use anyhow::{Context, Result, bail};
use std::fmt::Write as _;
use vkabort_instrument::{Check, Checks, LoweredFeatures, Options, Outcome, instrument};
use vkabort_oracle::op;
use vkabort_oracle::words::{HEADER_WORDS, instructions, push, string};

/// Implementation of a check, and the effect of its failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// There is no check.
    Unchecked,
    /// The invocation returns.
    Return,
    /// It adds to a counter and returns: the least that exact counts take. Only for shaders with a counter.
    Count,
    /// It aborts; the layer rewrites the shader.
    Layer,
    /// The same, without values at the abort.
    WithoutValues,
    /// The same with source lines, so that by default some variables are sent.
    WithLines,
    /// The same, with the condition and all variables.
    WithVariables,
    /// The same, but large values are loaded before they are copied.
    ByValue,
    /// The shader has no abort; the sanitizer plants the check of [`Shader::planted`], and the layer rewrites the result.
    Planted,
    /// The shader has no abort; the layer plants the default checks of the sanitizer.
    DefaultChecks,
    /// The shader has no abort; the validation layer checks it (GPU-AV with its defaults).
    GpuAv,
    /// The same with the part of GPU-AV that checks operands of instructions only.
    ShaderSanitizer,
    /// It aborts, and the driver implements the extension.
    Native,
    /// It prints, which the layer shows, and returns.
    Prints,
    /// It prints with debugPrintf, which the validation layer implements, and returns.
    Printf,
    /// The same, with a buffer as large as the arena.
    PrintfWithRoom,
}

impl Variant {
    /// All variants, in the order of tables.
    pub const ALL: [Self; 16] = [
        Self::Unchecked,
        Self::Return,
        Self::WithoutValues,
        Self::Layer,
        Self::WithLines,
        Self::WithVariables,
        Self::ByValue,
        Self::Planted,
        Self::DefaultChecks,
        Self::GpuAv,
        Self::ShaderSanitizer,
        Self::Native,
        Self::Prints,
        Self::Printf,
        Self::PrintfWithRoom,
        Self::Count,
    ];

    /// Name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unchecked => "no check",
            Self::Return => "return",
            Self::Count => "count",
            Self::Layer => "layer",
            Self::WithoutValues => "values = off",
            Self::WithLines => "with lines",
            Self::WithVariables => "values = on",
            Self::ByValue => "by value",
            Self::Planted => "planted check",
            Self::DefaultChecks => "default checks",
            Self::GpuAv => "GPU-AV",
            Self::ShaderSanitizer => "GPU-AV's shader sanitizer",
            Self::Native => "native",
            Self::Prints => "prints",
            Self::Printf => "debugPrintf",
            Self::PrintfWithRoom => "debugPrintf, 1 MiB",
        }
    }

    /// `CHECK_MODE` of `bench/shaders/check.glsl`.
    fn check_mode(self) -> u32 {
        match self {
            Self::Unchecked | Self::Planted | Self::DefaultChecks | Self::GpuAv | Self::ShaderSanitizer => 0,
            Self::Return => 1,
            Self::Layer | Self::WithoutValues | Self::WithLines | Self::WithVariables => 2,
            Self::ByValue | Self::Native => 2,
            Self::Prints | Self::Printf | Self::PrintfWithRoom => 3,
            Self::Count => 4,
        }
    }
}

/// A shader of the benchmarks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shader {
    /// A file of `bench/shaders`.
    File(&'static str),
    /// A compute shader with this number of checks in a row.
    Sites(u32),
    /// A compute shader with one check, whose message has this number of bytes.
    Message(u32),
    /// A compute shader with a loop of unknown length, with about this number of instructions in its body.
    Loop(u32),
    /// A compute shader with an operation of which this check tests the operands, in a loop.
    Operation(Check),
    /// The same with two shifts and two accesses to an array, which have tests that nothing separates.
    Operations,
    /// A compute shader with an access that this check of the memory checker tests, in a loop. The settings of the process plant it.
    Memory(Check),
    /// A compute shader with this many accesses to shared memory, one behind the other. The settings of the process plant `races`.
    SharedAccesses(u32),
}

/// The checks of operands, with an operation that each takes, of `value` and of words that are 1.
pub const OPERATIONS: [(Check, &str); 6] = [
    (Check::Divide, "value = value * 1664525u + 1000003u / words[at];"),
    (Check::Shift, "value = value * 1664525u + (value << words[at]);"),
    (Check::Bounds, "value = value * 1664525u + lut[words[at]];"),
    (
        Check::Buffers,
        "value = value * 1664525u + words[at]; words[1024u + gl_GlobalInvocationID.x * words[at]] = value;",
    ),
    (
        Check::Convert,
        "value = value * 1664525u + uint(float(value & 1023u) * float(words[at]));",
    ),
    (
        Check::Nan,
        "value = value * 1664525u + words[at]; floats[1024u + gl_GlobalInvocationID.x] = 1.0 / float(value | 1u);",
    ),
];

const FOUR_OPERATIONS: &str = "
    uint a = words[at], b = words[(at + 1u) & 1023u];
    value = value * 1664525u + (value << a) + (value >> b) + lut[a] + lut[a + b];";

const CHECK: &str = include_str!("../../../bench/shaders/check.glsl");
const VERTEX: &str = include_str!("../../../bench/shaders/triangle.vert");

/// The files with checks.
const FILES: [(&str, &str); 6] = [
    ("copy.comp", include_str!("../../../bench/shaders/copy.comp")),
    ("gather.comp", include_str!("../../../bench/shaders/gather.comp")),
    ("matmul.comp", include_str!("../../../bench/shaders/matmul.comp")),
    (
        "matmul_inside.comp",
        include_str!("../../../bench/shaders/matmul_inside.comp"),
    ),
    ("regtile.comp", include_str!("../../../bench/shaders/regtile.comp")),
    ("material.frag", include_str!("../../../bench/shaders/material.frag")),
];

impl Shader {
    /// The shaders of the compiler benchmark.
    pub fn set() -> Vec<Self> {
        let files = FILES.map(|(name, _)| Self::File(name));
        files.into_iter().chain([Self::Sites(16)]).collect()
    }

    /// Name in tables.
    pub fn name(&self) -> String {
        match self {
            Self::File(name) => (*name).to_owned(),
            Self::Sites(1) => "1 site".to_owned(),
            Self::Sites(count) => format!("{count} sites"),
            Self::Message(bytes) => format!("message of {bytes} bytes"),
            Self::Loop(count) => format!("loop of {count} instructions"),
            Self::Operation(check) | Self::Memory(check) => format!("{} in a loop", check.name()),
            Self::Operations => "four operations in a loop".to_owned(),
            Self::SharedAccesses(count) => format!("{count} accesses to shared memory"),
        }
    }

    /// The checks that [`Variant::Planted`] has.
    fn planted(&self) -> Checks {
        match self {
            Self::Operation(check) | Self::Memory(check) => Checks::of([*check]),
            Self::Operations => Checks::of([Check::Shift, Check::Bounds]),
            Self::SharedAccesses(_) => Checks::of([Check::Races]),
            _ => Checks::of([Check::Loops]),
        }
    }

    /// Compiles a variant: one module per stage of a pipeline. None if the shader has no such variant.
    ///
    /// # Errors
    ///
    /// The GLSL does not compile.
    pub fn compile(&self, variant: Variant) -> Result<Option<Vec<Vec<u32>>>> {
        self.compile_for(variant, true)
    }

    /// The same for a driver for which the layer joins tests or does not.
    ///
    /// # Errors
    ///
    /// The GLSL does not compile.
    pub fn compile_for(&self, variant: Variant, joins_tests: bool) -> Result<Option<Vec<Vec<u32>>>> {
        let compute = |text: &str| match variant {
            Variant::Planted => plant(&compile_compute(text, variant)?, self.planted(), joins_tests),
            _ => compile_compute(text, variant),
        };
        Ok(Some(match self {
            Self::File(name) => {
                let text = file(name)?;
                match name.rsplit_once('.') {
                    Some((_, "comp")) if variant != Variant::ByValue => vec![compute(text)?],
                    Some((_, "frag")) if variant != Variant::ByValue => vec![
                        compile(VERTEX, "vert", Variant::Unchecked)?,
                        compile(text, "frag", variant)?,
                    ],
                    Some((_, "comp" | "frag")) => return Ok(None),
                    _ => bail!("{name} has no extension of a stage"),
                }
            }
            Self::Memory(check) => vec![memory_shaders::compile(*check, false)?],
            Self::SharedAccesses(count) => vec![memory_shaders::compile_straight(*count)?],
            Self::Sites(_) | Self::Loop(_) | Self::Operation(_) | Self::Operations if variant == Variant::ByValue => {
                return Ok(None);
            }
            Self::Loop(count) => vec![compute(&endless(*count))?],
            Self::Operation(check) => vec![compute(&operation(*check))?],
            Self::Operations => vec![compute(&in_a_loop(FOUR_OPERATIONS))?],
            Self::Sites(count) => vec![compute(&sites(*count)?)?],
            Self::Message(bytes) => {
                let reference = compute(&message(*bytes)?)?;
                match variant {
                    Variant::ByValue => match large_message::by_value(&reference) {
                        Some(words) => vec![words],
                        None => return Ok(None),
                    },
                    // debugPrintf takes scalars and vectors only.
                    Variant::Prints | Variant::Printf => return Ok(None),
                    _ => vec![reference],
                }
            }
        }))
    }
}

/// The text of a file with checks.
///
/// # Errors
///
/// There is no such file.
pub fn file(name: &str) -> Result<&'static str> {
    let file = FILES.iter().find(|(other, _)| *other == name);
    Ok(file.with_context(|| format!("no shader {name}"))?.1)
}

/// Compiles a compute shader with `CHECK`s, without its `#version`.
///
/// # Errors
///
/// The text does not compile.
pub fn compile_compute(text: &str, variant: Variant) -> Result<Vec<u32>> {
    compile(text, "comp", variant)
}

fn compile(text: &str, stage: &str, variant: Variant) -> Result<Vec<u32>> {
    let fragment = if stage == "frag" { "#define FRAGMENT\n" } else { "" };
    let text = format!(
        "#version 460\n#define CHECK_MODE {}\n{fragment}{CHECK}\n{text}",
        variant.check_mode()
    );
    let words = glsl::compile_text(&text, stage, glsl::TargetEnv::Vulkan1_2)?;
    match variant {
        Variant::WithLines => with_lines(&words).context("not a module"),
        _ => Ok(words),
    }
}

/// Gives each abort a source line.
fn with_lines(words: &[u32]) -> Option<Vec<u32>> {
    let (mut out, mut file) = (words.get(..HEADER_WORDS)?.to_vec(), None);
    for inst in instructions(words)? {
        let is_before_strings = matches!(
            inst.op,
            op::Capability | op::Extension | op::ExtInstImport | op::MemoryModel
        ) || matches!(inst.op, op::EntryPoint | op::ExecutionMode | op::ExecutionModeId);
        if file.is_none() && !is_before_strings {
            let id = std::mem::replace(out.get_mut(3)?, words.get(3)? + 1);
            push(&mut out, op::String, &[&[id], string("check.glsl").as_slice()].concat());
            file = Some(id);
        }
        if let (op::AbortKHR, Some(file)) = (inst.op, file) {
            push(&mut out, op::Line, &[file, 1, 1]);
        }
        push(&mut out, inst.op, &inst.operands);
    }
    Some(out)
}

/// Plants checks of the sanitizer, as ordinary aborts.
fn plant(words: &[u32], checks: Checks, joins_tests: bool) -> Result<Vec<u32>> {
    let mut options = Options {
        lowers: LoweredFeatures::default(),
        ..Options::default()
    };
    options.sanitize.checks = checks;
    options.sanitize.joins_tests = joins_tests;
    match instrument(words, &options)? {
        Outcome::Instrumented(planted) => Ok(planted.words),
        Outcome::Unchanged => bail!("the shader has no place for a check"),
    }
}

/// GLSL with a loop of unknown length, whose iterations depend on each other.
fn endless(instructions: u32) -> String {
    // Each takes a multiplication and an exclusive or, which compilers cannot join.
    let body = "    value = (value ^ i) * 1664525u;\n".repeat(instructions as usize / 2);
    format!(
        "layout(local_size_x = 64) in;\n\
         layout(set = 0, binding = 0) buffer Words {{ uint rounds; uint count; uint words[]; }};\n\
         void main() {{\n  uint value = gl_GlobalInvocationID.x;\n  uint rounds = rounds;\n\
         for (uint i = 0u; i < rounds; ++i) {{\n{body}  }}\n\
         words[1024u + gl_GlobalInvocationID.x] = value;\n}}\n"
    )
}

/// GLSL with a loop that has an operation which a check tests.
fn operation(check: Check) -> String {
    let operation = OPERATIONS
        .iter()
        .find(|(other, _)| *other == check)
        .map_or("", |(_, text)| text);
    in_a_loop(operation)
}

/// GLSL with a loop that has these statements, of `value` and words that are 1.
fn in_a_loop(statements: &str) -> String {
    format!(
        "layout(local_size_x = 64) in;\n\
         layout(set = 0, binding = 0) buffer Words {{ uint rounds; uint count; uint words[]; }};\n\
         layout(set = 0, binding = 0) buffer Floats {{ uint head[2]; float floats[]; }};\n\
         void main() {{\n  uint value = gl_GlobalInvocationID.x;\n  uint rounds = rounds;\n\
         uint lut[8];\n  for (uint i = 0u; i < 8u; ++i) {{ lut[i] = value + i; }}\n\
         for (uint i = 0u; i < rounds; ++i) {{\n    uint at = value & 1023u;\n    {statements}\n  }}\n\
         words[1024u + gl_GlobalInvocationID.x] = value;\n}}\n"
    )
}

/// GLSL with `count` checks, each of a value that depends on the one before.
fn sites(count: u32) -> Result<String> {
    let mut text = String::from(
        "layout(local_size_x = 64) in;\n\
         layout(set = 0, binding = 0) readonly buffer From { uint from[]; };\n\
         layout(set = 0, binding = 1) writeonly buffer To { uint to[]; };\n\
         void main() {\n  const uint index = gl_GlobalInvocationID.x;\n  uint value = from[index];\n",
    );
    for site in 1..=count {
        writeln!(
            text,
            "  CHECK(value != {}u, \"value {site} is %u\", value);\n  value = value * 1664525u + from[index + {}u];",
            site * 977,
            site * 64
        )?;
    }
    text += "  to[index] = value;\n}\n";
    Ok(text)
}

/// GLSL with a check whose message is a short string and the words of a uniform buffer, in total this number of bytes.
fn message(bytes: u32) -> Result<String> {
    const TEXT: &str = "exactly so big.";
    let vectors = bytes / 16;
    let vectors = vectors
        .checked_sub(1)
        .filter(|count| *count > 0 && bytes.is_multiple_of(16));
    let vectors = vectors.context("the size of a message is a multiple of 16 bytes, at least 32")?;
    Ok(format!(
        "layout(local_size_x = 32) in;\n\
         layout(set = 0, binding = 0) buffer Words {{ uint words[]; }};\n\
         layout(std140, set = 0, binding = 1) uniform Block {{ uvec4 block[{vectors}]; }};\n\
         void main() {{\n  CHECK(words[gl_GlobalInvocationID.x] != 7, \"{TEXT}\", block);\n  \
         words[gl_GlobalInvocationID.x] = 1;\n}}\n"
    ))
}
