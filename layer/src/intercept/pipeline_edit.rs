//! Edits the stages of pipelines: the code that they run (`stage_code`), and its specialization.

use super::MISSING;
use crate::device::modules::specialization::{for_rewritten, specialization, values};
use crate::device::state::{EditStorage, Module, ModuleUse};
use crate::device::{AbortState, Device};
use crate::loader::chain::{ChainCopy, Edit};
use crate::loader::ffi::string;
use ash::vk::{self, TaggedStructure};
use std::collections::BTreeMap;
use std::ffi::{c_char, c_void};
use std::ptr;
use std::sync::Arc;

pub(super) type Stage = vk::PipelineShaderStageCreateInfo<'static>;

/// Specialization data by `SpecId`.
pub(super) type Data = BTreeMap<u32, Vec<u8>>;

/// Edits the create-infos of one command.
pub struct Editor<'a> {
    pub(super) device: &'a Device,
    pub(super) state: &'a AbortState,
    /// The data that edited create-infos point to.
    pub storage: EditStorage,
    /// Whether an edited create-info differs from the application's. If not, the next layer gets the application's.
    pub changed: bool,
}

impl<'a> Editor<'a> {
    /// An editor that has changed nothing.
    pub fn new(device: &'a Device, state: &'a AbortState) -> Self {
        Self {
            device,
            state,
            storage: EditStorage::default(),
            changed: false,
        }
    }

    /// Edits a copy of a stage, and adds the module that it runs to `modules`.
    ///
    /// # Safety
    /// The stage must be valid until the driver has read it.
    pub(super) unsafe fn stage(&mut self, stage: &mut Stage, modules: &mut Vec<ModuleUse>) -> Result<(), vk::Result> {
        // SAFETY: the stage is valid until the driver has read it (the caller's contract).
        unsafe {
            let data = specialization(stage.p_specialization_info);
            let Some(module) = self.replace_code(stage, &data, modules)? else {
                return Ok(());
            };
            let specialization = &mut stage.p_specialization_info;
            let used = self.specialize((stage.stage, stage.p_name), module, &data, specialization)?;
            modules.push(used);
        }
        Ok(())
    }

    /// Edits the specialization of a stage or shader object, given by its stage and its entry point, that runs `module`.
    ///
    /// # Errors
    /// The stage reaches an abort, whose message it cannot write.
    ///
    /// # Safety
    /// The name must be null or null-terminated, and `info` null or valid until the driver has read it.
    pub(super) unsafe fn specialize(
        &mut self,
        (stage, name): (vk::ShaderStageFlags, *const c_char),
        module: Arc<Module>,
        data: &Data,
        info: &mut *const vk::SpecializationInfo<'static>,
    ) -> Result<ModuleUse, vk::Result> {
        // SAFETY: null or null-terminated (the caller's contract).
        let name = unsafe { string(name) }.unwrap_or_default();
        self.device.check_stage(self.state, stage, name, &module)?;
        let values = values(&module.sites.constants, data);
        // SAFETY: null or valid (the caller's contract).
        if let Some(edited) = unsafe { for_rewritten(*info, &module, values.key, &mut self.storage) } {
            *info = edited;
            self.changed = true;
        }
        Ok(ModuleUse::of_stage(module, stage, name.to_bytes(), values))
    }

    /// Changes a copy of the structure `T` in a chain. False if the chain has none, or a structure of unknown size precedes it.
    ///
    /// # Safety
    /// The chain must be valid until the driver has read it.
    pub unsafe fn change_chained<T: TaggedStructure>(
        &mut self,
        chain: &mut *const c_void,
        change: impl FnOnce(&mut T),
    ) -> bool {
        let edit = |s_type| {
            if s_type == T::STRUCTURE_TYPE {
                Edit::Change
            } else {
                Edit::Keep
            }
        };
        // SAFETY: the chain is valid (the caller's contract).
        let mut copy = unsafe { ChainCopy::new(*chain, edit) };
        let Some(node) = copy.copied::<T>() else {
            return false;
        };
        change(node);
        *chain = self.storage.keep_chain(copy);
        self.changed = true;
        true
    }

    /// Creates the object of a rewritten module for this command only.
    pub(super) fn create_module(
        &mut self,
        info: &vk::ShaderModuleCreateInfo<'_>,
        rewritten: &Arc<Module>,
    ) -> Result<vk::ShaderModule, vk::Result> {
        let next = &self.device.next;
        let (Some(create), Some(destroy)) = (next.vkCreateShaderModule, next.vkDestroyShaderModule) else {
            return Err(MISSING);
        };
        let mut module = vk::ShaderModule::null();
        // SAFETY: the device is live, and the create-info valid.
        let result = unsafe { create(self.device.handle, info, ptr::null(), &mut module) };
        self.device.log_refusal("vkCreateShaderModule", result, [rewritten]);
        result.result()?;
        self.storage.keep_module(self.device.handle, destroy, module);
        self.changed = true;
        Ok(module)
    }
}
