//! The declarations of modules that access memory by its device address.

use crate::edit::Edits;
use crate::edit::emitter::Emitter;
use crate::index::Index;
use crate::op::{addressing_model, capability};
use crate::words::version;
use crate::{Literal, op};

/// Declares the extension, capability and addressing model of accesses by device address (SPV_KHR_physical_storage_buffer).
pub fn declare_physical_addressing(index: &Index<'_>, out: &mut Emitter, edits: &mut Edits) {
    const EXTENSION: &str = "SPV_KHR_physical_storage_buffer";
    if !index.has_capability(capability::PhysicalStorageBufferAddresses) {
        out.capability(capability::PhysicalStorageBufferAddresses);
    }
    if index.version < version(1, 5) && !index.has_extension(EXTENSION) {
        out.extension(EXTENSION);
    }
    let model = index.inst(index.sections.memory_model);
    if model.addressing_model() == addressing_model::Logical {
        let models = [addressing_model::PhysicalStorageBuffer64, model.memory_model()];
        edits.replace_by(&model, op::MemoryModel, models.map(Literal));
    }
}
