//! A site and its surroundings: what reports of its aborts have in common.

use crate::data::{ModuleInfo, StageReport};
use crate::message::Message;
use crate::race_text::race_text;
use crate::site_report::SiteReport;
use vkabort_record::site::{EntryPoint, Site, SiteTable};
use vkabort_record::site_values::SiteValues;
use vkabort_record::specialization::PipelineStage;
use vkabort_record::stage::stage_name;

/// A site, the table of its module, and the pipelines that run the module. Decoding works without any of them.
#[derive(Clone, Copy)]
pub(crate) struct SiteContext<'a> {
    pub(crate) table: Option<&'a SiteTable>,
    pub(crate) site: Option<&'a Site>,
    /// Stages of pipelines.
    pub(crate) pipelines: &'a [PipelineStage],
}

impl<'a> SiteContext<'a> {
    /// The entry points that can reach the site.
    fn entry_points(self) -> impl Iterator<Item = &'a EntryPoint> {
        let site_of_table = self.table.zip(self.site);
        let all = site_of_table.map(|(table, site)| table.entry_points_of(site));
        all.into_iter().flatten()
    }

    /// The entry points of a stage that can reach the site.
    pub(crate) fn entry_points_of(self, execution_model: u32) -> impl Iterator<Item = &'a EntryPoint> {
        let is_of_stage = move |entry: &&EntryPoint| entry.execution_model == execution_model;
        self.entry_points().filter(is_of_stage)
    }

    /// A stage in which `invocations` invocations aborted.
    pub(crate) fn stage(self, execution_model: u32, invocations: u64) -> StageReport {
        StageReport {
            execution_model,
            stage: stage_name(execution_model).to_owned(),
            entry_points: self.entry_points_of(execution_model).map(|e| e.name.clone()).collect(),
            workgroup_size: None,
            invocations,
        }
    }

    /// The stages that can reach the site.
    fn stages(self) -> Vec<StageReport> {
        let mut stages: Vec<StageReport> = Vec::new();
        for EntryPoint { execution_model, .. } in self.entry_points() {
            if stages.iter().all(|stage| stage.execution_model != *execution_model) {
                stages.push(self.stage(*execution_model, 0));
            }
        }
        stages
    }

    /// Decodes a message of the site.
    pub(crate) fn message(self, payload: &[u8]) -> Message {
        let Some(site) = self.site else {
            return Message::untyped(payload);
        };
        let mut message = Message::of_site(site, payload);
        if let Some(text) = self.table.and_then(|table| race_text(table, site, &message.value)) {
            message.text = text;
        }
        message
    }

    /// The values that records of the site hold besides the message.
    pub(crate) fn values_at_abort(self) -> Option<&'a SiteValues> {
        self.site.map(|site| &site.values)
    }

    /// A report without aborts.
    pub(crate) fn site_report(self, module: &ModuleInfo) -> SiteReport {
        let site = self.site;
        SiteReport {
            module_name: module.name.clone(),
            word_offset: site.map(|s| s.word_offset),
            check: site.and_then(|s| s.check.clone()),
            used_in: site.and_then(|s| s.used_in.as_deref().cloned()),
            function: site.map(|s| s.function.clone()),
            callers: site.map(|s| s.callers.clone()).unwrap_or_default(),
            location: site.and_then(|s| s.location.clone()),
            snippet: site.and_then(|s| s.snippet.clone()),
            stages: self.stages(),
            ..SiteReport::default()
        }
    }
}
