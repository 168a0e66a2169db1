//! The conversions of C's `printf`, one value each, with exact digits. Where C leaves a choice, as glibc does. `%f` without a
//! precision differs ([`shortest`]).

use crate::escape::printable;

/// Limit of widths and precisions, in characters: no double has more digits, and hostile formats ask for gigabytes.
pub(crate) const MAX_FIELD: usize = 1100;

/// Flags, width and precision of a conversion specification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldSpec {
    /// Flag `-`: left-justified.
    pub(crate) left: bool,
    /// Flag `+`: a sign before non-negative numbers.
    pub(crate) plus: bool,
    /// Flag space: a space before non-negative numbers.
    pub(crate) space: bool,
    /// Flag `#`: alternate form.
    pub(crate) alternate: bool,
    /// Flag `0`: padded with zeros.
    pub(crate) zero: bool,
    /// Minimum width in characters.
    pub(crate) width: usize,
    /// Precision.
    pub(crate) precision: Option<usize>,
}

impl FieldSpec {
    /// Pads `prefix` (sign, `0x`) and `body` to the width; padding zeros are between the two.
    fn pad(self, prefix: &str, body: &str, zeros_allowed: bool) -> String {
        let length = prefix.chars().count() + body.chars().count();
        let missing = self.width.min(MAX_FIELD).saturating_sub(length);
        if self.left {
            format!("{prefix}{body}{}", " ".repeat(missing))
        } else if self.zero && zeros_allowed {
            format!("{prefix}{}{body}", "0".repeat(missing))
        } else {
            format!("{}{prefix}{body}", " ".repeat(missing))
        }
    }

    fn sign(self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            _ => "",
        }
    }

    fn precision(self) -> Option<usize> {
        self.precision.map(|p| p.min(MAX_FIELD))
    }
}

/// `%d`, and `%u` without sign flags.
pub(crate) fn decimal(field: FieldSpec, negative: bool, magnitude: u64) -> String {
    let digits = with_precision(field, magnitude.to_string(), magnitude == 0);
    field.pad(field.sign(negative), &digits, field.precision.is_none())
}

/// `%o`, `%x` and `%X`.
pub(crate) fn pattern(field: FieldSpec, conversion: char, value: u64) -> String {
    let (digits, prefix) = match conversion {
        'o' => (format!("{value:o}"), ""),
        'X' => (format!("{value:X}"), "0X"),
        _ => (format!("{value:x}"), "0x"),
    };
    let mut digits = with_precision(field, digits, value == 0);
    if conversion == 'o' && field.alternate && !digits.starts_with('0') {
        digits.insert(0, '0');
    }
    let prefix = if field.alternate && value != 0 { prefix } else { "" };
    field.pad(prefix, &digits, field.precision.is_none())
}

/// `%p`: `0x` and the digits, also for a null pointer.
pub(crate) fn pointer(field: FieldSpec, value: u64) -> String {
    let digits = with_precision(field, format!("{value:x}"), false);
    field.pad("0x", &digits, field.precision.is_none())
}

/// `%s` and `%c`. The precision counts characters.
pub(crate) fn text(field: FieldSpec, text: &str) -> String {
    let cut: String = match field.precision() {
        Some(precision) => text.chars().take(precision).collect(),
        None => text.to_owned(),
    };
    field.pad("", &cut, false)
}

/// `%f` without a precision, of a finite number in decimal.
pub(crate) fn shortest(field: FieldSpec, decimal: &str) -> String {
    let magnitude = decimal.strip_prefix('-');
    field.pad(field.sign(magnitude.is_some()), magnitude.unwrap_or(decimal), true)
}

/// `%a %A %e %E %f %F %g %G`.
pub(crate) fn float(field: FieldSpec, conversion: char, value: f64) -> String {
    // The sign of a NaN has no meaning, and differs between drivers.
    let sign = field.sign(value.is_sign_negative() && !value.is_nan());
    let upper = conversion.is_ascii_uppercase();
    let case = |text: String| if upper { text.to_ascii_uppercase() } else { text };
    let magnitude = value.abs();
    if !magnitude.is_finite() {
        let name = if magnitude.is_nan() { "nan" } else { "inf" };
        return field.pad(sign, &case(name.to_owned()), false);
    }
    match conversion.to_ascii_lowercase() {
        'a' => {
            let prefix = case(format!("{sign}0x"));
            field.pad(&prefix, &case(hexadecimal(field, magnitude)), true)
        }
        'e' => field.pad(
            sign,
            &case(scientific(field, magnitude, field.precision().unwrap_or(6))),
            true,
        ),
        'g' => field.pad(sign, &case(general(field, magnitude)), true),
        _ => field.pad(sign, &fixed(field, magnitude, field.precision().unwrap_or(6)), true),
    }
}

