//! Memory that a program fills and then makes read-only: later writes raise SIGSEGV.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::ReadOnlyPages;
#[cfg(windows)]
pub use windows::ReadOnlyPages;
