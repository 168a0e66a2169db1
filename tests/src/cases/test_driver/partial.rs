//! `emulation = partial`: devices whose driver lacks stores in some shader stages. Aborts work in the others, and a pipeline
//! with an abort where it could not write its message is refused.

use super::support::{kernel, lose, not_advertised, payload};
use crate::case::{Case, cases};
use crate::cases::objects::error_code;
use crate::cases::shader_binary::{destroy, objects as shader_objects, open};
use crate::cases::shader_object::{Kind, create};
use crate::cases::support::{bytes, compile_stages, expect_payloads};
use crate::glsl;
use crate::vk::khr::ShaderAbortFeatures;
use crate::vk::{Device, Gpu, Pass, ShaderSource, Stage};
use anyhow::{Result, ensure};
use ash::vk;

const PARTIAL: &[(&str, &str)] = &[("emulation", "partial")];
const VERTEX: [&str; 2] = ["stage/vertex.vert", "stage/white.frag"];
const FRAGMENT: [&str; 2] = ["stage/cover.vert", "stage/fragment.frag"];
const GEOMETRY: [&str; 3] = ["stage/pass.vert", "stage/geometry.geom", "stage/white.frag"];

pub(super) const CASES: &[Case] = cases! {
    "test_driver_partial::compute_without_stores_in_vertex_shaders" => computes(device),
        on_driver("no_vertex_stores,abort=1"), set(PARTIAL);
    "test_driver_partial::compute_without_stores_in_fragment_shaders" => computes(device),
        on_driver("no_fragment_stores,abort=1"), set(PARTIAL);
    "test_driver_partial::a_vertex_abort_without_stores_is_refused" => refused(device, &VERTEX),
        on_driver("no_vertex_stores"), set(PARTIAL),
        logs(&[
            "the vertex shader `main` of module ",
            "contains 1 abort, which cannot be emulated: the driver lacks vertexPipelineStoresAndAtomics",
        ]);
    "test_driver_partial::a_geometry_abort_without_stores_is_refused" => refused(device, &GEOMETRY),
        on_driver("no_vertex_stores"), set(PARTIAL),
        logs(&["the geometry shader `main` of module ", "the driver lacks vertexPipelineStoresAndAtomics"]);
    "test_driver_partial::a_fragment_abort_without_stores_is_refused" => refused(device, &FRAGMENT),
        on_driver("no_fragment_stores"), set(PARTIAL),
        logs(&["the fragment shader `main` of module ", "the driver lacks fragmentStoresAndAtomics"]);
    "test_driver_partial::shader_objects_without_stores_in_vertex_shaders" => objects(gpu),
        on_driver("no_vertex_stores"), set(PARTIAL),
        logs(&[
            "the vertex shader `main` of module ",
            "contains 1 abort, which cannot be emulated: the driver lacks vertexPipelineStoresAndAtomics",
        ]);
    "test_driver_partial::a_fragment_abort_without_stores_in_vertex_shaders" => accepted(device, &FRAGMENT),
        on_driver("no_vertex_stores"), set(PARTIAL), silent();
    "test_driver_partial::a_vertex_abort_without_stores_in_fragment_shaders" => accepted(device, &VERTEX),
        on_driver("no_fragment_stores"), set(PARTIAL), silent();
    "test_driver_partial::the_log_names_the_refused_stages" => computes(device),
        on_driver("no_vertex_stores,no_fragment_stores,abort=1"),
        set(&[("emulation", "partial"), ("log_level", "info")]),
        logs(&["shader stages: aborts in vertex, tessellation control, tessellation evaluation, geometry, fragment shaders are \
                refused: the driver lacks vertexPipelineStoresAndAtomics and fragmentStoresAndAtomics"]);
    "test_driver_partial::without_addresses_nothing_is_emulated" => not_advertised(gpu),
        on_driver("no_addresses,no_vertex_stores"), set(PARTIAL);
    "test_driver_partial::auto_names_the_setting" => not_advertised(gpu),
        on_driver("no_vertex_stores"), set(&[("log_level", "info")]),
        logs(&["cannot emulate: the driver lacks vertexPipelineStoresAndAtomics; emulation = partial emulates the other"]);
};

/// The features are advertised, and an abort in a compute shader works.
fn computes(device: &Device<'_>) -> Result<()> {
    let mut abort = ShaderAbortFeatures::new(false);
    device.gpu.ask(&mut abort);
    ensure!(abort.shader_abort == vk::TRUE, "shaderAbort is off");
    let kernel = kernel(device)?;
    let _submission = lose(&kernel)?;
    expect_payloads(device, &[payload(1, 0)])
}

fn pass<'device>(device: &'device Device<'device>, shaders: &[&str], source: ShaderSource) -> Result<Pass<'device>> {
    let compiled = compile_stages(shaders)?;
    let stages = compiled.iter().map(|(kind, spirv)| Stage::new(*kind, spirv));
    Pass::with(device, &stages.collect::<Vec<_>>(), &[], source)
}

fn refused(device: &Device<'_>, shaders: &[&str]) -> Result<()> {
    for source in [ShaderSource::Modules, ShaderSource::Inline, ShaderSource::Libraries] {
        let code = error_code(pass(device, shaders, source));
        ensure!(code == Some(vk::Result::ERROR_UNKNOWN), "{source:?}: {code:?}");
    }
    // The device still works.
    accepted(device, &["stage/cover.vert", "stage/white.frag"])
}

fn accepted(device: &Device<'_>, shaders: &[&str]) -> Result<()> {
    for source in [ShaderSource::Modules, ShaderSource::Inline, ShaderSource::Libraries] {
        pass(device, shaders, source)?;
    }
    Ok(())
}

/// A shader object with an abort in a vertex shader is refused, linked or not; those of other stages are created.
fn objects(gpu: &Gpu) -> Result<()> {
    let device = open(gpu)?;
    let objects = shader_objects(&device);
    for (kind, [vertex, fragment], refused) in [
        (Kind::Linked, VERTEX, true),
        (Kind::Unlinked, VERTEX, true),
        (Kind::Linked, FRAGMENT, false),
        (Kind::Unlinked, FRAGMENT, false),
    ] {
        let code = [bytes(&glsl::compile(vertex)?), bytes(&glsl::compile(fragment)?)];
        let (shaders, result) = create(&objects, &[], &code, kind);
        let is_null = |shader: &vk::ShaderEXT| *shader == vk::ShaderEXT::null();
        let expected = if refused {
            vk::Result::ERROR_UNKNOWN
        } else {
            vk::Result::SUCCESS
        };
        let nulls = shaders.iter().filter(|shader| is_null(shader)).count();
        destroy(&objects, &shaders);
        ensure!(
            result == expected && nulls == if refused { 2 } else { 0 },
            "{kind:?}: {result:?}, {nulls} null handles"
        );
    }
    Ok(())
}
