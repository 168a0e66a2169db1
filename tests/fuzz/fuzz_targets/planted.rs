//! See `vkabort_oracle::targets::planted`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    vkabort_oracle::targets::planted(bytes);
});
