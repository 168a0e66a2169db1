//! One table of the shader stages, which rewriter, layer and reports read.

/// A shader stage of an execution model.
#[derive(Debug)]
pub struct Stage {
    /// SPIR-V execution model.
    pub execution_model: u32,
    /// The stage's name in reports.
    pub name: &'static str,
    /// `VkShaderStageFlagBits`; 0 if Vulkan lacks the stage.
    pub vulkan: u32,
    /// The pipelines that it is a stage of.
    pub pipeline: PipelineKind,
    /// The built-ins that identify its invocations.
    pub identity: Identity,
    /// How an invocation that has aborted ends it.
    pub end: StageEnd,
    /// The feature that its stores and atomics need, if any.
    pub stores: Option<StoreFeature>,
}

/// Kinds of pipelines, by bind point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PipelineKind {
    /// Graphics.
    Graphics,
    /// Compute.
    Compute,
    /// Ray tracing.
    RayTracing,
    /// Vulkan lacks the stage.
    None,
}

/// Contents of IDENTITY: see [`crate::layout`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// `VertexIndex`; `InstanceIndex`.
    Vertex,
    /// `PrimitiveId`; `InvocationId`.
    Primitive,
    /// `PrimitiveId`.
    Patch,
    /// `FragCoord` x, y.
    Pixel,
    /// `GlobalInvocationId`; `LocalInvocationIndex`.
    Global,
    /// `LaunchIdKHR`.
    Launch,
    /// No built-in.
    None,
}

impl Identity {
    /// Words of IDENTITY that are not always 0, without `LocalInvocationIndex`.
    pub const fn words(self) -> u32 {
        match self {
            Self::Vertex | Self::Primitive | Self::Pixel => 2,
            Self::Patch => 1,
            Self::Global | Self::Launch => 3,
            Self::None => 0,
        }
    }
}

/// Ends of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StageEnd {
    /// `OpReturn`.
    Return,
    /// `OpKill`.
    Kill,
    /// `OpTerminateRayKHR`.
    TerminateRay,
    /// `OpEmitMeshTasksEXT` with zero workgroups.
    EmitNoTasks,
}

/// Features for stores and atomics in a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreFeature {
    /// `vertexPipelineStoresAndAtomics`.
    VertexPipeline,
    /// `fragmentStoresAndAtomics`.
    Fragment,
}

impl StoreFeature {
    /// Every feature.
    pub const ALL: [Self; 2] = [Self::VertexPipeline, Self::Fragment];

    /// Its name in Vulkan.
    pub const fn name(self) -> &'static str {
        match self {
            Self::VertexPipeline => "vertexPipelineStoresAndAtomics",
            Self::Fragment => "fragmentStoresAndAtomics",
        }
    }
}

/// The stages by execution model ("SPIR-V Specification", Execution Model). Task and mesh have two models, of
/// `SPV_NV_mesh_shader` and `SPV_EXT_mesh_shader`.
#[rustfmt::skip]
pub static STAGES: [Stage; 17] = {
    use PipelineKind::{Compute, Graphics, RayTracing};
    use Identity::{Global, Launch, Patch, Pixel, Primitive, Vertex};
    use StageEnd::{EmitNoTasks, Kill, Return, TerminateRay};
    const ALWAYS: Option<StoreFeature> = None;
    const VERTEX: Option<StoreFeature> = Some(StoreFeature::VertexPipeline);
    const FRAGMENT: Option<StoreFeature> = Some(StoreFeature::Fragment);
    [
        row(0, "vertex", 0x1, Graphics, Vertex, Return, VERTEX),
        row(1, "tessellation control", 0x2, Graphics, Primitive, Return, VERTEX),
        row(2, "tessellation evaluation", 0x4, Graphics, Patch, Return, VERTEX),
        row(3, "geometry", 0x8, Graphics, Primitive, Return, VERTEX),
        row(4, "fragment", 0x10, Graphics, Pixel, Kill, FRAGMENT),
        row(5, "compute", 0x20, Compute, Global, Return, ALWAYS),
        row(6, "kernel", 0, PipelineKind::None, Identity::None, Return, ALWAYS),
        row(5267, "task", 0x40, Graphics, Global, Return, ALWAYS),
        row(5268, "mesh", 0x80, Graphics, Global, Return, ALWAYS),
        row(5313, "ray generation", 0x100, RayTracing, Launch, Return, ALWAYS),
        row(5314, "intersection", 0x1000, RayTracing, Launch, Return, ALWAYS),
        row(5315, "any-hit", 0x200, RayTracing, Launch, TerminateRay, ALWAYS),
        row(5316, "closest-hit", 0x400, RayTracing, Launch, Return, ALWAYS),
        row(5317, "miss", 0x800, RayTracing, Launch, Return, ALWAYS),
        row(5318, "callable", 0x2000, RayTracing, Launch, Return, ALWAYS),
        row(5364, "task", 0x40, Graphics, Global, EmitNoTasks, ALWAYS),
        row(5365, "mesh", 0x80, Graphics, Global, Return, ALWAYS),
    ]
};

#[rustfmt::skip]
const fn row(
    execution_model: u32, name: &'static str, vulkan: u32, pipeline: PipelineKind, identity: Identity, end: StageEnd,
    stores: Option<StoreFeature>,
) -> Stage {
    Stage { execution_model, name, vulkan, pipeline, identity, end, stores }
}

impl Stage {
    /// The stage of an execution model, `None` if it is not in the table.
    pub fn of(execution_model: u32) -> Option<&'static Self> {
        STAGES.iter().find(|stage| stage.execution_model == execution_model)
    }

    /// The contents of IDENTITY for an execution model.
    pub fn identity_of(execution_model: u32) -> Identity {
        Self::of(execution_model).map_or(Identity::None, |stage| stage.identity)
    }
}

/// The stage's name in reports, `unknown stage` for an execution model that is not in the table.
pub fn stage_name(execution_model: u32) -> &'static str {
    Stage::of(execution_model).map_or("unknown stage", |stage| stage.name)
}
