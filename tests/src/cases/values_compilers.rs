//! Reports of one shader with ten variables, by compiler: each shows some of them. Every value in `reports/` is right; the
//! guide has the table.

use super::deliver::lose_named;
use super::report::slang_file;
use super::support::marked;
use crate::case::{Case, cases};
use crate::glsl_debug::{self, Form};
use crate::shader_cache;
use crate::vk::Gpu;
use anyhow::Result;

const SLANG: &str = "report/values.slang";
const ON: &[(&str, &str)] = &[("values", "on")];

pub(super) const CASES: &[Case] = cases! {
    "values::of_glslang" => glslang(gpu, None), alone(), set(ON), reports("values_glslang");
    "values::of_glslang_with_lines" => glslang(gpu, Some(Form::Lines)), alone(), set(ON), reports("values_glslang_lines");
    "values::of_glslang_with_debug_info" => glslang(gpu, Some(Form::NonSemantic)),
        alone(), set(ON), reports("values_glslang_debug");
    "values::of_optimized_glslang" => optimized(gpu, None), alone(), set(ON), reports("values_glslang_optimized");
    "values::of_optimized_glslang_with_lines" => optimized(gpu, Some(Form::Lines)),
        alone(), set(ON), reports("values_glslang_lines_optimized");
    "values::of_optimized_glslang_with_debug_info" => optimized(gpu, Some(Form::NonSemantic)),
        alone(), set(ON), reports("values_glslang_debug_optimized");
    "values::of_slang" => slang_file(gpu, SLANG, &[]), alone(), set(ON), reports("values_slang");
    "values::of_slang_with_debug_info" => slang_file(gpu, SLANG, &["-g2"]), alone(), set(ON), reports("values_slang_debug");
    "values::of_slang_with_all_debug_info" => slang_file(gpu, SLANG, &["-g3", "-O0"]), alone(), set(ON), reports("values_slang_all");
    "values::of_optimizing_slang" => slang_file(gpu, SLANG, &["-g2", "-O3"]), alone(), set(ON), reports("values_slang_optimized");
};

/// Runs a module of glslang that `spirv-opt` has optimized.
fn optimized(gpu: &Gpu, form: Option<Form>) -> Result<()> {
    run(gpu, &shader_cache::optimized(&compiled(form)?)?)
}

fn run(gpu: &Gpu, spirv: &[u32]) -> Result<()> {
    lose_named(gpu, spirv, &marked(&[5]), |_| Ok(()))
}

fn glslang(gpu: &Gpu, form: Option<Form>) -> Result<()> {
    run(gpu, &compiled(form)?)
}

fn compiled(form: Option<Form>) -> Result<Vec<u32>> {
    let file = "report/values.comp";
    match form {
        Some(form) => glsl_debug::compile(file, form),
        None => crate::glsl::compile(file),
    }
}
