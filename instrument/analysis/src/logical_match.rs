//! Checks that the type of a message logically matches the Message Type, as SPV_KHR_abort requires of `OpAbortKHR` and the SPIR-V
//! specification defines for `OpCopyLogical`: structures and arrays may differ in their layout only.

use vkabort_options::Options;
use vkabort_spirv::error::{Error, ErrorKind, Result};
use vkabort_spirv::index::Index;
use vkabort_spirv::index::constant::Length;
use vkabort_spirv::{Id, Inst, op};

/// Checks the message of an abort. O(parts of the Message Type), which [`Layouts::message`] has found to be finite and few.
///
/// # Errors
///
/// [`ErrorKind::Invalid`] if the types do not match.
///
/// [`Layouts::message`]: super::message_layout::Layouts::message
pub fn check_message(index: &Index<'_>, options: &Options, abort: &Inst<'_>) -> Result<()> {
    let (message, ty) = (abort.message(), abort.message_type());
    let of_value = index.type_of(message);
    let Some((part, of_part)) = mismatch(index, options, ty, of_value) else {
        return Ok(());
    };
    let message = if of_value.is_some() {
        let remedy = match lost_members(index, part, of_part) {
            true => {
                "spirv-opt --eliminate-dead-members, which `glslang -Os` runs, removes members of message types; optimize with \
                 -O, or without that pass"
            }
            false => "report this to the authors of the compiler",
        };
        format!(
            "the message {message} has type {of_value}, which does not logically match the message type {ty}: it has \
             {of_part} where the message type has {part}; {remedy}"
        )
    } else {
        format!("the message {message} is not a value")
    };
    Err(Error::new(ErrorKind::Invalid, "layout", abort.offset as u32, message))
}

/// Whether the structure `ty` has fewer members than `of_value`: spirv-opt does not know that `OpAbortKHR` uses them.
fn lost_members(index: &Index<'_>, ty: Id, of_value: Id) -> bool {
    let members = |id| {
        let structure = index.def(id).filter(|inst| inst.opcode() == op::TypeStruct)?;
        Some(structure.words.len())
    };
    matches!((members(ty), members(of_value)), (Some(left), Some(all)) if left < all)
}

/// The first parts of two types that neither are the same nor logically match. `ty` is not recursive.
fn mismatch(index: &Index<'_>, options: &Options, ty: Id, of_value: Id) -> Option<(Id, Id)> {
    if ty == of_value {
        return None;
    }
    let (Some(a), Some(b)) = (index.def(ty), index.def(of_value)) else {
        return Some((ty, of_value));
    };
    match (a.opcode(), b.opcode()) {
        (op::TypeStruct, op::TypeStruct) if a.words.len() == b.words.len() => {
            let mut members = a.ids(2).zip(b.ids(2));
            members.find_map(|(a, b)| mismatch(index, options, a, b))
        }
        (op::TypeArray, op::TypeArray) if have_same_length(index, options, &a, &b) => {
            mismatch(index, options, a.element_type(), b.element_type())
        }
        _ => Some((ty, of_value)),
    }
}

/// Whether two arrays have the same length: by one constant, or by two of the same value that cannot be specialised.
fn have_same_length(index: &Index<'_>, options: &Options, a: &Inst<'_>, b: &Inst<'_>) -> bool {
    let (a, b) = (a.array_length(), b.array_length());
    let fixed = |id| {
        index
            .length(id, &options.specialization)
            .filter(|length| matches!(length, Length::Fixed(_)))
    };
    a == b || fixed(a).is_some_and(|length| fixed(b) == Some(length))
}
