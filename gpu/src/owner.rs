//! An owner of objects that a program may leak.

use std::any::Any;
use std::cell::RefCell;

/// Owns objects until [`Owner::destroy`]. Dropping the owner leaks them: a driver that crashes or hangs in a destruction
/// would hide the result of a lost or undrained device.
#[derive(Default)]
pub struct Owner(RefCell<Vec<*mut dyn Any>>);

impl Owner {
    /// Adds an object.
    pub fn own<T: Any>(&self, object: T) -> &'static T {
        let object = Box::into_raw(Box::new(object));
        self.0.borrow_mut().push(object);
        // SAFETY: the box was just created, and only `destroy` frees it.
        unsafe { &*object }
    }

    /// Drops the objects, the newest first.
    ///
    /// # Safety
    ///
    /// No reference that [`Owner::own`] returned is used afterwards, and no pending work uses the objects.
    pub unsafe fn destroy(&self) {
        for object in self.0.take().into_iter().rev() {
            // SAFETY: the pointer is from a box, and left the list before this only drop.
            drop(unsafe { Box::from_raw(object) });
        }
    }
}
