//! Pixels of screenshots and of the screen. Tests compare regions of them, not bytes.

use anyhow::{Context, Result, ensure};
use std::ops::Range;
use std::path::Path;

/// Words of the header of an XWD file, each big-endian, that [`Picture::of_screen`] reads.
mod xwd {
    pub const HEADER_SIZE: usize = 0;
    pub const WIDTH: usize = 4;
    pub const HEIGHT: usize = 5;
    pub const BITS_PER_PIXEL: usize = 11;
    pub const BYTES_PER_LINE: usize = 12;
    pub const COLORS: usize = 19;
    /// Bytes of an entry of the colour map, which is between header and pixels.
    pub const COLOR_SIZE: usize = 12;
}

/// A part of the screen, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    pub left: usize,
    pub top: usize,
    pub width: usize,
    pub height: usize,
}

/// Red, green and blue of each pixel.
#[derive(PartialEq, Eq)]
pub struct Picture {
    pub width: usize,
    pub height: usize,
    pixels: Vec<[u8; 3]>,
}

impl Picture {
    /// Reads a PNG file.
    pub fn read(path: &Path) -> Result<Self> {
        let file = std::fs::File::open(path).with_context(|| format!("no {}", path.display()))?;
        let mut reader = png::Decoder::new(std::io::BufReader::new(file)).read_info()?;
        let mut bytes = vec![0; reader.output_buffer_size().context("the picture is too large")?];
        let info = reader.next_frame(&mut bytes)?;
        Ok(Self {
            width: info.width as usize,
            height: info.height as usize,
            pixels: bytes.as_chunks::<3>().0.to_vec(),
        })
    }

    /// Reads a part of the screen from the XWD file in which Xvfb keeps its pixels. `None` where the area is outside.
    pub fn of_screen(file: &Path, area: Area) -> Result<Option<Self>> {
        let bytes = std::fs::read(file).with_context(|| format!("no {}", file.display()))?;
        let word = |index: usize| {
            let bytes = bytes.get(4 * index..)?.first_chunk()?;
            usize::try_from(u32::from_be_bytes(*bytes)).ok()
        };
        let header = |index| word(index).context("a short XWD header");
        let (width, height) = (header(xwd::WIDTH)?, header(xwd::HEIGHT)?);
        if area.left + area.width > width || area.top + area.height > height {
            return Ok(None);
        }
        ensure!(header(xwd::BITS_PER_PIXEL)? == 32, "an unexpected format of the screen");
        let first = header(xwd::HEADER_SIZE)? + header(xwd::COLORS)? * xwd::COLOR_SIZE;
        let line = header(xwd::BYTES_PER_LINE)?;
        let mut pixels = Vec::new();
        for row in area.top..area.top + area.height {
            let start = first + row * line + 4 * area.left;
            let row = bytes.get(start..start + 4 * area.width).context("a short XWD file")?;
            // Blue first, in the byte order of the machine.
            pixels.extend(row.as_chunks::<4>().0.iter().map(|[b, g, r, _]| [*r, *g, *b]));
        }
        Ok(Some(Self {
            width: area.width,
            height: area.height,
            pixels,
        }))
    }

    /// The colour of a pixel.
    pub fn at(&self, x: usize, y: usize) -> [u8; 3] {
        self.pixels[y * self.width + x]
    }

    /// The share of the pixels in a rectangle that have a property.
    pub fn share(&self, x: Range<usize>, y: Range<usize>, has: impl Fn([u8; 3]) -> bool) -> f64 {
        let pixels: Vec<_> = y.flat_map(|y| x.clone().map(move |x| self.at(x, y))).collect();
        pixels.iter().filter(|pixel| has(**pixel)).count() as f64 / pixels.len() as f64
    }
}

/// The background, and the panels of text over it.
pub fn is_dark(pixel: [u8; 3]) -> bool {
    pixel.iter().max() < Some(&70)
}

/// The sky behind the cube, which is not the black of a window that nothing has been drawn to.
pub fn is_background([r, g, b]: [u8; 3]) -> bool {
    (20..36).contains(&r) && (28..48).contains(&g) && (44..64).contains(&b)
}

/// Text of a message's first line.
pub fn is_red([r, g, b]: [u8; 3]) -> bool {
    r > 230 && (60..160).contains(&g) && (60..160).contains(&b)
}

/// Other text.
pub fn is_white(pixel: [u8; 3]) -> bool {
    pixel.iter().min() > Some(&230)
}
