//! The pipelines in which a site can have been reached, and the values of their specialisation constants.

use crate::data::{ConstantValue, SpecializationReport};
use crate::site_context::SiteContext;
use crate::site_report::SiteReport;
use std::collections::HashSet;
use vkabort_record::scalar::Scalar;
use vkabort_record::site::EntryPoint;
use vkabort_record::specialization::{LocalSize, PipelineStage, Specialization};

impl<'a> SiteContext<'a> {
    /// The stages that reach the site with a specialisation; without a `key` with any.
    fn fitting(self, execution_model: u32, key: Option<u32>) -> Vec<&'a PipelineStage> {
        let names: HashSet<&str> = self
            .entry_points_of(execution_model)
            .map(|entry| entry.name.as_str())
            .collect();
        let fits = |stage: &&PipelineStage| {
            stage.execution_model == execution_model
                && key.is_none_or(|key| stage.specialization.key == key)
                && (self.site.is_none() || names.contains(stage.entry_point.as_str()))
        };
        self.pipelines.iter().filter(fits).collect()
    }

    /// The aborts of `invocations` invocations of a stage with a specialisation. Without a `key`, the specialisation is known if
    /// all pipelines have the same.
    pub(crate) fn specialization(
        self,
        execution_model: u32,
        key: Option<u32>,
        invocations: u64,
    ) -> SpecializationReport {
        let stages = self.fitting(execution_model, key);
        let specialization = common_specialization(&stages, key);
        let (pipelines, unnamed_pipelines) = names(&stages);
        SpecializationReport {
            execution_model,
            key: specialization.key,
            constants: self.values(&specialization),
            workgroup_size: self.workgroup_size(execution_model, &stages, &specialization),
            pipelines,
            unnamed_pipelines,
            invocations,
        }
    }

    fn values(self, specialization: &Specialization) -> Vec<ConstantValue> {
        let constants = self.table.map(|table| table.constants.as_slice()).unwrap_or_default();
        let values: Vec<Scalar> = match specialization.key {
            0 => constants.iter().map(|constant| constant.default).collect(),
            _ => specialization.values.clone(),
        };
        let constants = constants.iter().zip(values);
        constants
            .map(|(constant, value)| ConstantValue {
                id: constant.id,
                name: constant.name.clone(),
                value,
            })
            .collect()
    }

    /// The workgroup size, if all entry points agree: those that pipelines run, or all if no pipeline is known.
    fn workgroup_size(
        self,
        execution_model: u32,
        stages: &[&PipelineStage],
        specialization: &Specialization,
    ) -> Option<[u32; 3]> {
        let constants = self.table.map(|table| table.constants.as_slice()).unwrap_or_default();
        let is_used = |entry: &&EntryPoint| {
            stages.is_empty()
                || stages
                    .iter()
                    .any(|stage| stage.object.is_none() || stage.entry_point == entry.name)
        };
        let size_of = |size: [LocalSize; 3]| {
            let [x, y, z] = size.map(|side| side.value(constants, specialization));
            Some([x?, y?, z?])
        };
        let entries = self.entry_points_of(execution_model).filter(is_used);
        let mut sizes = entries.map(|entry| entry.local_size.and_then(size_of));
        let first = sizes.next()??;
        sizes.all(|size| size == Some(first)).then_some(first)
    }
}

/// The specialisation of all stages. Its values are unknown if they differ: with a `key`, two sets of values have the same.
fn common_specialization(stages: &[&PipelineStage], key: Option<u32>) -> Specialization {
    let unknown = Specialization {
        key: key.unwrap_or(u32::MAX),
        values: Vec::new(),
    };
    match stages.split_first() {
        Some((first, others)) if others.iter().all(|stage| stage.specialization == first.specialization) => {
            first.specialization.clone()
        }
        _ => unknown,
    }
}

/// The names of the objects that stages belong to, and the number of those without one.
fn names(stages: &[&PipelineStage]) -> (Vec<String>, u64) {
    let (unnamed, named): (Vec<&PipelineStage>, Vec<&PipelineStage>) = stages
        .iter()
        .filter(|stage| stage.object.is_some())
        .partition(|stage| stage.name.is_empty());
    let mut names: Vec<String> = named.into_iter().map(|stage| stage.name.clone()).collect();
    names.sort();
    names.dedup();
    let unnamed: HashSet<Option<u64>> = unnamed.into_iter().map(|stage| stage.object).collect();
    (names, unnamed.len() as u64)
}

impl SiteReport {
    /// Adds the pipelines, specialisations and workgroup sizes of the aborts, one for each stage and key. `is_identified`: the
    /// aborts carry their keys.
    pub(crate) fn add_pipelines(
        &mut self,
        context: SiteContext<'_>,
        specializations: Vec<SpecializationReport>,
        is_identified: bool,
    ) {
        for stage in &mut self.stages {
            let of_stage = specializations
                .iter()
                .filter(|s| s.execution_model == stage.execution_model);
            let mut sizes = of_stage.map(|specialization| specialization.workgroup_size);
            stage.workgroup_size = sizes.next().flatten();
            if !sizes.all(|size| size == stage.workgroup_size) {
                stage.workgroup_size = None;
            }
        }
        self.pipelines = specializations.iter().flat_map(|s| s.pipelines.clone()).collect();
        self.pipelines.sort();
        self.pipelines.dedup();
        // A pipeline may have several of the stages.
        let models: HashSet<(u32, Option<u32>)> = specializations
            .iter()
            .map(|s| (s.execution_model, is_identified.then_some(s.key)))
            .collect();
        let stages: Vec<&PipelineStage> = models
            .into_iter()
            .flat_map(|(model, key)| context.fitting(model, key))
            .collect();
        self.unnamed_pipelines = names(&stages).1;
        let has_constants = context.table.is_some_and(|table| !table.constants.is_empty());
        let is_shown = match is_identified {
            true => has_constants || specializations.iter().any(|s| s.key != 0),
            false => specializations.iter().all(|s| !s.constants.is_empty()),
        };
        if is_shown {
            self.specializations = specializations;
        }
    }
}
