//! Objects that the application has destroyed while the driver may still use them.

use crate::loader::dispatch::PfnDestroy;
use crate::locks::lock;
use crate::sync::Mutex;
use ash::vk;

/// The objects of a device that could not be drained. They are destroyed with it, if it becomes idle before.
#[derive(Default)]
pub struct KeptObjects(Mutex<List>);

#[derive(Default)]
struct List {
    /// In the order in which the application destroyed them.
    objects: Vec<(PfnDestroy, u64)>,
    /// Some objects belong to allocators of the application, which need not outlive the call that destroys the object.
    has_allocators: bool,
}

impl KeptObjects {
    /// Keeps an object that `destroy` would have destroyed.
    pub fn add(&self, destroy: PfnDestroy, object: u64, allocator: *const vk::AllocationCallbacks<'_>) {
        let list = &mut *lock(&self.0);
        if allocator.is_null() {
            list.objects.push((destroy, object));
        } else {
            list.has_allocators = true;
        }
    }

    /// Destroys the objects. Returns false, and destroys none, if some cannot be destroyed: nor can their device then
    /// (VUID-vkDestroyDevice-device-05137).
    ///
    /// # Safety
    /// The objects must belong to `device`, which must be idle.
    pub unsafe fn destroy(&self, device: vk::Device) -> bool {
        let list = std::mem::take(&mut *lock(&self.0));
        if list.has_allocators {
            return false;
        }
        for (destroy, object) in list.objects {
            // SAFETY: the application has destroyed the object, and no work uses it any more (the caller's contract).
            unsafe { destroy(device, object, std::ptr::null()) };
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ash::vk::Handle as _;
    use std::cell::RefCell;
    use std::ptr;

    thread_local! {
        static DESTROYED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
    }

    unsafe extern "system" fn destroy(_: vk::Device, object: u64, _: *const vk::AllocationCallbacks<'_>) {
        DESTROYED.with_borrow_mut(|destroyed| destroyed.push(object));
    }

    #[test]
    fn objects_are_destroyed_in_order_unless_one_has_an_allocator() {
        let device = vk::Device::from_raw(1);
        let objects = KeptObjects::default();
        // SAFETY: the function ignores the device.
        let destroy_all = || unsafe { objects.destroy(device) };
        assert!(destroy_all());
        objects.add(destroy, 7, ptr::null());
        objects.add(destroy, 5, ptr::null());
        assert!(destroy_all());
        assert_eq!(DESTROYED.take(), [7, 5]);
        let allocator = vk::AllocationCallbacks::default();
        objects.add(destroy, 8, ptr::null());
        objects.add(destroy, 9, &raw const allocator);
        assert!(!destroy_all());
        assert_eq!(DESTROYED.take(), [0; 0]);
    }
}
