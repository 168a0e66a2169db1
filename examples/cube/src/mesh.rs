//! The vertices and indices of the cube.

use crate::vertex_input::attribute;
use ash::vk;
use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};
use std::mem::offset_of;

/// A vertex as `cube.vert` reads it.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Vertex {
    /// Each coordinate is 1 or -1.
    pub position: Vec3,
    /// The direction of the face.
    pub normal: Vec3,
    /// From (0, 0) to (1, 1) over each face.
    pub texcoord: Vec2,
}

impl Vertex {
    /// The inputs of `cube.vert`.
    pub fn attributes() -> [vk::VertexInputAttributeDescription; 3] {
        [
            attribute(0, vk::Format::R32G32B32_SFLOAT, offset_of!(Self, position)),
            attribute(1, vk::Format::R32G32B32_SFLOAT, offset_of!(Self, normal)),
            attribute(2, vk::Format::R32G32_SFLOAT, offset_of!(Self, texcoord)),
        ]
    }
}

/// The vertices of the six faces, four for each, and the indices of their triangles.
pub fn cube() -> (Vec<Vertex>, Vec<u16>) {
    let mut vertices = Vec::new();
    let mut indices = Vec::new();
    for normal in [Vec3::X, Vec3::Y, Vec3::Z, Vec3::NEG_X, Vec3::NEG_Y, Vec3::NEG_Z] {
        // Seen from outside, `right` and `up` span the face.
        let right = Vec3::new(normal.y, normal.z, normal.x);
        let up = normal.cross(right);
        let first = vertices.len() as u16;
        for (x, y) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
            vertices.push(Vertex {
                position: normal + right * x + up * y,
                normal,
                texcoord: Vec2::new(x + 1.0, 1.0 - y) / 2.0,
            });
        }
        indices.extend([0, 1, 2, 2, 3, 0].map(|corner| first + corner));
    }
    (vertices, indices)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangles_face_outwards() {
        let (vertices, indices) = cube();
        assert_eq!((vertices.len(), indices.len()), (24, 36));
        for triangle in indices.chunks(3) {
            let [a, b, c] = [0, 1, 2].map(|i| vertices[usize::from(triangle[i])]);
            let normal = (b.position - a.position).cross(c.position - a.position).normalize();
            assert_eq!(normal, a.normal);
            assert_eq!(a.position.abs(), Vec3::ONE);
        }
    }
}
