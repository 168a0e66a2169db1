//! The buffer that messages are loaded from.

use super::globals::{DATA, Globals, Loadable};
use crate::module::Id;
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
        let mut array = |length: Id, stride: u32| {
            let ty = builder.new_type(op::TypeArray, &[uint, length]);
            builder.decorate(ty, decoration::ArrayStride, &[stride]);
            ty
        };
        let specialised = array(self.specialised_length, 4);
        let [three, five, forty, twenty_four] = [3, 5, 40, 24].map(|n| self.builder.constant(n));
        let builder = &mut self.builder;
        let mut array = |length: Id, stride: u32| {
            let ty = builder.new_type(op::TypeArray, &[uint, length]);
            builder.decorate(ty, decoration::ArrayStride, &[stride]);
            ty
        };
        let (tail, short, long, sparse) = (array(three, 4), array(five, 4), array(forty, 4), array(twenty_four, 16));
        let mut structure = |members: &[(Id, u32)]| {
            let types: Vec<Id> = members.iter().map(|(ty, _)| *ty).collect();
            let ty = builder.new_type(op::TypeStruct, &types);
            for (number, (_, offset)) in (0..).zip(members) {
                builder.decorate_member(ty, number, decoration::Offset, &[*offset]);
            }
            ty
        };
        let mixed = structure(&[(uint, 0), (uvec3, 16), (tail, 32)]);
        let builder = &mut self.builder;
        let [mat2x3, mat3x2, mat3, mat2x4] = [(vec3, 2), (vec2, 3), (vec3, 3), (vec4, 2)]
            .map(|(column, count)| builder.ty(op::TypeMatrix, &[column, count]));
        let matrices = builder.new_type(op::TypeStruct, &[mat3, mat2x4]);
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
        let types: Vec<Id> = members.iter().map(|(ty, ..)| *ty).collect();
        let block = builder.new_type(op::TypeStruct, &types);
        for (member, (ty, offset, size)) in (0..).zip(members) {
            builder.decorate_member(block, member, decoration::Offset, &[offset]);
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
            (block, 4, 0, decoration::ColMajor),
            (block, 5, 0, decoration::RowMajor),
            (matrices, 0, 0, decoration::ColMajor),
            (matrices, 1, 48, decoration::RowMajor),
        ];
        for (ty, member, offset, major) in matrix {
            builder.decorate_member(ty, member, decoration::MatrixStride, &[16]);
            builder.decorate_member(ty, member, major, &[]);
            if ty == matrices {
                builder.decorate_member(ty, member, decoration::Offset, &[offset]);
            }
        }
        self.data = self.buffer(block, DATA, "Data");
    }
}
