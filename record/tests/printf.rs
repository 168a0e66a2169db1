//! The conversions against the C library's, on many random cases. Combinations that C leaves undefined (`#` with decimal
//! integers, `0` with text) are left out.

// The conversions follow C99 as glibc has it; the C library of MinGW formats some differently.
#![cfg(unix)]

use std::ffi::{CStr, CString};
use vkabort_record::format::apply;
use vkabort_record::scalar::Scalar;
use vkabort_record::scalar_type::ScalarType;
use vkabort_record::value::{Field, Value};

/// xorshift64*: the same cases in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn flags(&mut self, allowed: &str) -> String {
        allowed.chars().filter(|_| self.below(4) == 0).collect()
    }

    fn width(&mut self) -> String {
        match self.below(3) {
            0 => (1 + self.below(40)).to_string(),
            _ => String::new(),
        }
    }

    fn precision(&mut self) -> String {
        match self.below(4) {
            0 => String::new(),
            1 => ".".to_owned(),
            2 => format!(".{}", self.below(4)),
            _ => format!(".{}", self.below(30)),
        }
    }

    /// A double from one of the hard classes: ties, powers of two, decimals, subnormals, extremes.
    fn double(&mut self) -> f64 {
        match self.below(9) {
            0 => f64::from_bits(self.next()),
            1 => f64::from(f32::from_bits(self.next() as u32)),
            2 => (self.below(2000) as f64 - 1000.0) / 8.0,
            3 => (self.below(2_000_000) as f64 - 1_000_000.0) / 1000.0,
            4 => [
                0.0, -0.0, 1.0, 0.5, 1.5, 2.5, 9.5, 99.5, 0.05, 0.15, 999_999.5, 9.999_995, 1e15, 1e16, 1e-4, 9.9999e-5,
            ][self.below(16) as usize],
            5 => f64::from_bits(self.next() >> 12),
            6 => [
                f64::NAN,
                f64::INFINITY,
                f64::NEG_INFINITY,
                f64::MAX,
                f64::MIN_POSITIVE,
                5e-324,
            ][self.below(6) as usize],
            7 => 10f64.powi(self.below(40) as i32 - 20),
            _ => f64::from_bits(0x3ff0_0000_0000_0000 | (self.next() & 0xfff) << 40),
        }
    }
}

/// The output of `snprintf` for a format and its only argument, which has the type that the format takes.
macro_rules! c {
    ($format:expr, $argument:expr) => {{
        let format = CString::new($format.as_str()).expect("no NUL");
        let mut buffer = [0u8; 4096];
        let start = buffer.as_mut_ptr().cast();
        // SAFETY: the buffer has the size that is passed. The format is NUL-terminated and has one conversion, which takes this
        // argument: `%s` a NUL-terminated text, `%p` a pointer that is not dereferenced.
        let length = unsafe { libc::snprintf(start, buffer.len(), format.as_ptr(), $argument) };
        assert!((0..4096).contains(&length));
        let text = CStr::from_bytes_until_nul(&buffer).expect("snprintf ends its output");
        text.to_str().expect("ASCII").to_owned()
    }};
}

fn rust(format: &str, value: Value) -> String {
    let formatted = apply(format, &[Field::unnamed(0, value)]);
    assert!(formatted.notes.is_empty(), "{format}: {:?}", formatted.notes);
    formatted.text
}

#[test]
fn floats_are_formatted_as_c_formats_them() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let (mut glibc_differs, mut shortest) = (0, 0);
    for _ in 0..60_000 {
        let letter = "aAeEfFgG".as_bytes()[random.below(8) as usize] as char;
        let format = format!(
            "<%{}{}{}{letter}>",
            random.flags("-+ #0"),
            random.width(),
            random.precision()
        );
        // C prints the sign of a NaN, which arithmetic does not preserve: every NaN becomes the positive one.
        let value = Some(random.double())
            .filter(|v| !v.is_nan())
            .unwrap_or(f64::NAN.copysign(1.0));
        if matches!(letter, 'f' | 'F') && !format.contains('.') && value.is_finite() {
            shortest += 1;
            check_shortest(&format, value);
            continue;
        }
        let expected = c!(format, value);
        let found = rust(
            &format,
            Value::Scalar(Scalar::from_bits(ScalarType::F64, value.to_bits())),
        );
        if matches!(letter, 'g' | 'G') && format.contains('#') && found != expected {
            // glibc 2.36 drops the zeros that `#` keeps if rounding adds a digit: 999999.5 gives `1.e+06`.
            assert!(
                format!("{:.30e}", value.abs()).starts_with('9'),
                "{format} of {value:e}"
            );
            assert!(found.contains("1.0") && expected.contains("1."), "{found} {expected}");
            glibc_differs += 1;
            continue;
        }
        assert_eq!(found, expected, "{format} of {value:e} ({:#x})", value.to_bits());
    }
    assert!(glibc_differs < 200, "{glibc_differs} of 60000");
    assert!(shortest > 2000, "{shortest} of 60000");
}

