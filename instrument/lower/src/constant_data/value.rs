//! Constants that contain tables: constant data, and composites of it.

use super::data::ConstantData;
use super::table::Table;
use rustc_hash::FxHashMap as HashMap;
use std::rc::Rc;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::constant::Specialization;
use vkabort_spirv::{Id, Inst, op};

/// A part of a constant.
#[derive(Clone)]
pub(super) enum Part<'w> {
    /// Constant data.
    Table(Rc<(ConstantData<'w>, Table)>),
    /// A constant without constant data.
    Constant(Id),
}

/// A constant that contains a table.
pub(super) struct Value<'w> {
    pub(super) inst: Inst<'w>,
    /// Its parts, each with its literal indices.
    pub(super) parts: Vec<(Vec<u32>, Part<'w>)>,
    /// Whether constants can hold it.
    pub(super) fits_constant: bool,
}

impl<'w> Value<'w> {
    /// The constants that contain tables, in the module's order.
    pub(super) fn all(index: &Index<'w>, tables: Vec<(ConstantData<'w>, Table)>) -> Vec<Self> {
        let mut values: Vec<Self> = Vec::new();
        // Positions in `values`.
        let mut positions: HashMap<Id, usize> = HashMap::default();
        let mut tables = tables.into_iter().peekable();
        for inst in index.globals() {
            let value = match inst.opcode() {
                op::ConstantDataKHR | op::SpecConstantDataKHR => tables
                    .next_if(|(data, _)| data.inst.offset == inst.offset)
                    .map(|table| Self {
                        inst,
                        fits_constant: table.0.fits_constant(),
                        parts: vec![(Vec::new(), Part::Table(Rc::new(table)))],
                    }),
                op::ConstantComposite | op::SpecConstantComposite => {
                    let members = || {
                        inst.ids(3)
                            .map(|id| (id, positions.get(&id).and_then(|at| values.get(*at))))
                    };
                    members().any(|(_, value)| value.is_some()).then(|| Self {
                        inst,
                        fits_constant: members().all(|(_, value)| value.is_none_or(|value| value.fits_constant)),
                        parts: (0..)
                            .zip(members())
                            .flat_map(|(number, (id, value))| parts_of_member(number, id, value))
                            .collect(),
                    })
                }
                _ => None,
            };
            if let Some(value) = value {
                positions.insert(inst.result(), values.len());
                values.push(value);
            }
        }
        values
    }

    pub(super) fn is_composite(&self) -> bool {
        matches!(self.inst.opcode(), op::ConstantComposite | op::SpecConstantComposite)
    }

    /// The constant data, if it is not a composite.
    pub(super) fn data(&self) -> Option<&ConstantData<'w>> {
        match self.parts.as_slice() {
            [(path, Part::Table(table))] if path.is_empty() => Some(&table.0),
            _ => None,
        }
    }

    /// The table and the index that an access chain with these indices reaches, if it reaches an element.
    pub(super) fn resolve(&self, index: &Index<'_>, chain: &Inst<'_>) -> Option<(&Rc<(ConstantData<'w>, Table)>, Id)> {
        let indices: Vec<Id> = chain.ids(4).collect();
        let (last, path) = indices.split_last()?;
        self.parts.iter().find_map(|(of_part, part)| {
            let is_reached = of_part.len() == path.len()
                && of_part.iter().zip(path).all(|(number, id)| {
                    let literal = index.opcode(*id) == op::Constant;
                    let value = index.length(*id, &Specialization::new()).filter(|_| literal);
                    value.is_some_and(|value| value.value() == u64::from(*number))
                });
            match part {
                Part::Table(table) if is_reached => Some((table, *last)),
                _ => None,
            }
        })
    }

    /// The element at literal indices.
    pub(super) fn element(&self, indices: &[u32]) -> Option<(&ConstantData<'w>, usize)> {
        let (last, path) = indices.split_last()?;
        self.parts.iter().find_map(|(of_part, part)| match part {
            Part::Table(table) if of_part == path && (*last as usize) < table.0.count => {
                Some((&table.0, *last as usize))
            }
            _ => None,
        })
    }
}

/// The parts of member `number`, the constant `id`.
fn parts_of_member<'w>(number: u32, id: Id, value: Option<&Value<'w>>) -> Vec<(Vec<u32>, Part<'w>)> {
    let Some(value) = value else {
        return vec![(vec![number], Part::Constant(id))];
    };
    let parts = value.parts.iter();
    parts
        .map(|(path, part)| ([&[number], path.as_slice()].concat(), part.clone()))
        .collect()
}
