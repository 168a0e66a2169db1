//! Operands of instructions to insert. Ids and literals have different types, so that neither is written for the other.
//!
//! ```text
//! code.op(op::Return, ());
//! code.op(op::IAdd, (uint, sum, a, b));
//! code.op(op::CompositeExtract, (uint, part, whole, Literal(2)));
//! code.op(op::CompositeConstruct, (ty, whole, parts.as_slice()));
//! ```

use super::{Id, literal};

/// An operand of one word.
pub(crate) trait Operand: Copy {
    /// The word.
    fn word(self) -> u32;
}

/// Operands in the order in which they are written: one, none, several of one kind, a string, or a tuple of such.
pub trait Operands {
    /// Their words.
    fn words(self) -> impl Iterator<Item = u32>;
}

/// A literal number, enumerant or mask.
#[derive(Clone, Copy, Debug)]
pub struct Literal(pub u32);

/// Literals, or operands of another instruction, as they are.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a>(pub &'a [u32]);

impl Operand for Id {
    fn word(self) -> u32 {
        self.word()
    }
}

impl Operand for Literal {
    fn word(self) -> u32 {
        self.0
    }
}

impl<T: Operand> Operands for T {
    #[inline]
    fn words(self) -> impl Iterator<Item = u32> {
        std::iter::once(self.word())
    }
}

impl<T: Operand> Operands for Option<T> {
    fn words(self) -> impl Iterator<Item = u32> {
        self.into_iter().map(T::word)
    }
}

impl<T: Operand, const N: usize> Operands for [T; N] {
    #[inline]
    fn words(self) -> impl Iterator<Item = u32> {
        self.into_iter().map(T::word)
    }
}

impl<T: Operand> Operands for &[T] {
    fn words(self) -> impl Iterator<Item = u32> {
        self.iter().map(|operand| operand.word())
    }
}

/// Pairs, as of `OpPhi`.
impl<A: Operand, B: Operand> Operands for &[(A, B)] {
    fn words(self) -> impl Iterator<Item = u32> {
        self.iter().flat_map(|(a, b)| [a.word(), b.word()])
    }
}

impl Operands for Words<'_> {
    fn words(self) -> impl Iterator<Item = u32> {
        self.0.iter().copied()
    }
}

impl Operands for &str {
    fn words(self) -> impl Iterator<Item = u32> {
        literal::words(self)
    }
}

impl Operands for () {
    fn words(self) -> impl Iterator<Item = u32> {
        std::iter::empty()
    }
}

macro_rules! tuples {
    ($(($first:ident $($rest:ident)*))*) => {$(
        impl<$first: Operands, $($rest: Operands),*> Operands for ($first, $($rest),*) {
            #[inline]
            fn words(self) -> impl Iterator<Item = u32> {
                #[expect(non_snake_case, reason = "each variable is named after its type")]
                let ($first, $($rest),*) = self;
                $first.words()$(.chain($rest.words()))*
            }
        }
    )*};
}

tuples! { (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) }
