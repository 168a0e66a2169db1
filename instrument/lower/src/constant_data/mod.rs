//! Lowers `OpConstantDataKHR` and `OpSpecConstantDataKHR` to ordinary constants (SPV_KHR_constant_data).
//!
//! ```text
//! %a = ConstantDataKHR %array 0x64636261     becomes   %a = ConstantComposite %array %97 %98 %99 %100
//! ```
//!
//! [`specialize`] runs first, since a pipeline can change data and length and no ordinary constant can follow. [`lower`] runs
//! last, on data that more than messages use: messages have copied their bytes before, and `strip` has removed the rest. Data
//! that no constant can hold, or that is better read from memory, becomes a table (`tables`).
//!
//! Not handled: element types other than integers of 8, 16, 32 and 64 bits.
//!
//! The decisions and their reasons: `docs/design/constant-data.md`.

mod copy;
mod data;
mod specialize;
mod starts;
mod table;
mod tables;
mod uses;
mod value;

use data::ConstantData;
use rustc_hash::FxHashSet as HashSet;
pub use specialize::{SpecIds, spec_ids, specialize};
use table::Table;
use tables::Tables;
use value::Value;
use vkabort_spirv::Id;
use vkabort_spirv::edit::Edits;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::physical_addressing::declare_physical_addressing;
use vkabort_spirv::error::{Error, ErrorKind, Result};
use vkabort_spirv::index::Index;

/// The first constant data of a module that is malformed, whether anything uses it or not.
pub fn malformed(index: &Index<'_>) -> Option<Error> {
    let mut errors = index
        .constant_data
        .iter()
        .filter_map(|inst| ConstantData::read(index, inst).err());
    errors.find(|error| error.kind != ErrorKind::Unsupported)
}

/// Lowers all constant data of a module. `place` is [`crate::Hooks::place`].
///
/// # Errors
///
/// Data that does not match its array type, an element type that is not handled, or a use that no form allows.
pub fn lower(index: &Index<'_>, mut place: impl FnMut(&[u32]) -> Option<u64>) -> Result<Edits> {
    let mut edits = Edits::default();
    let mut out = Emitter::new(index);
    let (mut constants, mut tables, mut variables) = (Vec::new(), Vec::new(), Vec::new());
    for inst in &index.constant_data {
        let data = ConstantData::read(index, inst)?;
        let address = if data.prefers_memory() {
            place(data.words())
        } else {
            None
        };
        let table = match address {
            Some(address) => Table::in_memory(index, &mut out, &data, address),
            None if data.fits_constant() => {
                constants.push(data);
                continue;
            }
            None => {
                let (table, variable) = Table::in_variable(&mut out, &data);
                variables.push(variable);
                table
            }
        };
        tables.push((data, table));
    }
    if tables.iter().any(|(_, table)| table.is_in_memory()) {
        declare_physical_addressing(index, &mut out, &mut edits);
    }
    let values = Value::all(index, tables);
    let kept: HashSet<Id> = match values.is_empty() {
        true => HashSet::default(),
        false => Tables::new(index, &mut out, &mut edits, variables).lower(&values)?,
    };
    let kept = values.iter().filter(|value| kept.contains(&value.inst.result()));
    for data in constants.iter().chain(kept.filter_map(Value::data)) {
        edits.replace_inst(&data.inst, &data.composite(&mut out));
    }
    out.finish(index, &mut edits);
    Ok(edits)
}
