//! The create-infos of the kinds of pipelines: where their stages, libraries and derivation are.

use super::pipeline_edit::{Editor, Stage};
use crate::device::state::ModuleUse;
use crate::loader::chain;
use crate::loader::ffi::elements;
use ash::vk::{self, Handle as _};
use std::ffi::c_void;
use std::ptr;
use std::slice;
use vk_ext::PipelineBinaryInfo;

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
pub trait PipelineInfo: EditCreateInfo {
    /// The shader stages.
    ///
    /// # Safety
    /// The create-info must be valid.
    unsafe fn stages(&self) -> &[Stage];

    /// Its flags, its chain, and the index of the pipeline that it is derived from.
    fn derivation(&mut self) -> (&mut vk::PipelineCreateFlags, &mut *const c_void, &mut i32);
}

macro_rules! derivation {
    () => {
        fn derivation(&mut self) -> (&mut vk::PipelineCreateFlags, &mut *const c_void, &mut i32) {
            (&mut self.flags, &mut self.p_next, &mut self.base_pipeline_index)
        }
    };
}

impl EditCreateInfo for vk::GraphicsPipelineCreateInfo<'static> {
    unsafe fn edit(&mut self, editor: &mut Editor<'_>, modules: &mut Vec<ModuleUse>) -> Result<(), vk::Result> {
        // SAFETY: the create-info is valid (the caller's contract).
        unsafe {
            if has_stages(self) {
                self.p_stages = editor.stages(self.p_stages, self.stage_count, modules)?;
            }
            editor.libraries(chain::find(self.p_next), modules);
        }
        Ok(())
    }
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

    derivation!();
}

impl EditCreateInfo for vk::ComputePipelineCreateInfo<'static> {
    unsafe fn edit(&mut self, editor: &mut Editor<'_>, modules: &mut Vec<ModuleUse>) -> Result<(), vk::Result> {
        // SAFETY: the create-info is valid (the caller's contract).
        unsafe { editor.stage(&mut self.stage, modules) }
    }
}

impl PipelineInfo for vk::ComputePipelineCreateInfo<'static> {
    unsafe fn stages(&self) -> &[Stage] {
        slice::from_ref(&self.stage)
    }

    derivation!();
}

impl EditCreateInfo for vk::RayTracingPipelineCreateInfoKHR<'static> {
    unsafe fn edit(&mut self, editor: &mut Editor<'_>, modules: &mut Vec<ModuleUse>) -> Result<(), vk::Result> {
        // SAFETY: the create-info is valid (the caller's contract).
        unsafe {
            self.p_stages = editor.stages(self.p_stages, self.stage_count, modules)?;
            editor.libraries(self.p_library_info.as_ref(), modules);
        }
        Ok(())
    }
}

impl PipelineInfo for vk::RayTracingPipelineCreateInfoKHR<'static> {
    unsafe fn stages(&self) -> &[Stage] {
        // SAFETY: the create-info is valid (the caller's contract).
        unsafe { elements(self.p_stages, self.stage_count) }
    }

    derivation!();
}

impl EditCreateInfo for vk::RayTracingPipelineCreateInfoNV<'static> {
    unsafe fn edit(&mut self, editor: &mut Editor<'_>, modules: &mut Vec<ModuleUse>) -> Result<(), vk::Result> {
        // SAFETY: the create-info is valid (the caller's contract).
        self.p_stages = unsafe { editor.stages(self.p_stages, self.stage_count, modules) }?;
        Ok(())
    }
}

impl PipelineInfo for vk::RayTracingPipelineCreateInfoNV<'static> {
    unsafe fn stages(&self) -> &[Stage] {
        // SAFETY: the create-info is valid (the caller's contract).
        unsafe { elements(self.p_stages, self.stage_count) }
    }

    derivation!();
}

impl Editor<'_> {
    /// Edits a copy of a create-info, and adds the modules that its object runs to `modules`.
    ///
    /// # Errors
    /// A module cannot be rewritten or created.
    ///
    /// # Safety
    /// As [`EditCreateInfo::edit`].
    pub unsafe fn create_info<I: EditCreateInfo>(
        &mut self,
        info: &mut I,
        modules: &mut Vec<ModuleUse>,
    ) -> Result<(), vk::Result> {
        // SAFETY: a create-info starts with its type and its chain, which is valid (the caller's contract).
        unsafe {
            let binaries = chain::find::<PipelineBinaryInfo>(ptr::from_ref(info).cast());
            self.has_binaries = binaries.is_some_and(|binaries| binaries.binary_count > 0);
            info.edit(self, modules)
        }
    }

    /// Edits a copy of an array of stages, and returns where the copy is kept.
    ///
    /// # Safety
    /// `stages` must be null or have `count` elements, which are valid until the driver has read them.
    unsafe fn stages(
        &mut self,
        stages: *const Stage,
        count: u32,
        modules: &mut Vec<ModuleUse>,
    ) -> Result<*const Stage, vk::Result> {
        // SAFETY: null, or an array of `count` elements (the caller's contract).
        let mut copies = unsafe { elements(stages, count) }.to_vec();
        if copies.is_empty() {
            return Ok(stages);
        }
        for copy in &mut copies {
            // SAFETY: the stage is valid (the caller's contract).
            unsafe { self.stage(copy, modules) }?;
        }
        Ok(self.storage.keep(copies))
    }

    /// Adds the modules of the libraries that a pipeline is linked from to `modules`.
    ///
    /// # Safety
    /// `info` must be valid.
    unsafe fn libraries(&self, info: Option<&vk::PipelineLibraryCreateInfoKHR<'_>>, modules: &mut Vec<ModuleUse>) {
        let Some(info) = info else { return };
        // SAFETY: an array of that many elements (the caller's contract).
        for library in unsafe { elements(info.p_libraries, info.library_count) } {
            let kind = vk::ObjectType::PIPELINE;
            modules.extend(self.state.objects.modules_of(kind, library.as_raw()));
        }
    }
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
        editor.create_info(&mut copy, modules)?;
        copy
    };
    Ok(match editor.changed {
        true => editor.storage.keep(vec![copy]),
        false => ptr::null(),
    })
}
