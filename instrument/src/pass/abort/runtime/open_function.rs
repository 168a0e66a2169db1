//! Begins and ends the shared functions.

use super::state::Runtime;
use crate::edit::globals::Globals;
use crate::spv::{Code, Id, Literal, op};

/// A function being written. Only one at a time can be open.
pub(crate) struct OpenFunction<const N: usize> {
    /// The functions written so far and the beginning of this one.
    pub(crate) code: Code,
    pub(crate) function: Id,
    pub(crate) parameters: [Id; N],
    /// Label of its first block, which is open.
    pub(crate) block: Id,
}

impl Runtime {
    /// Begins a function with the debug name `name`.
    pub(crate) fn begin_function<const N: usize>(
        &mut self,
        globals: &mut Globals,
        name: &str,
        result_type: Id,
        parameter_types: [Id; N],
    ) -> OpenFunction<N> {
        let ty = globals.function_type(result_type, &parameter_types);
        let function = globals.fresh();
        globals.name(function, name);
        let mut code = std::mem::take(&mut self.functions);
        code.op(op::Function, (result_type, function, Literal(0), ty));
        let parameters = parameter_types.map(|ty| {
            let parameter = globals.fresh();
            code.op(op::FunctionParameter, (ty, parameter));
            parameter
        });
        let block = globals.fresh();
        code.label(block);
        OpenFunction {
            code,
            function,
            parameters,
            block,
        }
    }

    /// Begins a function without parameters that has an id already.
    pub(crate) fn begin_function_as(&mut self, globals: &mut Globals, function: Id, result_type: Id) -> Code {
        let ty = globals.function_type(result_type, &[]);
        let mut code = std::mem::take(&mut self.functions);
        code.op(op::Function, (result_type, function, Literal(0), ty));
        code.label(globals.fresh());
        code
    }

    /// Ends the open function; `code` is its [`OpenFunction::code`].
    pub(crate) fn end_function(&mut self, mut code: Code) {
        code.op(op::FunctionEnd, ());
        debug_assert!(self.functions.words.is_empty(), "two functions were open at once");
        self.functions = code;
    }
}
