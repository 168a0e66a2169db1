//! Begins and ends the shared functions.

use super::state::Runtime;
use std::mem;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::{Code, Id, op};

/// A function being written, with its parameters. Only one at a time can be open.
pub struct OpenFunction<P> {
    /// The code that was being written, for [`Runtime::end_function`].
    pub outer: Code,
    pub function: Id,
    pub parameters: P,
    /// Label of its first block, which is open.
    pub(crate) block: Id,
}

impl Runtime {
    /// Begins a function with the debug name `name`.
    pub(crate) fn begin_function<const N: usize>(
        &mut self,
        out: &mut Emitter,
        name: &str,
        result_type: Id,
        parameter_types: [Id; N],
    ) -> OpenFunction<[Id; N]> {
        let open = self.begin_function_of(out, name, result_type, &parameter_types);
        let mut parameters = open.parameters.into_iter();
        OpenFunction {
            outer: open.outer,
            function: open.function,
            parameters: [(); N].map(|()| parameters.next().unwrap_or(Id::NONE)),
            block: open.block,
        }
    }

    /// As [`Self::begin_function`], with any number of parameters.
    pub fn begin_function_of(
        &mut self,
        out: &mut Emitter,
        name: &str,
        result_type: Id,
        parameter_types: &[Id],
    ) -> OpenFunction<Vec<Id>> {
        out.function_type(result_type, parameter_types);
        let function = out.fresh();
        out.name(function, name);
        let outer = self.continue_functions(out);
        let (parameters, block) = out.begin_function(function, (result_type, parameter_types));
        OpenFunction {
            outer,
            function,
            parameters,
            block,
        }
    }

    /// Begins a function without parameters that has an id already. Returns the code that was being written.
    pub fn begin_function_as(&mut self, out: &mut Emitter, function: Id, result_type: Id) -> Code {
        let outer = self.continue_functions(out);
        out.begin_function(function, (result_type, &[]));
        outer
    }

    /// Continues the functions written so far in place of other code, which it returns.
    fn continue_functions(&mut self, out: &mut Emitter) -> Code {
        mem::replace(&mut out.code, mem::take(&mut self.functions))
    }

    /// Ends the open function and continues the code `outer`.
    pub fn end_function(&mut self, out: &mut Emitter, outer: Code) {
        out.op(op::FunctionEnd, ());
        debug_assert!(self.functions.words.is_empty(), "two functions were open at once");
        self.functions = mem::replace(&mut out.code, outer);
    }
}
