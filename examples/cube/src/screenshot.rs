//! Frames as files.

use crate::renderer::Pixels;
use anyhow::{Context, Result};
use ash::vk;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

/// Writes a frame to a PNG file. Its format must have 8 bits for each of four colours.
pub fn write(path: &Path, pixels: &Pixels) -> Result<()> {
    let is_bgr = [vk::Format::B8G8R8A8_SRGB, vk::Format::B8G8R8A8_UNORM].contains(&pixels.format);
    let rgb: Vec<u8> = pixels
        .bytes
        .as_chunks::<4>()
        .0
        .iter()
        .flat_map(|&[first, green, third, _]| match is_bgr {
            true => [third, green, first],
            false => [first, green, third],
        })
        .collect();
    let file = File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
    let mut encoder = png::Encoder::new(BufWriter::new(file), pixels.extent.width, pixels.extent.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&rgb)?;
    writer
        .finish()
        .with_context(|| format!("cannot write {}", path.display()))
}
