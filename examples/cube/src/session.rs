//! The spinning cube from start to end: draws its frames, and replaces a lost device.

use crate::device::Device;
use crate::gpu::Gpu;
use crate::messages;
use crate::options::{Abort, Options};
use crate::record::Contents;
use crate::renderer::{FRAMES_IN_FLIGHT, Renderer};
use crate::screenshot;
use crate::text::{Color, RED, Text, WHITE};
use anyhow::{Context, Result, bail};
use ash::vk;
use glam::Quat;
use std::rc::Rc;
use std::time::Instant;
use winit::window::Window;

/// The device, the options, and the state that outlives a frame.
pub struct Session {
    /// None while a lost device is replaced.
    renderer: Option<Renderer>,
    gpu: Rc<Gpu>,
    options: Options,
    size: vk::Extent2D,
    text_scale: u32,
    start: Instant,
    /// Number of the next frame.
    frame: u64,
    /// Abort for the next frame.
    abort: Option<Abort>,
    /// Last requested abort and its frame, until the device is lost.
    expected: Option<(Abort, u64)>,
    /// The frame before which the device was last lost.
    last_loss: Option<u64>,
    /// Shown below the cube.
    report: Vec<(String, Color)>,
}

impl Session {
    /// Creates the first device, for a window if there is one.
    pub fn new(options: Options, window: Option<Rc<Window>>) -> Result<Self> {
        let [width, height] = options.size.0;
        let text_scale = window.as_ref().map_or(1.0, |window| window.scale_factor()).round();
        let gpu = Rc::new(Gpu::open(window, options.plain)?);
        let size = vk::Extent2D { width, height };
        let renderer = Renderer::new(Device::new(&gpu)?, size)?;
        println!("Device: {}", gpu.name);
        if let Some(text) = missing(&gpu) {
            println!("{text}");
        }
        Ok(Self {
            renderer: Some(renderer),
            gpu,
            size,
            options,
            text_scale: text_scale.max(1.0) as u32,
            start: Instant::now(),
            frame: 0,
            abort: None,
            expected: None,
            last_loss: None,
            report: Vec::new(),
        })
    }

    /// The window's title.
    pub fn title(&self) -> &'static str {
        match self.gpu.has_aborts() {
            true => "vkabort cube",
            false if self.gpu.is_plain => "vkabort cube (plain)",
            false => "vkabort cube (without VK_KHR_shader_abort)",
        }
    }

    /// Lets a shader abort in the next frame, if the device supports it. The loop needs no abort to go wrong.
    pub fn request(&mut self, abort: Abort) {
        if self.gpu.has_aborts() || self.gpu.is_plain && abort == Abort::Compute {
            self.abort = Some(abort);
        }
    }

    /// Fits the frames to a new size of the window.
    pub fn resize(&mut self, size: vk::Extent2D) {
        self.size = size;
        if let Some(renderer) = &mut self.renderer {
            renderer.resize(size);
        }
    }

    /// Draws a frame, or replaces the device if it is lost. Returns whether it was the last frame.
    pub fn advance(&mut self) -> Result<bool> {
        let is_due = self.frame == self.options.abort_frame && self.last_loss != Some(self.frame);
        if let Some(abort) = self.options.abort().filter(|_| is_due) {
            self.request(abort);
        }
        match self.draw() {
            Ok(is_drawn) => self.frame += u64::from(is_drawn),
            Err(error) if error.downcast_ref() == Some(&vk::Result::ERROR_DEVICE_LOST) => self.recover()?,
            Err(error) => return Err(error),
        }
        Ok(self.options.frames == Some(self.frame))
    }

    /// Draws the next frame. Returns false if the window has changed and the frame is left out.
    fn draw(&mut self) -> Result<bool> {
        let mut text = Text::new(self.size, self.text_scale);
        text.add_above(&self.heading());
        text.add_below(&self.footer());
        // With a number of frames, every run draws the same.
        let seconds = match self.options.frames {
            Some(_) => self.frame as f32 / 60.0,
            None => self.start.elapsed().as_secs_f32(),
        };
        let contents = Contents {
            rotation: Quat::from_rotation_x(0.5) * Quat::from_rotation_y(0.6 + 0.7 * seconds),
            text: &text,
            abort: self.abort,
        };
        let renderer = self.renderer.as_mut().context("there is no device")?;
        let is_last = self.options.frames == Some(self.frame + 1);
        let screenshot = self.options.screenshot.as_deref().filter(|_| is_last);
        let is_drawn = match screenshot {
            Some(path) => match renderer.capture(&contents)? {
                Some(pixels) => {
                    screenshot::write(path, &pixels)?;
                    true
                }
                None => false,
            },
            None => renderer.draw(&contents)?,
        };
        if is_drawn {
            if let Some(abort) = self.abort.take() {
                self.expected = Some((abort, self.frame));
            }
            if is_last {
                renderer.device().wait()?;
            }
        }
        Ok(is_drawn)
    }

    /// Reads the messages of the lost device, and replaces it and the objects that it draws.
    fn recover(&mut self) -> Result<()> {
        if self.last_loss.replace(self.frame) == Some(self.frame) {
            bail!("the device was lost twice without a frame between");
        }
        let start = Instant::now();
        let lost = self.renderer.take().context("there is no device")?;
        // It returns VK_ERROR_DEVICE_LOST again. The validation layer does not notice a loss that a command of the swapchain reports.
        let _ = lost.device().wait();
        let report = messages::read(lost.device()).unwrap_or_else(|error| format!("no message: {error:#}"));
        // The surface can have one swapchain only.
        drop(lost);
        self.renderer = Some(Renderer::new(Device::new(&self.gpu)?, self.size)?);
        self.abort = None;
        self.expected = None;
        let loss = format!(
            "VK_ERROR_DEVICE_LOST before frame {}; a new device after {} ms:",
            self.frame,
            start.elapsed().as_millis()
        );
        println!("{loss}\n{report}");
        self.report = vec![(loss, WHITE)];
        let color = |line: &str| if line.contains("shader aborted:") { RED } else { WHITE };
        self.report
            .extend(report.lines().map(|line| (line.to_owned(), color(line))));
        Ok(())
    }

    fn heading(&self) -> Vec<(String, Color)> {
        let help = "Click: abort at that pixel.  V: corrupt a vertex.  C: never finish the texture.  Esc: quit.";
        let state = missing(&self.gpu).map_or((help.to_owned(), WHITE), |text| (text, RED));
        vec![(self.gpu.name.clone(), WHITE), state]
    }

    fn footer(&self) -> Vec<(String, Color)> {
        match self.expected {
            // The device has finished the frame.
            Some((Abort::Fragment([x, y]), frame)) if self.frame > frame + FRAMES_IN_FLIGHT as u64 => {
                vec![(
                    format!("Pixel ({x}, {y}) is beside the cube: no shader aborted."),
                    WHITE,
                )]
            }
            _ => self.report.clone(),
        }
    }
}

/// Why shaders cannot abort, if so.
fn missing(gpu: &Gpu) -> Option<String> {
    if gpu.is_plain {
        let text = "Shaders have no aborts. C: never finish the texture, which only `vkabort run --sanitize` ends.  Esc: quit.";
        return Some(text.to_owned());
    }
    let names: Vec<_> = gpu.missing.iter().map(|name| name.to_string_lossy()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "Shaders cannot abort: neither the driver nor a layer supports {}. Try `vkabort run vkabort-cube`.",
            names.join(", ")
        )
    })
}
