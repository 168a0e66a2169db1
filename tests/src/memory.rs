//! The memory of this process.

use anyhow::Result;

/// Bytes of anonymous and shared memory. Excludes file pages: those of libraries depend on what was called before and on memory
/// pressure.
///
/// # Errors
///
/// `/proc/self/status` cannot be read.
#[cfg(unix)]
pub fn resident() -> Result<usize> {
    use anyhow::Context as _;
    let text = std::fs::read_to_string("/proc/self/status").context("/proc/self/status")?;
    let field = |name: &str| -> Result<usize> {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.split_whitespace().next());
        Ok(number.with_context(|| format!("no {name}"))?.parse()?)
    };
    Ok((field("RssAnon:")? + field("RssShmem:")?) << 10)
}

/// Bytes of private memory.
///
/// # Errors
///
/// Windows refuses.
#[cfg(windows)]
pub fn resident() -> Result<usize> {
    Ok(vkabort_windows::private_bytes()?)
}
