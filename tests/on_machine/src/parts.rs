//! The parts, in the order in which they run: what can do harm comes last.

use anyhow::{Result, bail};
use vkabort_tests::case::{Case, Schedule};
use vkabort_tests::cases;

/// A part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its name: of its group, or the group's, a colon and more.
    pub name: String,
    /// Its task.
    pub kind: PartKind,
}

/// Task of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// Says what there is.
    Facts,
    /// The checks of `vkabort conform` whose names start so, of the layer.
    Conform(&'static str),
    /// All of its checks, of the driver's own implementation.
    Native,
    /// The cases whose names start so, on the device.
    Cases(&'static str),
    /// The cases whose names start so, on the tests' own driver.
    Own(&'static str),
    /// Measures.
    Bench(Bench),
    /// The cases whose names start so, which make the driver lose the device.
    Trap(&'static str),
    /// Some cases once more, after the traps: the device has to be what it was.
    After,
    /// Something that this program has to survive.
    Misbehave(Misbehaviour),
}

/// A group of measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bench {
    /// Calls that have nothing to do with an abort.
    Calls,
    /// Kernels with an abort that is never taken.
    Kernel,
    /// The time until the device is lost.
    Loss,
    /// The same when a million invocations abort.
    Storm,
    /// Pipelines with large messages.
    Message,
}

/// How parts misbehave that test this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misbehaviour {
    /// Not at all.
    None,
    /// It never ends, nor does what it has started.
    Hangs,
    /// It dies of a signal.
    Crashes,
    /// It says that something failed.
    Fails,
}

/// The groups of checks of `vkabort conform`: on a machine where a process needs seconds to open the device, all of them
/// take longer than a part may.
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

/// Module of a case: the part of its name before `::`.
pub fn family(case: &Case) -> &'static str {
    case.name.split_once("::").map_or(case.name, |(family, _)| family)
}

/// All parts that a person does not have to name.
pub fn all(traps: bool) -> Vec<Part> {
    let mut parts = vec![part("facts", PartKind::Facts)];
    for group in CHECKS {
        parts.push(part(&format!("conform:{group}"), PartKind::Conform(group)));
    }
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
    for (name, bench) in [
        ("bench:calls", Bench::Calls),
        ("bench:kernel", Bench::Kernel),
        ("bench:loss", Bench::Loss),
        ("bench:storm", Bench::Storm),
        ("bench:message", Bench::Message),
    ] {
        parts.push(part(name, PartKind::Bench(bench)));
    }
    if traps {
        // A hang is the last thing that happens to a machine, or should be.
        parts.push(part("fault", PartKind::Trap("real_fault")));
        parts.push(part("hang", PartKind::Trap("real_hang")));
        parts.push(part("after", PartKind::After));
    }
    parts
}

/// Parts for testing this program, which run when they are named.
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

/// The parts that these names mean: of parts or of groups. All, if there is no name.
///
/// # Errors
///
/// A name means none.
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
                bail!("the part {name} belongs to real losses of the device: it takes --traps");
            }
            bail!("no part is called `{name}`: --parts lists them");
        }
    }
    Ok(all
        .into_iter()
        .filter(|part| names.iter().any(|name| named(name, part)))
        .collect())
}

/// The part of that name.
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
    fn traps_come_last_and_only_when_asked() {
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
