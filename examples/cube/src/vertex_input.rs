//! Descriptions of vertex inputs.

use ash::vk;

/// The input at `location` of a vertex shader: a value `offset` bytes into each vertex.
pub fn attribute(location: u32, format: vk::Format, offset: usize) -> vk::VertexInputAttributeDescription {
    vk::VertexInputAttributeDescription::default()
        .location(location)
        .format(format)
        .offset(offset as u32)
}
