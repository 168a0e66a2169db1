//! Assembles SPIR-V text, including instructions that SPIRV-Tools does not support yet.
//!
//! SPIRV-Tools' assembler copies a word after `!` verbatim, which covers capabilities, execution modes and decorations.
//! It does not cover instructions: the assembler assigns the ids itself, and reads a word after an instruction with
//! variable operands as another operand. So each new instruction is assembled as a supported one of the same form
//! (its stand-in), and the opcode is replaced afterwards.

use crate::files;
use crate::payload::Payload;
use crate::shader_cache;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use vkabort_oracle::words::from_bytes;
use vkabort_test_kit::spirv_tools::{self, TargetEnv};

/// Enumerants by name: capabilities, an execution mode, decorations and built-ins.
const ENUMERANTS: [(&str, u32); 11] = [
    ("AbortKHR", 5120),
    ("UTFEncodedKHR", 5145),
    ("ConstantDataKHR", 5146),
    ("PoisonFreezeKHR", 5156),
    ("ArithmeticPoisonKHR", 5157),
    ("SamplerHeapEXT", 5122),
    ("ResourceHeapEXT", 5123),
    ("ArrayStrideIdEXT", 5124),
    ("OffsetIdEXT", 5125),
    ("DescriptorHeapEXT", 5128),
    ("LongVectorEXT", 5425),
];

/// Instructions with a result: name, opcode, stand-in.
const RESULTS: [(&str, u16, &str); 9] = [
    ("OpConstantDataKHR", 5147, "OpConstantComposite"),
    ("OpSpecConstantDataKHR", 5148, "OpSpecConstantComposite"),
    ("OpPoisonKHR", 5158, "OpUndef"),
    ("OpFreezeKHR", 5159, "OpCopyObject"),
    ("OpTypeBufferEXT", 5115, "OpTypePipe"),
    ("OpTypeVectorIdEXT", 5288, "OpTypeArray"),
    ("OpBufferPointerEXT", 5119, "OpCopyObject"),
    ("OpUntypedImageTexelPointerEXT", 5126, "OpBitFieldInsert"),
    ("OpConstantSizeOfEXT", 5129, "OpCopyObject"),
];

/// Instructions without a result: name, opcode, stand-in.
const OTHERS: [(&str, u16, &str); 2] = [
    ("OpAbortKHR", 5121, "OpStore"),
    ("OpMemberDecorateIdEXT", 5127, "OpDecorateId"),
];

/// Assembles `text` for Vulkan 1.2.
///
/// # Errors
///
/// The text is not SPIR-V assembly.
pub fn assemble(text: &str) -> Result<Vec<u32>> {
    assemble_for(text, TargetEnv::Vulkan1_2)
}

/// Assembles `shaders/<name>` for Vulkan 1.2.
///
/// # Errors
///
/// The file does not exist or is not SPIR-V assembly.
pub fn assemble_file(name: &str) -> Result<Vec<u32>> {
    assemble(&read(name)?)
}

/// Text of `shaders/<name>`.
pub(crate) fn read(name: &str) -> Result<String> {
    let path = files::folder("shaders").join(name);
    std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
}

/// Assembles `text` for `env`, in the newest SPIR-V version of `env`.
///
/// # Errors
///
/// The text is not SPIR-V assembly.
pub fn assemble_for(text: &str, env: TargetEnv) -> Result<Vec<u32>> {
    // Another version of the assembler has another date.
    let assembler = spirv_tools::find("spirv-as").ok().and_then(|path| path.metadata().ok());
    let date = assembler.and_then(|file| file.modified().ok());
    let key = ("assembly", format!("{env:?}"), date, text);
    shader_cache::compiled(&key, || assemble_text(text, env))
}

fn assemble_text(text: &str, env: TargetEnv) -> Result<Vec<u32>> {
    let mut replaced = BTreeSet::new();
    let mut instructions = 0;
    // Lines of a string are copied.
    let mut is_in_string = false;
    let translated: Vec<String> = text
        .lines()
        .map(|line| {
            let continues = is_in_string;
            is_in_string = ends_in_string(line, continues);
            match (continues, is_in_string) {
                (true, _) => line.to_owned(),
                (false, true) => {
                    instructions += 1;
                    line.to_owned()
                }
                (false, false) => translate(line, &mut replaced, &mut instructions),
            }
        })
        .collect();
    let mut words = spirv_tools::assemble(&translated.join("\n"), env)?;
    let mut at = 5;
    let mut index = 0;
    while let Some(&first) = words.get(at) {
        let length = (first >> 16) as usize;
        if let Some(&(_, opcode)) = replaced.iter().find(|(instruction, _)| *instruction == index) {
            let word = words.get_mut(at).context("instruction past the end")?;
            *word = first & 0xFFFF_0000 | u32::from(opcode);
        }
        at += length.max(1);
        index += 1;
    }
    Ok(words)
}

/// The offsets of the quotation marks of a line that are not escaped.
fn quotation_marks(line: &str) -> impl Iterator<Item = usize> {
    let mut is_escaped = false;
    line.bytes().enumerate().filter_map(move |(at, byte)| {
        let is_mark = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_mark.then_some(at)
    })
}

