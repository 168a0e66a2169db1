//! Modules that only pipelines can rewrite: their constant data, which pipelines specialise, is too large by default.
//!
//! "This instruction can be specialized to become an OpConstantDataKHR instruction" (SPV_KHR_constant_data): the data that a
//! pipeline specialises counts, so the module is valid. The driver gets a placeholder for it.

use super::rewrite::{Rewritten, Source};
use crate::device::state::Module;
use crate::device::{AbortState, Device};
use crate::log::Level;
use ash::vk;
use std::sync::Arc;

/// A valid module that no pipeline uses: a compute shader that does nothing.
#[rustfmt::skip]
const PLACEHOLDER: [u32; 35] = [
    0x0723_0203, 0x0001_0000, 0, 5, 0,
    2 << 16 | 17, 1,                             // OpCapability Shader
    3 << 16 | 14, 0, 1,                          // OpMemoryModel Logical GLSL450
    5 << 16 | 15, 5, 1, 0x6E69_616D, 0,          // OpEntryPoint GLCompute %1 "main"
    6 << 16 | 16, 1, 17, 1, 1, 1,                // OpExecutionMode %1 LocalSize 1 1 1
    2 << 16 | 19, 2,                             // %2 = OpTypeVoid
    3 << 16 | 33, 3, 2,                          // %3 = OpTypeFunction %2
    5 << 16 | 54, 2, 1, 0, 3,                    // %1 = OpFunction %2 None %3
    2 << 16 | 248, 4,                            // %4 = OpLabel
    1 << 16 | 253,                               // OpReturn
    1 << 16 | 56,                                // OpFunctionEnd
];

impl Device {
    /// Rewrites the words of a `VkShaderModule`, or leaves it to the pipelines that use it.
    ///
    /// # Errors
    /// As [`Self::rewrite`].
    pub fn rewrite_or_defer(&self, state: &AbortState, words: &[u32]) -> Result<Rewritten, vk::Result> {
        let source = Source {
            words,
            memory: state.constants(),
            ..Source::default()
        };
        match self.try_rewrite(state, source) {
            Err((module_hash, error)) if error.is_specializable => {
                let text = format!(
                    "module {module_hash} is rewritten only in pipelines, which can specialise its constant data: {error}"
                );
                self.instance.log.line(Level::Info, &text);
                let module = Arc::new(Module {
                    original: Some(words.to_vec()),
                    is_deferred: true,
                    ..Module::without_sites(module_hash)
                });
                Ok(Rewritten::Changed {
                    words: PLACEHOLDER.to_vec(),
                    module,
                })
            }
            result => result.map_err(|error| self.log_failure(error)),
        }
    }
}
