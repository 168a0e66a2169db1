//! The shaders of the checks. All are compute shaders over the words of a storage buffer at binding 0, in workgroups of
//! [`LOCAL`] invocations.

use super::spirv::{Assembler, Capability, Decoration, GLOBAL_INVOCATION_ID, Id, Op, StorageClass, words};

/// Invocations of a workgroup.
pub const LOCAL: u32 = 32;
/// Words of each of the buffer's parts, and invocations of most dispatches. A power of two.
pub const COUNT: u32 = 64;
/// The value of a word of the first part that makes its invocation abort.
pub const MARK: u32 = 7;
/// `SpecId` of a length.
pub const LENGTH_ID: u32 = 0;
/// `SpecId` of constant data.
pub const DATA_ID: u32 = 1;
/// The string in [`Message::Text8`] and [`Message::Text32`], and its NUL.
pub const TEXT: &str = "value %u of invocation %u\0";
/// Words that stand for "some data": no two are the same, and no byte is zero.
pub fn data(index: u32) -> u32 {
    0x8142_2418u32.wrapping_mul(index + 1) | 0x0101_0101
}

/// What an invocation aborts with. `v` is its word, [`MARK`], and `i` its number.
#[derive(Clone, Copy)]
pub enum Message {
    /// `v + i`
    Uint,
    /// `{v, ~i, i}`
    Whole,
    /// A structure with gaps: see [`holes`].
    Holes,
    /// A string of 8-bit integers from `OpConstantDataKHR`, `v`, `i`.
    Text8,
    /// The same string in 32-bit integers, `v`, `i`.
    Text32,
    /// A structure without members.
    Nothing,
    /// An empty string: four zero bytes.
    EmptyText,
    /// That many words, loaded from the buffer at binding 1.
    Loaded(u32),
    /// Words loaded from the buffer at binding 1, by default one, by `SpecId` [`LENGTH_ID`] as many as wanted.
    LoadedBySpecId,
    /// Two words of `OpSpecConstantDataKHR` with `SpecId` [`DATA_ID`], their number with `SpecId` [`LENGTH_ID`].
    SpecData,
}

/// A module with the types and the interface that all have.
struct Frame {
    a: Assembler,
    void: Id,
    boolean: Id,
    uint: Id,
    uvec3: Id,
    plain: Id,
    words: Id,
    word: Id,
    invocation: Id,
}

impl Frame {
    fn new(capabilities: &[Capability]) -> Self {
        let mut a = Assembler::default();
        a.capability(Capability::Shader);
        for &capability in capabilities {
            a.capability(capability);
            match capability {
                Capability::AbortKhr => a.extension("SPV_KHR_abort"),
                Capability::ConstantDataKhr => a.extension("SPV_KHR_constant_data"),
                _ => {}
            }
        }
        let void = a.ty(Op::TypeVoid, &[]);
        let boolean = a.ty(Op::TypeBool, &[]);
        let uint = a.ty(Op::TypeInt, &[32, 0]);
        let plain = a.ty(Op::TypeFunction, &[void]);
        let uvec3 = a.ty(Op::TypeVector, &[uint, 3]);
        let input = a.pointer(StorageClass::Input, uvec3);
        let invocation = a.variable(input, StorageClass::Input, None);
        a.decorate(invocation, Decoration::BuiltIn, &[GLOBAL_INVOCATION_ID]);
        let word = a.pointer(StorageClass::Buffer, uint);
        let mut frame = Self {
            a,
            void,
            boolean,
            uint,
            uvec3,
            plain,
            words: 0,
            word,
            invocation,
        };
        let array = frame.a.ty(Op::TypeRuntimeArray, &[uint]);
        frame.a.decorate(array, Decoration::ArrayStride, &[4]);
        frame.words = frame.buffer(array, 0);
        frame
    }

    /// A storage buffer that holds one `member`.
    fn buffer(&mut self, member: Id, binding: u32) -> Id {
        let block = self.structure(&[(member, 0)]);
        self.a.decorate(block, Decoration::Block, &[]);
        let pointer = self.a.pointer(StorageClass::Buffer, block);
        let variable = self.a.variable(pointer, StorageClass::Buffer, None);
        self.a.decorate(variable, Decoration::DescriptorSet, &[0]);
        self.a.decorate(variable, Decoration::Binding, &[binding]);
        variable
    }

