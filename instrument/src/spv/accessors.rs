//! Operands by name. Each is for the instructions that its comment lists; of others it is an arbitrary word.

use crate::spv::{Id, Inst, op};

/// Types.
impl Inst<'_> {
    /// `Dim` of `OpTypeImage`.
    pub(crate) fn image_dim(&self) -> u32 {
        self.word(3)
    }

    /// Width in bits of `OpTypeInt` and `OpTypeFloat`.
    pub(crate) fn width(&self) -> u32 {
        self.word(2)
    }

    /// Whether this is an `OpTypeInt` with a sign.
    pub(crate) fn is_signed_int(&self) -> bool {
        self.opcode() == op::TypeInt && self.word(3) != 0
    }

    /// Type of the parts of `OpTypeVector`, `OpTypeMatrix` and arrays.
    pub(crate) fn element_type(&self) -> Id {
        self.word(2)
    }

    /// Components of `OpTypeVector`, columns of `OpTypeMatrix`.
    pub(crate) fn component_count(&self) -> u32 {
        self.word(3)
    }

    /// Constant with the length of `OpTypeArray`.
    pub(crate) fn array_length(&self) -> Id {
        self.word(3)
    }

    /// Type that an `OpTypePointer` points to.
    pub(crate) fn pointee(&self) -> Id {
        self.word(3)
    }

    /// Storage class of pointer types and variables.
    pub(crate) fn storage_class(&self) -> u32 {
        match self.opcode() {
            op::TypePointer | op::TypeUntypedPointerKHR => self.word(2),
            _ => self.word(3),
        }
    }
}

/// Values and memory.
impl Inst<'_> {
    /// First operand of an instruction with a result type.
    pub(crate) fn first_operand(&self) -> Id {
        self.word(3)
    }

    /// Pointer of `OpLoad` and `OpStore`.
    pub(crate) fn pointer(&self) -> Id {
        match self.opcode() {
            op::Store => self.word(1),
            _ => self.word(3),
        }
    }

    /// Value that `OpStore` stores.
    pub(crate) fn stored_value(&self) -> Id {
        self.word(2)
    }

    /// Image of `OpImageRead` and `OpImageSparseRead`.
    pub(crate) fn image(&self) -> Id {
        self.word(3)
    }

    /// Mask of the image operands of `OpImageRead` and `OpImageSparseRead`; 0 if there are none.
    pub(crate) fn image_access(&self) -> u32 {
        self.word(5)
    }

    /// Mask of the memory operands of `OpLoad`; 0 if there are none.
    pub(crate) fn load_access(&self) -> u32 {
        self.word(4)
    }

    /// Bits of an `OpConstant` of at most 64 bits.
    pub(crate) fn constant_bits(&self) -> u64 {
        u64::from(self.word(3)) | u64::from(self.word(4)) << 32
    }

    /// Opcode that an `OpSpecConstantOp` applies.
    pub(crate) fn spec_opcode(&self) -> u16 {
        self.word(3) as u16
    }
}

/// Control flow.
impl Inst<'_> {
    /// Target of `OpBranch`.
    pub(crate) fn branch_target(&self) -> Id {
        self.word(1)
    }

    /// Condition of `OpBranchConditional`, selector of `OpSwitch`.
    pub(crate) fn condition(&self) -> Id {
        self.word(1)
    }

    /// Target of `OpBranchConditional` if the condition is true.
    pub(crate) fn true_label(&self) -> Id {
        self.word(2)
    }

    /// Target of `OpBranchConditional` if the condition is false.
    pub(crate) fn false_label(&self) -> Id {
        self.word(3)
    }

    /// Default target of `OpSwitch`.
    pub(crate) fn default_label(&self) -> Id {
        self.word(2)
    }

    /// Function that `OpFunctionCall` calls.
    pub(crate) fn callee(&self) -> Id {
        self.word(3)
    }

    /// Value of `OpReturnValue`.
    pub(crate) fn returned_value(&self) -> Id {
        self.word(1)
    }

    /// Continue target of `OpLoopMerge`.
    pub(crate) fn continue_target(&self) -> Id {
        self.word(2)
    }

    /// Merge block of `OpLoopMerge` and `OpSelectionMerge`.
    pub(crate) fn merge_block(&self) -> Id {
        self.word(1)
    }

    /// Message Type of `OpAbortKHR`.
    pub(crate) fn message_type(&self) -> Id {
        self.word(1)
    }

    /// Message of `OpAbortKHR`.
    pub(crate) fn message(&self) -> Id {
        self.word(2)
    }

    /// Site of an `OpAbortKHR` that the pass `site_numbering` has marked.
    pub(crate) fn site(&self) -> u32 {
        self.word(3)
    }
}

/// The module and its annotations.
impl Inst<'_> {
    /// Instruction set of `OpExtInst`.
    pub(crate) fn ext_inst_set(&self) -> Id {
        self.word(3)
    }

    /// Instruction number of `OpExtInst`.
    pub(crate) fn ext_inst(&self) -> u32 {
        self.word(4)
    }

    /// File of `OpLine`.
    pub(crate) fn line_file(&self) -> Id {
        self.word(1)
    }

    /// Line of `OpLine`.
    pub(crate) fn line_number(&self) -> u32 {
        self.word(2)
    }

    /// Column of `OpLine`.
    pub(crate) fn line_column(&self) -> u32 {
        self.word(3)
    }

    /// Execution model of `OpEntryPoint`.
    pub(crate) fn execution_model(&self) -> u32 {
        self.word(1)
    }

    /// Function of `OpEntryPoint`.
    pub(crate) fn entry_function(&self) -> Id {
        self.word(2)
    }

    /// Capability of `OpCapability`.
    pub(crate) fn capability(&self) -> u32 {
        self.word(1)
    }

    /// Addressing Model of `OpMemoryModel`.
    pub(crate) fn addressing_model(&self) -> u32 {
        self.word(1)
    }

    /// Memory Model of `OpMemoryModel`.
    pub(crate) fn memory_model(&self) -> u32 {
        self.word(2)
    }

    /// Execution Mode of `OpExecutionMode` and `OpExecutionModeId`.
    pub(crate) fn execution_mode(&self) -> u32 {
        self.word(2)
    }

    /// Target of names, decorations and execution modes; the group of `OpGroupDecorate` and `OpGroupMemberDecorate`.
    pub(crate) fn target(&self) -> Id {
        self.word(1)
    }

    /// Decoration of `OpDecorate`, `OpMemberDecorate` and their variants.
    pub(crate) fn decoration(&self) -> u32 {
        match self.opcode() {
            op::MemberDecorate | op::MemberDecorateString | op::MemberDecorateIdEXT => self.word(3),
            _ => self.word(2),
        }
    }
}
