//! The table of lowered extensions, and the scan for them.

use crate::op::capability;
use crate::words::{HEADER_WORDS, Insts};
use crate::{literal, op};

/// A SPIR-V extension that the rewriter lowers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// `SPV_KHR_abort`.
    Abort,
    /// `SPV_KHR_constant_data`.
    ConstantData,
    /// `SPV_KHR_poison_freeze`.
    PoisonFreeze,
}

/// A row of [`LOWERED`].
#[derive(Clone, Copy, Debug)]
pub struct LoweredExtension {
    /// The feature.
    pub feature: Feature,
    /// Name of its capability.
    pub name: &'static str,
    /// Its capability.
    pub capability: u32,
    /// Name of its extension.
    pub extension: &'static str,
    /// Opcodes of its instructions.
    pub opcodes: &'static [u16],
}

/// The lowered extensions. A rewritten module contains none of these capabilities, extensions and opcodes.
pub const LOWERED: [LoweredExtension; 3] = [
    LoweredExtension {
        feature: Feature::Abort,
        name: "AbortKHR",
        capability: capability::AbortKHR,
        extension: "SPV_KHR_abort",
        opcodes: &[op::AbortKHR],
    },
    LoweredExtension {
        feature: Feature::ConstantData,
        name: "ConstantDataKHR",
        capability: capability::ConstantDataKHR,
        extension: "SPV_KHR_constant_data",
        opcodes: &[op::ConstantDataKHR, op::SpecConstantDataKHR],
    },
    LoweredExtension {
        feature: Feature::PoisonFreeze,
        name: "PoisonFreezeKHR",
        capability: capability::PoisonFreezeKHR,
        extension: "SPV_KHR_poison_freeze",
        opcodes: &[op::PoisonKHR, op::FreezeKHR],
    },
];

/// The lowered features whose capabilities a module declares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoweredFeatures {
    /// One bit per feature.
    bits: u8,
}

impl LoweredFeatures {
    /// All features.
    pub const ALL: Self = Self { bits: 0b111 };

    /// These features and one more.
    #[must_use]
    pub fn with(self, feature: Feature) -> Self {
        Self {
            bits: self.bits | bit(feature),
        }
    }

    /// The features in both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            bits: self.bits & other.bits,
        }
    }

    /// Whether the module declares none.
    pub fn is_empty(self) -> bool {
        self.bits == 0
    }

    /// Whether the module declares this one.
    pub fn contains(self, feature: Feature) -> bool {
        self.bits & bit(feature) != 0
    }
}

fn bit(feature: Feature) -> u8 {
    1 << feature as u8
}

/// Finds the lowered features that a module declares. Reads the capability section only: O(1) in the size of the module.
/// Words that are not a SPIR-V module declare none or any.
pub fn scan(words: &[u32]) -> LoweredFeatures {
    let mut features = LoweredFeatures::default();
    let capabilities = Insts::new(words, HEADER_WORDS).take_while(|inst| inst.opcode() == op::Capability);
    for inst in capabilities {
        let declared = LOWERED.iter().find(|row| row.capability == inst.capability());
        features.bits |= declared.map_or(0, |row| bit(row.feature));
    }
    features
}

/// The instruction set of prints.
pub const PRINTS: &str = "NonSemantic.DebugPrintf";

/// Whether a module imports the instruction set of prints. Reads the sections before the entry points only.
pub fn has_prints(words: &[u32]) -> bool {
    let declarations = Insts::new(words, HEADER_WORDS).take_while(|inst| inst.opcode() != op::MemoryModel);
    let mut imports = declarations.filter(|inst| inst.opcode() == op::ExtInstImport);
    imports.any(|inst| literal::is(inst.from(2), PRINTS))
}

/// Whether an `OpCapability` or `OpExtension` with these operands is removed when `features` are lowered.
pub fn is_removed(features: LoweredFeatures, opcode: u16, operands: &[u32]) -> bool {
    let mut rows = LOWERED.iter().filter(|row| features.contains(row.feature));
    rows.any(|row| match opcode {
        op::Capability => operands.first() == Some(&row.capability),
        op::Extension => literal::is(operands, row.extension),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Code, Literal, Words};

    #[test]
    fn a_scan_reads_the_capabilities_and_nothing_behind_them() {
        let mut code = Code::default();
        code.words.extend([0x0723_0203, 0x10600, 0, 1, 0]);
        code.op(op::Capability, Literal(1));
        code.op(op::Capability, Literal(capability::PoisonFreezeKHR));
        code.op(op::MemoryModel, Words(&[0, 1]));
        code.op(op::Capability, Literal(capability::AbortKHR));
        let features = scan(&code.words);
        assert!(features.contains(Feature::PoisonFreeze));
        assert!(!features.contains(Feature::Abort) && !features.contains(Feature::ConstantData));
        assert!(scan(&[]).is_empty() && scan(&code.words[..4]).is_empty());
    }
}
