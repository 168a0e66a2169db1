//! A compute pipeline over a buffer of words.

use crate::{Buffer, Device, Kernel};
use anyhow::Result;
use ash::vk;
use std::ops::Deref;

/// A kernel and the storage buffer at its binding 0.
pub struct WordKernel<'device> {
    // Dropped before the buffer.
    kernel: Kernel<'device>,
    buffer: Buffer<'device>,
}

impl<'device> WordKernel<'device> {
    /// Creates the buffer with these words, and the pipeline from SPIR-V.
    ///
    /// # Errors
    ///
    /// A call fails; the message names it.
    pub fn new(device: &'device Device<'device>, spirv: &[u32], words: &[u32]) -> Result<Self> {
        let buffer = Buffer::storage(device, words)?;
        let mut kernel = Kernel::unbound(device);
        kernel.bind(&[&buffer], None, vk::ShaderStageFlags::COMPUTE)?;
        kernel.create(spirv, &[], None)?;
        Ok(Self { kernel, buffer })
    }

    /// Writes words to the start of the buffer.
    pub fn write(&self, words: &[u32]) {
        self.buffer.write(words);
    }

    /// Reads the buffer.
    pub fn words(&self) -> Vec<u32> {
        self.buffer.read()
    }
}

impl<'device> Deref for WordKernel<'device> {
    type Target = Kernel<'device>;

    fn deref(&self) -> &Kernel<'device> {
        &self.kernel
    }
}
