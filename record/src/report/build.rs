//! From records, or from bare messages, to a [`Report`].

use crate::invocation::Invocation;
use crate::message::Message;
use crate::report::data::{Extent, ModuleInfo, Report, ReportOptions, Sample, SiteReport, StageReport, Summary};
use crate::report::site_match::{Origin, match_payload};
use crate::site::{EntryPoint, ModuleHash, Site, SiteId, SiteTable};
use crate::snapshot::{Record, Records};
use crate::stage::stage_name;
use std::collections::{HashMap, HashSet};

impl Report {
    /// A report of the records of an arena. `modules` tells what is known of a module; it is asked once for each.
    pub fn build(records: &Records, modules: &dyn Fn(ModuleHash) -> ModuleInfo, options: &ReportOptions) -> Self {
        let mut groups: Vec<((ModuleHash, SiteId), Vec<&Record>)> = Vec::new();
        let mut place = HashMap::new();
        for record in &records.records {
            let key = (record.module_hash, record.site);
            let index = *place.entry(key).or_insert_with(|| {
                groups.push((key, Vec::new()));
                groups.len() - 1
            });
            if let Some((_, group)) = groups.get_mut(index) {
                group.push(record);
            }
        }
        let mut known = HashMap::new();
        let sites = groups
            .into_iter()
            .map(|((hash, site), group)| {
                let module = known.entry(hash).or_insert_with(|| modules(hash));
                SiteReport::of_records(hash, site, &group, module, options)
            })
            .collect();
        let full = records.full || records.dropped > 0;
        Self {
            sites,
            summary: Summary {
                device: options.device.clone(),
                invocations: records.records.len() as u64,
                unfinished: u64::from(records.unfinished),
                dropped: u64::from(records.dropped),
                ignored: 0,
                full,
                control_lost: records.control_lost,
                driver: Vec::new(),
                arena_bytes: options.arena_bytes,
                raise: full.then(|| "arena_size".to_owned()),
            },
        }
    }

    /// A report of bare messages, as `vkGetDeviceFaultDebugInfoKHR` gives them: nothing says which site wrote one, so each
    /// is matched against the sites of all `modules` that could have.
    pub fn from_payloads<'a>(
        payloads: impl IntoIterator<Item = &'a [u8]>,
        modules: &[ModuleInfo],
        options: &ReportOptions,
    ) -> Self {
        let mut groups: Vec<(Vec<Origin<'_>>, Vec<&[u8]>)> = Vec::new();
        let mut place = HashMap::new();
        let mut invocations = 0;
        for payload in payloads {
            invocations += 1;
            let origins = match_payload(payload, modules);
            // Without any origin, messages belong together when they have the same size and start with the same text.
            let text = payload.iter().position(|&b| b == 0).and_then(|end| payload.get(..end));
            let alike = origins.is_empty().then_some((payload.len(), text.unwrap_or(payload)));
            let sites: Vec<*const Site> = origins.iter().map(|origin| std::ptr::from_ref(origin.site)).collect();
            let index = *place.entry((sites, alike)).or_insert_with(|| {
                groups.push((origins, Vec::new()));
                groups.len() - 1
            });
            if let Some((_, group)) = groups.get_mut(index) {
                group.push(payload);
            }
        }
        let sites = groups
            .into_iter()
            .map(|(origins, group)| SiteReport::of_payloads(&origins, &group, options))
            .collect();
        Self {
            sites,
            summary: Summary {
                device: options.device.clone(),
                invocations,
                ..Summary::default()
            },
        }
    }
}

/// Which of `count` messages to show: different ones first, each group in order.
fn choose<'a>(messages: impl Iterator<Item = &'a [u8]>, count: usize) -> (Vec<usize>, u64) {
    let mut seen = HashSet::new();
    let (mut new, mut repeated) = (Vec::new(), Vec::new());
    for (index, bytes) in messages.enumerate() {
        let fresh = seen.insert(bytes);
        let list = if fresh { &mut new } else { &mut repeated };
        if list.len() < count {
            list.push(index);
        }
    }
    new.extend(repeated);
    new.truncate(count);
    (new, seen.len() as u64)
}

impl SiteReport {
    fn of_records(
        hash: ModuleHash,
        site: SiteId,
        records: &[&Record],
        module: &ModuleInfo,
        options: &ReportOptions,
    ) -> Self {
        let table = module.sites.as_deref();
        let known = table.and_then(|t| t.site(site));
        let mut report = Self::located(table, known, module);
        report.module_hash = Some(hash);
        report.site = Some(site);
        report.invocations = records.len() as u64;
        for record in records {
            report.count_stage(record.execution_model, table, known);
        }
        report.queues = options.queues_for(&report.stages);
        report.extent = extent(records);
        let (chosen, distinct) = choose(records.iter().map(|r| r.payload.as_slice()), options.samples.max(1));
        report.distinct_messages = distinct;
        report.samples = chosen
            .into_iter()
            .filter_map(|index| records.get(index))
            .map(|record| Sample {
                invocation: Some(record.invocation.with_workgroup_size(workgroup_size(
                    record.execution_model,
                    table,
                    known,
                ))),
                message: message(known, &record.payload),
            })
            .collect();
        report
    }

