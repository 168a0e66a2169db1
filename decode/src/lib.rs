//! The C interface of [`vkabort_report`]: decodes the messages of a lost device to text or JSON.
//!
//! `include/vkabort_decode.h` is generated from this file by `cargo xtask generate`. `examples/crash-handler` uses it.
//!
//! No panic crosses the interface: it becomes [`VkabortResult::Internal`].

mod call;
mod decoder;

use call::{ERROR, Failure, clear, elements, format_of, guarded, into_c, invalid};
pub use call::{VKABORT_FORMAT_COLORED_TEXT, VKABORT_FORMAT_JSON_LINES, VKABORT_FORMAT_TEXT, VkabortResult};
use decoder::Decoder;
use std::ffi::{CStr, CString, c_char, c_void};

/// Version of this interface: major * 65536 + minor. The minor version grows when a function, format or result is added, the
/// major version when a program would have to be compiled again.
pub const VKABORT_DECODE_VERSION: u32 = 1 << 16 | 1;

/// The shaders that can have sent messages. All functions but `vkabort_decoder_free` may use a decoder on several threads at the
/// same time.
pub struct VkabortDecoder(Decoder);

/// # Safety
/// `decoder` must be null or come from [`vkabort_decoder_create`] and not be freed.
unsafe fn decoder_of<'a>(decoder: *const VkabortDecoder) -> Result<&'a Decoder, Failure> {
    // SAFETY: null, or a live decoder from `Box::into_raw` (the caller's contract).
    let decoder = unsafe { decoder.as_ref() };
    decoder
        .map(|decoder| &decoder.0)
        .ok_or_else(|| invalid("the decoder is null"))
}

/// # Safety
/// `name` must be null or null-terminated.
unsafe fn name_of(name: *const c_char) -> Result<Option<String>, Failure> {
    if name.is_null() {
        return Ok(None);
    }
    // SAFETY: not null, so the program gave a null-terminated string, which is copied before the call returns.
    let name = unsafe { CStr::from_ptr(name) }.to_str();
    name.map(|name| Some(name.to_owned()))
        .map_err(|_| invalid("the name is not UTF-8"))
}

/// The version of the library. A program that was compiled with a header of the same major version, and of this or a smaller
/// minor version, can use it.
#[unsafe(no_mangle)]
pub extern "C" fn vkabort_decode_version() -> u32 {
    VKABORT_DECODE_VERSION
}

/// Creates a decoder, which `vkabort_decoder_free` frees.
#[unsafe(no_mangle)]
pub extern "C" fn vkabort_decoder_create() -> *mut VkabortDecoder {
    Box::into_raw(Box::new(VkabortDecoder(Decoder::default())))
}

/// Frees a decoder. Null is ignored. Reports that it made stay valid.
///
/// # Safety
/// `decoder` must be null or come from `vkabort_decoder_create`, and no thread may use it during the call or afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vkabort_decoder_free(decoder: *mut VkabortDecoder) {
    if !decoder.is_null() {
        // SAFETY: `vkabort_decoder_create` leaked this box, and the program frees it once, when no thread uses it.
        drop(unsafe { Box::from_raw(decoder) });
    }
}

/// Adds a shader: the SPIR-V that the program passes to Vulkan. Its aborts get their types, names and source lines. The words are
/// not needed after the call. A shader without aborts takes no memory.
///
/// `name`: the shader's name in reports, or null.
///
/// # Safety
/// `decoder` must be live, `words` have `word_count` elements, and `name` be null or null-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vkabort_decoder_add_shader(
    decoder: *const VkabortDecoder,
    words: *const u32,
    word_count: usize,
    name: *const c_char,
) -> VkabortResult {
    guarded(|| {
        // SAFETY: the decoder is live, `words` has `word_count` elements, and `name` ends with a zero (the caller's contract).
        let (decoder, words, name) = unsafe {
            (
                decoder_of(decoder)?,
                elements(words, word_count, "the SPIR-V")?,
                name_of(name)?,
            )
        };
        let added = decoder.add_shader(words, name);
        added.map_err(|error| (VkabortResult::InvalidShader, error))?;
        Ok(VkabortResult::Success)
    })
}

