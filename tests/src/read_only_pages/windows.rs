//! Skips the cases that need such memory.

use crate::case::Skip;
use anyhow::Result;
use std::convert::Infallible;

/// Has no values.
pub struct ReadOnlyPages(Infallible);

impl ReadOnlyPages {
    /// Skips the case.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn new(_: usize) -> Result<Self> {
        Err(Skip("read-only pages are mapped on Unix only".into()).into())
    }

    /// Is never called.
    ///
    /// # Errors
    ///
    /// None.
    pub fn put<T: Copy>(&self, _: &[T]) -> Result<*mut T> {
        match self.0 {}
    }

    /// Is never called.
    ///
    /// # Errors
    ///
    /// None.
    pub fn freeze(&self) -> Result<()> {
        match self.0 {}
    }
}
