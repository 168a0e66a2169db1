//! Format strings and values as text.
//!
//! [`apply`] follows C's `printf`, with the vectors and the 64-bit spellings of GLSL's debug printf.

mod apply;
mod printf;
mod remainders;
pub(crate) mod specifier;
pub(crate) mod value_display;

pub use apply::{Formatted, apply};
pub use value_display::show;
