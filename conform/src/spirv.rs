//! A small assembler: instructions go to the sections of a module, which come out in the order that SPIR-V wants.

/// An id of the module.
pub type Id = u32;

/// The instructions that the shaders of the checks consist of.
#[derive(Clone, Copy)]
#[repr(u32)]
pub enum Op {
    Extension = 10,
    MemoryModel = 14,
    EntryPoint = 15,
    ExecutionMode = 16,
    Capability = 17,
    TypeVoid = 19,
    TypeBool = 20,
    TypeInt = 21,
    TypeFloat = 22,
    TypeVector = 23,
    TypeMatrix = 24,
    TypeArray = 28,
    TypeRuntimeArray = 29,
    TypeStruct = 30,
    TypePointer = 32,
    TypeFunction = 33,
    Constant = 43,
    ConstantNull = 46,
    SpecConstant = 50,
    Function = 54,
    FunctionParameter = 55,
    FunctionEnd = 56,
    FunctionCall = 57,
    Variable = 59,
    Load = 61,
    Store = 62,
    AccessChain = 65,
    Decorate = 71,
    MemberDecorate = 72,
    CompositeConstruct = 80,
    Bitcast = 124,
    IAdd = 128,
    UMod = 137,
    IEqual = 170,
    UGreaterThanEqual = 174,
    BitwiseAnd = 199,
    Not = 200,
    AtomicLoad = 227,
    AtomicStore = 228,
    AtomicIAdd = 234,
    LoopMerge = 246,
    SelectionMerge = 247,
    Label = 248,
    Branch = 249,
    BranchConditional = 250,
    Return = 253,
    AbortKhr = 5121,
    ConstantDataKhr = 5147,
    SpecConstantDataKhr = 5148,
}

/// Capabilities.
#[derive(Clone, Copy)]
#[repr(u32)]
pub enum Capability {
    Shader = 1,
    Int8 = 39,
    AbortKhr = 5120,
    ConstantDataKhr = 5146,
}

/// StorageClass classes.
#[derive(Clone, Copy)]
#[repr(u32)]
pub enum StorageClass {
    Input = 1,
    Private = 6,
    Buffer = 12,
}

/// Decorations.
#[derive(Clone, Copy)]
#[repr(u32)]
pub enum Decoration {
    SpecId = 1,
    Block = 2,
    ColMajor = 5,
    ArrayStride = 6,
    MatrixStride = 7,
    BuiltIn = 11,
    Binding = 33,
    DescriptorSet = 34,
    Offset = 35,
    UtfEncodedKhr = 5145,
}

/// `GlobalInvocationId`
pub const GLOBAL_INVOCATION_ID: u32 = 28;
/// The execution model of compute shaders.
const GL_COMPUTE: u32 = 5;
/// The execution mode that gives the size of a workgroup.
const LOCAL_SIZE: u32 = 17;
/// SPIR-V 1.3: what Vulkan 1.1 has.
const VERSION: u32 = 0x0001_0300;

/// A module in the making.
#[derive(Default)]
pub struct Assembler {
    ids: u32,
    capabilities: Vec<u32>,
    extensions: Vec<u32>,
    decorations: Vec<u32>,
    globals: Vec<u32>,
    code: Vec<u32>,
    interface: Vec<Id>,
}

fn emit(section: &mut Vec<u32>, op: Op, operands: &[u32]) {
    // The largest instruction here is constant data of some hundred words.
    section.push((operands.len() as u32 + 1) << 16 | op as u32);
    section.extend(operands);
}

/// A literal string: its bytes, a NUL and padding, the first byte lowest.
fn literal(text: &str) -> Vec<u32> {
    words(text.as_bytes(), text.len() / 4 + 1)
}

