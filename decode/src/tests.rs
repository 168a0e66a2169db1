//! Tests of [`super`].

use super::*;
use std::ptr;

#[test]
fn the_error_of_a_call_outlives_the_decoder() {
    let decoder = vkabort_decoder_create();
    // SAFETY: the decoder is live until it is freed, and the text has one byte.
    let message = unsafe {
        let result = vkabort_decoder_add_site_tables(decoder, c"?".as_ptr(), 1, ptr::null());
        assert_eq!(result, VkabortResult::InvalidSiteTable);
        vkabort_decoder_free(decoder);
        CStr::from_ptr(vkabort_error_message())
    };
    assert!(message.to_string_lossy().starts_with("not a site table"), "{message:?}");
}

#[test]
fn errors_have_no_control_characters() {
    let decoder = vkabort_decoder_create();
    let json = c"{\"\x1b[2J\":0}";
    // SAFETY: the decoder is live until it is freed, and the text has as many bytes.
    let message = unsafe {
        vkabort_decoder_add_site_tables(decoder, json.as_ptr(), json.count_bytes(), ptr::null());
        vkabort_decoder_free(decoder);
        CStr::from_ptr(vkabort_error_message())
    };
    assert!(!message.to_bytes().iter().any(u8::is_ascii_control), "{message:?}");
}
