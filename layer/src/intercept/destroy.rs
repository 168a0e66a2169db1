//! The commands that destroy or free one object. While the driver may still use the device's objects, the objects are kept.

use super::guarded;
use crate::device::registry::device_of;
use crate::loader::dispatch::{DeviceTable, PfnDestroy};
use ash::vk::{self, Handle as _};

/// The type of the objects that a command destroys, if reports name them.
fn named_kind(command: &str) -> Option<vk::ObjectType> {
    match command {
        "vkDestroyPipeline" => Some(vk::ObjectType::PIPELINE),
        "vkDestroyShaderEXT" => Some(vk::ObjectType::SHADER_EXT),
        _ => None,
    }
}

/// The entry point of a command that destroys or frees one object.
///
/// # Safety
/// Valid usage of the command; `pick` must select the next layer's.
#[inline]
pub unsafe fn destroy_object(
    command: &str,
    pick: impl FnOnce(&DeviceTable) -> Option<PfnDestroy>,
    handle: vk::Device,
    object: u64,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    guarded((), || {
        // SAFETY: the device is live (the caller's contract).
        let Some(device) = (unsafe { device_of(handle) }) else {
            return;
        };
        // Before the call: another thread may get the same handle as soon as the driver frees it.
        if let (Some(state), Some(kind)) = (&device.state, named_kind(command)) {
            state.objects.remove(kind, object, state.has_unreported_aborts());
        }
        if command == "vkDestroyCommandPool"
            && let Some(state) = device.state.as_ref().filter(|_| !device.is_undrained())
            && let Some(commands) = &state.commands
        {
            commands.destroy_pool(vk::CommandPool::from_raw(object), || state.has_unreported_aborts());
        }
        if let Some(addresses) = device.state.as_ref().and_then(|state| state.addresses.as_ref()) {
            match command {
                "vkDestroyBuffer" => addresses.remove(vk::Buffer::from_raw(object)),
                "vkFreeMemory" => addresses.free(vk::DeviceMemory::from_raw(object)),
                _ => {}
            }
        }
        let Some(next) = pick(&device.next) else {
            return;
        };
        match &device.state {
            Some(state) if device.is_undrained() => state.kept.add(next, object, allocator),
            // SAFETY: the device is live, and nothing uses the object any more (the caller's contract).
            _ => unsafe { next(handle, object, allocator) },
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::state::Phase;
    use crate::device::state::testing::module;
    use crate::intercept::testing::TestDevice;
    use std::ptr;

    #[test]
    fn names_end_with_their_objects_but_not_before_their_aborts_are_reported() {
        for (command, kind) in [
            ("vkDestroyPipeline", vk::ObjectType::PIPELINE),
            ("vkDestroyShaderEXT", vk::ObjectType::SHADER_EXT),
        ] {
            let device = TestDevice::new(DeviceTable::EMPTY);
            let pick = |next: &DeviceTable| next.vkDestroyPipeline;
            let objects = &device.state().objects;
            let create_and_destroy = || {
                objects.add(kind, 7, vec![module(1)]);
                objects.set_name(kind, 7, "name".to_owned());
                // SAFETY: the device is live, and the next layer has no such command.
                unsafe { destroy_object(command, pick, device.handle(), 7, ptr::null()) };
                assert_eq!(objects.name(kind, 7), None);
                objects.destroyed()
            };
            assert_eq!(create_and_destroy(), 0);
            device.state().loss.enter(Phase::Quiescing);
            assert_eq!(create_and_destroy(), 1, "the report of {command} lacks the name");
            device.state().loss.enter(Phase::Lost);
            assert_eq!(create_and_destroy(), 1, "kept after the report");
        }
    }

    #[test]
    fn an_object_destroyed_while_a_report_is_being_built_is_kept() {
        let device = TestDevice::new(DeviceTable::EMPTY);
        assert!(!device.state().has_unreported_aborts());
        let report = crate::locks::lock(&device.state().loss.drain_deadline);
        assert!(device.state().has_unreported_aborts());
        drop(report);
        assert!(!device.state().has_unreported_aborts());
    }
}
