//! The layer's entry points of the commands that `loader::commands` declares.

use super::destroy::destroy_object;
use super::{MISSING, forward, physical_device, queue, recording, wait};
use crate::device_loss::DrainBudget;
use crate::loader::commands::commands;
use crate::loader::dispatch::{PfnDestroy, VoidFn, erase};
use crate::loader::ffi::elements;
use ash::vk;
use std::ffi::{CStr, c_void};

/// The owner of a command, and the devices for which the layer's entry point is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An instance, or none.
    Instance,
    /// A physical device.
    PhysicalDevice,
    /// A device. Returned where the device uses the extensions and the next layer has the command.
    Device,
    /// A device; the command takes SPIR-V. Returned as [`Kind::Device`], and to report modules whose aborts have no effect.
    Shader,
    /// A device. Always returned.
    AlwaysDevice,
    /// `VK_KHR_device_fault`. Returned where the device enables it.
    Fault,
    /// A device. Returned where addresses of buffers are tested (the check `addresses`).
    Addressed,
    /// A command buffer. Returned where its commands are recorded (`commands = on`).
    Recorded,
}

macro_rules! intercepts {
    (
        global { $($global:tt)* }
        instance { $($instance:tt)* }
        called_on_instances { $($i_called:tt)* }
        device { $($device:tt)* }
        called_on_devices { $($d_called:tt)* }
        destroy { $($destroy:ident)* }
    ) => {
        intercepts! {
            $($global)* $($instance)* $($device)*
            $(Device $destroy: PfnDestroy => destroy ();)*
        }
    };
    ($($kind:ident $command:ident $(| $alias:ident)?: $pfn:ty => $policy:ident $parameters:tt;)*) => {
        #[allow(non_snake_case, clippy::too_many_arguments)]
        mod entry_points {
            use super::*;
            $(
                $policy! { $command [$command $($alias)?] $parameters }
                $($policy! { $alias [$alias $command] $parameters })?
            )*
        }

        /// The layer's entry point of a command. None if the layer does not intercept it.
        pub fn find(name_of_command: &CStr) -> Option<(Kind, VoidFn)> {
            let name = name_of_command.to_bytes();
            $(
                if name == stringify!($command).as_bytes() {
                    return Some((Kind::$kind, erase::<$pfn>(entry_points::$command)));
                }
                $(if name == stringify!($alias).as_bytes() {
                    return Some((Kind::$kind, erase::<$pfn>(entry_points::$alias)));
                })?
            )*
            recording::find(name_of_command).map(|own| (Kind::Recorded, own))
        }
    };
}
commands!(intercepts);

#[cfg(test)]
mod tests {
    use super::*;

    const DEVICE_LOST_COMMANDS: &str = include_str!("device_lost_commands.txt");

    #[test]
    fn every_device_command_that_can_report_a_loss_is_intercepted() {
        let rows = DEVICE_LOST_COMMANDS.lines().filter(|line| !line.starts_with('#'));
        let mut device_commands = 0;
        for row in rows {
            let (owner, name) = row.split_once(' ').expect("an owner and a command");
            let name = std::ffi::CString::new(name).expect("no NUL in a name");
            let kind = find(&name).map(|found| found.0);
            match (owner, name.as_bytes()) {
                ("device" | "queue", _) => {
                    assert_eq!(kind, Some(Kind::Device), "{name:?}");
                    device_commands += 1;
                }
                ("physical", b"vkCreateDevice") => assert_eq!(kind, Some(Kind::PhysicalDevice)),
                ("physical", _) => assert_eq!(kind, None, "{name:?}: a physical device is not lost"),
                _ => panic!("{owner} does not own commands"),
            }
        }
        assert!(device_commands > 0, "the list is empty");
    }

    #[test]
    fn commands_of_command_buffers_are_of_the_kind_that_a_setting_switches_on() {
        for name in [c"vkEndCommandBuffer", c"vkCmdDispatch", c"vkCmdDraw"] {
            assert_eq!(find(name).map(|found| found.0), Some(Kind::Recorded), "{name:?}");
        }
        assert!(find(c"vkCmdCopyBuffer").is_none());
    }
}
