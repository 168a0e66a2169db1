//! The identity of an aborted invocation in its stage.

use crate::stage::{Identity, Stage};
use serde::{Deserialize, Serialize};

/// An invocation, by the built-ins that its stage has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case", deny_unknown_fields)]
pub enum Invocation {
    /// Compute, task and mesh.
    Global {
        /// `GlobalInvocationId`.
        global: [u32; 3],
        /// `LocalInvocationIndex`.
        local_index: u32,
        /// `LocalInvocationId`, if the workgroup size is a constant of the module.
        local: Option<[u32; 3]>,
        /// `WorkgroupId`, if the workgroup size is a constant of the module.
        workgroup: Option<[u32; 3]>,
    },
    /// Vertex.
    Vertex {
        /// `VertexIndex`.
        vertex: u32,
        /// `InstanceIndex`.
        instance: u32,
    },
    /// Fragment.
    Fragment {
        /// `FragCoord` x and y, truncated to whole pixels.
        pixel: [u32; 2],
    },
    /// Tessellation and geometry.
    Primitive {
        /// `PrimitiveId`.
        primitive: u32,
        /// `InvocationId`; 0 in tessellation evaluation, which has none.
        invocation: u32,
    },
    /// Ray tracing.
    Launch {
        /// `LaunchIdKHR`.
        id: [u32; 3],
    },
    /// A stage that this version does not support.
    Unknown {
        /// The IDENTITY words of the record.
        words: [u32; 4],
    },
}

impl Invocation {
    /// Reads the four IDENTITY words of a record whose STAGE is `execution_model`: see [`crate::layout`].
    pub fn from_words(execution_model: u32, words: [u32; 4]) -> Self {
        let [a, b, c, d] = words;
        match Stage::identity_of(execution_model) {
            Identity::Vertex => Self::Vertex { vertex: a, instance: b },
            Identity::Primitive | Identity::Patch => Self::Primitive {
                primitive: a,
                invocation: b,
            },
            Identity::Pixel => Self::Fragment { pixel: [a, b] },
            Identity::Global => Self::Global {
                global: [a, b, c],
                local_index: d,
                local: None,
                workgroup: None,
            },
            Identity::Launch => Self::Launch { id: [a, b, c] },
            Identity::None => Self::Unknown { words },
        }
    }

    /// Adds local and workgroup ids, which follow from the workgroup size. A size that contradicts the local index is
    /// not the one that ran (it may be specialised), so nothing follows from it.
    #[must_use]
    pub fn with_workgroup_size(self, size: Option<[u32; 3]>) -> Self {
        let Self::Global {
            global, local_index, ..
        } = self
        else {
            return self;
        };
        let split = size.and_then(|size| split_global(global, local_index, size));
        let (local, workgroup) = split.unzip();
        Self::Global {
            global,
            local_index,
            local,
            workgroup,
        }
    }
}

/// `LocalInvocationId` and `WorkgroupId`, by the formulas of "Vulkan Specification, Built-In Variables".
fn split_global(global: [u32; 3], local_index: u32, size: [u32; 3]) -> Option<([u32; 3], [u32; 3])> {
    let ([gx, gy, gz], [sx, sy, sz]) = (global, size);
    let local = [gx.checked_rem(sx)?, gy.checked_rem(sy)?, gz.checked_rem(sz)?];
    let workgroup = [gx / sx, gy / sy, gz / sz];
    let [lx, ly, lz] = local.map(u64::from);
    let index = lx + u64::from(sx) * (ly + u64::from(sy) * lz);
    (index == u64::from(local_index)).then_some((local, workgroup))
}
