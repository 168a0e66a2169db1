//! Scalar types of messages. Floats with other encodings come from the table in `vkabort_record::scalar_type`.

use super::body::Body;
use crate::module::Id;
use crate::op::{self, storage_class as class};
use vkabort_record::float_format::FpEncoding;
use vkabort_record::scalar_type::ScalarType;
use vkabort_spirv_builder::Builder;

/// A scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MessageScalar {
    Int {
        bits: u32,
        signed: bool,
    },
    /// An IEEE float.
    Float {
        bits: u32,
    },
    /// A float with another encoding.
    Encoded {
        bits: u32,
        encoding: FpEncoding,
    },
    /// A physical pointer.
    Pointer,
}

impl MessageScalar {
    /// Size in bytes.
    pub(super) fn size(self) -> u32 {
        match self {
            Self::Int { bits, .. } | Self::Float { bits } | Self::Encoded { bits, .. } => bits / 8,
            Self::Pointer => 8,
        }
    }

    /// Id of the type, with the capability and extension that it needs.
    pub(super) fn id(self, builder: &mut Builder) -> Id {
        match self {
            Self::Int { bits, signed } => builder.int(bits, signed),
            Self::Float { bits } => builder.float(bits),
            Self::Encoded { bits, encoding } => {
                builder.capability(encoding.capability);
                builder.extension(encoding.extension);
                builder.ty(op::TypeFloat, &[bits, encoding.operand])
            }
            Self::Pointer => {
                let uint = builder.uint();
                builder.pointer(class::PhysicalStorageBuffer, uint)
            }
        }
    }
}

impl Body<'_> {
    /// Chooses a scalar type.
    pub(super) fn scalar(&mut self) -> MessageScalar {
        let int = |bits, signed| MessageScalar::Int { bits, signed };
        let float = |bits| MessageScalar::Float { bits };
        let encoded = |ty: &ScalarType| {
            let (bits, encoding) = (ty.bits(), ty.float_format()?.encoding()?);
            Some(MessageScalar::Encoded { bits, encoding })
        };
        let encoded: Vec<MessageScalar> = ScalarType::ALL.iter().filter_map(encoded).collect();
        match self.choices.below(14 + encoded.len() as u32) {
            0..=3 => int(32, false),
            4 => int(32, true),
            5..=9 if !self.options.widths => int(32, false),
            10 | 11 if !self.options.widths => float(32),
            5 => int(8, false),
            6 => int(8, true),
            7 => int(16, false),
            8 => int(64, false),
            9 => int(64, true),
            10 => float(16),
            11 => float(64),
            12 if self.globals.physical => MessageScalar::Pointer,
            index @ 14.. if self.options.encodings => encoded[index as usize - 14],
            _ => float(32),
        }
    }

    /// A constant scalar.
    pub(super) fn scalar_constant(&mut self, scalar: MessageScalar, ty: Id) -> Id {
        let (low, high) = (self.choices.word(), self.choices.word());
        let words: Vec<u32> = match scalar {
            MessageScalar::Int { bits: 64, .. } => vec![low, high],
            MessageScalar::Float { bits: 64 } => {
                let bits = f64::from(low).to_bits();
                vec![bits as u32, (bits >> 32) as u32]
            }
            MessageScalar::Int { bits: 8, signed } => vec![if signed { low as i8 as u32 } else { low & 0xFF }],
            MessageScalar::Int { bits: 16, signed } => vec![if signed { low as i16 as u32 } else { low & 0xFFFF }],
            MessageScalar::Float { bits: 16 } => vec![low & 0x3FFF],
            MessageScalar::Encoded { bits, .. } => vec![low & ((1 << bits) - 1)],
            MessageScalar::Float { .. } => vec![(low as f32).to_bits()],
            _ => vec![low],
        };
        self.value(op::Constant, ty, &words)
    }

    /// Converts a `uint` to a scalar.
    pub(super) fn scalar_value(&mut self, scalar: MessageScalar, ty: Id) -> Id {
        let value = self.any_uint();
        match scalar {
            MessageScalar::Int {
                bits: 32,
                signed: false,
            } => value,
            MessageScalar::Int { bits: 32, .. } | MessageScalar::Float { bits: 32 } => {
                self.emit(op::Bitcast, ty, &[value])
            }
            MessageScalar::Encoded { bits, .. } => {
                let vector = self.vector(ty, 32 / bits);
                let vector = self.emit(op::Bitcast, vector, &[value]);
                self.emit(op::CompositeExtract, ty, &[vector, 0])
            }
            MessageScalar::Pointer | MessageScalar::Int { bits: 64, .. } => {
                let uint = self.uint();
                let (uvec2, high) = (self.vector(uint, 2), self.any_uint());
                let both = self.emit(op::CompositeConstruct, uvec2, &[value, high]);
                self.emit(op::Bitcast, ty, &[both])
            }
            MessageScalar::Int { signed: true, .. } => self.emit(op::SConvert, ty, &[value]),
            MessageScalar::Int { .. } => self.emit(op::UConvert, ty, &[value]),
            MessageScalar::Float { .. } => {
                let (uint, float, mask) = (self.uint(), self.float(32), self.constant(0x3FF));
                let low = self.emit(op::BitwiseAnd, uint, &[value, mask]);
                let single = self.emit(op::ConvertUToF, float, &[low]);
                self.emit(op::FConvert, ty, &[single])
            }
        }
    }
}
