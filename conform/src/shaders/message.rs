//! Builds the messages.

use super::interface::{LENGTH_ID, Message, TEXT};
use super::module::{ComputeModule, spec_data};
use vkabort_spirv_builder::op::{self, decoration, storage_class};
use vkabort_spirv_builder::{Id, words};

/// Builds a message. Returns its type and its value.
pub(super) fn build(m: &mut ComputeModule, message: Message, v: Id, i: Id) -> (Id, Id) {
    let uint = m.uint();
    match message {
        Message::Uint => (uint, m.emit(op::IAdd, uint, &[v, i])),
        Message::Whole => {
            let ty = m.structure(&[(uint, 0), (uint, 4), (uint, 8)]);
            let inverse = m.emit(op::Not, uint, &[i]);
            (ty, m.emit(op::CompositeConstruct, ty, &[v, inverse, i]))
        }
        Message::Gaps => gaps(m, v, i),
        Message::Text8 => {
            let byte = m.int(8, false);
            text(m, byte, TEXT.len() as u32, 1, v, i)
        }
        Message::Text32 => text(m, uint, TEXT.len().div_ceil(4) as u32, 4, v, i),
        Message::Empty => {
            let ty = m.structure(&[]);
            (ty, m.new_value(op::ConstantNull, ty, &[]))
        }
        Message::EmptyText => {
            let one = m.constant(1);
            let plain = m.strided_array(uint, one, None);
            let laid_out = m.strided_array(uint, one, Some(4));
            (laid_out, m.new_value(op::ConstantDataKHR, plain, &[0]))
        }
        Message::Loaded(length) => {
            let length = m.constant(length);
            loaded(m, length)
        }
        Message::LoadedBySpecId => {
            let length = m.new_value(op::SpecConstant, uint, &[1]);
            m.decorate(length, decoration::SpecId, &[LENGTH_ID]);
            loaded(m, length)
        }
        Message::SpecData => {
            let (count, _, value) = spec_data(m, 2);
            (m.strided_array(uint, count, Some(4)), value)
        }
    }
}

/// `{v @0, float with the bits of i @8, {v, i, v} @16, matrix {{i, v}, {v, i}} @32 with stride 16,
/// {i, v} @64 with stride 8}`: 76 bytes.
fn gaps(m: &mut ComputeModule, v: Id, i: Id) -> (Id, Id) {
    let uint = m.uint();
    let uvec3 = m.vector(uint, 3);
    let float = m.float(32);
    let column = m.vector(float, 2);
    let matrix = m.ty(op::TypeMatrix, &[column, 2]);
    let two = m.constant(2);
    let plain = m.strided_array(uint, two, None);
    let strided = m.strided_array(uint, two, Some(8));
    let value_type = m.new_type(op::TypeStruct, &[uint, float, uvec3, matrix, plain]);
    let ty = m.structure(&[(uint, 0), (float, 8), (uvec3, 16), (matrix, 32), (strided, 64)]);
    m.decorate_member(ty, 3, decoration::ColMajor, &[]);
    m.decorate_member(ty, 3, decoration::MatrixStride, &[16]);
    let [fv, fi] = [v, i].map(|value| m.emit(op::Bitcast, float, &[value]));
    let vector = m.emit(op::CompositeConstruct, uvec3, &[v, i, v]);
    let columns = [[fi, fv], [fv, fi]].map(|column_of| m.emit(op::CompositeConstruct, column, &column_of));
    let matrix = m.emit(op::CompositeConstruct, matrix, &columns);
    let array = m.emit(op::CompositeConstruct, plain, &[i, v]);
    let members = [v, fi, vector, matrix, array];
    (ty, m.emit(op::CompositeConstruct, value_type, &members))
}

/// [`TEXT`] in `length` elements of `size` bytes, then `v` and `i`.
fn text(m: &mut ComputeModule, element: Id, length: u32, size: u32, v: Id, i: Id) -> (Id, Id) {
    let uint = m.uint();
    let count = m.constant(length);
    let plain = m.strided_array(element, count, None);
    let laid_out = m.strided_array(element, count, Some(size));
    if size == 1 {
        m.decorate(plain, decoration::UTFEncodedKHR, &[]);
        m.decorate(laid_out, decoration::UTFEncodedKHR, &[]);
    }
    let after = (length * size).next_multiple_of(4);
    let value_type = m.new_type(op::TypeStruct, &[plain, uint, uint]);
    let ty = m.structure(&[(laid_out, 0), (uint, after), (uint, after + 4)]);
    let data = words(TEXT.as_bytes(), TEXT.len().div_ceil(4));
    let string = m.new_value(op::ConstantDataKHR, plain, &data);
    (ty, m.emit(op::CompositeConstruct, value_type, &[string, v, i]))
}

/// `length` words of the buffer at binding 1.
fn loaded(m: &mut ComputeModule, length: Id) -> (Id, Id) {
    let uint = m.uint();
    let array = m.strided_array(uint, length, Some(4));
    let buffer = m.buffer_of(array, 1);
    let pointer = m.pointer(storage_class::StorageBuffer, array);
    let member = m.constant(0);
    let pointer = m.emit(op::AccessChain, pointer, &[buffer, member]);
    (array, m.emit(op::Load, array, &[pointer]))
}
