//! Rewritten modules for SwiftShader, which crashes on the debug information of some functions: its instructions are left out.
//! An entry point becomes a function, so that a shader without functions has one after the rewrite.

/// The first word of `OpExtInstImport`'s and `OpExtInst`'s opcodes.
const EXT_INST_IMPORT: u32 = 11;
const EXT_INST: u32 = 12;
/// Number of words of the header.
const HEADER: usize = 5;
/// The beginning of the names of instruction sets with debug information, of any version.
const SETS: &[u8] = b"NonSemantic.Shader.DebugInfo";

/// The module without debug information. "Non-semantic instructions [..] can be removed from a module without affecting its
/// semantics" (SPV_KHR_non_semantic_info). Words that are not instructions are left as they are.
pub fn without_debug_info(words: &[u32]) -> Vec<u32> {
    let mut sets = Vec::new();
    let mut kept: Vec<u32> = words.iter().take(HEADER).copied().collect();
    let mut rest = words.get(HEADER..).unwrap_or_default();
    while let Some(first) = rest.first() {
        let count = (first >> 16) as usize;
        let Some((instruction, after)) = rest.split_at_checked(count.max(1)) else {
            break;
        };
        let is_dropped = match (first & 0xFFFF, instruction) {
            (EXT_INST_IMPORT, [_, id, name @ ..]) => {
                let bytes: Vec<u8> = name.iter().flat_map(|word| word.to_le_bytes()).collect();
                if bytes.starts_with(SETS) {
                    sets.push(*id);
                }
                false
            }
            (EXT_INST, [_, _, _, set, ..]) => sets.contains(set),
            _ => false,
        };
        if !is_dropped {
            kept.extend(instruction);
        }
        rest = after;
    }
    kept.extend(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module of these instructions, by opcode and operands.
    fn module(instructions: &[(u32, &[u32])]) -> Vec<u32> {
        let mut words = vec![0x0723_0203, 0x0001_0500, 0, 9, 0];
        for (opcode, operands) in instructions {
            words.push((operands.len() as u32 + 1) << 16 | opcode);
            words.extend(*operands);
        }
        words
    }

    fn import(id: u32, name: &str) -> Vec<u32> {
        let mut bytes = name.as_bytes().to_vec();
        bytes.resize((bytes.len() + 1).next_multiple_of(4), 0);
        let (chunks, _) = bytes.as_chunks::<4>();
        std::iter::once(id)
            .chain(chunks.iter().map(|chunk| u32::from_le_bytes(*chunk)))
            .collect()
    }

    #[test]
    fn only_debug_information_is_left_out() {
        let (debug, math) = (import(1, "NonSemantic.Shader.DebugInfo.100"), import(2, "GLSL.std.450"));
        let imports = [(EXT_INST_IMPORT, debug.as_slice()), (EXT_INST_IMPORT, &math)];
        let (line, sine) = ((EXT_INST, &[7, 8, 1, 103, 5][..]), (EXT_INST, &[6, 9, 2, 13, 4][..]));
        let [with, without] = [vec![line, sine, line], vec![sine]].map(|code| module(&[&imports[..], &code].concat()));
        assert_eq!(without_debug_info(&with), without);
        assert_eq!(without_debug_info(&without), without);
    }

    #[test]
    fn damaged_words_are_left_as_they_are() {
        let damaged = [&module(&[])[..], &[0, 9 << 16 | EXT_INST, 1]].concat();
        assert_eq!(without_debug_info(&damaged), damaged);
        assert_eq!(without_debug_info(&[1, 2]), [1, 2]);
    }
}
