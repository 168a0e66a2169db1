//! Builds a [`Report`] from records, or from messages without records.

use crate::commands::{Candidates, candidates};
use crate::data::{ModuleInfo, ReportOptions, Sample, SpecializationReport};
use crate::distinct::Distinct;
use crate::extent::extent;
use crate::site_context::SiteContext;
use crate::site_match::{Group, Origin, SiteIndex};
use crate::site_report::SiteReport;
use crate::summary::{Report, Summary};
use crate::values_at_abort::{condition, variables};
use rustc_hash::FxBuildHasher;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use vkabort_record::records::{Record, Records};
use vkabort_record::site::{CodeHash, SiteId};

impl Report {
    /// A report of the records of an arena. Calls `modules` once for each code that wrote some.
    pub fn build(records: &Records, mut modules: impl FnMut(CodeHash) -> ModuleInfo, options: &ReportOptions) -> Self {
        let by_site = group(records.records.iter().map(|r| ((r.code, r.site), r)));
        let mut infos = HashMap::new();
        let sites = by_site
            .into_iter()
            .flat_map(|((code, site), of_site)| {
                let module = &*infos.entry(code).or_insert_with(|| modules(code));
                let of_operations = group(
                    of_site
                        .iter()
                        .map(|record| (operation(records, record, module), *record)),
                );
                let reports = of_operations
                    .into_iter()
                    .map(|(_, of_one)| SiteReport::of_records(code, site, &of_one, records, module, options));
                reports.collect::<Vec<_>>()
            })
            .collect();
        let full = records.dropped > 0;
        Self {
            sites,
            summary: Summary {
                device: options.device.clone(),
                invocations: records.records.len() as u64,
                unfinished: u64::from(records.unfinished),
                dropped: u64::from(records.dropped),
                ended: u64::from(records.ended),
                ignored: 0,
                full,
                control_lost: records.control_lost,
                driver: Vec::new(),
                pending: Vec::new(),
                progress: Vec::new(),
                arena_bytes: options.arena_bytes,
                raise: full.then(|| "arena_size".to_owned()),
                dump: None,
            },
        }
    }

    /// A report of payloads from `vkGetDeviceFaultDebugInfoKHR`, which do not identify their site: each is matched against
    /// the sites of all `modules`. O(sites + payloads).
    pub fn from_payloads<'a>(
        payloads: impl IntoIterator<Item = &'a [u8]>,
        modules: &[ModuleInfo],
        options: &ReportOptions,
    ) -> Self {
        let mut index = SiteIndex::new(modules);
        let by_origins = group(payloads.into_iter().map(|payload| {
            let origins = index.find(payload);
            // Without an origin, messages of the same size and the same leading text belong together.
            let text = payload.iter().position(|&b| b == 0).and_then(|end| payload.get(..end));
            let alike = origins.is_none().then_some((payload.len(), text.unwrap_or(payload)));
            ((origins, alike), payload)
        }));
        let origins = |group: Option<Group>| group.map_or(&[][..], |group| index.origins(group));
        Self {
            summary: Summary {
                device: options.device.clone(),
                invocations: by_origins.iter().map(|(_, payloads)| payloads.len() as u64).sum(),
                ..Summary::default()
            },
            sites: by_origins
                .into_iter()
                .map(|((of, _), payloads)| SiteReport::of_payloads(origins(of), &payloads, options))
                .collect(),
        }
    }
}

/// The operation whose fault a record names, by its number.
fn operation(records: &Records, record: &Record, module: &ModuleInfo) -> Option<u32> {
    let table = module.sites.as_deref()?;
    let site = table.site(record.site).filter(|site| site.is_of_faults)?;
    Some(table.fault_of(site, &records.message(record))?.first)
}

