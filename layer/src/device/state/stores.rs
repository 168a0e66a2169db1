//! The shader stages that can write messages.

use ash::vk;

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
    pub fn refused_stages(self) -> vk::ShaderStageFlags {
        let vertex = vk::ShaderStageFlags::VERTEX
            | vk::ShaderStageFlags::TESSELLATION_CONTROL
            | vk::ShaderStageFlags::TESSELLATION_EVALUATION
            | vk::ShaderStageFlags::GEOMETRY;
        let of = |supported: bool, stages| match supported {
            true => vk::ShaderStageFlags::empty(),
            false => stages,
        };
        of(self.vertex, vertex) | of(self.fragment, vk::ShaderStageFlags::FRAGMENT)
    }

    /// Names of the features that the driver lacks.
    pub fn missing(self) -> impl Iterator<Item = &'static str> {
        [
            (self.vertex, "vertexPipelineStoresAndAtomics"),
            (self.fragment, "fragmentStoresAndAtomics"),
        ]
        .into_iter()
        .filter_map(|(supported, name)| (!supported).then_some(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_feature_refuses_its_stages() {
        use vk::ShaderStageFlags as Stage;
        assert_eq!(Stores::ALL.refused_stages(), Stage::empty());
        assert_eq!(Stores::ALL.missing().count(), 0);
        let no_vertex = Stores {
            vertex: false,
            ..Stores::ALL
        };
        let refused = no_vertex.refused_stages();
        assert!(refused.contains(Stage::VERTEX | Stage::GEOMETRY));
        assert!(!refused.intersects(Stage::FRAGMENT | Stage::COMPUTE | Stage::MESH_EXT | Stage::TASK_EXT));
        assert_eq!(
            no_vertex.missing().collect::<Vec<_>>(),
            ["vertexPipelineStoresAndAtomics"]
        );
        let no_fragment = Stores {
            fragment: false,
            ..Stores::ALL
        };
        assert_eq!(no_fragment.refused_stages(), Stage::FRAGMENT);
    }
}
