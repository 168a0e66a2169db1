//! Parses and writes a module with SPIRV-Tools, by the C interface that its `libspirv.h` declares.

use anyhow::{Context, Result, ensure};
use std::ffi::{c_int, c_void};
use std::hint::black_box;
use std::ptr::{self, NonNull};

/// `spv_binary_t`.
#[repr(C)]
struct Binary {
    code: *mut u32,
    words: usize,
}

// SAFETY: the signatures match `libspirv.h` of the version that the build script links.
unsafe extern "C" {
    fn spvOptimizerCreate(env: c_int) -> *mut c_void;
    fn spvOptimizerDestroy(optimizer: *mut c_void);
    fn spvOptimizerOptionsCreate() -> *mut c_void;
    fn spvOptimizerOptionsSetRunValidator(options: *mut c_void, run: bool);
    fn spvOptimizerOptionsDestroy(options: *mut c_void);
    fn spvOptimizerRun(
        optimizer: *mut c_void,
        words: *const u32,
        count: usize,
        optimized: *mut *mut Binary,
        options: *mut c_void,
    ) -> c_int;
    fn spvBinaryDestroy(binary: *mut Binary);
}

/// `SPV_ENV_VULKAN_1_3`.
const VULKAN_1_3: c_int = 25;

/// Parses a module and writes it again without a pass.
pub fn round_trip(words: &[u32], validates: bool) -> Result<()> {
    let mut binary = ptr::null_mut();
    // SAFETY: each object is created here and destroyed once; pointer and length come from the same slice.
    unsafe {
        let optimizer = spvOptimizerCreate(VULKAN_1_3);
        let options = spvOptimizerOptionsCreate();
        spvOptimizerOptionsSetRunValidator(options, validates);
        let result = spvOptimizerRun(optimizer, words.as_ptr(), words.len(), &raw mut binary, options);
        spvOptimizerOptionsDestroy(options);
        spvOptimizerDestroy(optimizer);
        ensure!(result == 0, "SPIRV-Tools refuses the module: {result}");
        let written = NonNull::new(binary).context("SPIRV-Tools wrote no module")?;
        black_box(written.as_ref().words);
        spvBinaryDestroy(binary);
    }
    Ok(())
}
