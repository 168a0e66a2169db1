//! Common parts of the interface's functions: their results, checked arguments, and the description of an error.

use crate::decoder::Format;
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{ptr, slice};
use vkabort_record::escape::printable;

/// Plain text, as `vkabort decode` prints it.
pub const VKABORT_FORMAT_TEXT: u32 = 0;
/// The same text with ANSI colours.
pub const VKABORT_FORMAT_COLORED_TEXT: u32 = 1;
/// JSON lines, as `vkabort schema` describes them.
pub const VKABORT_FORMAT_JSON_LINES: u32 = 2;

/// Result of a function. Negative results are errors, and `vkabort_error_message` describes them.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VkabortResult {
    /// The function succeeded.
    Success = 0,
    /// The report is complete but for a last message, in which the data ends: the buffer was too small (VK_INCOMPLETE).
    Incomplete = 1,
    /// A pointer is null, a format is unknown, or a name is not UTF-8.
    InvalidArgument = -1,
    /// The words are not a valid SPIR-V module.
    InvalidShader = -2,
    /// The text is not a site table.
    InvalidSiteTable = -3,
    /// The bytes are not message data.
    InvalidMessages = -4,
    /// A fault of the library. Please report it.
    Internal = -5,
    /// The text is not a log in JSON lines.
    InvalidLog = -6,
}

thread_local! {
    pub(crate) static ERROR: RefCell<CString> = RefCell::new(CString::default());
}

/// An error and its description.
pub(crate) type Failure = (VkabortResult, String);

/// Runs the body of a function. Keeps the description of its error for the thread.
pub(crate) fn guarded(body: impl FnOnce() -> Result<VkabortResult, Failure>) -> VkabortResult {
    let (result, message) = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(result)) => (result, String::new()),
        Ok(Err(failure)) => failure,
        Err(panic) => {
            // Dropping the payload may panic again.
            std::mem::forget(panic);
            (VkabortResult::Internal, "a fault of vkabort_decode".to_owned())
        }
    };
    // It may quote the program's data.
    let message = CString::new(printable(&message)).unwrap_or_default();
    // The thread may be ending.
    let _ = ERROR.try_with(|error| error.replace(message));
    result
}

pub(crate) fn invalid(problem: &str) -> Failure {
    (VkabortResult::InvalidArgument, problem.to_owned())
}

/// # Safety
/// `data` must be null or have `count` elements, which outlive the result.
pub(crate) unsafe fn elements<'a, T>(data: *const T, count: usize, name: &str) -> Result<&'a [T], Failure> {
    match (data.is_null(), count) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(invalid(&format!("{name} is null"))),
        (false, _) if !data.is_aligned() => Err(invalid(&format!("{name} is not aligned"))),
        // SAFETY: `data` is aligned and not null, and the program keeps its `count` elements unchanged during the call.
        _ => Ok(unsafe { slice::from_raw_parts(data, count) }),
    }
}

pub(crate) fn format_of(format: u32) -> Result<Format, Failure> {
    match format {
        VKABORT_FORMAT_TEXT => Ok(Format::Text),
        VKABORT_FORMAT_COLORED_TEXT => Ok(Format::ColoredText),
        VKABORT_FORMAT_JSON_LINES => Ok(Format::JsonLines),
        _ => Err(invalid(&format!("{format} is not a format"))),
    }
}

/// Sets the pointer to a report to null.
///
/// # Safety
/// `report` must be null or writable.
pub(crate) unsafe fn clear(report: *mut *mut c_char) -> Result<(), Failure> {
    if report.is_null() {
        return Err(invalid("the pointer to the report is null"));
    }
    // SAFETY: `report` is not null, so it may be written (the caller's contract).
    unsafe { report.write(ptr::null_mut()) };
    Ok(())
}

/// A string for the program, which frees it by [`vkabort_report_free`].
pub(crate) fn into_c(text: String) -> Result<*mut c_char, Failure> {
    let text = CString::new(text).map_err(|error| (VkabortResult::Internal, error.to_string()))?;
    Ok(text.into_raw())
}
