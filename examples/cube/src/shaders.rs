//! The shaders, compiled from `shaders/` with debug information.
//!
//! Each shader that can abort is compiled twice, since a device without the extension does not accept one that does:
//!
//! ```sh
//! glslang -V -gVS cube.frag -o cube.frag.spv
//! glslang -V -gVS -DABORTS cube.frag -o cube.frag.aborts.spv
//! ```
//!
//! A test of the project does this, and writes the strings of the second as 32-bit words, as Slang does, so that devices
//! need no 8-bit integers.

use anyhow::{Context, Result};
use std::io::Cursor;

/// The SPIR-V of a shader.
pub struct Shader {
    /// File name of its source.
    pub name: &'static str,
    plain: &'static [u8],
    aborts: Option<&'static [u8]>,
}

macro_rules! shader {
    ($name:literal) => {
        Shader {
            name: $name,
            plain: include_bytes!(concat!("../shaders/", $name, ".spv")),
            aborts: None,
        }
    };
    ($name:literal aborts) => {
        Shader {
            aborts: Some(include_bytes!(concat!("../shaders/", $name, ".aborts.spv"))),
            ..shader!($name)
        }
    };
}

/// Transforms the cube.
pub const CUBE_VERTEX: Shader = shader!("cube.vert" aborts);
/// Lights the cube.
pub const CUBE_FRAGMENT: Shader = shader!("cube.frag" aborts);
/// Computes the texture.
pub const PATTERN: Shader = shader!("pattern.comp" aborts);
/// Places characters.
pub const TEXT_VERTEX: Shader = shader!("text.vert");
/// Draws characters.
pub const TEXT_FRAGMENT: Shader = shader!("text.frag");

impl Shader {
    /// Its words, with aborts if the device supports them.
    pub fn words(&self, has_aborts: bool) -> Result<Vec<u32>> {
        let bytes = self.aborts.filter(|_| has_aborts).unwrap_or(self.plain);
        ash::util::read_spv(&mut Cursor::new(bytes)).with_context(|| format!("{} is not SPIR-V", self.name))
    }
}
