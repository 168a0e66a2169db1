//! The size of the pointers of a library, by which the loader of a 32-bit program leaves out the manifests of 64-bit libraries, and
//! the other way round.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// The size of the pointers of a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bits {
    /// 32 bits.
    B32,
    /// 64 bits.
    B64,
}

impl Bits {
    /// Those of an ELF file, from the first five bytes. `None` if it cannot be read or has another format.
    pub fn of(file: &Path) -> Option<Self> {
        let mut start = [0; 5];
        File::open(file).ok()?.read_exact(&mut start).ok()?;
        match &start {
            b"\x7fELF\x01" => Some(Self::B32),
            b"\x7fELF\x02" => Some(Self::B64),
            _ => None,
        }
    }

    /// The value of `library_arch` in a manifest (LoaderLayerInterface.md, "Layer Manifest File Format"; loaders know it since
    /// 1.3.219).
    pub fn library_arch(self) -> &'static str {
        match self {
            Self::B32 => "32",
            Self::B64 => "64",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_of_a_library_names_its_bits() {
        let file = std::env::temp_dir().join(format!("vkabort-bits-{}", std::process::id()));
        let of = |bytes: &[u8]| {
            std::fs::write(&file, bytes).expect("a file");
            Bits::of(&file)
        };
        let found = [
            b"\x7fELF\x01\x01".as_slice(),
            b"\x7fELF\x02\x01",
            b"MZ\x90\0\x03",
            b"\x7fE",
        ]
        .map(of);
        std::fs::remove_file(&file).expect("the file");
        assert_eq!(found, [Some(Bits::B32), Some(Bits::B64), None, None]);
        assert_eq!(Bits::of(&file), None);
    }
}
