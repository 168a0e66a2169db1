//! Format strings and values as text.

mod apply;
pub mod printf;
pub mod specifier;
pub mod value_display;

pub use apply::{Formatted, MISSING, apply};