/// Bytes as `count` words, the first byte lowest, padded with zeros.
pub fn words(bytes: &[u8], count: usize) -> Vec<u32> {
    let mut padded = bytes.to_vec();
    padded.resize(count * 4, 0);
    let (chunks, _) = padded.as_chunks::<4>();
    chunks.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

impl Assembler {
    /// An id that nothing has yet.
    pub fn id(&mut self) -> Id {
        self.ids += 1;
        self.ids
    }

    /// Declares a capability.
    pub fn capability(&mut self, capability: Capability) {
        emit(&mut self.capabilities, Op::Capability, &[capability as u32]);
    }

    /// Declares an extension of SPIR-V.
    pub fn extension(&mut self, name: &str) {
        emit(&mut self.extensions, Op::Extension, &literal(name));
    }

    /// Decorates an id.
    pub fn decorate(&mut self, target: Id, decoration: Decoration, operands: &[u32]) {
        let operands = [&[target, decoration as u32], operands].concat();
        emit(&mut self.decorations, Op::Decorate, &operands);
    }

    /// Decorates a member of a structure.
    pub fn decorate_member(&mut self, target: Id, member: u32, decoration: Decoration, operands: &[u32]) {
        let operands = [&[target, member, decoration as u32], operands].concat();
        emit(&mut self.decorations, Op::MemberDecorate, &operands);
    }

    /// A type.
    pub fn ty(&mut self, op: Op, operands: &[u32]) -> Id {
        let id = self.id();
        emit(&mut self.globals, op, &[&[id], operands].concat());
        id
    }

    /// A pointer type.
    pub fn pointer(&mut self, class: StorageClass, to: Id) -> Id {
        self.ty(Op::TypePointer, &[class as u32, to])
    }

    /// A constant.
    pub fn constant(&mut self, op: Op, ty: Id, operands: &[u32]) -> Id {
        let id = self.id();
        emit(&mut self.globals, op, &[&[ty, id], operands].concat());
        id
    }

    /// A variable outside functions, perhaps with an initializer.
    pub fn variable(&mut self, pointer: Id, class: StorageClass, initializer: Option<Id>) -> Id {
        let id = self.id();
        let mut operands = vec![pointer, id, class as u32];
        operands.extend(initializer);
        emit(&mut self.globals, Op::Variable, &operands);
        if let StorageClass::Input = class {
            self.interface.push(id);
        }
        id
    }

    /// An instruction without a result in the current function.
    pub fn code(&mut self, op: Op, operands: &[u32]) {
        emit(&mut self.code, op, operands);
    }

    /// An instruction with a result in the current function.
    pub fn value(&mut self, op: Op, ty: Id, operands: &[u32]) -> Id {
        let id = self.id();
        emit(&mut self.code, op, &[&[ty, id], operands].concat());
        id
    }

    /// Starts the function `id` and its first block.
    pub fn function(&mut self, id: Id, result: Id, ty: Id, parameters: &[Id]) -> Vec<Id> {
        emit(&mut self.code, Op::Function, &[result, id, 0, ty]);
        let parameters = parameters
            .iter()
            .map(|&ty| self.value(Op::FunctionParameter, ty, &[]))
            .collect();
        let label = self.id();
        self.code(Op::Label, &[label]);
        parameters
    }

    /// The words of the module, whose compute shader `main` has workgroups of `local` invocations in a row.
    pub fn module(self, main: Id, local: u32) -> Vec<u32> {
        let mut module = vec![0x0723_0203, VERSION, 0, self.ids + 1, 0];
        module.extend(self.capabilities);
        module.extend(self.extensions);
        // Logical addressing, GLSL450 memory model.
        emit(&mut module, Op::MemoryModel, &[0, 1]);
        let entry = [&[GL_COMPUTE, main], &literal("main")[..], &self.interface].concat();
        emit(&mut module, Op::EntryPoint, &entry);
        emit(&mut module, Op::ExecutionMode, &[main, LOCAL_SIZE, local, 1, 1]);
        module.extend(self.decorations);
        module.extend(self.globals);
        module.extend(self.code);
        module
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_end_with_a_nul() {
        assert_eq!(literal("abc"), [0x0063_6261]);
        assert_eq!(literal("abcd"), [0x6463_6261, 0]);
        assert_eq!(words(b"abcde", 2), [0x6463_6261, 0x65]);
    }

    #[test]
    fn sections_come_in_order() {
        let mut a = Assembler::default();
        let void = a.ty(Op::TypeVoid, &[]);
        let ty = a.ty(Op::TypeFunction, &[void]);
        let main = a.id();
        a.function(main, void, ty, &[]);
        a.code(Op::Return, &[]);
        a.code(Op::FunctionEnd, &[]);
        a.capability(Capability::Shader);
        let module = a.module(main, 32);
        assert_eq!(&module[..7], [0x0723_0203, VERSION, 0, 5, 0, 2 << 16 | 17, 1]);
        assert_eq!(module[7], 3 << 16 | 14);
        assert_eq!(module.last(), Some(&(1 << 16 | 56)));
    }
}