fn with_precision(field: FieldSpec, digits: String, is_zero: bool) -> String {
    match field.precision() {
        Some(0) if is_zero => String::new(),
        Some(precision) => format!("{digits:0>precision$}"),
        None => digits,
    }
}

fn fixed(field: FieldSpec, magnitude: f64, precision: usize) -> String {
    let point = if field.alternate && precision == 0 { "." } else { "" };
    format!("{magnitude:.precision$}{point}")
}

fn scientific(field: FieldSpec, magnitude: f64, precision: usize) -> String {
    let (mantissa, exponent) = digits_and_exponent(magnitude, precision);
    let point = if field.alternate && precision == 0 { "." } else { "" };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}{point}e{sign}{:02}", exponent.unsigned_abs())
}

/// One digit and `precision` decimals, rounded, and the decimal exponent.
fn digits_and_exponent(magnitude: f64, precision: usize) -> (String, i32) {
    let text = format!("{magnitude:.precision$e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) => (mantissa.to_owned(), exponent.parse().unwrap_or(0)),
        None => (text, 0),
    }
}

fn general(field: FieldSpec, magnitude: f64) -> String {
    let significant = field.precision().unwrap_or(6).max(1);
    let (_, exponent) = digits_and_exponent(magnitude, significant - 1);
    let decimals = significant as i64 - 1 - i64::from(exponent);
    let text = if exponent >= -4 && decimals >= 0 {
        fixed(field, magnitude, decimals as usize)
    } else {
        scientific(field, magnitude, significant - 1)
    };
    if field.alternate {
        return text;
    }
    let (mantissa, exponent) = match text.find('e') {
        Some(at) => text.split_at(at),
        None => (text.as_str(), ""),
    };
    let mantissa = match mantissa.contains('.') {
        true => mantissa.trim_end_matches('0').trim_end_matches('.'),
        false => mantissa,
    };
    format!("{mantissa}{exponent}")
}

/// Hexadecimal digits of a double without `0x`: leading 1 (0 for zero and subnormals), rounded to nearest, ties to even.
fn hexadecimal(field: FieldSpec, magnitude: f64) -> String {
    const FRACTION_BITS: u32 = 52;
    let bits = magnitude.to_bits();
    let fraction = bits & ((1 << FRACTION_BITS) - 1);
    let biased = (bits >> FRACTION_BITS) as i64;
    let (mut lead, exponent) = match (biased, fraction) {
        (0, 0) => (0, 0),
        (0, _) => (0, -1022),
        _ => (1, biased - 1023),
    };
    let digits = match field.precision() {
        Some(precision) if precision < 13 => {
            let dropped = FRACTION_BITS - 4 * precision as u32;
            let whole = lead << FRACTION_BITS | fraction;
            let (truncated, remainder) = (whole >> dropped, whole & ((1 << dropped) - 1));
            let half = 1u64 << (dropped - 1);
            let round_up = remainder > half || remainder == half && truncated & 1 == 1;
            let rounded = truncated + u64::from(round_up);
            let fraction_bits = 4 * precision as u32;
            lead = rounded >> fraction_bits;
            match precision {
                0 => String::new(),
                _ => format!("{:0precision$x}", rounded & ((1 << fraction_bits) - 1)),
            }
        }
        Some(precision) => format!("{:0<precision$}", format!("{fraction:013x}")),
        None => format!("{fraction:013x}").trim_end_matches('0').to_owned(),
    };
    let point = if digits.is_empty() && !field.alternate { "" } else { "." };
    format!("{lead}{point}{digits}p{exponent:+}")
}

/// A character by its code, escaped if it cannot be shown.
pub(crate) fn character(code: u64) -> String {
    match u32::try_from(code).ok().and_then(char::from_u32) {
        Some(c) => printable(c.encode_utf8(&mut [0; 4])),
        None => format!("\\u{{{code:x}}}"),
    }
}
