//! The create-infos of the kinds of pipelines: where their stages, libraries and derivation are.

use super::pipeline_edit::{Editor, Stage};
use crate::device::state::{EditStorage, ModuleUse};
use crate::loader::chain;
use crate::loader::ffi::elements;
use ash::vk::{self, Handle as _};
use std::ffi::c_void;
use std::ptr;
use std::slice;
use vk_ext::PipelineBinaryInfo;

type Libraries = vk::PipelineLibraryCreateInfoKHR<'static>;

/// A create-info of objects that run shaders.
pub trait EditCreateInfo: Copy + 'static {
    /// Edits the create-info, a copy of the application's, and adds the modules that its object runs to `modules`.
    ///
    /// # Errors
    /// A module cannot be rewritten or created.
    ///
    /// # Safety
    /// The create-info must be valid until the driver has read it.
    unsafe fn edit(&mut self, editor: &mut Editor<'_>, modules: &mut Vec<ModuleUse>) -> Result<(), vk::Result>;
}

/// The create-info of a kind of pipeline.
pub trait PipelineInfo: Copy + 'static {
    /// The shader stages.
    ///
    /// # Safety
    /// The create-info must be valid.
    unsafe fn stages(&self) -> &[Stage];

    /// Replaces all shader stages.
    fn set_stages(&mut self, stages: Vec<Stage>, storage: &mut EditStorage);

    /// The libraries that the pipeline is linked from.
    ///
    /// # Safety
    /// The create-info must be valid.
    unsafe fn libraries(&self) -> Option<&Libraries>;

    /// Its flags, its chain, and the index of the pipeline that it is derived from.
    fn derivation(&mut self) -> (&mut vk::PipelineCreateFlags, &mut *const c_void, &mut i32);
}

impl<I: PipelineInfo> EditCreateInfo for I {
    unsafe fn edit(&mut self, editor: &mut Editor<'_>, modules: &mut Vec<ModuleUse>) -> Result<(), vk::Result> {
        // SAFETY: the create-info is valid until the driver has read it (the caller's contract).
        unsafe {
            let binaries = chain::find::<PipelineBinaryInfo>(*self.derivation().1);
            let mut stages = self.stages().to_vec();
            // Binaries replace the stages.
            if binaries.is_none_or(|binaries| binaries.binary_count == 0) && !stages.is_empty() {
                for stage in &mut stages {
                    editor.stage(stage, modules)?;
                }
                self.set_stages(stages, &mut editor.storage);
            }
            if let Some(info) = self.libraries() {
                for library in elements(info.p_libraries, info.library_count) {
                    let kind = vk::ObjectType::PIPELINE;
                    modules.extend(editor.state.objects.modules_of(kind, library.as_raw()));
                }
            }
        }
        Ok(())
    }
}

/// The members that all kinds of pipelines have.
macro_rules! common_members {
    () => {
        fn derivation(&mut self) -> (&mut vk::PipelineCreateFlags, &mut *const c_void, &mut i32) {
            (&mut self.flags, &mut self.p_next, &mut self.base_pipeline_index)
        }
    };
}

/// The members that all kinds of pipelines with several stages have.
macro_rules! stage_members {
    () => {
        fn set_stages(&mut self, stages: Vec<Stage>, storage: &mut EditStorage) {
            self.p_stages = storage.keep(stages);
        }

        common_members!();
    };
}

impl PipelineInfo for vk::GraphicsPipelineCreateInfo<'static> {
    unsafe fn stages(&self) -> &[Stage] {
        // SAFETY: the create-info is valid (the caller's contract).
        unsafe {
            match has_stages(self) {
                true => elements(self.p_stages, self.stage_count),
                false => &[],
            }
        }
    }

    unsafe fn libraries(&self) -> Option<&Libraries> {
        // SAFETY: the chain is valid (the caller's contract).
        unsafe { chain::find(self.p_next) }
    }

    stage_members!();
}

impl PipelineInfo for vk::ComputePipelineCreateInfo<'static> {
    unsafe fn stages(&self) -> &[Stage] {
        slice::from_ref(&self.stage)
    }

    fn set_stages(&mut self, stages: Vec<Stage>, _: &mut EditStorage) {
        stages.into_iter().for_each(|stage| self.stage = stage);
    }

    unsafe fn libraries(&self) -> Option<&Libraries> {
        None
    }

    common_members!();
}

impl PipelineInfo for vk::RayTracingPipelineCreateInfoKHR<'static> {
    unsafe fn stages(&self) -> &[Stage] {
        // SAFETY: the create-info is valid (the caller's contract).
        unsafe { elements(self.p_stages, self.stage_count) }
    }

    unsafe fn libraries(&self) -> Option<&Libraries> {
        // SAFETY: null or valid (the caller's contract).
        unsafe { self.p_library_info.as_ref() }
    }

    stage_members!();
}

impl PipelineInfo for vk::RayTracingPipelineCreateInfoNV<'static> {
    unsafe fn stages(&self) -> &[Stage] {
        // SAFETY: the create-info is valid (the caller's contract).
        unsafe { elements(self.p_stages, self.stage_count) }
    }

    unsafe fn libraries(&self) -> Option<&Libraries> {
        None
    }

    stage_members!();
}

/// Whether a graphics pipeline has shader stages. A library of other state may have a stale pointer to them.
///
/// # Safety
/// `info` must be valid.
unsafe fn has_stages(info: &vk::GraphicsPipelineCreateInfo<'_>) -> bool {
    use vk::GraphicsPipelineLibraryFlagsEXT as Part;
    // SAFETY: the chain is valid (the caller's contract).
    let library = unsafe { chain::find::<vk::GraphicsPipelineLibraryCreateInfoEXT<'_>>(info.p_next) };
    library.is_none_or(|library| {
        library
            .flags
            .intersects(Part::PRE_RASTERIZATION_SHADERS | Part::FRAGMENT_SHADER)
    })
}

/// Edits a copy of a single create-info, and adds the modules that its pipeline runs to `modules`. Returns where the copy is kept,
/// or null if the edit changes nothing, so that the next layer can get the application's create-info.
///
/// # Errors
/// A module cannot be rewritten or created.
///
/// # Safety
/// `info` must be a valid `I` until the driver has read it.
pub unsafe fn edit_one<I: EditCreateInfo>(
    editor: &mut Editor<'_>,
    info: *const c_void,
    modules: &mut Vec<ModuleUse>,
) -> Result<*const I, vk::Result> {
    // SAFETY: a valid `I` (the caller's contract).
    let copy = unsafe {
        let mut copy = *info.cast::<I>();
        copy.edit(editor, modules)?;
        copy
    };
    Ok(match editor.changed {
        true => editor.storage.keep(vec![copy]),
        false => ptr::null(),
    })
}
