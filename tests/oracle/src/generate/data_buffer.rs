//! The buffer that messages are loaded from.

use super::globals::{DATA, Globals, Loadable};
use crate::op::{self, decoration};

impl Globals {
    /// Adds the data buffer, with members of various layouts.
    pub(super) fn data_buffer(&mut self) {
        let builder = &mut self.builder;
        let (uint, float) = (builder.uint(), builder.float(32));
        let (uvec3, vec2, vec3, vec4) = (
            builder.vector(uint, 3),
            builder.vector(float, 2),
            builder.vector(float, 3),
            builder.vector(float, 4),
        );
        let [three, five, forty, twenty_four] = [3, 5, 40, 24].map(|n| builder.constant(n));
        let lengths = [
            (self.specialised_length, 4),
            (three, 4),
            (five, 4),
            (forty, 4),
            (twenty_four, 16),
        ];
        let [specialised, tail, short, long, sparse] =
            lengths.map(|(length, stride)| builder.strided_array(uint, length, Some(stride)));
        let mixed = builder.structure(&[(uint, 0), (uvec3, 16), (tail, 32)]);
        let [mat2x3, mat3x2, mat3, mat2x4] = [(vec3, 2), (vec2, 3), (vec3, 3), (vec4, 2)]
            .map(|(column, count)| builder.ty(op::TypeMatrix, &[column, count]));
        let matrices = builder.structure(&[(mat3, 0), (mat2x4, 48)]);
        let members = [
            (short, 0, 20),
            (long, 32, 160),
            (sparse, 192, 372),
            (mixed, 576, 44),
            (mat2x3, 640, 0),
            (mat3x2, 672, 0),
            (matrices, 704, 112 - 8),
            (specialised, 832, 160),
        ];
        let block = builder.structure(&members.map(|(ty, offset, _)| (ty, offset)));
        for (member, (ty, _, size)) in (0..).zip(members) {
            if size != 0 {
                self.loadable.push(Loadable {
                    member,
                    ty,
                    size,
                    specialised: ty == specialised,
                });
            }
        }
        let matrix = [
            (block, 4, decoration::ColMajor),
            (block, 5, decoration::RowMajor),
            (matrices, 0, decoration::ColMajor),
            (matrices, 1, decoration::RowMajor),
        ];
        for (ty, member, major) in matrix {
            builder.decorate_member(ty, member, decoration::MatrixStride, &[16]);
            builder.decorate_member(ty, member, major, &[]);
        }
        self.data = self.buffer(block, DATA, "Data");
    }
}
