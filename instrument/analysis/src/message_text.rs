//! The leading string of a message, if it is constant.

use vkabort_spirv::index::Index;
use vkabort_spirv::{Id, op};

/// The text that a message begins with: an array of bytes, or of `uint`s as Slang packs them, whose bytes are constants and
/// UTF-8 up to trailing NULs.
pub fn text(index: &Index<'_>, message: Id) -> Option<String> {
    let mut bytes = bytes(index, leading(index, message)?)?;
    while bytes.last() == Some(&0) {
        bytes.pop();
    }
    let text = String::from_utf8(bytes).ok()?;
    let printable = text.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\t' | '\r'));
    (!text.is_empty() && printable).then_some(text)
}

/// The first member of a message, or the message itself if it is an array.
fn leading(index: &Index<'_>, message: Id) -> Option<Id> {
    let mut inst = index.def(message)?;
    while index.opcode(inst.result_type()) != op::TypeArray {
        let part = match inst.opcode() {
            op::CopyObject | op::CopyLogical | op::CompositeConstruct | op::ConstantComposite => inst.first_operand(),
            _ => return None,
        };
        // A value is defined before it is used. In an invalid module it may contain itself.
        inst = index.def(part).filter(|def| def.offset < inst.offset)?;
    }
    Some(inst.result())
}

fn bytes(index: &Index<'_>, id: Id) -> Option<Vec<u8>> {
    let mut inst = index.def(id)?;
    while matches!(inst.opcode(), op::CopyObject | op::CopyLogical) {
        inst = index
            .def(inst.first_operand())
            .filter(|next| next.offset < inst.offset)?;
    }
    let element = index
        .def(index.part_type(inst.result_type(), 0))
        .filter(|t| t.opcode() == op::TypeInt)?;
    match (inst.opcode(), element.width()) {
        (op::ConstantDataKHR | op::SpecConstantDataKHR, 8 | 32) => {
            Some(inst.from(3).iter().flat_map(|w| w.to_le_bytes()).collect())
        }
        (op::ConstantComposite, bits @ (8 | 32)) => {
            let mut all = Vec::new();
            for part in inst.ids(3) {
                let part = index.def(part)?;
                let value = match part.opcode() {
                    op::Constant => part.constant_bits() as u32,
                    op::ConstantNull => 0,
                    _ => return None,
                };
                let width = bits as usize / 8;
                all.extend(value.to_le_bytes().into_iter().take(width));
            }
            Some(all)
        }
        _ => None,
    }
}
