//! Policies of intercepted commands. Each is a macro that generates the command's entry point from its row in
//! `loader::commands`: `policy! { command [command alias] (parameters) }`. The alias is called where the next layer lacks the
//! command. Generated entry points rely on the valid usage of their command alone, as those with code of their own do.

/// Selects a command, or else its alias, from the next layer's functions.
macro_rules! pick {
    ([$command:ident $($alias:ident)?]) => {
        |next| next.$command$(.or(next.$alias))?
    };
}

/// The command returns without waiting. Returns the loss if there is one before or after it.
macro_rules! observe {
    ($command:ident $next:tt ($($parameter:ident: $type:ty),*)) => {
        pub unsafe extern "system" fn $command(handle: vk::Device, $($parameter: $type),*) -> vk::Result {
            // SAFETY: valid usage: the device is live, and the arguments are passed on.
            unsafe {
                forward(handle, pick!($next), |device, next| {
                    device.checked(DrainBudget::Poll, || next(handle, $($parameter),*))
                })
            }
        }
    };
}

/// The command creates objects. Returns the loss before it only: a loss returned afterwards would leak the driver's objects.
macro_rules! create {
    ($command:ident $next:tt ($($parameter:ident: $type:ty),*)) => {
        pub unsafe extern "system" fn $command(handle: vk::Device, $($parameter: $type),*) -> vk::Result {
            // SAFETY: valid usage: the device is live, and the arguments are passed on.
            unsafe {
                forward(handle, pick!($next), |device, next| {
                    match device.checked(DrainBudget::Poll, || vk::Result::SUCCESS) {
                        vk::Result::SUCCESS => match next(handle, $($parameter),*) {
                            vk::Result::SUCCESS => vk::Result::SUCCESS,
                            error => device.observe(error, DrainBudget::Poll),
                        },
                        lost => lost,
                    }
                })
            }
        }
    };
}

/// The command waits up to `timeout` nanoseconds, a parameter or the member of the same name of a parameter `*info`. The
/// layer waits in slices, since a wait in the driver cannot be interrupted.
macro_rules! wait {
    ($command:ident $next:tt ([$timeout:ident] $($parameter:ident: $type:ty),*)) => {
        pub unsafe extern "system" fn $command(handle: vk::Device, $($parameter: $type),*) -> vk::Result {
            // SAFETY: valid usage: the device is live, and all arguments but the timeout are passed on.
            unsafe {
                forward(handle, pick!($next), |device, next| {
                    wait::sliced(device, $timeout, |$timeout| next(handle, $($parameter),*))
                })
            }
        }
    };
    ($command:ident $next:tt ([*$info:ident] $($parameter:ident: $type:ty),*)) => {
        pub unsafe extern "system" fn $command(handle: vk::Device, $($parameter: $type),*) -> vk::Result {
            // SAFETY: valid usage: the device is live, `info` points to a valid structure, and all arguments but its timeout are
            // passed on.
            unsafe {
                forward(handle, pick!($next), |device, next| match $info.as_ref() {
                    Some(info) => wait::sliced(device, info.timeout, |timeout| {
                        let mut copy = *info;
                        copy.timeout = timeout;
                        let $info = &raw const copy;
                        next(handle, $($parameter),*)
                    }),
                    None => MISSING,
                })
            }
        }
    };
}

/// The command submits work to a queue. Forwarded under the queue's lock until the device is sealed. Keeps the driver's
/// result unless an abort is detected before it.
macro_rules! queue {
    ($command:ident $next:tt ($($parameter:ident: $type:ty),*)) => {
        pub unsafe extern "system" fn $command(handle: vk::Queue, $($parameter: $type),*) -> vk::Result {
            // SAFETY: valid usage: the queue is live, and the arguments are passed on; its lock keeps drains from using it.
            unsafe {
                forward(handle, pick!($next), |device, next| {
                    device.on_queue(handle, || next(handle, $($parameter),*))
                })
            }
        }
    };
}

/// The command submits structures of a type to a queue. As `queue`; submissions are noted for reports.
macro_rules! submit {
    ($command:ident $next:tt ($type:ty)) => {
        pub unsafe extern "system" fn $command(
            handle: vk::Queue,
            count: u32,
            submits: *const $type,
            fence: vk::Fence,
        ) -> vk::Result {
            // SAFETY: valid usage: the queue is live, `submits` has `count` elements, and the arguments are passed on; the
            // queue's lock keeps drains from using it.
            unsafe {
                forward(handle, pick!($next), |device, next| {
                    queue::note_submission(device, handle, elements(submits, count), fence);
                    device.on_queue(handle, || next(handle, count, submits, fence))
                })
            }
        }
    };
}

/// The command destroys or frees one object. The object is kept while the driver may still use it.
macro_rules! destroy {
    ($command:ident $next:tt ()) => {
        pub unsafe extern "system" fn $command(
            handle: vk::Device,
            object: u64,
            allocator: *const vk::AllocationCallbacks<'_>,
        ) {
            // SAFETY: valid usage: the device is live, and the arguments are passed on.
            unsafe { destroy_object(stringify!($command), pick!($next), handle, object, allocator) };
        }
    };
}

/// The command resets objects and returns a result. While the driver may still use them, `VK_SUCCESS` without a call.
macro_rules! reset {
    ($command:ident $next:tt ($($parameter:ident: $type:ty),*)) => {
        pub unsafe extern "system" fn $command(handle: vk::Device, $($parameter: $type),*) -> vk::Result {
            // SAFETY: valid usage: the device is live, and the arguments are passed on.
            unsafe {
                forward(handle, pick!($next), |device, next| match device.is_undrained() {
                    true => vk::Result::SUCCESS,
                    false => next(handle, $($parameter),*),
                })
            }
        }
    };
}

/// The command fills a chain of output structures of a physical device.
macro_rules! query {
    ($command:ident $next:tt ($output:ty)) => {
        pub unsafe extern "system" fn $command(handle: vk::PhysicalDevice, output: *mut $output) {
            // SAFETY: valid usage: the physical device is live, and the arguments are passed on.
            unsafe { physical_device::query(pick!($next), handle, output) };
        }
    };
}

/// The command lists the tools of a physical device.
macro_rules! query_tools {
    ($command:ident $next:tt ()) => {
        pub unsafe extern "system" fn $command(
            handle: vk::PhysicalDevice,
            count: *mut u32,
            properties: *mut vk::PhysicalDeviceToolProperties<'_>,
        ) -> vk::Result {
            // SAFETY: valid usage: the physical device is live, and the arguments are passed on.
            unsafe { physical_device::query_tools(pick!($next), handle, count, properties) }
        }
    };
}

/// The command has code of its own.
macro_rules! custom {
    ($command:ident $next:tt ($($path:tt)*)) => {
        pub use super::super::$($path)* as $command;
    };
}
