//! Compiles GLSL with debug information.

use crate::glsl::{self, TargetEnv, folder};
use crate::shader_cache;
use anyhow::{Context, Result};
use std::path::Path;
use vkabort_oracle::op;
use vkabort_oracle::words::{HEADER_WORDS, Inst, instructions, push, read_string, string};

/// Form of a module's debug information.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `OpLine`, and the source in `OpSource`: `glslang -g`.
    Lines,
    /// `NonSemantic.Shader.DebugInfo.100`, source included: `glslang -gVS`, without the instruction that only version 102 has.
    NonSemantic,
}

/// Compiles `shaders/<name>` for Vulkan 1.2. The debug information names the file `name`.
///
/// # Errors
///
/// The file does not exist or does not compile.
pub fn compile(name: &str, form: Form) -> Result<Vec<u32>> {
    compile_for(&folder(), name, form, TargetEnv::Vulkan1_2, &[])
}

/// [`compile`] for a file of a folder and another environment, with more arguments of glslang. The output does not depend on
/// the folder.
///
/// # Errors
///
/// The file does not exist or does not compile.
pub fn compile_for(folder: &Path, name: &str, form: Form, env: TargetEnv, arguments: &[&str]) -> Result<Vec<u32>> {
    let path = folder.join(name);
    let source = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    compile_source(name, &source, form, env, arguments)
}

/// Compiles a compute shader's text for Vulkan 1.2. The debug information names the file `name`.
///
/// # Errors
///
/// The text does not compile.
pub fn compile_text(name: &str, source: &str, form: Form) -> Result<Vec<u32>> {
    compile_source(name, source, form, TargetEnv::Vulkan1_2, &[])
}

fn compile_source(name: &str, source: &str, form: Form, env: TargetEnv, arguments: &[&str]) -> Result<Vec<u32>> {
    let option = match form {
        Form::Lines => "-g",
        Form::NonSemantic => "-gVS",
    };
    let arguments = [&[option, "--target-env", env.name()], arguments].concat();
    let key = ("glslang", name, source, arguments.join(" "));
    shader_cache::compiled(&key, || {
        let words = glsl::run(name, source, &arguments)?;
        match form {
            Form::Lines => Ok(words),
            Form::NonSemantic => with_older_version(&words).context("glslang wrote no module"),
        }
    })
}

/// The instruction set that glslang imports.
const NEW: &str = "NonSemantic.Shader.DebugInfo.102";
/// The version that most modules in use import. SwiftShader ends the process on functions with the newer one.
const OLD: &str = "NonSemantic.Shader.DebugInfo.100";
/// `DebugEntryPoint`, which glslang writes only for the newer version. Its last operands are strings with the compiler and the
/// command line.
const ENTRY_POINT: u32 = 107;
/// Position of these strings in its operands.
const STRINGS: usize = 6;

/// The module with the older version of the instruction set.
fn with_older_version(words: &[u32]) -> Option<Vec<u32>> {
    let all = instructions(words)?;
    let mut imports = all.iter().filter(|inst| inst.op == op::ExtInstImport);
    let set = imports.find(|inst| read_string(inst.operands_from(1)) == NEW)?.word(0);
    let is_entry_point = |inst: &Inst| inst.op == op::ExtInst && inst.word(2) == set && inst.word(3) == ENTRY_POINT;
    let entry_points = all.iter().filter(|inst| is_entry_point(inst));
    let strings: Vec<u32> = entry_points
        .flat_map(|inst| inst.operands_from(STRINGS).to_vec())
        .collect();
    let mut older = words.get(..HEADER_WORDS)?.to_vec();
    for inst in &all {
        let is_left_out = is_entry_point(inst) || inst.op == op::String && strings.contains(&inst.word(0));
        match inst.op {
            op::ExtInstImport if inst.word(0) == set => {
                push(&mut older, inst.op, &[&[set], &string(OLD)[..]].concat());
            }
            _ if is_left_out => {}
            _ => push(&mut older, inst.op, &inst.operands),
        }
    }
    Some(older)
}