    fn of_payloads(origins: &[Origin<'_>], payloads: &[&[u8]], options: &ReportOptions) -> Self {
        let first = origins.first();
        let known = first.map(|o| o.site);
        let mut report = match first {
            Some(origin) if origins.len() == 1 => {
                let mut report = Self::located(Some(origin.table), known, origin.module);
                report.module_hash = Some(origin.table.module_hash);
                report.site = Some(origin.site.id);
                report
            }
            _ => Self {
                also_possible: origins.iter().map(Origin::describe).collect(),
                ..Self::default()
            },
        };
        report.queues = options.queues_for(&report.stages);
        report.invocations = payloads.len() as u64;
        let (chosen, distinct) = choose(payloads.iter().copied(), options.samples.max(1));
        report.distinct_messages = distinct;
        report.samples = chosen
            .into_iter()
            .filter_map(|index| payloads.get(index))
            .map(|payload| Sample {
                invocation: None,
                message: message(known, payload),
            })
            .collect();
        report
    }

    fn located(table: Option<&SiteTable>, known: Option<&Site>, module: &ModuleInfo) -> Self {
        Self {
            module_name: module.name.clone(),
            word_offset: known.map(|s| s.word_offset),
            function: known.map(|s| s.function.clone()),
            callers: known.map(|s| s.callers.clone()).unwrap_or_default(),
            location: known.and_then(|s| s.location.clone()),
            stages: stages_of(table, known),
            pipelines: module.pipelines.clone(),
            ..Self::default()
        }
    }

    fn count_stage(&mut self, execution_model: u32, table: Option<&SiteTable>, known: Option<&Site>) {
        if self.stages.iter().all(|s| s.invocations == 0) {
            // The records say which stages it was; what the module would allow does not matter any more.
            self.stages.clear();
        }
        match self.stages.iter_mut().find(|s| s.execution_model == execution_model) {
            Some(stage) => stage.invocations += 1,
            None => self.stages.push(StageReport {
                execution_model,
                stage: stage_name(execution_model).to_owned(),
                entry_points: entry_points(execution_model, table, known)
                    .map(|e| e.name.clone())
                    .collect(),
                invocations: 1,
            }),
        }
    }
}

fn message(known: Option<&Site>, payload: &[u8]) -> Message {
    match known {
        Some(site) => Message::of_site(site, payload),
        None => Message::untyped(payload),
    }
}

/// The entry points of one stage that can reach a site.
fn entry_points<'a>(
    execution_model: u32,
    table: Option<&'a SiteTable>,
    known: Option<&'a Site>,
) -> impl Iterator<Item = &'a EntryPoint> {
    let indices = known.map(|s| s.entry_points.as_slice()).unwrap_or_default();
    indices
        .iter()
        .filter_map(move |&index| table?.entry_points.get(usize::try_from(index).ok()?))
        .filter(move |entry| entry.execution_model == execution_model)
}

/// The stages that can reach a site, for messages that do not say.
fn stages_of(table: Option<&SiteTable>, known: Option<&Site>) -> Vec<StageReport> {
    let mut stages: Vec<StageReport> = Vec::new();
    for &index in known.map(|s| s.entry_points.as_slice()).unwrap_or_default() {
        let found = usize::try_from(index).ok().and_then(|i| table?.entry_points.get(i));
        let Some(model) = found.map(|e| e.execution_model) else {
            continue;
        };
        if stages.iter().all(|s| s.execution_model != model) {
            stages.push(StageReport {
                execution_model: model,
                stage: stage_name(model).to_owned(),
                entry_points: entry_points(model, table, known).map(|e| e.name.clone()).collect(),
                invocations: 0,
            });
        }
    }
    stages
}

/// The workgroup size, if all entry points in question have the same.
fn workgroup_size(execution_model: u32, table: Option<&SiteTable>, known: Option<&Site>) -> Option<[u32; 3]> {
    let mut sizes = entry_points(execution_model, table, known).map(|e| e.local_size);
    let first = sizes.next()??;
    sizes.all(|size| size == Some(first)).then_some(first)
}

/// The box around all ids, when all invocations have ids of the same kind and there are several.
fn extent(records: &[&Record]) -> Option<Extent> {
    let id = |record: &&Record| match record.invocation {
        Invocation::Global { global, .. } => Some(global),
        Invocation::Launch { id } => Some(id),
        Invocation::Fragment { pixel: [x, y] } => Some([x, y, 0]),
        _ => None,
    };
    let model = records.first()?.execution_model;
    if records.len() < 2 || records.iter().any(|r| r.execution_model != model) {
        return None;
    }
    let ids: Option<Vec<[u32; 3]>> = records.iter().map(id).collect();
    let corner = |pick: fn(u32, u32) -> u32| {
        let mut ids = ids.as_ref()?.iter().copied();
        let first = ids.next()?;
        Some(ids.fold(first, |[a, b, c], [x, y, z]| [pick(a, x), pick(b, y), pick(c, z)]))
    };
    Some(Extent {
        min: corner(u32::min)?,
        max: corner(u32::max)?,
    })
}

#[cfg(test)]
#[path = "build_tests.rs"]
mod tests;
