//! A lit, textured, spinning cube whose shaders abort on request. It sees the device lost, reads the messages, and carries on
//! with a new device in the same window, with the messages as text over the cube.
//!
//! It uses `VK_KHR_shader_abort` through the standard API only, and works the same whether the driver or a layer
//! implements the extension.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "printing is part of this program's job"
)]

mod app;
mod barriers;
mod device;
mod focus;
mod frame;
mod gpu;
mod mesh;
mod messages;
mod options;
mod pipelines;
mod record;
mod renderer;
mod resources;
mod scene;
mod screenshot;
mod session;
mod shaders;
mod surface;
mod swapchain;
mod target;
mod text;
mod vertex_input;

use anyhow::Result;
use clap::Parser;
use options::Options;
use session::Session;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run(Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("vkabort-cube: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: Options) -> Result<()> {
    if !options.headless {
        return app::run(options);
    }
    let mut session = Session::new(options, None)?;
    while !session.advance()? {}
    Ok(())
}
