//! Checks of a rewrite that need no run.

use crate::module::{Function, Id, Module};
use crate::op;
use crate::words::{Inst, read_string};
use std::collections::{HashMap, HashSet};
use vkabort_instrument::{Instrumented, LOWERED};
use vkabort_record::site::Site;

/// Compares the site table with the module and checks that the extensions are lowered.
pub(super) fn compare(module: &Module, rewritten: &Instrumented, result: &Module) -> Result<(), String> {
    check_lowered(result)?;
    let table = &rewritten.sites;
    let names: Vec<&str> = table.entry_points.iter().map(|e| e.name.as_str()).collect();
    let expected: Vec<&str> = module.entries.iter().map(|e| e.name.as_str()).collect();
    if names != expected {
        return Err(format!(
            "the site table has entry points {names:?}, expected {expected:?}"
        ));
    }
    let reaching = reaching_entry_points(module);
    check_planted(module, &table.sites, &reaching)?;
    let mut sites = table.sites.iter().filter(|site| site.check.is_none());
    for function in &module.functions {
        for block in &function.blocks {
            for abort in block.insts.iter().filter(|i| i.op == op::AbortKHR) {
                let Some(site) = sites.next() else {
                    return Err("the site table is too short".into());
                };
                let name = name_of(module, function.id);
                if site.function != name || site.word_offset as usize != abort.offset {
                    return Err(format!(
                        "site {} is in {} at {}, expected {name} at {}",
                        site.id.0, site.function, site.word_offset, abort.offset
                    ));
                }
                // A line applies to the end of its block.
                let line = block.insts.iter().rev().find(|i| matches!(i.op, op::Line | op::NoLine));
                let line = line.filter(|i| i.op == op::Line).map(|i| i.word(1));
                let found = site.location.as_ref().map(|l| l.line);
                if found != line {
                    return Err(format!("site {} is at line {found:?}, expected {line:?}", site.id.0));
                }
                let entries = reaching.get(&function.id).cloned().unwrap_or_default();
                if site.entry_points != entries {
                    let found = &site.entry_points;
                    return Err(format!(
                        "site {} is reached from {found:?}, expected {entries:?}",
                        site.id.0
                    ));
                }
                if site.callers.is_empty() != (entries.is_empty() || is_entry(module, function.id)) {
                    return Err(format!("site {} has callers {:?}", site.id.0, site.callers));
                }
            }
        }
    }
    match sites.next() {
        Some(site) => Err(format!("site {} is not in the module", site.id.0)),
        None => Ok(()),
    }
}

/// Checks that the sites of planted aborts are in the functions of the loops that they name.
fn check_planted(module: &Module, sites: &[Site], reaching: &HashMap<Id, Vec<u32>>) -> Result<(), String> {
    for site in sites.iter().filter(|site| site.check.is_some()) {
        let is_guarded = |inst: &&Inst| inst.op == op::LoopMerge && inst.offset == site.word_offset as usize;
        let has_loop = |f: &&Function| f.blocks.iter().flat_map(|b| &b.insts).any(|inst| is_guarded(&inst));
        let Some(function) = module.functions.iter().find(has_loop) else {
            return Err(format!("site {} does not name a loop", site.id.0));
        };
        let name = name_of(module, function.id);
        let entries = reaching.get(&function.id).cloned().unwrap_or_default();
        if site.function != name || site.entry_points != entries || entries.is_empty() {
            return Err(format!(
                "site {} is in {} reached from {:?}, expected {name} and {entries:?}",
                site.id.0, site.function, site.entry_points
            ));
        }
    }
    Ok(())
}

/// Checks the form of the module between two passes: `aborts` are those of the original, and each branch leads to a block of
/// its function.
pub(super) fn check_form(words: &[u32], aborts: usize) -> Result<(), String> {
    let module = Module::parse(words).ok_or("the words are not a module")?;
    for function in &module.functions {
        let labels: HashSet<Id> = function.blocks.iter().map(|b| b.label).collect();
        for inst in function.blocks.iter().flat_map(|b| &b.insts) {
            let targets = match inst.op {
                op::Branch => inst.operands_from(0),
                op::BranchConditional => inst.operands_from(1).get(..2).unwrap_or_default(),
                _ => continue,
            };
            if let Some(target) = targets.iter().find(|target| !labels.contains(target)) {
                return Err(format!(
                    "{inst:?} leads to %{target}, which is not a block of %{}",
                    function.id
                ));
            }
        }
    }
    let left = count_aborts(&module);
    match left == aborts || left == 0 {
        true => Ok(()),
        false => Err(format!("{left} of {aborts} aborts are left")),
    }
}

/// Instructions `OpAbortKHR` of a module.
pub(super) fn count_aborts(module: &Module) -> usize {
    let blocks = module.functions.iter().flat_map(|f| &f.blocks);
    let insts = blocks.flat_map(|b| &b.insts);
    insts.filter(|inst| inst.op == op::AbortKHR).count()
}

fn is_entry(module: &Module, function: Id) -> bool {
    module.entries.iter().any(|e| e.function == function)
}

/// Checks that nothing of the lowered extensions remains.
fn check_lowered(result: &Module) -> Result<(), String> {
    let blocks = result.functions.iter().flat_map(|f| &f.blocks);
    for inst in result.globals.iter().chain(blocks.flat_map(|b| &b.insts)) {
        let remains = match inst.op {
            op::Capability => LOWERED.iter().any(|row| row.capability == inst.word(0)),
            op::Extension => LOWERED.iter().any(|row| row.extension == read_string(&inst.operands)),
            op::ExecutionMode => inst.word(1) == op::execution_mode::ArithmeticPoisonKHR,
            op::Decorate => inst.word(1) == op::decoration::UTFEncodedKHR,
            opcode => LOWERED.iter().any(|row| row.opcodes.contains(&opcode)),
        };
        if remains {
            return Err(format!("the rewrite still contains {inst:?}"));
        }
    }
    Ok(())
}

fn name_of(module: &Module, id: Id) -> String {
    let name = module.globals.iter().find(|i| i.op == op::Name && i.word(0) == id);
    name.map_or_else(|| format!("%{id}"), |i| read_string(i.operands_from(1)))
}

/// Entry points from which each function is reachable.
fn reaching_entry_points(module: &Module) -> HashMap<Id, Vec<u32>> {
    let mut found: HashMap<Id, Vec<u32>> = HashMap::new();
    for (number, entry) in (0..).zip(&module.entries) {
        let mut worklist = vec![entry.function];
        let mut reached: HashSet<Id> = HashSet::new();
        while let Some(id) = worklist.pop() {
            if !reached.insert(id) {
                continue;
            }
            found.entry(id).or_default().push(number);
            let blocks = module.function(id).map_or(&[][..], |f| f.blocks.as_slice());
            let calls = blocks
                .iter()
                .flat_map(|b| &b.insts)
                .filter(|i| i.op == op::FunctionCall);
            worklist.extend(calls.map(|i| i.word(2)));
        }
    }
    found
}
