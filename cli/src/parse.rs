//! Parsers of option values.

use vkabort_instrument::Checks;
use vkabort_record::site::ModuleHash;
use vkabort_settings::value;

/// Parses `KEY=VALUE`.
///
/// # Errors
///
/// There is no `=`.
pub fn setting(text: &str) -> Result<(String, String), String> {
    text.split_once('=')
        .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
        .ok_or_else(|| "expected KEY=VALUE, for example arena_size=4194304".to_owned())
}

/// Parses a device address, a multiple of 16, in decimal or hexadecimal.
///
/// # Errors
///
/// The text is not a number, or the number is not a multiple of 16.
pub fn address(text: &str) -> Result<u64, String> {
    match value::number(text) {
        Some(address) if address.is_multiple_of(16) => Ok(address),
        Some(_) => Err("the address must be a multiple of 16".to_owned()),
        None => Err("expected a number such as 0x7f0000000000".to_owned()),
    }
}

/// Parses a number of bytes, with an optional K or M.
///
/// # Errors
///
/// The text is not a number, or the number needs more than 32 bits.
pub fn bytes(text: &str) -> Result<u32, String> {
    let number = value::bytes(text).ok_or("expected a number of bytes such as 65536, 64K or 1M")?;
    u32::try_from(number).map_err(|_| "the maximum is 4294967295 bytes".to_owned())
}

/// Parses names of checks, at least one.
///
/// # Errors
///
/// A name is not one of a check, or there are none.
pub fn checks(text: &str) -> Result<Checks, String> {
    let checks: Checks = text.parse()?;
    match checks.is_empty() {
        true => Err("expected at least one check, for example loops".to_owned()),
        false => Ok(checks),
    }
}

/// Parses `HASH=FILE`: the hash of a module and the file of another one.
///
/// # Errors
///
/// The text has another form.
pub fn replacement(text: &str) -> Result<(ModuleHash, String), String> {
    let (hash, file) = text
        .split_once('=')
        .ok_or("expected HASH=FILE, for example 6c0f1cf89350bb7a=sum.spv")?;
    let hash = hash.trim().to_ascii_lowercase();
    let hash =
        ModuleHash::try_from(hash).map_err(|problem| format!("{problem}, which `--dump-modules` names files by"))?;
    Ok((hash, file.trim().to_owned()))
}

/// Parses `ID=HEXBYTES`: a `SpecId` and its data.
///
/// # Errors
///
/// The text has another form.
pub fn specialization(text: &str) -> Result<(u32, Vec<u8>), String> {
    let (id, digits) = text
        .split_once('=')
        .ok_or("expected ID=HEXBYTES, for example 7=6d736700")?;
    let id = id.parse().map_err(|_| format!("`{id}` is not a SpecId"))?;
    let bytes = vkabort_record::hex::unhex(digits)
        .ok_or_else(|| format!("`{digits}` is not a sequence of hexadecimal bytes, two digits each"))?;
    Ok((id, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_addresses_are_parsed() {
        assert_eq!(bytes("65536"), Ok(65536));
        assert_eq!(bytes("64K"), Ok(65536));
        assert_eq!(bytes("1MiB"), Ok(1 << 20));
        assert_eq!(bytes("0x100"), Ok(256));
        assert!(bytes("4096M").is_err());
        assert!(bytes("99999999999999999999M").is_err());
        assert!(bytes("big").is_err());
        assert_eq!(address("0x7f00_0000").ok(), None);
        assert_eq!(address("0x7f000010"), Ok(0x7f00_0010));
        assert!(address("0x7f000008").is_err());
        assert!(checks("loops").is_ok() && checks("off").is_err() && checks("loop").is_err());
        let (hash, file) = replacement("00000000000000AB=a=b.spv").expect("a hash and a file");
        assert_eq!((hash, file.as_str()), (ModuleHash(0xab), "a=b.spv"));
        assert!(replacement("ab=x").is_err() && replacement("00000000000000ab").is_err());
        assert_eq!(specialization("7=0aFF"), Ok((7, vec![0x0a, 0xff])));
        assert!(specialization("7=0").is_err());
        assert!(specialization("x=00").is_err());
    }
}
