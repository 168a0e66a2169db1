//! Shader modules with aborts.

use crate::arena::PlacedData;
use ash::vk::ShaderStageFlags as Stages;
use std::sync::Arc;
use vkabort_record::site::{CodeHash, ModuleHash, SiteTable};
use vkabort_record::specialization::{PipelineStage, Specialization};
use vkabort_record::stage::Stage;

/// A module that was rewritten, or whose aborts the driver executes natively.
#[derive(Default)]
pub struct Module {
    /// Its abort sites.
    pub sites: Arc<SiteTable>,
    /// The application's words, if a pipeline or a dump may need them.
    pub original: Option<Vec<u32>>,
    /// The words passed to the driver, if a dump may need them.
    pub rewritten: Option<Vec<u32>>,
    /// The driver gets other words than the application's.
    pub is_rewritten: bool,
    /// `SpecId`s of constant data, which the rewritten module lacks.
    pub data_spec_ids: Vec<u32>,
    /// `SpecId`s of the constants that the code depends on: by lengths of constant data, sizes of shared memory, and loops that are counted.
    pub length_spec_ids: Vec<u32>,
    /// `SpecId` of the added constant for the key of a pipeline's specialisation.
    pub key_spec_id: Option<u32>,
    /// The driver has a placeholder, since only pipelines can rewrite the module: it is wrong without their specialisation.
    pub is_deferred: bool,
    /// Constant data that its shaders read from memory.
    #[expect(dead_code, reason = "the memory is in use until the module is dropped")]
    pub constants: Vec<PlacedData>,
}

impl Module {
    /// A module without aborts, in place of the application's.
    pub fn without_sites(module_hash: ModuleHash) -> Self {
        Self {
            sites: Arc::new(SiteTable {
                module_hash,
                ..SiteTable::default()
            }),
            is_rewritten: true,
            ..Self::default()
        }
    }

    /// The hash in its records.
    pub fn code(&self) -> CodeHash {
        self.sites.code()
    }

    /// Whether a pipeline with a specialization that `specializes` a `SpecId` requires another rewrite.
    pub fn depends_on(&self, specializes: impl Fn(&u32) -> bool) -> bool {
        self.is_deferred || self.data_spec_ids.iter().chain(&self.length_spec_ids).any(specializes)
    }

    /// Whether it has code that the program did not request: checks, or records of its prints.
    pub fn has_additions(&self) -> bool {
        self.has_checks() || !self.sites.prints.is_empty()
    }

    /// Whether the layer has planted checks into it.
    pub fn has_checks(&self) -> bool {
        self.sites.sites.iter().any(|site| site.check.is_some())
    }

    /// The index and the execution model of an entry point.
    pub fn entry_point(&self, stage: Stages, name: &[u8]) -> Option<(usize, u32)> {
        let is_of_stage = |model| Stage::of(model).is_some_and(|row| row.vulkan == stage.as_raw());
        let mut entry_points = self.sites.entry_points.iter().enumerate();
        let (index, entry) =
            entry_points.find(|(_, entry)| entry.name.as_bytes() == name && is_of_stage(entry.execution_model))?;
        Some((index, entry.execution_model))
    }
}

/// A module as a part of an object.
#[derive(Clone)]
pub struct ModuleUse {
    /// The module.
    pub module: Arc<Module>,
    /// The stage that runs it. `None` for a shader module, and for the original of a module that was rewritten for a pipeline.
    pub stage: Option<PipelineStage>,
    /// The object is a pipeline library: only the pipelines that are linked from it can be bound.
    pub is_in_library: bool,
}

impl From<Arc<Module>> for ModuleUse {
    fn from(module: Arc<Module>) -> Self {
        Self {
            module,
            stage: None,
            is_in_library: false,
        }
    }
}

impl ModuleUse {
    /// A module that a stage runs from the entry point `name`.
    pub fn of_stage(module: Arc<Module>, stage: Stages, name: &[u8], specialization: Specialization) -> Self {
        let stage = module
            .entry_point(stage, name)
            .map(|(_, execution_model)| PipelineStage {
                execution_model,
                entry_point: String::from_utf8_lossy(name).into_owned(),
                specialization,
                ..PipelineStage::default()
            });
        Self { stage, ..module.into() }
    }
}
