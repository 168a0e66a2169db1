//! Values of the constants that decide trip counts.

use std::cell::RefCell;
use std::collections::BTreeSet;
use vkabort_spirv::Id;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::constant::{Length, Specialization};
use vkabort_spirv::op;

/// The values of integer constants.
#[derive(Debug, Default)]
pub struct Constants<'o> {
    /// The specialisation that constants have; those that it leaves out have their defaults. `None`: the values of specialisation constants
    /// are not known.
    specialization: Option<&'o Specialization>,
    /// The constants whose values were taken from their defaults.
    defaults: RefCell<BTreeSet<Id>>,
}

impl<'o> Constants<'o> {
    /// `specialization`: see the field.
    pub fn new(specialization: Option<&'o Specialization>) -> Self {
        Self {
            specialization,
            defaults: RefCell::default(),
        }
    }

    /// The constants whose values were taken from their defaults: the trip counts are wrong for another specialisation of them.
    pub fn defaults(self) -> BTreeSet<Id> {
        self.defaults.into_inner()
    }

    /// The value of a constant. `None` for others.
    pub(super) fn value(&self, index: &Index<'_>, id: Id) -> Option<u64> {
        let inst = index.def(id)?;
        match inst.opcode() {
            op::Constant => index.literal(&inst),
            op::ConstantNull => (index.opcode(inst.result_type()) == op::TypeInt).then_some(0),
            op::SpecConstant | op::SpecConstantOp | op::CompositeExtract => {
                let none = Specialization::new();
                let length = index.length(id, self.specialization.unwrap_or(&none))?;
                if let Length::Specialised { .. } = length {
                    self.specialization?;
                    self.defaults.borrow_mut().insert(id);
                }
                Some(length.value())
            }
            _ => None,
        }
    }
}