/// Items with equal keys together, in the order of their first items. Only the first of consecutive items with equal keys is
/// hashed: in a storm of aborts, most are of one site.
fn group<K: Clone + Eq + Hash, T>(items: impl Iterator<Item = (K, T)>) -> Vec<(K, Vec<T>)> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    let mut indices = HashMap::new();
    let mut last = 0;
    for (key, item) in items {
        if groups.get(last).is_none_or(|(of_last, _)| *of_last != key) {
            last = *indices.entry(key.clone()).or_insert(groups.len());
        }
        match groups.get_mut(last) {
            Some((_, group)) => group.push(item),
            None => groups.push((key, vec![item])),
        }
    }
    groups
}

impl SiteReport {
    fn of_records(
        CodeHash(code): CodeHash,
        site: SiteId,
        records: &[&Record],
        all: &Records,
        module: &ModuleInfo,
        options: &ReportOptions,
    ) -> Self {
        let table = module.sites.as_deref();
        let own = table.and_then(|table| table.site(site));
        let first = records.first().map(|record| all.message(record));
        let of_fault = first.and_then(|message| table?.fault_site(own?, &message));
        let context = SiteContext {
            table,
            site: of_fault.as_ref().or(own),
            pipelines: &module.stages,
        };
        let mut report = context.site_report(module);
        report.module_hash = Some(table.map_or(code, |table| table.module_hash));
        report.site = Some(site);
        // The records name their stages; the other stages that can reach the site do not matter.
        report.stages = group(records.iter().map(|r| (r.execution_model, ())))
            .into_iter()
            .map(|(model, records)| context.stage(model, records.len() as u64))
            .collect();
        report.extent = extent(records);
        let values = context.values_at_abort();
        report.values_left_out = values.map_or(0, |values| values.left_out.into());
        let has_values = values.is_some_and(|values| values.condition.is_some() || !values.variables.is_empty());
        let mut specializations: Vec<SpecializationReport> =
            group(records.iter().map(|r| ((r.execution_model, r.specialization), ())))
                .into_iter()
                .map(|((model, key), records)| context.specialization(model, Some(key), records.len() as u64))
                .collect();
        specializations.sort_by_key(|s| (s.execution_model, s.key));
        // In the order of reservation: the first abort may be the cause of the others.
        report.add_samples(
            records,
            options,
            (all.message_keys(records), |record| {
                has_values.then(|| all.contents_key(record))
            }),
            |index, record| {
                let key = (record.execution_model, record.specialization);
                let specialization = specializations.iter().position(|s| (s.execution_model, s.key) == key);
                let (bytes, message_size) = all.bytes(record);
                let size = specialization.and_then(|at| specializations.get(at)?.workgroup_size);
                let message = bytes.get(..message_size).unwrap_or(&bytes);
                let of_fault = table
                    .zip(own)
                    .and_then(|(table, own)| table.fault_message(own, message));
                let message = context.message(of_fault.as_deref().unwrap_or(message));
                Sample {
                    number: Some(index as u64 + 1),
                    invocation: Some(record.invocation().with_workgroup_size(size)),
                    specialization: specialization.filter(|_| specializations.len() > 1),
                    message,
                    condition: values.and_then(|values| condition(values, &bytes)),
                    values: values.map(|values| variables(values, &bytes)).unwrap_or_default(),
                }
            },
        );
        report.add_pipelines(context, specializations, true);
        if let Some(first) = records.first() {
            let invocation = report.samples.first().and_then(|sample| sample.invocation);
            let (model, key) = (first.execution_model, first.specialization);
            report.add_commands(candidates(&module.commands, &[model], Some(key), invocation.as_ref()));
        }
        report
    }

