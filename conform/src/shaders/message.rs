//! The messages that invocations abort with.

use super::frame::{Frame, spec_data};
use super::{LENGTH_ID, Message, TEXT};
use crate::spirv::{Decoration, Id, Op, StorageClass, words};

/// The message: its type and its value.
pub(super) fn build(f: &mut Frame, message: Message, v: Id, i: Id) -> (Id, Id) {
    let uint = f.uint;
    match message {
        Message::Uint => (uint, f.a.value(Op::IAdd, uint, &[v, i])),
        Message::Whole => {
            let ty = f.structure(&[(uint, 0), (uint, 4), (uint, 8)]);
            let inverse = f.a.value(Op::Not, uint, &[i]);
            (ty, f.a.value(Op::CompositeConstruct, ty, &[v, inverse, i]))
        }
        Message::Holes => holes(f, v, i),
        Message::Text8 => {
            let byte = f.a.ty(Op::TypeInt, &[8, 0]);
            text(f, byte, TEXT.len() as u32, 1, v, i)
        }
        Message::Text32 => text(f, uint, TEXT.len().div_ceil(4) as u32, 4, v, i),
        Message::Nothing => {
            let ty = f.structure(&[]);
            (ty, f.a.constant(Op::ConstantNull, ty, &[]))
        }
        Message::EmptyText => {
            let one = f.constant(1);
            let plain = f.array(uint, one, None);
            let laid_out = f.array(uint, one, Some(4));
            (laid_out, f.a.constant(Op::ConstantDataKhr, plain, &[0]))
        }
        Message::Loaded(length) => {
            let length = f.constant(length);
            loaded(f, length)
        }
        Message::LoadedBySpecId => {
            let length = f.a.constant(Op::SpecConstant, uint, &[1]);
            f.a.decorate(length, Decoration::SpecId, &[LENGTH_ID]);
            loaded(f, length)
        }
        Message::SpecData => {
            let (count, _, value) = spec_data(f, 2);
            (f.array(uint, count, Some(4)), value)
        }
    }
}

/// `{v @0, float i's bits @8, {v, i, v} @16, matrix {{i, v}, {v, i}} @32 with stride 16, {i, v} @64 with stride 8}`:
/// the last byte is the 76th.
fn holes(f: &mut Frame, v: Id, i: Id) -> (Id, Id) {
    let (uint, uvec3) = (f.uint, f.uvec3);
    let float = f.a.ty(Op::TypeFloat, &[32]);
    let column = f.a.ty(Op::TypeVector, &[float, 2]);
    let matrix = f.a.ty(Op::TypeMatrix, &[column, 2]);
    let two = f.constant(2);
    let plain = f.array(uint, two, None);
    let strided = f.array(uint, two, Some(8));
    let value_type = f.a.ty(Op::TypeStruct, &[uint, float, uvec3, matrix, plain]);
    let ty = f.structure(&[(uint, 0), (float, 8), (uvec3, 16), (matrix, 32), (strided, 64)]);
    f.a.decorate_member(ty, 3, Decoration::ColMajor, &[]);
    f.a.decorate_member(ty, 3, Decoration::MatrixStride, &[16]);
    let [fv, fi] = [v, i].map(|value| f.a.value(Op::Bitcast, float, &[value]));
    let vector = f.a.value(Op::CompositeConstruct, uvec3, &[v, i, v]);
    let columns = [[fi, fv], [fv, fi]].map(|column_of| f.a.value(Op::CompositeConstruct, column, &column_of));
    let matrix = f.a.value(Op::CompositeConstruct, matrix, &columns);
    let array = f.a.value(Op::CompositeConstruct, plain, &[i, v]);
    let members = [v, fi, vector, matrix, array];
    (ty, f.a.value(Op::CompositeConstruct, value_type, &members))
}

/// The members of [`holes`]: offset and value, each one word.
pub fn holes_expected(v: u32, i: u32) -> [(usize, u32); 11] {
    [
        (0, v),
        (8, i),
        (16, v),
        (20, i),
        (24, v),
        (32, i),
        (36, v),
        (48, v),
        (52, i),
        (64, i),
        (72, v),
    ]
}

/// [`TEXT`] in `length` elements of `size` bytes, `v`, `i`.
fn text(f: &mut Frame, element: Id, length: u32, size: u32, v: Id, i: Id) -> (Id, Id) {
    let uint = f.uint;
    let count = f.constant(length);
    let plain = f.array(element, count, None);
    let laid_out = f.array(element, count, Some(size));
    if size == 1 {
        f.a.decorate(plain, Decoration::UtfEncodedKhr, &[]);
        f.a.decorate(laid_out, Decoration::UtfEncodedKhr, &[]);
    }
    let after = (length * size).next_multiple_of(4);
    let value_type = f.a.ty(Op::TypeStruct, &[plain, uint, uint]);
    let ty = f.structure(&[(laid_out, 0), (uint, after), (uint, after + 4)]);
    let data = words(TEXT.as_bytes(), TEXT.len().div_ceil(4));
    let string = f.a.constant(Op::ConstantDataKhr, plain, &data);
    (ty, f.a.value(Op::CompositeConstruct, value_type, &[string, v, i]))
}

/// That many words of the buffer at binding 1.
fn loaded(f: &mut Frame, length: Id) -> (Id, Id) {
    let uint = f.uint;
    let array = f.array(uint, length, Some(4));
    let buffer = f.buffer(array, 1);
    let pointer = f.a.pointer(StorageClass::Buffer, array);
    let member = f.constant(0);
    let pointer = f.a.value(Op::AccessChain, pointer, &[buffer, member]);
    (array, f.a.value(Op::Load, array, &[pointer]))
}
