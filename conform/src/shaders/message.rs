//! Builds the messages.

use super::interface::{LENGTH_ID, Message, TEXT};
use super::module::{ComputeModule, spec_data};
use crate::spirv::{decoration, op, storage_class};
use vkabort_spirv_builder::{Id, words};

/// Builds a message. Returns its type and its value.
pub(super) fn build(m: &mut ComputeModule, message: Message, v: Id, i: Id) -> (Id, Id) {
    let uint = m.uint;
    match message {
        Message::Uint => (uint, m.a.value(op::IAdd, uint, &[v, i])),
        Message::Whole => {
            let ty = m.structure(&[(uint, 0), (uint, 4), (uint, 8)]);
            let inverse = m.a.value(op::Not, uint, &[i]);
            (ty, m.a.value(op::CompositeConstruct, ty, &[v, inverse, i]))
        }
        Message::Gaps => gaps(m, v, i),
        Message::Text8 => {
            let byte = m.a.builder.ty(op::TypeInt, &[8, 0]);
            text(m, byte, TEXT.len() as u32, 1, v, i)
        }
        Message::Text32 => text(m, uint, TEXT.len().div_ceil(4) as u32, 4, v, i),
        Message::Empty => {
            let ty = m.structure(&[]);
            (ty, m.a.builder.new_value(op::ConstantNull, ty, &[]))
        }
        Message::EmptyText => {
            let one = m.constant(1);
            let plain = m.array(uint, one, None);
            let laid_out = m.array(uint, one, Some(4));
            (laid_out, m.a.builder.new_value(op::ConstantDataKHR, plain, &[0]))
        }
        Message::Loaded(length) => {
            let length = m.constant(length);
            loaded(m, length)
        }
        Message::LoadedBySpecId => {
            let length = m.a.builder.new_value(op::SpecConstant, uint, &[1]);
            m.a.builder.decorate(length, decoration::SpecId, &[LENGTH_ID]);
            loaded(m, length)
        }
        Message::SpecData => {
            let (count, _, value) = spec_data(m, 2);
            (m.array(uint, count, Some(4)), value)
        }
    }
}

/// `{v @0, float with the bits of i @8, {v, i, v} @16, matrix {{i, v}, {v, i}} @32 with stride 16,
/// {i, v} @64 with stride 8}`: 76 bytes.
fn gaps(m: &mut ComputeModule, v: Id, i: Id) -> (Id, Id) {
    let (uint, uvec3) = (m.uint, m.uvec3);
    let float = m.a.builder.ty(op::TypeFloat, &[32]);
    let column = m.a.builder.ty(op::TypeVector, &[float, 2]);
    let matrix = m.a.builder.ty(op::TypeMatrix, &[column, 2]);
    let two = m.constant(2);
    let plain = m.array(uint, two, None);
    let strided = m.array(uint, two, Some(8));
    let value_type =
        m.a.builder
            .new_type(op::TypeStruct, &[uint, float, uvec3, matrix, plain]);
    let ty = m.structure(&[(uint, 0), (float, 8), (uvec3, 16), (matrix, 32), (strided, 64)]);
    m.a.builder.decorate_member(ty, 3, decoration::ColMajor, &[]);
    m.a.builder.decorate_member(ty, 3, decoration::MatrixStride, &[16]);
    let [fv, fi] = [v, i].map(|value| m.a.value(op::Bitcast, float, &[value]));
    let vector = m.a.value(op::CompositeConstruct, uvec3, &[v, i, v]);
    let columns = [[fi, fv], [fv, fi]].map(|column_of| m.a.value(op::CompositeConstruct, column, &column_of));
    let matrix = m.a.value(op::CompositeConstruct, matrix, &columns);
    let array = m.a.value(op::CompositeConstruct, plain, &[i, v]);
    let members = [v, fi, vector, matrix, array];
    (ty, m.a.value(op::CompositeConstruct, value_type, &members))
}

/// [`TEXT`] in `length` elements of `size` bytes, then `v` and `i`.
fn text(m: &mut ComputeModule, element: Id, length: u32, size: u32, v: Id, i: Id) -> (Id, Id) {
    let uint = m.uint;
    let count = m.constant(length);
    let plain = m.array(element, count, None);
    let laid_out = m.array(element, count, Some(size));
    if size == 1 {
        m.a.builder.decorate(plain, decoration::UTFEncodedKHR, &[]);
        m.a.builder.decorate(laid_out, decoration::UTFEncodedKHR, &[]);
    }
    let after = (length * size).next_multiple_of(4);
    let value_type = m.a.builder.new_type(op::TypeStruct, &[plain, uint, uint]);
    let ty = m.structure(&[(laid_out, 0), (uint, after), (uint, after + 4)]);
    let data = words(TEXT.as_bytes(), TEXT.len().div_ceil(4));
    let string = m.a.builder.new_value(op::ConstantDataKHR, plain, &data);
    (ty, m.a.value(op::CompositeConstruct, value_type, &[string, v, i]))
}

/// `length` words of the buffer at binding 1.
fn loaded(m: &mut ComputeModule, length: Id) -> (Id, Id) {
    let uint = m.uint;
    let array = m.array(uint, length, Some(4));
    let buffer = m.buffer(array, 1);
    let pointer = m.a.builder.pointer(storage_class::StorageBuffer, array);
    let member = m.constant(0);
    let pointer = m.a.value(op::AccessChain, pointer, &[buffer, member]);
    (array, m.a.value(op::Load, array, &[pointer]))
}
