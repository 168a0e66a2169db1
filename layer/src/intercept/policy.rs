//! Policies of forwarded commands. Each is a macro that generates the command's entry point from its row in the table:
//! `policy! { command [command alias] (parameters) }`. The first parameter, the device or queue, is left out. The alias is
//! called where the next layer lacks the command.

/// Selects a command, or else its alias, from the next layer's functions.
macro_rules! pick {
    ([$command:ident $($alias:ident)?]) => {
        |next: &DeviceTable| next.$command$(.or(next.$alias))?
    };
}

/// The command returns without waiting. Returns the loss if there is one before or after it.
macro_rules! observe {
    ($command:ident $next:tt ($($parameter:ident: $type:ty),*)) => {
        pub unsafe extern "system" fn $command(handle: vk::Device, $($parameter: $type),*) -> vk::Result {
            command(|| {
                // SAFETY: valid usage: the device is live.
                match unsafe { next_of(handle, pick!($next)) } {
                    Some((device, next)) => device.checked(DrainBudget::Poll, || {
                        // SAFETY: the application's own arguments.
                        unsafe { next(handle, $($parameter),*) }
                    }),
                    None => MISSING,
                }
            })
        }
    };
}

/// The command creates objects. Returns the loss before it only: a loss returned afterwards would leak the driver's objects.
macro_rules! create {
    ($command:ident $next:tt ($($parameter:ident: $type:ty),*)) => {
        pub unsafe extern "system" fn $command(handle: vk::Device, $($parameter: $type),*) -> vk::Result {
            command(|| {
                // SAFETY: valid usage: the device is live.
                let Some((device, next)) = (unsafe { next_of(handle, pick!($next)) }) else {
                    return MISSING;
                };
                match device.checked(DrainBudget::Poll, || vk::Result::SUCCESS) {
                    // SAFETY: the application's own arguments.
                    vk::Result::SUCCESS => match unsafe { next(handle, $($parameter),*) } {
                        vk::Result::SUCCESS => vk::Result::SUCCESS,
                        error => device.observe(error, DrainBudget::Poll),
                    },
                    lost => lost,
                }
            })
        }
    };
}

/// The command waits up to `timeout` nanoseconds, a parameter or the member of the same name of a parameter `*info`. The
/// layer waits in slices, since a wait in the driver cannot be interrupted.
macro_rules! wait {
    ($command:ident $next:tt ([$timeout:ident] $($parameter:ident: $type:ty),*)) => {
        pub unsafe extern "system" fn $command(handle: vk::Device, $($parameter: $type),*) -> vk::Result {
            command(|| {
                // SAFETY: valid usage: the device is live.
                match unsafe { next_of(handle, pick!($next)) } {
                    Some((device, next)) => wait::sliced(device, $timeout, |$timeout| {
                        // SAFETY: the application's own arguments, except for the timeout.
                        unsafe { next(handle, $($parameter),*) }
                    }),
                    None => MISSING,
                }
            })
        }
    };
    ($command:ident $next:tt ([*$info:ident] $($parameter:ident: $type:ty),*)) => {
        pub unsafe extern "system" fn $command(handle: vk::Device, $($parameter: $type),*) -> vk::Result {
            command(|| {
                // SAFETY: valid usage: the device is live, and `info` points to a valid structure.
                match unsafe { (next_of(handle, pick!($next)), $info.as_ref()) } {
                    (Some((device, next)), Some(info)) => wait::sliced(device, info.timeout, |timeout| {
                        let mut copy = *info;
                        copy.timeout = timeout;
                        let $info = &raw const copy;
                        // SAFETY: the application's own arguments, except for the timeout.
                        unsafe { next(handle, $($parameter),*) }
                    }),
                    _ => MISSING,
                }
            })
        }
    };
}

/// The command submits work to a queue. Forwarded under the queue's lock until the device is sealed. Keeps the driver's
/// result unless an abort is detected before it.
macro_rules! queue {
    ($command:ident $next:tt ($($parameter:ident: $type:ty),*)) => {
        pub unsafe extern "system" fn $command(handle: vk::Queue, $($parameter: $type),*) -> vk::Result {
            command(|| {
                // SAFETY: valid usage: the queue is live.
                match unsafe { next_of(handle, pick!($next)) } {
                    Some((device, next)) => device.on_queue(handle, || {
                        // SAFETY: the application's own arguments; the queue is locked.
                        unsafe { next(handle, $($parameter),*) }
                    }),
                    None => MISSING,
                }
            })
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
            command(|| {
                // SAFETY: valid usage: the queue is live.
                let Some((device, next)) = (unsafe { next_of(handle, pick!($next)) }) else {
                    return MISSING;
                };
                // SAFETY: valid usage: `submits` has `count` elements.
                unsafe { queue::note_submission(device, handle, queue::elements(submits, count), fence) };
                device.on_queue(handle, || {
                    // SAFETY: the application's own arguments; the queue is locked.
                    unsafe { next(handle, count, submits, fence) }
                })
            })
        }
    };
}

/// The command frees or resets objects and returns nothing. Does nothing while the driver may still use them.
macro_rules! free {
    ($command:ident $next:tt ($($parameter:ident: $type:ty),*)) => {
        pub unsafe extern "system" fn $command(handle: vk::Device, $($parameter: $type),*) {
            guarded((), || {
                // SAFETY: valid usage: the device is live.
                if let Some((device, next)) = unsafe { next_of(handle, pick!($next)) }
                    && !device.is_undrained()
                {
                    // SAFETY: the application's own arguments.
                    unsafe { next(handle, $($parameter),*) };
                }
            });
        }
    };
}

/// The command frees or resets objects and returns a result. While the driver may still use them, `VK_SUCCESS` or the result
/// in brackets, without a call.
macro_rules! reset {
    ($command:ident $next:tt ($($parameter:ident: $type:ty),*)) => {
        reset! { $command $next ([vk::Device, SUCCESS] $($parameter: $type),*) }
    };
    ($command:ident $next:tt ([$owner:ty, $undrained:ident] $($parameter:ident: $type:ty),*)) => {
        pub unsafe extern "system" fn $command(handle: $owner, $($parameter: $type),*) -> vk::Result {
            command(|| {
                // SAFETY: valid usage: the device or command buffer is live.
                match unsafe { next_of(handle, pick!($next)) } {
                    Some((device, _)) if device.is_undrained() => vk::Result::$undrained,
                    // SAFETY: the application's own arguments.
                    Some((_, next)) => unsafe { next(handle, $($parameter),*) },
                    None => MISSING,
                }
            })
        }
    };
}

/// The command has code of its own.
macro_rules! custom {
    ($command:ident $next:tt ($($path:tt)*)) => {
        pub use super::super::$($path)* as $command;
    };
}
