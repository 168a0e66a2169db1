//! The parts in the order in which they run: losses by the driver and hangs come last.

use super::device::Chosen;
use super::files::Bundle;
use crate::case::{Case, Layers, Schedule};
use crate::cases;
use crate::harness::{Placement, Target};
use crate::measure::cases::MEASUREMENTS;
use anyhow::{Result, bail};

/// Cases of one family on one target.
pub struct Part {
    /// The family; for the driver's own implementation of the extension with `native` before it.
    pub name: String,
    /// The cases.
    pub cases: Vec<Case>,
}

/// Prefix of the checks of the driver's own implementation.
pub const NATIVE: &str = "native ";

/// The beginning of a case's name, up to `::`, or the point of a check.
fn family(case: &Case) -> &'static str {
    let end = case.name.find("::").or_else(|| case.name.find('.'));
    end.map_or(case.name, |end| case.name.get(..end).unwrap_or_default())
}

/// Parts that run beside the cases of every machine.
#[derive(Clone, Copy)]
pub struct Extent {
    /// The driver has the extension, so the checks run on it, too.
    pub is_native: bool,
    /// Cases that make the driver lose the device.
    pub traps: bool,
    /// Measurements of the validation layer.
    pub validation: bool,
}

impl Extent {
    /// Everything.
    pub const ALL: Self = Self {
        is_native: true,
        traps: true,
        validation: true,
    };
}

/// All parts.
pub fn all(extent: Extent) -> Vec<Part> {
    let cases = cases::all();
    let (checks, others): (Vec<Case>, Vec<Case>) = cases.into_iter().partition(|case| case.rule.is_some());
    let (on_request, others): (Vec<Case>, Vec<Case>) = others
        .into_iter()
        .partition(|case| case.schedule == Schedule::OnRequest);
    let is_measured = |case: &&Case| case.layers != Layers::Validation || extent.validation;
    let measurements = MEASUREMENTS.iter().filter(is_measured);
    let measurements: Vec<Case> = measurements.copied().collect();
    let mut parts = Vec::new();
    let native = if extent.is_native { checks.clone() } else { Vec::new() };
    for (prefix, cases) in [("", checks), (NATIVE, native), ("", others), ("", measurements)] {
        add(&mut parts, prefix, cases);
    }
    if extent.traps {
        add(&mut parts, "", on_request);
    }
    parts
}

fn add(parts: &mut Vec<Part>, prefix: &str, cases: Vec<Case>) {
    for case in cases {
        let name = format!("{prefix}{}", family(&case));
        match parts.iter_mut().find(|part| part.name == name) {
            Some(part) => part.cases.push(case),
            None => parts.push(Part {
                name,
                cases: vec![case],
            }),
        }
    }
}

/// The parts with these names; all if `names` is empty.
///
/// # Errors
///
/// A name matches no part.
pub fn choose(names: &[String], extent: Extent) -> Result<Vec<Part>> {
    let mut parts = all(extent);
    for name in names {
        if !parts.iter().any(|part| part.name == *name) {
            match all(Extent::ALL).iter().any(|part| part.name == *name) {
                true if name.starts_with(NATIVE) => bail!("{name}: the driver does not have the extension itself"),
                true => bail!("{name} makes the driver lose the device: add --traps"),
                false => bail!("`{name}` is not a part; --parts lists them"),
            }
        }
    }
    parts.retain(|part| names.is_empty() || names.contains(&part.name));
    Ok(parts)
}

/// Placement of a case of a part.
///
/// # Errors
///
/// The path of this program cannot be found.
pub fn target(bundle: &Bundle, device: &Chosen, part: &Part, case: &Case) -> Result<Target> {
    let is_native = part.name.starts_with(NATIVE);
    let placement = match is_native {
        true => Placement::WithoutLayer,
        false if case.layers == Layers::Validation => Placement::ValidationAlone,
        false => Placement::without_validation(case.layers),
    };
    match case.driver {
        Some(_) => bundle.target(None, placement, &[]),
        // The layer replaces the driver's own implementation.
        None if device.is_native() => bundle.target(Some(&device.label), placement, &[("emulation", "force")]),
        None => bundle.target(Some(&device.label), placement, &[]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRAPS: Extent = Extent {
        is_native: false,
        traps: true,
        validation: false,
    };
    const NO_TRAPS: Extent = Extent { traps: false, ..TRAPS };

    #[test]
    fn every_case_is_in_one_part() {
        let parts = all(TRAPS);
        let count = |case: &Case| {
            parts
                .iter()
                .flat_map(|part| &part.cases)
                .filter(|other| other.name == case.name)
                .count()
        };
        for case in cases::all() {
            assert_eq!(count(&case), 1, "{}", case.name);
        }
    }

    #[test]
    fn traps_come_last_and_need_the_flag() {
        let names = |extent| all(extent).into_iter().map(|part| part.name).collect::<Vec<_>>();
        assert!(names(TRAPS).ends_with(&["real_fault".into(), "real_hang".into()]));
        assert!(choose(&["real_hang".into()], NO_TRAPS).is_err());
        assert_eq!(choose(&["real_hang".into()], TRAPS).map_or(0, |parts| parts.len()), 1);
        assert!(choose(&["benches".into()], Extent::ALL).is_err());
        assert!(choose(&[format!("{NATIVE}abort")], TRAPS).is_err());
    }
}