    /// A structure of members at offsets.
    fn structure(&mut self, members: &[(Id, u32)]) -> Id {
        let types: Vec<Id> = members.iter().map(|&(ty, _)| ty).collect();
        let id = self.a.ty(Op::TypeStruct, &types);
        for (&(_, offset), member) in members.iter().zip(0..) {
            self.a.decorate_member(id, member, Decoration::Offset, &[offset]);
        }
        id
    }

    fn constant(&mut self, value: u32) -> Id {
        self.a.constant(Op::Constant, self.uint, &[value])
    }

    /// An array type, laid out if it has a stride.
    fn array(&mut self, element: Id, length: Id, stride: Option<u32>) -> Id {
        let id = self.a.ty(Op::TypeArray, &[element, length]);
        if let Some(stride) = stride {
            self.a.decorate(id, Decoration::ArrayStride, &[stride]);
        }
        id
    }

    /// The number of the invocation.
    fn number(&mut self) -> Id {
        let pointer = self.a.pointer(StorageClass::Input, self.uint);
        let x = self.constant(0);
        let x = self.a.value(Op::AccessChain, pointer, &[self.invocation, x]);
        self.a.value(Op::Load, self.uint, &[x])
    }

    /// A pointer to a word of the buffer.
    fn at(&mut self, index: Id) -> Id {
        let member = self.constant(0);
        self.a.value(Op::AccessChain, self.word, &[self.words, member, index])
    }

    fn add(&mut self, left: Id, right: u32) -> Id {
        let right = self.constant(right);
        self.a.value(Op::IAdd, self.uint, &[left, right])
    }

    /// Goes on in a new block if `condition` holds. Returns the label of the block after that.
    fn only_if(&mut self, condition: Id) -> Id {
        let (then, merge) = (self.a.id(), self.a.id());
        self.a.code(Op::SelectionMerge, &[merge, 0]);
        self.a.code(Op::BranchConditional, &[condition, then, merge]);
        self.a.code(Op::Label, &[then]);
        merge
    }

    fn start_main(&mut self) -> Id {
        let main = self.a.id();
        self.a.function(main, self.void, self.plain, &[]);
        main
    }

    fn finish_main(mut self, main: Id) -> Vec<u32> {
        self.a.code(Op::Return, &[]);
        self.a.code(Op::FunctionEnd, &[]);
        self.a.module(main, LOCAL)
    }
}

/// The words of a specialization constant of length `length` and of constant data that it is the length of.
fn spec_data(frame: &mut Frame, length: u32) -> (Id, Id, Id) {
    let uint = frame.uint;
    let count = frame.a.constant(Op::SpecConstant, uint, &[length]);
    frame.a.decorate(count, Decoration::SpecId, &[LENGTH_ID]);
    let array = frame.array(uint, count, None);
    let words: Vec<u32> = (0..length).map(data).collect();
    let value = frame.a.constant(Op::SpecConstantDataKhr, array, &words);
    frame.a.decorate(value, Decoration::SpecId, &[DATA_ID]);
    (count, array, value)
}

/// Words `v` of the first part; the second part gets `v + 1` before a function is called that aborts where `v` is
/// [`MARK`]; the third gets `v + 2` after it. Invocations past [`COUNT`] share words with the first ones.
pub fn aborting(message: Message) -> Vec<u32> {
    let mut capabilities = vec![Capability::AbortKhr];
    match message {
        Message::Text8 => capabilities.extend([Capability::ConstantDataKhr, Capability::Int8]),
        Message::Text32 | Message::EmptyText | Message::SpecData => capabilities.push(Capability::ConstantDataKhr),
        _ => {}
    }
    let mut f = Frame::new(&capabilities);
    let (void, uint, boolean) = (f.void, f.uint, f.boolean);
    let mark = f.constant(MARK);
    let mask = f.constant(COUNT - 1);
    let check = f.a.id();
    let check_type = f.a.ty(Op::TypeFunction, &[void, uint, uint]);

    let main = f.start_main();
    let i = f.number();
    let index = f.a.value(Op::BitwiseAnd, uint, &[i, mask]);
    let pointer = f.at(index);
    let v = f.a.value(Op::Load, uint, &[pointer]);
    for part in [1, 2] {
        let stored = f.add(v, part);
        let index = f.add(index, part * COUNT);
        let pointer = f.at(index);
        f.a.code(Op::Store, &[pointer, stored]);
        if part == 1 {
            f.a.value(Op::FunctionCall, void, &[check, v, i]);
        }
    }
    f.a.code(Op::Return, &[]);
    f.a.code(Op::FunctionEnd, &[]);

    let parameters = f.a.function(check, void, check_type, &[uint, uint]);
    let &[v, i] = &parameters[..] else { return Vec::new() };
    let marked = f.a.value(Op::IEqual, boolean, &[v, mark]);
    let merge = f.only_if(marked);
    let (ty, value) = build(&mut f, message, v, i);
    f.a.code(Op::AbortKhr, &[ty, value]);
    f.a.code(Op::Label, &[merge]);
    f.finish_main(main)
}

