//! Shader stages by their SPIR-V execution model.

use Stage::*;

/// A shader stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// `Vertex`
    Vertex,
    /// `TessellationControl`
    TessellationControl,
    /// `TessellationEvaluation`
    TessellationEvaluation,
    /// `Geometry`
    Geometry,
    /// `Fragment`
    Fragment,
    /// `GLCompute`
    Compute,
    /// `Kernel`
    Kernel,
    /// `TaskNV` and `TaskEXT`
    Task,
    /// `MeshNV` and `MeshEXT`
    Mesh,
    /// `RayGenerationKHR`
    RayGeneration,
    /// `IntersectionKHR`
    Intersection,
    /// `AnyHitKHR`
    AnyHit,
    /// `ClosestHitKHR`
    ClosestHit,
    /// `MissKHR`
    Miss,
    /// `CallableKHR`
    Callable,
}

/// Execution model ("SPIR-V Specification, Execution Model"), stage and the stage's name in reports.
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
    pub fn from_execution_model(model: u32) -> Option<Self> {
        STAGES.iter().find(|(number, ..)| *number == model).map(|row| row.1)
    }

    /// Whether it is a stage of graphics pipelines.
    pub fn is_graphics(self) -> bool {
        matches!(
            self,
            Vertex | TessellationControl | TessellationEvaluation | Geometry | Fragment | Task | Mesh
        )
    }

    /// Whether it is a stage of ray-tracing pipelines.
    pub fn is_ray_tracing(self) -> bool {
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
