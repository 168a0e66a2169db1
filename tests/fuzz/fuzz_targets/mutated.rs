//! See `vkabort_oracle::targets::mutated`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    vkabort_oracle::targets::mutated(bytes);
});
