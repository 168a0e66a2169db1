//! A frame of 10,000 draws, recorded by one thread or by two, each into a command buffer of its own.

use super::shortest;
use crate::glsl;
use crate::vk::{Device, DeviceOptions, Gpu, Image, Pass, Submission};
use anyhow::{Result, bail};
use ash::vk;
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// Draws of a frame.
const DRAWS: u32 = 10_000;
const SAMPLES: usize = 30;

/// Mean time of a draw for each number of threads. `has_layer`: whether aborts can be enabled.
///
/// # Errors
///
/// A call fails.
pub fn measure(gpu: &Gpu, has_layer: bool) -> Result<Vec<(usize, Duration)>> {
    let options = DeviceOptions {
        abort: has_layer,
        ..DeviceOptions::default()
    };
    let device = Device::with(gpu, options)?;
    let pass = Pass::new(
        &device,
        &glsl::compile("stage/cover.vert")?,
        &glsl::compile("stage/white.frag")?,
    )?;
    let of_threads = |threads| {
        let images = (0..threads).map(|_| Image::new(&device)).collect::<Result<Vec<_>>>()?;
        let views: Vec<vk::ImageView> = images.iter().map(|image| image.view).collect();
        let time = shortest(SAMPLES, || record(&device, &pass, &views))?;
        Ok((threads, time / DRAWS))
    };
    [1, 2].into_iter().map(of_threads).collect()
}

/// Records a frame into each view, all at once. Returns the longest time.
fn record(device: &Device<'_>, pass: &Pass<'_>, views: &[vk::ImageView]) -> Result<Duration> {
    let start = Barrier::new(views.len());
    let one = |view: vk::ImageView| -> Result<Duration> {
        let mut time = Duration::ZERO;
        Submission::record(device, |raw, commands| {
            let attachments = [vk::RenderingAttachmentInfo::default()
                .image_view(view)
                .image_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)];
            let side = Image::EXTENT;
            let info = vk::RenderingInfo::default()
                .render_area(vk::Rect2D::default().extent(vk::Extent2D::default().width(side).height(side)))
                .layer_count(1)
                .color_attachments(&attachments);
            // SAFETY: the command buffer is being recorded, and is not executed.
            unsafe {
                raw.cmd_begin_rendering(commands, &info);
                pass.bind(raw, commands, pass.pipeline(), [0, 0]);
                start.wait();
                let began = Instant::now();
                for draw in 0..DRAWS {
                    raw.cmd_draw(commands, 3, 1, 0, draw);
                }
                time = began.elapsed();
                raw.cmd_end_rendering(commands);
            }
        })?;
        Ok(time)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = views.iter().map(|view| scope.spawn(|| one(*view))).collect();
        let times = threads.into_iter().map(|thread| {
            let joined = thread.join();
            joined.unwrap_or_else(|_| bail!("a thread has panicked"))
        });
        let times = times.collect::<Result<Vec<_>>>()?;
        Ok(times.into_iter().max().unwrap_or_default())
    })
}
