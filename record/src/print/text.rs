//! Formats prints: the words of a record to values, and these to text.

use crate::escape::printable;
use crate::format::{Formatted, apply};
use crate::message_type::Type;
use crate::scalar::Scalar;
use crate::scalar_type::ScalarType;
use crate::site::{PrintArgument, PrintSite};
use crate::value::{Field, Value};

impl PrintArgument {
    /// Type and number of its scalars.
    pub fn scalars(&self) -> Option<(ScalarType, u32)> {
        match self {
            Self::Value(Type::Scalar(ty)) => Some((*ty, 1)),
            Self::Value(Type::Vector { count, component }) => Some((*component, *count)),
            _ => None,
        }
    }

    /// Words of a record that it takes.
    pub fn words(&self) -> u32 {
        self.scalars()
            .map_or(0, |(ty, count)| count.saturating_mul(words_of(ty)))
    }

    /// Its value, taken from the words of a record.
    fn value(&self, words: &mut impl Iterator<Item = u32>) -> Value {
        let mut next = |ty: ScalarType| {
            let low = u64::from(words.next()?);
            let high = match words_of(ty) {
                2 => words.next()?,
                _ => 0,
            };
            Some(Scalar::from_bits(ty, u64::from(high) << 32 | low))
        };
        match self {
            Self::Text(text) => Value::Text(printable(text)),
            Self::Value(Type::Scalar(ty)) => next(*ty).map_or(Value::Missing, Value::Scalar),
            Self::Value(Type::Vector { count, component }) => {
                let components: Option<Vec<Scalar>> = (0..*count).map(|_| next(*component)).collect();
                components.map_or(Value::Missing, Value::Vector)
            }
            _ => Value::Missing,
        }
    }
}

fn words_of(ty: ScalarType) -> u32 {
    ty.bytes().div_ceil(4)
}

impl PrintSite {
    /// Formats the payload of a record. Never fails: what the payload lacks is shown as missing.
    pub fn format(&self, payload: &[u32]) -> Formatted {
        let mut words = payload.iter().copied();
        let fields = self
            .arguments
            .iter()
            .map(|argument| Field::unnamed(0, argument.value(&mut words)));
        let fields: Vec<Field> = fields.collect();
        apply(&printable(&self.format), &fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(format: &str, arguments: Vec<PrintArgument>, words: &[u32]) -> String {
        let site = PrintSite {
            format: format.to_owned(),
            arguments,
            ..PrintSite::default()
        };
        site.format(words).text
    }

    fn scalar(ty: ScalarType) -> PrintArgument {
        PrintArgument::Value(ty.into())
    }

    fn vector(component: ScalarType, count: u32) -> PrintArgument {
        PrintArgument::Value(Type::Vector { count, component })
    }

    #[test]
    fn words_become_the_values_of_their_types() {
        use ScalarType::{F16, F32, F64, I8, I16, I64, Pointer, U32, U64};
        let one = |format: &str, argument, words: &[u32]| print(format, vec![argument], words);
        assert_eq!(one("%d", scalar(I8), &[0xff]), "-1");
        assert_eq!(one("%i", scalar(I16), &[0x8000]), "-32768");
        assert_eq!(one("%5u|", scalar(U32), &[7]), "    7|");
        assert_eq!(one("%-5u|", scalar(U32), &[7]), "7    |");
        assert_eq!(one("%#x", scalar(U32), &[255]), "0xff");
        assert_eq!(one("%ul", scalar(U64), &[1, 1]), "4294967297");
        assert_eq!(one("%lx", scalar(U64), &[1, 1]), "100000001");
        assert_eq!(one("%ld", scalar(I64), &[u32::MAX, u32::MAX]), "-1");
        assert_eq!(one("%p", scalar(Pointer), &[0x10, 0x7f00]), "0x7f0000000010");
        assert_eq!(one("%.2f", scalar(F32), &[1.5f32.to_bits()]), "1.50");
        assert_eq!(one("%f", scalar(F16), &[0x2e66]), "0.1");
        let double = 0.25f64.to_bits();
        assert_eq!(one("%f", scalar(F64), &[double as u32, (double >> 32) as u32]), "0.25");
        assert_eq!(one("%v3u", vector(U32, 3), &[1, 2, 3]), "1, 2, 3");
        assert_eq!(one("%v2lu", vector(U64, 2), &[1, 0, 2, 1]), "1, 4294967298");
        assert_eq!(one("%1.2v4f", vector(F32, 4), &[0; 4]), "0.00, 0.00, 0.00, 0.00");
        assert_eq!(one("%s!", PrintArgument::Text("a\u{1b}".into()), &[]), "a\\x1b!");
        assert_eq!(print("100%% %u%%", vec![scalar(U32)], &[5]), "100% 5%");
    }

    #[test]
    fn what_does_not_fit_is_shown_and_never_fails() {
        let uint = || scalar(ScalarType::U32);
        assert_eq!(print("%u %u", vec![uint()], &[1]), "1 %u<missing>");
        assert_eq!(print("%u", vec![uint()], &[]), "<missing>");
        assert_eq!(print("a", vec![uint()], &[1]), "a [1]");
        assert_eq!(print("%y %q", vec![], &[]), "%y %q");
        assert_eq!(print("%u", vec![PrintArgument::Unknown], &[]), "<missing>");
        assert_eq!(print("%v3f", vec![vector(ScalarType::F32, 3)], &[0]), "<missing>");
        assert_eq!(print("", vec![], &[1, 2]), "");
    }
}
