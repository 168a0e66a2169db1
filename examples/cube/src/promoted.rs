//! What the cube needs of Vulkan 1.3: extensions provide it on devices with Vulkan 1.2.

use ash::{khr, vk};
use std::ffi::CStr;
use std::ptr;

/// The extensions, all of them part of Vulkan 1.3. The debug information of the shaders needs the last.
const EXTENSIONS: [&CStr; 3] = [
    khr::dynamic_rendering::NAME,
    khr::synchronization2::NAME,
    khr::shader_non_semantic_info::NAME,
];
/// Their commands that the cube calls: the names of Vulkan 1.3 and of the extension. Parameters are the same.
const COMMANDS: [(&CStr, &CStr); 4] = [
    (c"vkCmdBeginRendering", c"vkCmdBeginRenderingKHR"),
    (c"vkCmdEndRendering", c"vkCmdEndRenderingKHR"),
    (c"vkCmdPipelineBarrier2", c"vkCmdPipelineBarrier2KHR"),
    (c"vkQueueSubmit2", c"vkQueueSubmit2KHR"),
];

/// The extensions that a device of this version of Vulkan needs.
pub fn extensions(version: u32) -> &'static [&'static CStr] {
    if version < vk::API_VERSION_1_3 {
        &EXTENSIONS
    } else {
        &[]
    }
}

/// Lets the commands of a new device be those of the extensions, if this version of Vulkan needs them.
pub fn load(version: u32, instance: &ash::Instance, device: ash::Device) -> ash::Device {
    if extensions(version).is_empty() {
        return device;
    }
    let command = |name: &CStr| {
        let renamed = COMMANDS.iter().find(|(core, _)| *core == name);
        let name = renamed.map_or(name, |(_, extension)| extension);
        // SAFETY: the instance has created the device, and `name` ends with a null.
        let command = unsafe { instance.get_device_proc_addr(device.handle(), name.as_ptr()) };
        command.map_or(ptr::null(), |command| command as *const _)
    };
    // SAFETY: each command is of this device, and has the type of the command that it replaces.
    unsafe { ash::Device::load_with(command, device.handle()) }
}
