//! Tables of the next layer's functions.
//!
//! Every entry is optional: a driver may lack any function, and callers handle that.

use super::commands::commands;
use super::recorded::recorded;
use ash::vk;
use std::ffi::CStr;

/// A function pointer of any type. Cast it to the type of its name before a call.
pub type VoidFn = unsafe extern "system" fn();

/// Erases the type of a function, which is `F`.
pub const fn erase<F: Copy>(own: F) -> VoidFn {
    assert!(size_of::<F>() == size_of::<VoidFn>());
    // SAFETY: every declared type is a function pointer, and all function pointers have one size and representation.
    unsafe { std::mem::transmute_copy(&own) }
}

/// A function that destroys or frees one object. All share this shape, since non-dispatchable handles are 64 bits wide.
pub type PfnDestroy =
    unsafe extern "system" fn(device: vk::Device, object: u64, allocator: *const vk::AllocationCallbacks<'_>);

macro_rules! next_table {
    ($(#[$doc:meta])* $table:ident { $($function:ident: $pfn:ty,)* }) => {
        $(#[$doc])*
        #[allow(non_snake_case, missing_docs)]
        pub struct $table { $(pub $function: Option<$pfn>,)* }

        impl $table {
            /// A table without functions.
            #[cfg(test)]
            pub const EMPTY: Self = Self { $($function: None,)* };

            /// Looks up every function of the table with `get`.
            ///
            /// # Safety
            /// `get` must answer each name with null or with a function of the type that belongs to the name.
            pub unsafe fn load(get: impl Fn(&CStr) -> vk::PFN_vkVoidFunction) -> Self {
                Self {
                    $($function: {
                        const NAME: &CStr = match CStr::from_bytes_with_nul(
                            concat!(stringify!($function), "\0").as_bytes(),
                        ) {
                            Ok(name) => name,
                            Err(_) => panic!("a function name"),
                        };
                        // SAFETY: `get` answers this name with a function of type `$pfn` (the caller's contract).
                        get(NAME).map(|f| unsafe { std::mem::transmute::<VoidFn, $pfn>(f) })
                    },)*
                }
            }
        }
    };
}

macro_rules! next_tables {
    (
        global { $($global:tt)* }
        instance { $($i_kind:ident $instance:ident $(| $i_alias:ident)?: $i_pfn:ty => $i_policy:ident $i_rest:tt;)* }
        called_on_instances { $($i_called:ident: $i_called_pfn:ty;)* }
        device { $($d_kind:ident $device:ident $(| $d_alias:ident)?: $d_pfn:ty => $d_policy:ident $d_rest:tt;)* }
        called_on_devices { $($d_called:ident: $d_called_pfn:ty;)* }
        destroy { $($destroy:ident)* }
    ) => {
        next_table! {
            /// Instance and physical-device functions, looked up once when the instance is created: later lookups return the
            /// top of the layer chain, so this layer's own functions, on loaders before 1.3.251.
            InstanceTable {
                $($instance: $i_pfn, $($i_alias: $i_pfn,)?)*
                $($i_called: $i_called_pfn,)*
            }
        }
        next_table! {
            /// Device functions.
            DeviceTable {
                $($device: $d_pfn, $($d_alias: $d_pfn,)?)*
                $($d_called: $d_called_pfn,)*
                $($destroy: PfnDestroy,)*
            }
        }
    };
}
commands!(next_tables);

macro_rules! recorded_table {
    (
        actions { $($action:ident $(| $a_alias:ident)*: $a_pfn:ty => $bound:tt $a_parameters:tt;)* }
        states { $($state:ident $(| $s_alias:ident)*: $s_pfn:ty => $code:tt $s_parameters:tt;)* }
    ) => {
        next_table! {
            /// The recorded commands of command buffers.
            RecordedTable {
                $($action: $a_pfn, $($a_alias: $a_pfn,)*)*
                $($state: $s_pfn, $($s_alias: $s_pfn,)*)*
            }
        }
    };
}
recorded!(recorded_table);
