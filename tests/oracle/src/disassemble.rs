//! Disassembly of modules that the released SPIRV-Tools do not know.

use rspirv::binary::{Consumer, Disassemble, ParseAction, parse_words};
use rspirv::dr::{Instruction, ModuleHeader};

/// Prints a module that SPIRV-Tools do not know, with ids named after their `OpName`. `rspirv` reads each instruction, but no
/// module with untyped variables.
///
/// # Errors
///
/// An instruction that `rspirv` does not know.
pub fn disassemble_with_rspirv(words: &[u32]) -> Result<String, String> {
    let mut lines = Lines(String::new());
    parse_words(words, &mut lines).map_err(|error| error.to_string())?;
    let names = lines
        .0
        .lines()
        .filter_map(|line| line.strip_prefix("OpName ")?.split_once(' '));
    let names: Vec<_> = names
        .map(|(id, name)| (id, format!("%{}", name.trim_matches('"'))))
        .collect();
    let words = lines.0.split_inclusive([' ', '\n']).map(|word| {
        let id = word.trim_end();
        let name = names.iter().find(|(named, _)| *named == id);
        name.map_or_else(|| word.to_owned(), |(_, name)| word.replacen(id, name, 1))
    });
    Ok(words.collect())
}

struct Lines(String);

impl Consumer for Lines {
    fn initialize(&mut self) -> ParseAction {
        ParseAction::Continue
    }

    fn finalize(&mut self) -> ParseAction {
        ParseAction::Continue
    }

    fn consume_header(&mut self, _: ModuleHeader) -> ParseAction {
        ParseAction::Continue
    }

    fn consume_instruction(&mut self, inst: Instruction) -> ParseAction {
        self.0 += &inst.disassemble();
        self.0.push('\n');
        ParseAction::Continue
    }
}
