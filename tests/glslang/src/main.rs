//! The command `glslang`, version 16.6: the program of the project, linked with the library that the tests use.

use std::ffi::{CString, c_char, c_int};
use std::os::unix::ffi::OsStringExt;
use std::process::ExitCode;

// Links the library.
use glslang_sys as _;

unsafe extern "C" {
    /// `main` of StandAlone.cpp, which the build script renames.
    #[link_name = "_Z12glslang_mainiPPc"]
    fn glslang_main(count: c_int, arguments: *mut *mut c_char) -> c_int;
}

fn main() -> ExitCode {
    // An argument of a process contains no NUL.
    let arguments = std::env::args_os().filter_map(|argument| CString::new(argument.into_vec()).ok());
    let mut pointers: Vec<*mut c_char> = arguments.map(CString::into_raw).collect();
    let count = c_int::try_from(pointers.len()).unwrap_or(c_int::MAX);
    pointers.push(std::ptr::null_mut());
    // SAFETY: as the C runtime calls `main`: an array of `count` writable strings and a null pointer, which live until the
    // process ends.
    let code = unsafe { glslang_main(count, pointers.as_mut_ptr()) };
    ExitCode::from(u8::try_from(code & 0xFF).unwrap_or(1))
}