    fn of_payloads(origins: &[Origin<'_>], payloads: &[&[u8]], options: &ReportOptions) -> Self {
        let context = SiteContext {
            table: origins.first().map(|o| o.table),
            site: origins.first().map(|o| o.site),
            pipelines: match origins {
                [origin] => &origin.module.stages,
                _ => &[],
            },
        };
        let mut report = match origins {
            [origin] => Self {
                module_hash: Some(origin.table.module_hash),
                site: Some(origin.site.id),
                ..context.site_report(origin.module)
            },
            _ => Self {
                also_possible: origins.iter().map(Origin::describe).collect(),
                check: common_check(origins),
                ..Self::default()
            },
        };
        let values = match origins {
            [_] => context.values_at_abort(),
            _ => None,
        };
        report.add_samples(payloads, options, (|payload| payload, |_| None::<()>), |_, payload| {
            Sample {
                condition: values.and_then(|values| condition(values, payload)),
                values: values.map(|values| variables(values, payload)).unwrap_or_default(),
                ..Sample::new(context.message(payload))
            }
        });
        let models = report.stages.iter().map(|stage| stage.execution_model);
        let specializations = models.map(|model| context.specialization(model, None, 0)).collect();
        report.add_pipelines(context, specializations, false);
        if let [only] = origins {
            let models: Vec<u32> = report.stages.iter().map(|stage| stage.execution_model).collect();
            report.add_commands(candidates(&only.module.commands, &models, None, None));
        }
        report
    }

    fn add_commands(&mut self, found: Candidates) {
        self.commands = found.commands;
        self.command_count = found.count;
        self.labels = found.labels;
    }

    /// Adds the counts, the queues that can run the stages, and samples of some of the aborts. `keys`: of an abort's message, and of
    /// its message and values, if it has any.
    fn add_samples<T: Copy, M: Eq + Hash, V: Eq + Hash>(
        &mut self,
        aborts: &[T],
        options: &ReportOptions,
        keys: (impl Fn(T) -> M, impl Fn(T) -> Option<V>),
        sample: impl Fn(usize, T) -> Sample,
    ) {
        let queues = options.queues_for(&self.stages);
        if let [only] = queues.as_slice() {
            self.command_buffer.clone_from(&only.command_buffer);
            self.queue_labels.clone_from(&only.labels);
        }
        self.queues = queues.into_iter().map(|queue| queue.name.clone()).collect();
        self.invocations = aborts.len() as u64;
        let (chosen, distinct) = choose(aborts, keys, options.samples.max(1));
        self.distinct_messages = distinct;
        self.samples = chosen
            .into_iter()
            .filter_map(|index| Some(sample(index, *aborts.get(index)?)))
            .collect();
    }
}

/// The check that planted the aborts of all these sites, if it is one.
fn common_check(origins: &[Origin<'_>]) -> Option<String> {
    let mut checks = origins.iter().map(|origin| &origin.site.check);
    let first = checks.next()?;
    first.clone().filter(|_| checks.all(|check| check == first))
}

/// The indices of `count` aborts, ascending: of distinct messages, then of distinct values, then of others. And the number of
/// distinct messages.
fn choose<T: Copy, M: Eq + Hash, V: Eq + Hash>(
    aborts: &[T],
    (message_key, values_key): (impl Fn(T) -> M, impl Fn(T) -> Option<V>),
    count: usize,
) -> (Vec<usize>, u64) {
    // In a storm of aborts, most messages differ.
    let mut messages = Distinct::with_capacity(aborts.len());
    let mut distinct = HashSet::with_hasher(FxBuildHasher);
    let mut lists = [(); 3].map(|()| Vec::new());
    let [first, others, repeated] = &mut lists;
    for (index, abort) in aborts.iter().enumerate() {
        let is_new = messages.insert(index, |at| aborts.get(at).map(|abort| message_key(*abort)));
        // The lists of what comes later need not be complete.
        let needs_values = first.len() < count && others.len() < count;
        let has_new_values = needs_values && values_key(*abort).is_some_and(|key| distinct.insert(key));
        let list = match is_new {
            true => &mut *first,
            false if has_new_values => &mut *others,
            false => &mut *repeated,
        };
        if list.len() < count {
            list.push(index);
        }
    }
    let mut chosen = lists.concat();
    chosen.truncate(count);
    chosen.sort_unstable();
    (chosen, messages.count())
}

#[cfg(test)]
#[path = "build_tests.rs"]
mod tests;
