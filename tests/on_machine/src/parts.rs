//! The parts in the order in which they run: device losses and hangs come last.

use anyhow::{Result, bail};
use vkabort_tests::case::{Case, Schedule};
use vkabort_tests::cases;

/// A part: a group of tests that runs in one child process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// `GROUP` or `GROUP:NAME`.
    pub name: String,
    /// What the part runs.
    pub kind: PartKind,
}

/// What a part runs. Strings are prefixes of test names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// Describes the machine.
    Facts,
    /// Checks of `vkabort conform`, run on the layer.
    Conform(&'static str),
    /// All checks of `vkabort conform`, run on the driver's own implementation.
    Native,
    /// Cases on the device.
    Cases(&'static str),
    /// Cases on the test driver.
    Own(&'static str),
    /// Measurements.
    Bench(Bench),
    /// Cases that make the driver lose the device.
    Trap(&'static str),
    /// Some cases repeated after the traps: the device must have recovered.
    After,
    /// A fault that the supervisor must handle.
    Misbehave(Misbehaviour),
}

/// A group of measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bench {
    /// Calls unrelated to aborts.
    Calls,
    /// Kernels whose abort is never reached.
    Kernel,
    /// Time from dispatch to device loss.
    Loss,
    /// The same with a million aborting invocations.
    Storm,
    /// Pipelines with large messages.
    Message,
}

/// Behaviour of the parts that test the supervisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misbehaviour {
    /// Ends normally.
    None,
    /// The part and its child process never end.
    Hangs,
    /// Dies of a signal.
    Crashes,
    /// Reports a failure.
    Fails,
}

/// The groups of checks of `vkabort conform`. Each is a part: where a process needs seconds to open the device, all checks
/// together exceed a part's time limit.
const CHECKS: [&str; 12] = [
    "extension",
    "feature",
    "property",
    "device",
    "abort",
    "message",
    "debug_info",
    "reports",
    "lost",
    "recovery",
    "constant_data",
    "cache",
];

/// The module of a case: its name up to `::`.
pub fn family(case: &Case) -> &'static str {
    case.name.split_once("::").map_or(case.name, |(family, _)| family)
}

/// All parts that run by default.
pub fn all(traps: bool) -> Vec<Part> {
    let mut parts = vec![part("facts", PartKind::Facts)];
    parts.extend(CHECKS.map(|group| part(&format!("conform:{group}"), PartKind::Conform(group))));
    parts.push(part("conform:native", PartKind::Native));
    let cases = cases::all();
    let families = |wanted: &dyn Fn(&Case) -> bool| {
        let mut found: Vec<&'static str> = cases.iter().filter(|case| wanted(case)).map(family).collect();
        found.dedup();
        found
    };
    for family in families(&|case| case.driver.is_none() && case.schedule == Schedule::Always) {
        parts.push(part(&format!("e2e:{family}"), PartKind::Cases(family)));
    }
    for family in families(&|case| case.driver.is_some()) {
        let short = family.strip_prefix("test_driver_").unwrap_or(family);
        parts.push(part(&format!("own:{short}"), PartKind::Own(family)));
    }
    let benches = [
        ("bench:calls", Bench::Calls),
        ("bench:kernel", Bench::Kernel),
        ("bench:loss", Bench::Loss),
        ("bench:storm", Bench::Storm),
        ("bench:message", Bench::Message),
    ];
    parts.extend(benches.map(|(name, bench)| part(name, PartKind::Bench(bench))));
    if traps {
        // A hang may leave the machine unusable, so it comes last.
        parts.push(part("fault", PartKind::Trap("real_fault")));
        parts.push(part("hang", PartKind::Trap("real_hang")));
        parts.push(part("after", PartKind::After));
    }
    parts
}

/// Parts that test the supervisor; they run only if named.
fn hidden() -> Vec<Part> {
    [
        ("self:works", Misbehaviour::None),
        ("self:hangs", Misbehaviour::Hangs),
        ("self:crashes", Misbehaviour::Crashes),
        ("self:fails", Misbehaviour::Fails),
    ]
    .map(|(name, how)| part(name, PartKind::Misbehave(how)))
    .to_vec()
}

fn part(name: &str, kind: PartKind) -> Part {
    Part {
        name: name.to_owned(),
        kind,
    }
}

/// The parts with these names or in these groups; all if `names` is empty.
///
/// # Errors
///
/// A name matches no part.
pub fn choose(names: &[String], traps: bool) -> Result<Vec<Part>> {
    let all = all(traps);
    if names.is_empty() {
        return Ok(all);
    }
    let named = |name: &String, part: &Part| part.name == *name || part.name.split(':').next() == Some(name);
    let all: Vec<Part> = all.into_iter().chain(hidden()).collect();
    for name in names {
        if !all.iter().any(|part| named(name, part)) {
            if !traps && ["fault", "hang", "after"].contains(&name.as_str()) {
                bail!("the part {name} makes the driver lose the device: add --traps");
            }
            bail!("`{name}` is not a part; --parts lists them");
        }
    }
    Ok(all
        .into_iter()
        .filter(|part| names.iter().any(|name| named(name, part)))
        .collect())
}

/// The part named `name`.
pub fn find(name: &str) -> Option<Part> {
    all(true).into_iter().chain(hidden()).find(|part| part.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_case_is_in_one_part() {
        let parts = all(true);
        let names: BTreeSet<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(names.len(), parts.len(), "two parts have the same name");
        for case in cases::all() {
            let has = |part: &&Part| match part.kind {
                PartKind::Cases(prefix) => {
                    prefix == family(&case) && case.driver.is_none() && case.schedule == Schedule::Always
                }
                PartKind::Own(prefix) => prefix == family(&case) && case.driver.is_some(),
                PartKind::Trap(prefix) => prefix == family(&case) && case.schedule == Schedule::OnRequest,
                _ => false,
            };
            assert_eq!(parts.iter().filter(has).count(), 1, "{}", case.name);
        }
    }

    #[test]
    fn traps_come_last_and_need_the_flag() {
        let names = |traps| all(traps).into_iter().map(|part| part.name).collect::<Vec<_>>();
        assert!(names(true).ends_with(&["fault".into(), "hang".into(), "after".into()]));
        assert!(!names(false).iter().any(|name| name == "fault" || name == "hang"));
        assert!(choose(&["hang".into()], false).is_err());
        assert_eq!(choose(&["hang".into()], true).map_or(0, |parts| parts.len()), 1);
    }

    #[test]
    fn groups_and_parts_are_chosen_by_name() {
        let count = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            choose(&names, false).map(|parts| parts.len()).ok()
        };
        assert_eq!(count(&["facts"]), Some(1));
        assert_eq!(count(&["bench"]), Some(5));
        assert_eq!(count(&["bench:loss", "facts"]), Some(2));
        assert_eq!(count(&["self"]), Some(4));
        assert_eq!(count(&["benches"]), None);
    }
}
