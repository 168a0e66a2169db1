//! Generates SPIR-V assembly of shaders over a buffer of words.

use crate::word_shader::word_shader;
use anyhow::Result;
use std::fmt::Write;

/// Execution mode under which undefined results of arithmetic are poison.
pub(super) const POISON_MODE: &str = "OpExecutionMode %main ArithmeticPoisonKHR";

/// Assembly of a shader over a buffer of words. `code` has the number of the invocation in `%i`.
pub(super) fn shader(mode: bool, needs: &str, types: &str, code: &str) -> Result<String> {
    let modes = if mode { POISON_MODE } else { "" };
    let values = [("needs", needs), ("modes", modes), ("types", types), ("code", code)];
    word_shader(&["poison/base"], &values)
}

/// Generates code that loads and stores words, with unique names.
#[derive(Default)]
pub(super) struct Words {
    pub(super) types: String,
    pub(super) code: String,
    names: u32,
}

impl Words {
    fn name(&mut self) -> String {
        self.names += 1;
        format!("%w{}", self.names)
    }

    fn line(&mut self, text: &str) {
        self.code.push_str(text);
        self.code.push('\n');
    }

    /// Appends an instruction and returns the name of its result.
    pub(super) fn value(&mut self, instruction: &str) -> String {
        let name = self.name();
        self.line(&format!("{name} = {instruction}"));
        name
    }

    fn constant(&mut self, value: u32) -> String {
        let name = self.name();
        let _ = writeln!(self.types, "{name} = OpConstant %uint {value}");
        name
    }

    /// Pointer to word `start + stride * index`.
    fn pointer(&mut self, start: u32, stride: u32, index: &str) -> String {
        let (start, stride) = (self.constant(start), self.constant(stride));
        let scaled = self.value(&format!("OpIMul %uint {index} {stride}"));
        let at = self.value(&format!("OpIAdd %uint {scaled} {start}"));
        self.value(&format!("OpAccessChain %element %words %zero {at}"))
    }

    pub(super) fn load(&mut self, start: u32, stride: u32, index: &str) -> String {
        let pointer = self.pointer(start, stride, index);
        self.value(&format!("OpLoad %uint {pointer}"))
    }

    pub(super) fn store(&mut self, start: u32, stride: u32, index: &str, value: &str) {
        let pointer = self.pointer(start, stride, index);
        self.line(&format!("OpStore {pointer} {value}"));
    }

    /// Lane whose values are component `k` of this invocation.
    pub(super) fn lane(&mut self, k: u32) -> String {
        let k = self.constant(k);
        let sum = self.value(&format!("OpIAdd %uint %i {k}"));
        self.value(&format!("OpBitwiseAnd %uint {sum} %mask"))
    }

    /// Combines two words, low first, to a value of a width.
    pub(super) fn narrow(&mut self, low: &str, high: &str, width: u32) -> String {
        match width {
            32 => low.to_owned(),
            64 => {
                let both = self.value(&format!("OpCompositeConstruct %uvec2 {low} {high}"));
                self.value(&format!("OpBitcast %scalar {both}"))
            }
            _ => self.value(&format!("OpUConvert %scalar {low}")),
        }
    }

    /// Stores a scalar of a width as two words.
    fn store_scalar(&mut self, start: u32, stride: u32, value: &str, width: u32) {
        let (low, high) = match width {
            32 => (value.to_owned(), "%zero".to_owned()),
            64 => {
                let both = self.value(&format!("OpBitcast %uvec2 {value}"));
                (
                    self.value(&format!("OpCompositeExtract %uint {both} 0")),
                    self.value(&format!("OpCompositeExtract %uint {both} 1")),
                )
            }
            _ => (self.value(&format!("OpUConvert %uint {value}")), "%zero".to_owned()),
        };
        self.store(start, stride, "%i", &low);
        self.store(start + 1, stride, "%i", &high);
    }

    /// Stores each component of a value of `components` components.
    pub(super) fn store_all(&mut self, start: u32, stride: u32, value: &str, components: u32, width: u32) {
        for k in 0..components {
            let part = if components == 1 {
                value.to_owned()
            } else {
                self.value(&format!("OpCompositeExtract %scalar {value} {k}"))
            };
            self.store_scalar(start + 2 * k, stride, &part, width);
        }
    }

    pub(super) fn vector(&mut self, parts: &[String]) -> String {
        match parts {
            [part] => part.clone(),
            _ => self.value(&format!("OpCompositeConstruct %value {}", parts.join(" "))),
        }
    }
}

/// Declarations of the scalar type of a width and of `%value` with that many components.
pub(super) fn types(width: u32, components: u32) -> String {
    let scalar = if width == 32 {
        String::new()
    } else {
        format!("%scalar = OpTypeInt {width} 0\n")
    };
    let value = match components {
        1 => String::new(),
        // The head declares these.
        2 | 3 if width == 32 => String::new(),
        n => format!("%value = OpTypeVector %scalar {n}\n"),
    };
    scalar + &value
}

/// Replaces `%scalar` and `%value` where the head already declares their types.
pub(super) fn resolve(text: String, width: u32, components: u32) -> String {
    let text = match components {
        1 => text.replace("%value", "%scalar"),
        2 | 3 if width == 32 => text.replace("%value", &format!("%uvec{components}")),
        _ => text,
    };
    if width == 32 {
        text.replace("%scalar", "%uint")
    } else {
        text
    }
}
