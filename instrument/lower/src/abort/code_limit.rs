//! The words of code that messages may take.

use vkabort_spirv::Inst;
use vkabort_spirv::error::{Error, ErrorKind, Result};
use vkabort_spirv::index::Index;

/// Limit on the words of code for the messages of a module, or [`CODE_OF_A_WORD`] of the module if that is more.
const MAX_MESSAGE_CODE: usize = 1 << 22;
/// Words of code for the messages for each word of the module. A short message in a small module has about 10.
const CODE_OF_A_WORD: usize = 32;

/// Checks the words of code for the messages up to an abort. A module of few words may send large messages at many sites, and
/// every site has code of its own for values that are not constant.
pub(super) fn check_code(index: &Index<'_>, abort: &Inst<'_>, code: usize) -> Result<()> {
    let limit = MAX_MESSAGE_CODE.max(index.words.len().saturating_mul(CODE_OF_A_WORD));
    if code <= limit {
        return Ok(());
    }
    let message = format!(
        "the messages up to this abort need more than {limit} words of code; send fewer values, load arrays from memory in the \
         block of the abort, or abort in one function that the others call"
    );
    Err(Error::new(ErrorKind::Limit, "abort", abort.offset as u32, message))
}
