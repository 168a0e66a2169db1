//! Draws frames: two are in flight, so that the host prepares one while the device draws the other.

use crate::device::Device;
use crate::frame::Frame;
use crate::pipelines::{DEPTH_FORMAT, Pipelines};
use crate::record::{Contents, Recording};
use crate::resources::{Buffer, Image};
use crate::scene::Scene;
use crate::target::Target;
use anyhow::{Context, Result, bail, ensure};
use ash::vk;
use gpu_allocator::MemoryLocation;
use std::rc::Rc;

/// Number of frames that the host may be ahead of the device.
pub const FRAMES_IN_FLIGHT: usize = 2;

/// A frame as bytes.
pub struct Pixels {
    /// Size in pixels.
    pub extent: vk::Extent2D,
    /// Format of a pixel.
    pub format: vk::Format,
    /// The pixels, rows from the top.
    pub bytes: Vec<u8>,
}

/// All that is drawn with a device. Dropping it destroys the device.
pub struct Renderer {
    device: Rc<Device>,
    pipelines: Pipelines,
    scene: Scene,
    /// Whether the texture has been computed.
    has_pattern: bool,
    target: Target,
    depth: Image,
    /// Size of the window.
    size: vk::Extent2D,
    /// Whether the target has this size.
    fits: bool,
    frames: Vec<Frame>,
    /// Number of submitted frames.
    submitted: usize,
}

impl Renderer {
    /// Creates the drawn objects on a new device, for a window or frames of this size.
    pub fn new(device: Rc<Device>, size: vk::Extent2D) -> Result<Self> {
        let target = Target::new(&device, size)?;
        let pipelines = Pipelines::new(&device, target.format())?;
        let frames: Result<Vec<_>> = (0..FRAMES_IN_FLIGHT).map(|_| Frame::new(&device)).collect();
        Ok(Self {
            scene: Scene::new(&device, &pipelines)?,
            has_pattern: false,
            depth: depth_buffer(&device, target.extent())?,
            size,
            fits: true,
            frames: frames?,
            submitted: 0,
            pipelines,
            target,
            device,
        })
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Fits the next frame to a new size of the window.
    pub fn resize(&mut self, size: vk::Extent2D) {
        self.size = size;
        self.fits = false;
    }

    /// Draws a frame. Returns false if the window has changed and the frame is left out.
    pub fn draw(&mut self, contents: &Contents<'_>) -> Result<bool> {
        self.draw_and_copy(contents, None)
    }

    /// Draws a frame and returns its pixels; none if the window has changed and the frame is left out.
    pub fn capture(&mut self, contents: &Contents<'_>) -> Result<Option<Pixels>> {
        ensure!(
            self.target.is_readable(),
            "frames of this window cannot be read; try `--headless`"
        );
        let extent = self.target.extent();
        let size = u64::from(extent.width) * u64::from(extent.height) * 4;
        let usage = vk::BufferUsageFlags::TRANSFER_DST;
        let buffer = Buffer::new(&self.device, "screenshot", size, usage, MemoryLocation::GpuToCpu)?;
        if !self.draw_and_copy(contents, Some(&buffer))? {
            return Ok(None);
        }
        self.device.wait()?;
        let bytes = buffer
            .bytes()?
            .get(..usize::try_from(size)?)
            .context("a short buffer")?;
        Ok(Some(Pixels {
            extent,
            format: self.target.format(),
            bytes: bytes.to_vec(),
        }))
    }

    fn draw_and_copy(&mut self, contents: &Contents<'_>, copy: Option<&Buffer>) -> Result<bool> {
        if !self.fits {
            self.fit()?;
            // A copy has the old size.
            if copy.is_some() {
                return Ok(false);
            }
        }
        let Some(frame) = self.frames.get_mut(self.submitted % FRAMES_IN_FLIGHT) else {
            bail!("there are no frames");
        };
        frame.wait()?;
        let Some(image) = self.target.acquire(frame.acquired)? else {
            self.fits = false;
            return Ok(false);
        };
        frame.glyphs.write(contents.text.glyphs())?;
        frame.begin(self.submitted)?;
        let recording = Recording {
            device: &self.device,
            commands: frame.commands,
            pipelines: &self.pipelines,
            scene: &self.scene,
            depth: &self.depth,
            image: &image,
            contents,
        };
        recording.record(frame.glyphs.raw, self.has_pattern, copy);
        frame.submit(&image)?;
        self.has_pattern = true;
        self.submitted += 1;
        self.fits = self.target.present(&image)?;
        Ok(true)
    }

    /// Fits the swapchain and the depth buffer to the window.
    fn fit(&mut self) -> Result<()> {
        if let Target::Window(swapchain) = &mut self.target {
            self.device.wait()?;
            swapchain.recreate(self.size)?;
            self.depth = depth_buffer(&self.device, swapchain.extent())?;
        }
        self.fits = true;
        Ok(())
    }
}

impl Drop for Renderer {
    fn drop(&mut self) {
        // An error means that the device is lost. Then its objects may be destroyed, too.
        let _ = self.device.wait();
    }
}

fn depth_buffer(device: &Rc<Device>, size: vk::Extent2D) -> Result<Image> {
    let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
    Image::new(device, "depth", DEPTH_FORMAT, size, usage)
}