/// Adds site tables in JSON: the output of `vkabort sites --json`, or a file `*.sites.json` of a dump. The text is not needed after
/// the call.
///
/// `name`: the shader's name in reports, or null.
///
/// # Safety
/// `decoder` must be live, `json` have `size` bytes, and `name` be null or null-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vkabort_decoder_add_site_tables(
    decoder: *const VkabortDecoder,
    json: *const c_char,
    size: usize,
    name: *const c_char,
) -> VkabortResult {
    guarded(|| {
        // SAFETY: the decoder is live, `json` has `size` bytes, and `name` ends with a zero (the caller's contract).
        let (decoder, json, name) = unsafe {
            (
                decoder_of(decoder)?,
                elements(json.cast::<u8>(), size, "the JSON")?,
                name_of(name)?,
            )
        };
        let added = decoder.add_site_tables(json, name);
        added.map_err(|error| (VkabortResult::InvalidSiteTable, error))?;
        Ok(VkabortResult::Success)
    })
}

/// Decodes the messages of a lost device: `messageDataSize` bytes at `pMessageData` of
/// `VkDeviceFaultShaderAbortMessageInfoKHR`, from any driver. Messages of unknown shaders are decoded by the conventions of GLSL
/// and Slang.
///
/// The values that the layer keeps beside a message are not in the data. The condition that led to an abort is shown with those of
/// its operands that the message holds; variables are in the layer's own reports only.
///
/// `format`: one of `VKABORT_FORMAT_*`. `report`: gets a null-terminated UTF-8 string, which `vkabort_report_free` frees, or null
/// after an error.
///
/// # Safety
/// `decoder` must be live, `messages` have `size` bytes, and `report` be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vkabort_decoder_decode(
    decoder: *const VkabortDecoder,
    messages: *const c_void,
    size: usize,
    format: u32,
    report: *mut *mut c_char,
) -> VkabortResult {
    guarded(|| {
        // SAFETY: `report` is null or writable (the caller's contract).
        unsafe { clear(report)? };
        let format = format_of(format)?;
        // SAFETY: the decoder is live, and `messages` has `size` bytes (the caller's contract).
        let (decoder, messages) = unsafe {
            (
                decoder_of(decoder)?,
                elements(messages.cast::<u8>(), size, "the message data")?,
            )
        };
        let decoded = decoder.decode(messages, format);
        let decoded = decoded.map_err(|error| (VkabortResult::InvalidMessages, error))?;
        // SAFETY: `report` is not null, so it may be written (the caller's contract).
        unsafe { report.write(into_c(decoded.report)?) };
        Ok(match decoded.is_cut {
            true => VkabortResult::Incomplete,
            false => VkabortResult::Success,
        })
    })
}

/// Formats a log of the layer in JSON lines (`log_format = json`), or `report.jsonl` of a dump: its reports and the prints of shaders,
/// in their order.
///
/// `format`: one of `VKABORT_FORMAT_*`. `text`: gets a null-terminated UTF-8 string, which `vkabort_report_free` frees, or null after
/// an error.
///
/// # Safety
/// `json` must have `size` bytes, and `text` be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vkabort_log_format(
    json: *const c_char,
    size: usize,
    format: u32,
    text: *mut *mut c_char,
) -> VkabortResult {
    guarded(|| {
        // SAFETY: `text` is null or writable (the caller's contract).
        unsafe { clear(text)? };
        let format = format_of(format)?;
        // SAFETY: `json` has `size` bytes (the caller's contract).
        let json = unsafe { elements(json.cast::<u8>(), size, "the JSON")? };
        let formatted = decoder::format_log(json, format).map_err(|error| (VkabortResult::InvalidLog, error))?;
        // SAFETY: `text` is not null, so it may be written (the caller's contract).
        unsafe { text.write(into_c(formatted)?) };
        Ok(VkabortResult::Success)
    })
}

/// Frees a report. Null is ignored.
///
/// # Safety
/// `report` must be null or come from `vkabort_decoder_decode` or `vkabort_log_format` and not be freed or changed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vkabort_report_free(report: *mut c_char) {
    if !report.is_null() {
        // SAFETY: `into_c` leaked this string, and the program frees it once and does not change it.
        drop(unsafe { CString::from_raw(report) });
    }
}

/// Describes the error of this thread's last call that returns a `VkabortResult`. Empty if it was successful. Valid until the
/// thread's next such call.
#[unsafe(no_mangle)]
pub extern "C" fn vkabort_error_message() -> *const c_char {
    ERROR.try_with(|error| error.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

#[cfg(test)]
mod tests;