/// The message: its type and its value.
fn build(f: &mut Frame, message: Message, v: Id, i: Id) -> (Id, Id) {
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

/// Word `i` of the buffer becomes element `i % length` of constant data, whose length and elements [`LENGTH_ID`] and
/// [`DATA_ID`] specialize if `specialized`.
pub fn table(length: u32, specialized: bool) -> Vec<u32> {
    let mut f = Frame::new(&[Capability::ConstantDataKhr]);
    let uint = f.uint;
    let (count, array, value) = if specialized {
        spec_data(&mut f, length)
    } else {
        let count = f.constant(length);
        let array = f.array(uint, count, None);
        let words: Vec<u32> = (0..length).map(data).collect();
        let value = f.a.constant(Op::ConstantDataKhr, array, &words);
        (count, array, value)
    };
    let table_pointer = f.a.pointer(StorageClass::Private, array);
    let element_pointer = f.a.pointer(StorageClass::Private, uint);
    let table = f.a.variable(table_pointer, StorageClass::Private, Some(value));
    let main = f.start_main();
    let i = f.number();
    let index = f.a.value(Op::UMod, uint, &[i, count]);
    let element = f.a.value(Op::AccessChain, element_pointer, &[table, index]);
    let element = f.a.value(Op::Load, uint, &[element]);
    let pointer = f.at(i);
    f.a.code(Op::Store, &[pointer, element]);
    f.finish_main(main)
}

/// Invocation 0 sets word 0 and aborts instead of setting word 1. Invocations of other workgroups that see word 0 set
/// count themselves in word 2 and wait for word 1.
///
/// They wait only for an invocation that runs, since nothing promises that it ever starts while they wait.
pub fn waiting() -> Vec<u32> {
    let mut f = Frame::new(&[Capability::AbortKhr]);
    let (uint, boolean) = (f.uint, f.boolean);
    let [zero, one, two, local] = [0, 1, 2, LOCAL].map(|value| f.constant(value));
    // Scope Device, no memory semantics: only the words themselves matter.
    let (device, relaxed) = (one, zero);
    let main = f.start_main();
    let i = f.number();
    let [started, go, count] = [zero, one, two].map(|index| f.at(index));
    let first = f.a.value(Op::IEqual, boolean, &[i, zero]);
    let merge = f.only_if(first);
    f.a.code(Op::AtomicStore, &[started, device, relaxed, one]);
    f.a.code(Op::AbortKhr, &[uint, i]);
    f.a.code(Op::Label, &[merge]);

    let other = f.a.value(Op::UGreaterThanEqual, boolean, &[i, local]);
    let end = f.only_if(other);
    let seen = f.a.value(Op::AtomicLoad, uint, &[started, device, relaxed]);
    let seen = f.a.value(Op::IEqual, boolean, &[seen, one]);
    let [waits, header, body, again, done] = std::array::from_fn(|_| f.a.id());
    f.a.code(Op::SelectionMerge, &[done, 0]);
    f.a.code(Op::BranchConditional, &[seen, waits, done]);
    f.a.code(Op::Label, &[waits]);
    f.a.value(Op::AtomicIAdd, uint, &[count, device, relaxed, one]);
    f.a.code(Op::Branch, &[header]);
    f.a.code(Op::Label, &[header]);
    let after = f.a.id();
    f.a.code(Op::LoopMerge, &[after, again, 0]);
    f.a.code(Op::Branch, &[body]);
    f.a.code(Op::Label, &[body]);
    let set = f.a.value(Op::AtomicLoad, uint, &[go, device, relaxed]);
    let set = f.a.value(Op::IEqual, boolean, &[set, one]);
    f.a.code(Op::BranchConditional, &[set, after, again]);
    f.a.code(Op::Label, &[again]);
    f.a.code(Op::Branch, &[header]);
    f.a.code(Op::Label, &[after]);
    f.a.code(Op::Branch, &[done]);
    f.a.code(Op::Label, &[done]);
    f.a.code(Op::Branch, &[end]);
    f.a.code(Op::Label, &[end]);
    f.finish_main(main)
}
