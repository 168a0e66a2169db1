//! The window, and its events.

use crate::options::{Abort, Options};
use crate::session::Session;
use anyhow::{Context, Result};
use ash::vk;
use std::rc::Rc;
use winit::application::ApplicationHandler;
use winit::dpi::{PhysicalPosition, PhysicalSize};
use winit::event::{ElementState, KeyEvent, MouseButton, WindowEvent};
use winit::event_loop::{ActiveEventLoop, EventLoop};
use winit::keyboard::{Key, NamedKey};
use winit::window::{Window, WindowId};

/// Shows the cube in a window until it is closed or the last frame is drawn.
///
/// # Errors
///
/// There is no display or no suitable device, or a Vulkan call fails other than by the loss of the device.
pub fn run(options: Options) -> Result<()> {
    let event_loop = EventLoop::new().context("cannot open a window; try `--headless`")?;
    let mut app = App {
        options: Some(options),
        running: None,
        pointer: PhysicalPosition::default(),
        error: None,
    };
    event_loop.run_app(&mut app)?;
    app.error.map_or(Ok(()), Err)
}

/// What the events change.
struct App {
    /// Until the window is open.
    options: Option<Options>,
    running: Option<Running>,
    /// Position of the pointer in the window, in pixels.
    pointer: PhysicalPosition<f64>,
    /// What ended the program.
    error: Option<anyhow::Error>,
}

struct Running {
    session: Session,
    window: Rc<Window>,
    /// A minimised window may have no pixels.
    is_visible: bool,
}

impl Running {
    fn new(event_loop: &ActiveEventLoop, options: Options) -> Result<Self> {
        let [width, height] = options.size.0;
        let attributes = Window::default_attributes().with_inner_size(PhysicalSize::new(width, height));
        let window = Rc::new(event_loop.create_window(attributes).context("cannot open a window")?);
        let session = Session::new(options, Some(window.clone()))?;
        window.set_title(session.title());
        Ok(Self {
            session,
            window,
            is_visible: true,
        })
    }

    fn resize(&mut self, size: PhysicalSize<u32>) {
        self.is_visible = size.width > 0 && size.height > 0;
        if self.is_visible {
            self.session.resize(vk::Extent2D {
                width: size.width,
                height: size.height,
            });
            self.window.request_redraw();
        }
    }

    /// Draws a frame if the window is visible. Returns whether it was the last.
    fn draw(&mut self) -> Result<bool> {
        if !self.is_visible {
            return Ok(false);
        }
        self.window.request_redraw();
        self.session.advance()
    }
}

impl App {
    fn end(&mut self, event_loop: &ActiveEventLoop, result: Result<()>) {
        self.error = result.err();
        event_loop.exit();
    }
}

impl ApplicationHandler for App {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        let Some(options) = self.options.take() else { return };
        match Running::new(event_loop, options) {
            Ok(running) => self.running = Some(running),
            Err(error) => self.end(event_loop, Err(error)),
        }
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(running) = &mut self.running else { return };
        match event {
            WindowEvent::CloseRequested => self.end(event_loop, Ok(())),
            WindowEvent::Resized(size) => running.resize(size),
            WindowEvent::RedrawRequested => match running.draw() {
                Ok(false) => {}
                Ok(true) => self.end(event_loop, Ok(())),
                Err(error) => self.end(event_loop, Err(error)),
            },
            WindowEvent::CursorMoved { position, .. } => self.pointer = position,
            WindowEvent::MouseInput {
                state: ElementState::Pressed,
                button: MouseButton::Left,
                ..
            } => {
                let pixel = [self.pointer.x as i32, self.pointer.y as i32];
                running.session.request(Abort::Fragment(pixel));
            }
            WindowEvent::KeyboardInput {
                event:
                    KeyEvent {
                        logical_key: key,
                        state: ElementState::Pressed,
                        repeat: false,
                        ..
                    },
                ..
            } => match key.as_ref() {
                Key::Named(NamedKey::Escape) => self.end(event_loop, Ok(())),
                Key::Character("v" | "V") => running.session.request(Abort::Vertex),
                Key::Character("c" | "C") => running.session.request(Abort::Compute),
                _ => {}
            },
            _ => {}
        }
    }

    fn exiting(&mut self, _: &ActiveEventLoop) {
        // Destroys the surface while the display is open.
        self.running = None;
    }
}
