//! Bounds on the code that writes a message.

use vkabort_record::message_type::{Length, Type};

/// Upper bound on the work of writing a part.
pub(super) struct Work {
    pub(super) scalars: u64,
    /// Scalars, and the structures and arrays that hold them.
    pub(super) steps: u64,
}

/// The work of writing a message. With strides that are too small, or 0, few bytes may hold very many scalars.
pub(super) fn work(ty: &Type) -> Work {
    let of_scalars = |scalars| Work {
        scalars,
        steps: scalars + 1,
    };
    match ty {
        Type::Scalar(_) => of_scalars(1),
        Type::Vector { count, .. } => of_scalars((*count).into()),
        Type::Matrix { columns, rows, .. } => of_scalars(u64::from(*columns) * u64::from(*rows)),
        // Elements without scalars are skipped.
        Type::Array { length, element, .. } => match (work(element), u64::from(elements(*length))) {
            (Work { scalars: 0, .. }, _) => of_scalars(0),
            (Work { scalars, steps }, count) => Work {
                scalars: scalars.saturating_mul(count),
                steps: steps.saturating_mul(count).saturating_add(1),
            },
        },
        Type::Struct { members, .. } => members.iter().fold(of_scalars(0), |all, member| {
            let one = work(&member.ty);
            Work {
                scalars: all.scalars.saturating_add(one.scalars),
                steps: all.steps.saturating_add(one.steps),
            }
        }),
    }
}

/// Elements of an array that code is generated for. At least one if specialisation sets the length.
pub(super) fn elements(length: Length) -> u32 {
    match length {
        Length::Constant(count) => count,
        Length::Specialised { default, .. } => default.max(1),
    }
}
