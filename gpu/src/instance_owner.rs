//! The owner of an instance and of its messenger.

use crate::messages::Messages;
use anyhow::Result;
use ash::vk;
use std::sync::Arc;

/// A debug-utils messenger. Must not outlive its instance.
pub struct Messenger(ash::ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT);

impl Messenger {
    pub(super) fn new(
        entry: &ash::Entry,
        instance: &ash::Instance,
        info: &vk::DebugUtilsMessengerCreateInfoEXT<'_>,
    ) -> Result<Self> {
        let commands = ash::ext::debug_utils::Instance::new(entry, instance);
        // SAFETY: the callback's data outlives the instance.
        let messenger = unsafe { commands.create_debug_utils_messenger(info, None) }?;
        Ok(Self(commands, messenger))
    }
}

impl Drop for Messenger {
    fn drop(&mut self) {
        // SAFETY: the messenger is destroyed only here, and its instance is alive.
        unsafe { self.0.destroy_debug_utils_messenger(self.1, None) };
    }
}

/// Destroys the instance of one or more [`Gpu`](crate::Gpu)s.
pub(super) struct InstanceOwner {
    /// Keeps the loader in memory until the instance is destroyed.
    _entry: ash::Entry,
    instance: ash::Instance,
    messenger: Option<Messenger>,
    /// The messenger has a pointer to them.
    pub(super) messages: Arc<Messages>,
}

impl InstanceOwner {
    /// Takes an instance. A messenger collects in `messages`.
    pub(super) fn new(entry: &ash::Entry, instance: &ash::Instance, messages: Option<&Arc<Messages>>) -> Result<Self> {
        let mut owner = Self {
            _entry: entry.clone(),
            instance: instance.clone(),
            messenger: None,
            messages: messages.cloned().unwrap_or_default(),
        };
        owner.messenger = messages
            .map(|all| Messenger::new(entry, instance, &all.messenger()))
            .transpose()?;
        Ok(owner)
    }
}

impl Drop for InstanceOwner {
    fn drop(&mut self) {
        self.messenger = None;
        // SAFETY: devices borrow a `Gpu`, so none exists, and the messenger is destroyed.
        unsafe { self.instance.destroy_instance(None) };
    }
}
