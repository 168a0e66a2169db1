//! Checks preconditions of the passes that an index does not check.

use vkabort_spirv::error::{Error, ErrorKind, Result};
use vkabort_spirv::index::Index;
use vkabort_spirv::op::addressing_model;

/// Checks the addressing model, and that functions which are called or are entry points exist.
///
/// # Errors
///
/// [`ErrorKind::Unsupported`] or [`ErrorKind::Invalid`] at the instruction.
pub fn check(index: &Index<'_>) -> Result<()> {
    let model = index.inst(index.sections.memory_model);
    if !matches!(
        model.addressing_model(),
        addressing_model::Logical | addressing_model::PhysicalStorageBuffer64
    ) {
        return Err(Error::new(
            ErrorKind::Unsupported,
            "scan",
            model.offset as u32,
            format!(
                "addressing model {}: Vulkan allows only Logical and PhysicalStorageBuffer64",
                model.addressing_model()
            ),
        ));
    }
    // Detects a module that is cut short between two instructions: the missing function is called or is an entry point.
    let entry_points = index
        .entry_points
        .iter()
        .map(|entry| (entry.inst.offset, entry.function));
    let calls = index.calls.values().iter().map(|call| (call.offset, call.callee));
    for (offset, function) in entry_points.chain(calls) {
        if index.function_of(function).is_none() {
            return Err(Error::new(
                ErrorKind::Invalid,
                "scan",
                offset as u32,
                format!("{function} is not a function"),
            ));
        }
    }
    Ok(())
}
