//! The pipelines and shader objects that run some code.

use super::objects::Objects;
use ash::vk::ObjectType;
use std::collections::{HashMap, HashSet};
use vkabort_record::site::CodeHash;
use vkabort_record::specialization::PipelineStage;

/// The stages in which the pipelines and shader objects of a device run some code: execution model and specialisation key.
#[derive(Default)]
pub struct Users {
    by_object: HashMap<(ObjectType, u64), Vec<(u32, u32)>>,
    /// Binaries of the code exist: the stages in which objects without known modules may run it.
    exported: Vec<(u32, u32)>,
    /// The objects whose modules are known, if binaries exist.
    with_modules: HashSet<(ObjectType, u64)>,
}

impl Users {
    /// Any object may run the code in some stage.
    pub fn any() -> Self {
        Self {
            exported: vec![(u32::MAX, 0)],
            ..Self::default()
        }
    }

    /// The stages in which an object runs the code.
    pub fn stages_of(&self, kind: ObjectType, handle: u64) -> &[(u32, u32)] {
        match self.by_object.get(&(kind, handle)) {
            Some(stages) => stages,
            None if self.with_modules.contains(&(kind, handle)) => &[],
            None => &self.exported,
        }
    }

    /// The stages in which any object runs the code.
    pub fn all_stages(&self) -> Vec<(u32, u32)> {
        let mut all: Vec<_> = self
            .by_object
            .values()
            .flatten()
            .chain(&self.exported)
            .copied()
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

impl Objects {
    /// The objects that run this code. O(objects).
    pub fn users(&self, code: CodeHash) -> Users {
        let key = |stage: &PipelineStage| (stage.execution_model, stage.specialization.key);
        self.read(|tables| {
            let mut users = Users::default();
            let module = tables.modules.get(&code);
            let exported = module.and_then(|reportable| reportable.exported.as_ref());
            if let Some(stages) = exported {
                users.exported = stages.iter().map(key).collect();
                users.with_modules = tables
                    .all_objects()
                    .filter(|(_, object)| !object.modules.is_empty())
                    .map(|(key, _)| *key)
                    .collect();
            }
            for (handle, object) in tables.all_objects() {
                let stages = object.uses_of(code).filter_map(|used| used.stage.as_ref()).map(key);
                let stages: Vec<_> = stages.collect();
                if !stages.is_empty() {
                    users.by_object.entry(*handle).or_default().extend(stages);
                }
            }
            users
        })
    }
}
