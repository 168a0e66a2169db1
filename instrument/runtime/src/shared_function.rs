//! Writes the shared functions behind each other.

use super::state::Runtime;
use std::mem;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::{Code, Id};

impl Runtime {
    /// Writes a function with the debug name `name`. `write` gets the label of its first block, which is open, and the parameters, and
    /// returns the result.
    pub(crate) fn function<const N: usize>(
        &mut self,
        out: &mut Emitter,
        name: &str,
        (result, parameters): (Id, [Id; N]),
        write: impl FnOnce(&mut Self, &mut Emitter, Id, [Id; N]) -> Option<Id>,
    ) -> Id {
        self.with_functions(|runtime, functions| {
            out.function(functions, name, (result, &parameters), |out, entry, parameters| {
                let mut parameters = parameters.iter().copied();
                let parameters = [(); N].map(|()| parameters.next().unwrap_or(Id::NONE));
                write(runtime, out, entry, parameters)
            })
        })
    }

    /// Lets `write` append to the functions written so far. Only one function at a time can be open: what another one calls is written
    /// before it.
    pub fn with_functions<T>(&mut self, write: impl FnOnce(&mut Self, &mut Code) -> T) -> T {
        let mut functions = mem::take(&mut self.functions);
        let result = write(self, &mut functions);
        debug_assert!(self.functions.words.is_empty(), "two functions were open at once");
        self.functions = functions;
        result
    }
}
