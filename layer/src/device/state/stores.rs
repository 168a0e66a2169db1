//! The shader stages that can write messages.

use ash::vk;
use vkabort_record::stage::{STAGES, Stage, StoreFeature};

/// Features for stores and atomics, which a stage needs to write messages. Others than these stages always have them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stores {
    /// `vertexPipelineStoresAndAtomics`: vertex, tessellation and geometry stages.
    pub vertex: bool,
    /// `fragmentStoresAndAtomics`: the fragment stage.
    pub fragment: bool,
}

impl Stores {
    /// In every stage.
    #[cfg(test)]
    pub const ALL: Self = Self {
        vertex: true,
        fragment: true,
    };

    /// The stages without stores.
    pub fn refused(self) -> impl Iterator<Item = &'static Stage> {
        STAGES
            .iter()
            .filter(move |stage| stage.stores.is_some_and(|feature| !self.supports(feature)))
    }

    /// The flags of [`Self::refused`].
    pub fn refused_flags(self) -> vk::ShaderStageFlags {
        let flags = |stage: &Stage| vk::ShaderStageFlags::from_raw(stage.vulkan);
        self.refused()
            .map(flags)
            .fold(vk::ShaderStageFlags::empty(), |all, stage| all | stage)
    }

    /// Names of the features that the driver lacks.
    pub fn missing(self) -> impl Iterator<Item = &'static str> {
        let missing = move |feature: &StoreFeature| !self.supports(*feature);
        StoreFeature::ALL.into_iter().filter(missing).map(StoreFeature::name)
    }

    /// The stages whose aborts a device refuses, for the log. `None` if it refuses none.
    pub fn restriction(self) -> Option<String> {
        let stages: Vec<&str> = self.refused().map(|stage| stage.name).collect();
        let missing: Vec<&str> = self.missing().collect();
        (!missing.is_empty()).then(|| {
            format!(
                "aborts in {} shaders are refused: the driver lacks {}",
                stages.join(", "),
                missing.join(" and ")
            )
        })
    }

    fn supports(self, feature: StoreFeature) -> bool {
        match feature {
            StoreFeature::VertexPipeline => self.vertex,
            StoreFeature::Fragment => self.fragment,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vk::ShaderStageFlags as Flags;

    #[test]
    fn a_missing_feature_refuses_its_stages() {
        assert_eq!(Stores::ALL.refused_flags(), Flags::empty());
        assert_eq!(Stores::ALL.missing().count(), 0);
        let no_vertex = Stores {
            vertex: false,
            ..Stores::ALL
        };
        let refused = no_vertex.refused_flags();
        assert!(refused.contains(Flags::VERTEX | Flags::GEOMETRY));
        assert!(!refused.intersects(Flags::FRAGMENT | Flags::COMPUTE | Flags::MESH_EXT | Flags::TASK_EXT));
        assert_eq!(
            no_vertex.missing().collect::<Vec<_>>(),
            ["vertexPipelineStoresAndAtomics"]
        );
        let no_fragment = Stores {
            fragment: false,
            ..Stores::ALL
        };
        assert_eq!(no_fragment.refused_flags(), Flags::FRAGMENT);
    }

    #[test]
    fn every_stage_of_vulkan_has_a_row() {
        let flags = |stage: &Stage| Flags::from_raw(stage.vulkan);
        let all = STAGES.iter().map(flags).fold(Flags::empty(), |all, stage| all | stage);
        let mesh = Flags::TASK_EXT | Flags::MESH_EXT;
        let ray = Flags::RAYGEN_KHR | Flags::ANY_HIT_KHR | Flags::CLOSEST_HIT_KHR | Flags::MISS_KHR;
        let others = Flags::INTERSECTION_KHR | Flags::CALLABLE_KHR | Flags::COMPUTE;
        assert_eq!(all, Flags::ALL_GRAPHICS | mesh | ray | others);
    }
}
