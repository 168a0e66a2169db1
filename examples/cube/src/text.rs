//! Text over the cube: panels of characters of a bitmap font, one instance of `text.vert` for each character.

use crate::vertex_input::attribute;
use anyhow::{Context, Result};
use ash::vk;
use bytemuck::{Pod, Zeroable};
use embedded_graphics::geometry::Dimensions;
use embedded_graphics::image::GetPixel;
use embedded_graphics::mono_font::MonoFont;
use embedded_graphics::mono_font::ascii::FONT_9X18;
use embedded_graphics::pixelcolor::BinaryColor;
use embedded_graphics::prelude::Point;
use std::mem::offset_of;

const FONT: MonoFont<'static> = FONT_9X18;
/// Size of a character in font pixels.
pub const GLYPH: [u32; 2] = [FONT.character_size.width, FONT.character_size.height];
/// The printable ASCII characters, in the order of their glyphs.
const CHARACTERS: std::ops::RangeInclusive<char> = ' '..='~';
/// Most characters of a frame.
pub const MAX_GLYPHS: usize = 16 * 1024;

/// Red, green, blue and opacity.
pub type Color = [u8; 4];
/// Colour of headlines.
pub const RED: Color = [255, 25, 18, 255];
/// Colour of most text.
pub const WHITE: Color = [220, 225, 235, 255];

/// A character as `text.vert` reads it.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Glyph {
    corner: [f32; 2],
    glyph: u32,
    color: Color,
}

impl Glyph {
    /// The inputs of `text.vert`.
    pub fn attributes() -> [vk::VertexInputAttributeDescription; 3] {
        [
            attribute(0, vk::Format::R32G32_SFLOAT, offset_of!(Self, corner)),
            attribute(1, vk::Format::R32_UINT, offset_of!(Self, glyph)),
            attribute(2, vk::Format::R8G8B8A8_UNORM, offset_of!(Self, color)),
        ]
    }
}

/// The font as `text.frag` reads it: one word for each row of a glyph, with the leftmost pixel in bit 0.
pub fn font() -> Result<Vec<u32>> {
    let [width, height] = GLYPH;
    let per_row = FONT.image.bounding_box().size.width / width;
    let mut rows = Vec::new();
    for character in CHARACTERS {
        let index = u32::try_from(FONT.glyph_mapping.index(character))?;
        let (left, top) = (index % per_row * width, index / per_row * height);
        for y in top..top + height {
            let mut row = 0;
            for x in 0..width {
                let point = Point::new((left + x).cast_signed(), y.cast_signed());
                let pixel = FONT.image.pixel(point).context("the font has no such glyph")?;
                row |= u32::from(pixel == BinaryColor::On) << x;
            }
            rows.push(row);
        }
    }
    Ok(rows)
}

/// The text of a frame.
pub struct Text {
    scale: f32,
    /// Size of the frame in characters.
    columns: usize,
    rows: usize,
    /// Rows of the panels in the upper left corner.
    rows_above: usize,
    glyphs: Vec<Glyph>,
}

impl Text {
    /// No text on a frame of this size, with `scale` pixels for each font pixel.
    pub fn new(extent: vk::Extent2D, scale: u32) -> Self {
        let [width, height] = GLYPH.map(|size| size * scale);
        Self {
            scale: scale as f32,
            columns: (extent.width / width) as usize,
            rows: (extent.height / height) as usize,
            rows_above: 0,
            glyphs: Vec::new(),
        }
    }

    /// Pixels for each font pixel.
    pub fn scale(&self) -> f32 {
        self.scale
    }

    /// The characters, at most [`MAX_GLYPHS`].
    pub fn glyphs(&self) -> &[Glyph] {
        &self.glyphs
    }

    /// Adds a panel in the upper left corner, below those that are there.
    pub fn add_above(&mut self, lines: &[(String, Color)]) {
        let lines = self.wrapped(lines);
        self.add(&lines, self.rows_above);
        self.rows_above += lines.len();
    }