/// Whether a string is open at the end of a line.
fn ends_in_string(line: &str, starts_in_string: bool) -> bool {
    let line = match starts_in_string {
        true => line,
        false => line.get(..code_end(line)).unwrap_or_default(),
    };
    starts_in_string ^ (quotation_marks(line).count() % 2 == 1)
}

/// Position of the comment of a line, outside of strings.
fn code_end(line: &str) -> usize {
    let is_in_string = |at: usize| quotation_marks(line).take_while(|mark| *mark < at).count() % 2 == 1;
    let mut comments = line.match_indices(';').filter(|(at, _)| !is_in_string(*at));
    comments.next().map_or(line.len(), |(at, _)| at)
}

/// Translates a line for SPIRV-Tools' assembler. Adds the instruction's index and final opcode to `replaced` if it uses a
/// stand-in.
fn translate(line: &str, replaced: &mut BTreeSet<(usize, u16)>, instructions: &mut usize) -> String {
    let line = line.get(..code_end(line)).unwrap_or_default().trim();
    if line.is_empty() {
        return String::new();
    }
    let index = *instructions;
    *instructions += 1;
    for (name, opcode, stand_in) in OTHERS {
        if let Some(operands) = line.strip_prefix(name) {
            replaced.insert((index, opcode));
            return format!("{stand_in} {}", literal_words(&with_enumerants(operands)));
        }
    }
    for (name, opcode, stand_in) in RESULTS {
        let Some((result, operands)) = line.split_once(&format!("= {name} ")) else {
            continue;
        };
        replaced.insert((index, opcode));
        let mut operands = operands.splitn(2, char::is_whitespace);
        let ty = operands.next().unwrap_or_default();
        return format!(
            "{result}= {stand_in} {ty} {}",
            literal_words(operands.next().unwrap_or_default())
        );
    }
    with_enumerants(line)
}

/// Replaces the names of enumerants by their values.
fn with_enumerants(operands: &str) -> String {
    let words = operands
        .split(' ')
        .map(|word| match ENUMERANTS.iter().find(|(name, _)| *name == word) {
            Some((_, value)) => format!("!{value}"),
            None => word.to_owned(),
        });
    words.collect::<Vec<_>>().join(" ")
}

/// Translates the operands of a constant: a quoted string becomes its bytes, a NUL and zeros up to a whole word; a number
/// becomes a literal word; an id is unchanged.
fn literal_words(data: &str) -> String {
    let data = data.trim();
    if let Some(text) = data.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        let words = from_bytes(&Payload::text(text).bytes());
        let words: Vec<String> = words.iter().map(|word| format!("!{word:#010x}")).collect();
        return words.join(" ");
    }
    let word = |word: &str| {
        if word.starts_with(['%', '!']) {
            word.to_owned()
        } else {
            format!("!{word}")
        }
    };
    data.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the module contains an instruction with these words.
    fn contains(words: &[u32], opcode: u32, operands: &[u32]) -> bool {
        let first = ((operands.len() as u32 + 1) << 16) | opcode;
        let instruction: Vec<u32> = std::iter::once(first).chain(operands.iter().copied()).collect();
        words.windows(instruction.len()).any(|window| window == instruction)
    }

    #[test]
    fn strings_of_several_lines_are_copied() -> Result<()> {
        let words = assemble(
            "OpCapability Shader\nOpMemoryModel Logical GLSL450\n%1 = OpString \"a; \\\"\n  b; \\\\\" ; c\n%2 = OpTypeInt 8 0",
        )?;
        let text = b"a; \"\n  b; \\\0\0\0\0";
        let text: Vec<u32> = std::iter::once(1).chain(from_bytes(text)).collect();
        assert!(contains(&words, 7, &text), "{words:x?}");
        Ok(())
    }

    #[test]
    fn new_instructions_get_their_opcodes() -> Result<()> {
        let words = assemble(
            r#"
            OpCapability Shader
            OpCapability AbortKHR ; a comment
            OpCapability ConstantDataKHR
            OpMemoryModel Logical GLSL450
            OpDecorate %1 UTFEncodedKHR
            %2 = OpTypeInt 8 0

            %3 = OpConstantDataKHR %1 "abc"
            %4 = OpSpecConstantDataKHR %1 7 8
            %5 = OpFreezeKHR %2 %4
            OpAbortKHR %1 %3
            "#,
        )?;
        let decorate = words.windows(3).find(|window| window[0] == 3 << 16 | 71);
        let target = decorate.map(|window| window[1]).context("no OpDecorate")?;
        assert!(contains(&words, 17, &[5120]) && contains(&words, 17, &[5146]));
        assert!(contains(&words, 71, &[target, 5145]));
        assert!(words.windows(2).any(|w| w[0] == 4 << 16 | 5147 && w[1] == target));
        assert!(words.contains(&u32::from_le_bytes(*b"abc\0")));
        assert!(words.windows(5).any(|w| w[0] == 5 << 16 | 5148 && w[3..] == [7, 8]));
        assert!(words.contains(&(4 << 16 | 5159)));
        assert!(words.windows(2).any(|w| w[0] == 3 << 16 | 5121 && w[1] == target));
        Ok(())
    }
}