/// `%f` without a precision: the number reads back, in as few digits as possible, with C's padding.
fn check_shortest(format: &str, value: f64) {
    let text = rust(
        format,
        Value::Scalar(Scalar::from_bits(ScalarType::F64, value.to_bits())),
    );
    let flags = format.trim_start_matches("<%").trim_end_matches(['f', 'F', '>']);
    let inner = text
        .strip_prefix('<')
        .and_then(|t| t.strip_suffix('>'))
        .expect("the text around it");
    let number = inner.trim();
    assert_eq!(number.parse(), Ok(value), "{format} gives {text}");
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let shortest = digits(format!("{value:e}").split('e').next().unwrap_or_default());
    let mantissa = digits(number.split('e').next().unwrap_or_default());
    assert!(
        mantissa.contains(shortest.trim_matches('0')),
        "{format} of {value:e} gives {text}"
    );
    let width = flags.trim_start_matches(['-', '+', ' ', '#', '0']).parse().unwrap_or(0);
    assert!(
        inner.len() == width || inner.len() >= width && inner.trim_end() == inner,
        "{format} gives {text}"
    );
    assert_eq!(
        inner.ends_with(' '),
        flags.contains('-') && number.len() < width && inner.len() > inner.trim_end().len()
    );
    let sign = match (value.is_sign_negative(), flags.contains('+')) {
        (true, _) => number.starts_with('-'),
        (false, true) => number.starts_with('+'),
        (false, false) => number.starts_with(|c: char| c.is_ascii_digit()),
    };
    assert!(sign, "{format} of {value:e} gives {text}");
}

#[test]
fn integers_are_formatted_as_c_formats_them() {
    let mut random = Random(0xD1B5_4A32_D192_ED03);
    for _ in 0..40_000 {
        let letter = "diuxXo".as_bytes()[random.below(6) as usize] as char;
        let flags = if matches!(letter, 'd' | 'i' | 'u') {
            "-+ 0"
        } else {
            "-+ #0"
        };
        let pattern = match random.below(4) {
            0 => random.below(3),
            1 => random.next() >> random.below(64),
            2 => (random.below(2000) as i64 - 1000) as u64,
            _ => random.next(),
        };
        let wide = random.below(2) == 0;
        let format = format!(
            "<%{}{}{}{}{letter}>",
            random.flags(flags),
            random.width(),
            random.precision(),
            if wide { "ll" } else { "" }
        );
        let signed = matches!(letter, 'd' | 'i');
        let ty = ScalarType::from_spirv_int(if wide { 64 } else { 32 }, signed).expect("an integer type");
        let scalar = Scalar::from_bits(ty, pattern);
        let expected = match wide {
            true => c!(format, pattern),
            false => c!(format, pattern as u32),
        };
        assert_eq!(
            rust(&format, Value::Scalar(scalar)),
            expected,
            "{format} of {pattern:#x}"
        );
    }
}

#[test]
fn text_and_characters_are_formatted_as_c_formats_them() {
    let mut random = Random(0xA076_1D64_78BD_642F);
    for _ in 0..5_000 {
        let text: String = (0..random.below(20))
            .map(|_| (b'a' + random.below(26) as u8) as char)
            .collect();
        let format = format!("<%{}{}{}s>", random.flags("-"), random.width(), random.precision());
        let c_text = CString::new(text.as_str()).expect("no NUL");
        let expected = c!(format, c_text.as_ptr());
        assert_eq!(rust(&format, Value::Text(text)), expected, "{format}");
        let character = 0x20 + random.below(0x5f) as u32;
        let format = format!("<%{}{}c>", random.flags("-"), random.width());
        let expected = c!(format, character);
        let scalar = Scalar::from_bits(ScalarType::U32, character.into());
        assert_eq!(
            rust(&format, Value::Scalar(scalar)),
            expected,
            "{format} of {character}"
        );
    }
}

#[test]
fn pointers_are_formatted_as_c_formats_them() {
    let mut random = Random(0xE703_7ED1_A0B4_28DB);
    for _ in 0..2_000 {
        let value = (random.next() >> random.below(63)).max(1);
        let format = format!("<%{}{}p>", random.flags("-"), random.width());
        let expected = c!(format, value as *const libc::c_void);
        assert_eq!(
            rust(&format, Value::Scalar(Scalar::from_bits(ScalarType::Pointer, value))),
            expected,
            "{format}"
        );
    }
}