    /// Adds a panel in the lower left corner. Lines for which there is no room below the upper panels are left out at the end.
    pub fn add_below(&mut self, lines: &[(String, Color)]) {
        let mut lines = self.wrapped(lines);
        lines.truncate(self.rows.saturating_sub(self.rows_above));
        let first = self.rows - lines.len();
        self.add(&lines, first);
    }

    fn wrapped(&self, lines: &[(String, Color)]) -> Vec<(String, Color)> {
        // A column on each side stays empty.
        let columns = self.columns.saturating_sub(2);
        let mut wrapped = Vec::new();
        for (line, color) in lines {
            wrapped.extend(wrap(line, columns).into_iter().map(|line| (line, *color)));
        }
        wrapped
    }

    fn add(&mut self, lines: &[(String, Color)], first_row: usize) {
        let width = lines.iter().map(|(line, _)| line.len()).max().unwrap_or(0) + 2;
        for (row, (line, color)) in (first_row..).zip(lines) {
            let padded = format!(" {line:<fill$}", fill = width - 1);
            for (column, character) in padded.chars().enumerate() {
                let character = if CHARACTERS.contains(&character) {
                    character
                } else {
                    '?'
                };
                self.glyphs.push(Glyph {
                    corner: [
                        column as f32 * GLYPH[0] as f32 * self.scale,
                        row as f32 * GLYPH[1] as f32 * self.scale,
                    ],
                    glyph: character as u32 - *CHARACTERS.start() as u32,
                    color: *color,
                });
            }
        }
        self.glyphs.truncate(MAX_GLYPHS);
    }
}

/// Breaks a line, at a space where possible.
fn wrap(line: &str, columns: usize) -> Vec<String> {
    let mut rest: Vec<char> = line.chars().collect();
    let mut lines = Vec::new();
    while rest.len() > columns && columns > 0 {
        // A break in the indentation would gain nothing.
        let space = rest[..=columns].iter().rposition(|&c| c == ' ');
        let (end, next) = space
            .filter(|&at| at > columns / 2)
            .map_or((columns, columns), |at| (at, at + 1));
        lines.push(rest[..end].iter().collect());
        rest.drain(..next);
    }
    lines.push(rest.into_iter().collect());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces() {
        assert_eq!(wrap("abc", 5), ["abc"]);
        assert_eq!(wrap("abc defgh ij", 9), ["abc defgh", "ij"]);
        assert_eq!(wrap("abc de fgh ij", 8), ["abc de", "fgh ij"]);
        assert_eq!(wrap("a bcdefghijk", 6), ["a bcde", "fghijk"]);
        assert_eq!(wrap("", 5), [""]);
    }

    #[test]
    fn the_font_has_every_character() -> Result<()> {
        let rows = font()?;
        assert_eq!(rows.len(), 95 * GLYPH[1] as usize);
        let glyphs: Vec<_> = rows.chunks(GLYPH[1] as usize).collect();
        assert!(glyphs[0].iter().all(|&row| row == 0));
        assert!(glyphs[1..].iter().all(|glyph| glyph.iter().any(|&row| row != 0)));
        Ok(())
    }

    #[test]
    fn text_beyond_the_frame_is_left_out() {
        let extent = vk::Extent2D { width: 90, height: 36 };
        let mut text = Text::new(extent, 1);
        let line = |text: &str| (text.to_owned(), WHITE);
        text.add_below(&[line("one"), line("two"), line("three")]);
        assert_eq!(text.glyphs().len(), 2 * 5);
    }

    #[test]
    fn panels_do_not_overlap() {
        let extent = vk::Extent2D { width: 90, height: 54 };
        let mut text = Text::new(extent, 1);
        let line = |text: &str| (text.to_owned(), WHITE);
        text.add_above(&[line("heading")]);
        text.add_below(&[line("one"), line("two"), line("three")]);
        let mut rows: Vec<_> = text.glyphs().iter().map(|glyph| glyph.corner[1]).collect();
        rows.dedup();
        assert_eq!(rows, [0.0, 18.0, 36.0]);
        assert_eq!(text.glyphs().len(), 9 + 2 * 5);
    }
}
