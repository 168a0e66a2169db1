//! The objects of one command, of which some may have modules that cannot be rewritten.
//!
//! Of pipelines, only those fail: "the implementation will attempt to create all pipelines, and only return VK_NULL_HANDLE
//! values for those that actually failed" (Multiple Pipeline Creation), unless a failed one has
//! `VK_PIPELINE_CREATE_EARLY_RETURN_ON_FAILURE_BIT`.

use super::pipeline_create_info::{EditCreateInfo, PipelineInfo};
use super::pipeline_edit::Editor;
use crate::device::Device;
use crate::device::state::{ModuleUse, Objects};
use crate::loader::chain;
use crate::loader::dispatch::PfnDestroy;
use ash::vk::{self, Handle};

type Flags2 = vk::PipelineCreateFlags2CreateInfoKHR<'static>;

/// The objects that the next layer can create.
pub struct Batch<I> {
    /// Their create-infos, which are edited copies.
    pub infos: Vec<I>,
    /// The modules that each of them runs.
    pub modules: Vec<Vec<ModuleUse>>,
    /// The index of each of them in the command's array.
    indices: Vec<usize>,
    /// The result of the first object that cannot be created, and of the command.
    pub error: Option<vk::Result>,
}

impl<I: EditCreateInfo> Batch<I> {
    /// Edits copies of create-infos, up to the first that cannot be edited and for which `is_last` holds.
    ///
    /// # Safety
    /// The create-infos must be valid until the driver has read them.
    pub unsafe fn new(editor: &mut Editor<'_>, originals: &[I], is_last: impl Fn(&mut I) -> bool) -> Self {
        let mut batch = Self {
            infos: Vec::with_capacity(originals.len()),
            modules: Vec::with_capacity(originals.len()),
            indices: Vec::with_capacity(originals.len()),
            error: None,
        };
        for (index, original) in originals.iter().enumerate() {
            let (mut copy, mut modules) = (*original, Vec::new());
            // SAFETY: the create-info is valid until the driver has read it (the caller's contract).
            match unsafe { copy.edit(editor, &mut modules) } {
                Ok(()) => {
                    batch.infos.push(copy);
                    batch.modules.push(modules);
                    batch.indices.push(index);
                }
                Err(error) => {
                    batch.error.get_or_insert(error);
                    if is_last(&mut copy) {
                        break;
                    }
                }
            }
        }
        batch
    }

    /// Leaves out all objects but the first `count`.
    pub fn truncate(&mut self, count: usize) {
        self.infos.truncate(count);
        self.modules.truncate(count);
        self.indices.truncate(count);
    }

    /// Whether an object has code with checks or records of prints. A module that the driver has refused with them is replaced.
    pub fn has_additions(&self, device: &Device) -> bool {
        let mut checked = self.modules.iter().flatten().filter(|used| used.module.has_additions());
        checked.any(|used| !device.runs_without_checks(used.module.sites.module_hash))
    }

