//! Builds the expected bytes of a message, in the scalar layout of GLSL's `abortEXT`.

/// A payload under construction.
#[derive(Clone, Debug, Default)]
pub struct Payload(Vec<u8>);

/// A scalar of a message.
pub trait Scalar {
    /// Its bytes, little-endian.
    fn bytes(&self) -> Vec<u8>;
}

macro_rules! scalars {
    ($($ty:ty),*) => {
        $(impl Scalar for $ty {
            fn bytes(&self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }
        })*
    };
}
scalars!(i8, u8, i16, u16, i32, u32, i64, u64, f32, f64);

impl Payload {
    /// Starts with a string: its bytes, a NUL, and zeros up to a multiple of 4.
    pub fn text(text: &str) -> Self {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        Self(bytes)
    }

    /// Appends a scalar at the next multiple of its size. Padding is zero.
    #[must_use]
    pub fn scalar(mut self, value: impl Scalar) -> Self {
        let bytes = value.bytes();
        self.0.resize(self.0.len().next_multiple_of(bytes.len()), 0);
        self.0.extend(bytes);
        self
    }

    /// Appends the components of a vector, the columns of a matrix or the elements of an array.
    #[must_use]
    pub fn scalars<T: Scalar + Copy>(self, values: &[T]) -> Self {
        values.iter().fold(self, |payload, value| payload.scalar(*value))
    }

    /// Returns the bytes.
    pub fn bytes(self) -> Vec<u8> {
        self.0
    }
}
