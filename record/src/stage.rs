//! Shader stages by their SPIR-V execution model.

use Stage::*;

/// A shader stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Vertex,
    TessellationControl,
    TessellationEvaluation,
    Geometry,
    Fragment,
    Compute,
    Kernel,
    Task,
    Mesh,
    RayGeneration,
    Intersection,
    AnyHit,
    ClosestHit,
    Miss,
    Callable,
}

/// Execution model ("SPIR-V Specification", Execution Model), stage and the stage's name in reports. Task and mesh have two
/// models, of `SPV_NV_mesh_shader` and `SPV_EXT_mesh_shader`.
const STAGES: [(u32, Stage, &str); 17] = [
    (0, Vertex, "vertex"),
    (1, TessellationControl, "tessellation control"),
    (2, TessellationEvaluation, "tessellation evaluation"),
    (3, Geometry, "geometry"),
    (4, Fragment, "fragment"),
    (5, Compute, "compute"),
    (6, Kernel, "kernel"),
    (5267, Task, "task"),
    (5268, Mesh, "mesh"),
    (5313, RayGeneration, "ray generation"),
    (5314, Intersection, "intersection"),
    (5315, AnyHit, "any-hit"),
    (5316, ClosestHit, "closest-hit"),
    (5317, Miss, "miss"),
    (5318, Callable, "callable"),
    (5364, Task, "task"),
    (5365, Mesh, "mesh"),
];

impl Stage {
    /// The stage of an execution model.
    pub(crate) fn from_execution_model(model: u32) -> Option<Self> {
        STAGES.iter().find(|(number, ..)| *number == model).map(|row| row.1)
    }

    /// Whether it is a stage of graphics pipelines.
    pub(crate) fn is_graphics(self) -> bool {
        matches!(
            self,
            Vertex | TessellationControl | TessellationEvaluation | Geometry | Fragment | Task | Mesh
        )
    }

    /// Whether it is a stage of ray-tracing pipelines.
    pub(crate) fn is_ray_tracing(self) -> bool {
        matches!(
            self,
            RayGeneration | Intersection | AnyHit | ClosestHit | Miss | Callable
        )
    }
}

/// The stage's name in reports, `unknown stage` for an execution model that is not in the table.
pub fn stage_name(execution_model: u32) -> &'static str {
    let row = STAGES.iter().find(|(number, ..)| *number == execution_model);
    row.map_or("unknown stage", |row| row.2)
}
