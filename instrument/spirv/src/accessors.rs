//! Operands by name. Each is for the instructions that its comment lists; of others it is an arbitrary word.

use crate::{Id, Inst, op, operands};

macro_rules! operands {
    ($read:ident -> $type:ty; $($(#[$doc:meta])* $name:ident: $word:literal)*) => {
        impl Inst<'_> {
            $($(#[$doc])* pub fn $name(&self) -> $type { self.$read($word) })*
        }
    };
}

operands! { id -> Id;
    /// Type of the parts of vectors, `OpTypeMatrix` and arrays.
    element_type: 2
    /// Constant with the length of `OpTypeArray`, or the components of `OpTypeVectorIdEXT`.
    array_length: 3
    /// Type that an `OpTypePointer` points to.
    pointee: 3
    /// First operand of an instruction with a result type.
    first_operand: 3
    /// Value that `OpStore` stores.
    stored_value: 2
    /// Image of `OpImageRead` and `OpImageSparseRead`.
    image: 3
    /// Target of `OpBranch`.
    branch_target: 1
    /// Condition of `OpBranchConditional`, selector of `OpSwitch`.
    condition: 1
    /// Target of `OpBranchConditional` if the condition is true.
    true_label: 2
    /// Target of `OpBranchConditional` if the condition is false.
    false_label: 3
    /// Default target of `OpSwitch`.
    default_label: 2
    /// Function that `OpFunctionCall` calls.
    callee: 3
    /// Value of `OpReturnValue`.
    returned_value: 1
    /// Continue target of `OpLoopMerge`.
    continue_target: 2
    /// Merge block of `OpLoopMerge` and `OpSelectionMerge`.
    merge_block: 1
    /// Message Type of `OpAbortKHR`.
    message_type: 1
    /// Message of `OpAbortKHR`.
    message: 2
    /// Instruction set of `OpExtInst`.
    ext_inst_set: 3
    /// File of `OpLine`.
    line_file: 1
    /// Function of `OpEntryPoint`.
    entry_function: 2
    /// Target of names, decorations and execution modes; the group of `OpGroupDecorate` and `OpGroupMemberDecorate`.
    target: 1
}

operands! { word -> u32;
    /// `Dim` of `OpTypeImage`.
    image_dim: 3
    /// Width in bits of `OpTypeInt` and `OpTypeFloat`.
    width: 2
    /// Components of `OpTypeVector`, columns of `OpTypeMatrix`.
    component_count: 3
    /// Mask of the image operands of `OpImageRead` and `OpImageSparseRead`; 0 if there are none.
    image_access: 5
    /// Mask of the memory operands of `OpLoad`; 0 if there are none.
    load_access: 4
    /// Instruction number of `OpExtInst`.
    ext_inst: 4
    /// Line of `OpLine`.
    line_number: 2
    /// Column of `OpLine`.
    line_column: 3
    /// Execution model of `OpEntryPoint`.
    execution_model: 1
    /// Capability of `OpCapability`.
    capability: 1
    /// Addressing Model of `OpMemoryModel`.
    addressing_model: 1
    /// Memory Model of `OpMemoryModel`.
    memory_model: 2
    /// Execution Mode of `OpExecutionMode` and `OpExecutionModeId`.
    execution_mode: 2
}

impl Inst<'_> {
    /// Its result id, [`Id::NONE`] if it has none.
    pub fn result(&self) -> Id {
        operands::result_index(self.opcode()).map_or(Id::NONE, |i| self.id(i))
    }

    /// Its result type, [`Id::NONE`] if it has none.
    pub fn result_type(&self) -> Id {
        if operands::has_type(self.opcode()) {
            self.id(1)
        } else {
            Id::NONE
        }
    }

    /// Whether this is an `OpTypeInt` with a sign.
    pub fn is_signed_int(&self) -> bool {
        self.opcode() == op::TypeInt && self.word(3) != 0
    }

    /// Storage class of pointer types and variables.
    pub fn storage_class(&self) -> u32 {
        self.word(match self.opcode() {
            op::TypePointer | op::TypeUntypedPointerKHR => 2,
            _ => 3,
        })
    }

    /// Pointer of `OpLoad` and `OpStore`.
    pub fn pointer(&self) -> Id {
        self.id(if self.opcode() == op::Store { 1 } else { 3 })
    }

    /// The (value, predecessor) pairs of `OpPhi`.
    pub fn phi_pairs(&self) -> impl Iterator<Item = (Id, Id)> {
        let pairs = self.from(3).chunks_exact(2);
        pairs.map(|pair| (Id::new(pair[0]), Id::new(pair[1])))
    }

    /// Bits of an `OpConstant` of at most 64 bits.
    pub fn constant_bits(&self) -> u64 {
        u64::from(self.word(3)) | u64::from(self.word(4)) << 32
    }

    /// Opcode that an `OpSpecConstantOp` applies.
    pub fn spec_opcode(&self) -> u16 {
        self.word(3) as u16
    }

    /// Decoration of `OpDecorate`, `OpMemberDecorate` and their variants.
    pub fn decoration(&self) -> u32 {
        self.word(match self.opcode() {
            op::MemberDecorate | op::MemberDecorateString | op::MemberDecorateIdEXT => 3,
            _ => 2,
        })
    }
}