    /// Whether to create all objects once more: the driver refused some whose modules had checks, and from now on have none. The
    /// objects that were created are then destroyed.
    ///
    /// # Safety
    /// The next layer must have created the objects in this order, or null ones, with the allocator of `destroy`, which must be
    /// their type's, and the application must not know them.
    pub unsafe fn is_worth_retrying<H: Handle + Copy>(
        &self,
        device: &Device,
        command: &str,
        result: vk::Result,
        created: &[H],
        (destroy, allocator): (Option<PfnDestroy>, *const vk::AllocationCallbacks<'_>),
    ) -> bool {
        let failed = created.iter().zip(&self.modules).filter(|(handle, _)| handle.is_null());
        let modules = failed.flat_map(|(_, modules)| modules).map(|used| &used.module);
        if !device.give_up_refused(command, result, modules) {
            return false;
        }
        if let Some(destroy) = destroy {
            for handle in created.iter().filter(|handle| !handle.is_null()) {
                // SAFETY: a live object of the device, which nothing uses (the caller's contract).
                unsafe { destroy(device.handle, handle.as_raw(), allocator) };
            }
        }
        true
    }

    /// Logs that the driver refused rewritten code.
    pub fn log_refusal(&self, device: &Device, command: &str, result: vk::Result) {
        let modules = self.modules.iter().flatten();
        device.log_refusal(command, result, modules.map(|used| &used.module));
    }
}

impl<I: PipelineInfo> Batch<I> {
    /// Edits copies of the create-infos of pipelines.
    ///
    /// # Safety
    /// As [`Self::new`].
    pub unsafe fn of_pipelines(editor: &mut Editor<'_>, originals: &[I]) -> Self {
        // SAFETY: the create-infos are valid until the driver has read them (the caller's contract).
        unsafe {
            let early = vk::PipelineCreateFlags::EARLY_RETURN_ON_FAILURE;
            let mut batch = Self::new(editor, originals, |info| has_flag(info, early));
            for (info, modules) in batch.infos.iter_mut().zip(&mut batch.modules) {
                let is_library = has_flag(info, vk::PipelineCreateFlags::LIBRARY_KHR);
                modules.iter_mut().for_each(|used| used.is_in_library = is_library);
            }
            if batch.error.is_some() {
                batch.rebase(editor);
            }
            batch
        }
    }

    /// Writes the handles of the batch's pipelines to their places in the command's array.
    ///
    /// # Safety
    /// `pipelines` must be the array of the command that the batch was made for.
    pub unsafe fn scatter(&self, created: &[vk::Pipeline], pipelines: *mut vk::Pipeline) {
        for (index, created) in self.indices.iter().zip(created) {
            // SAFETY: every index is one of the array (the caller's contract).
            unsafe { pipelines.add(*index).write(*created) };
        }
    }

    /// Corrects the indices of base pipelines. A pipeline whose base failed is not derived.
    ///
    /// # Safety
    /// As [`Self::new`].
    unsafe fn rebase(&mut self, editor: &mut Editor<'_>) {
        let derivative = vk::PipelineCreateFlags::DERIVATIVE;
        for info in &mut self.infos {
            // SAFETY: the create-info is valid until the driver has read it (the caller's contract).
            unsafe {
                if !has_flag(info, derivative) {
                    continue;
                }
                let (flags, chain, base) = info.derivation();
                let Ok(old) = usize::try_from(*base) else { continue };
                let new = self.indices.iter().position(|index| *index == old);
                *base = new.and_then(|new| i32::try_from(new).ok()).unwrap_or(-1);
                if new.is_none() {
                    *flags &= !derivative;
                    let derivative = vk::PipelineCreateFlags2KHR::from_raw(derivative.as_raw().into());
                    editor.change_chained(chain, |node: &mut Flags2| node.flags &= !derivative);
                }
            }
        }
    }
}

/// Whether a pipeline is created with a flag. A chained structure replaces the create-info's own flags.
///
/// # Safety
/// The create-info must be valid.
unsafe fn has_flag<I: PipelineInfo>(info: &mut I, flag: vk::PipelineCreateFlags) -> bool {
    let (flags, chain, _) = info.derivation();
    // SAFETY: the chain is valid (the caller's contract).
    match unsafe { chain::find::<Flags2>(*chain) } {
        Some(chained) => chained.flags.as_raw() & u64::from(flag.as_raw()) != 0,
        None => flags.contains(flag),
    }
}

/// Notes the modules that new objects are created from. Null handles are those of objects that were not created.
pub fn remember<H: Handle + Copy>(objects: &Objects, handles: &[H], modules: Vec<Vec<ModuleUse>>) {
    for (handle, modules) in handles.iter().zip(modules) {
        if !handle.is_null() {
            objects.add(H::TYPE, handle.as_raw(), modules);
        }
    }
}

#[cfg(test)]
mod tests;
