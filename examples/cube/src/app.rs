//! The window, and its events.

use crate::focus;
use crate::options::{Abort, Options};
use crate::session::Session;
use anyhow::{Context, Result};
use ash::vk;
use std::rc::Rc;
use std::time::{Duration, Instant};
use winit::application::ApplicationHandler;
use winit::dpi::{PhysicalPosition, PhysicalSize};
use winit::event::{ElementState, KeyEvent, MouseButton, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::keyboard::{Key, NamedKey};
use winit::window::{Window, WindowId};

/// Time between two looks at a window that is not visible: not every window system announces that it is visible again.
const REST: Duration = Duration::from_millis(100);

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

/// The state that events change.
struct App {
    /// Until the window is open.
    options: Option<Options>,
    running: Option<Running>,
    /// Position of the pointer in the window, in pixels.
    pointer: PhysicalPosition<f64>,
    /// The error that ended the program.
    error: Option<anyhow::Error>,
}

struct Running {
    session: Session,
    window: Rc<Window>,
    /// A minimised window may have no pixels.
    is_empty: bool,
    /// Other windows cover it.
    is_covered: bool,
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
            is_empty: false,
            is_covered: false,
        })
    }

    /// Whether frames would be seen. Asks the window system about minimised windows, which X11 neither resizes nor covers.
    fn is_visible(&self) -> bool {
        !self.is_empty && !self.is_covered && self.window.is_minimized() != Some(true)
    }

    fn resize(&mut self, size: PhysicalSize<u32>) {
        self.is_empty = size.width == 0 || size.height == 0;
        if !self.is_empty {
            self.session.resize(vk::Extent2D {
                width: size.width,
                height: size.height,
            });
        }
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
            WindowEvent::Occluded(is_covered) => running.is_covered = is_covered,
            WindowEvent::RedrawRequested => match running.session.advance() {
                Ok(false) => {}
                Ok(true) => self.end(event_loop, Ok(())),
                Err(error) => self.end(event_loop, Err(error)),
            },
            WindowEvent::CursorEntered { .. } => focus::take(&running.window),
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

    /// Draws frame after frame while they are seen, and rests otherwise.
    fn about_to_wait(&mut self, event_loop: &ActiveEventLoop) {
        let Some(running) = &self.running else { return };
        if running.is_visible() {
            running.window.request_redraw();
            event_loop.set_control_flow(ControlFlow::Wait);
        } else {
            event_loop.set_control_flow(ControlFlow::WaitUntil(Instant::now() + REST));
        }
    }

    fn exiting(&mut self, _: &ActiveEventLoop) {
        // Destroys the surface while the display is open.
        self.running = None;
    }
}
