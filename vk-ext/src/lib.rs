//! `VK_KHR_shader_abort`, `VK_KHR_device_fault` and `VK_KHR_shader_constant_data`, declared by hand from the registry.

use ash::vk;
use std::ffi::{CStr, c_char, c_void};
use std::ptr;

/// `VK_KHR_shader_abort`.
pub const SHADER_ABORT_NAME: &CStr = c"VK_KHR_shader_abort";
/// `VK_KHR_device_fault`.
pub const DEVICE_FAULT_NAME: &CStr = c"VK_KHR_device_fault";
/// `VK_KHR_shader_constant_data`.
pub const SHADER_CONSTANT_DATA_NAME: &CStr = c"VK_KHR_shader_constant_data";
/// The three of them: a shader that aborts with a string needs all.
pub const EXTENSION_NAMES: [&CStr; 3] = [SHADER_ABORT_NAME, DEVICE_FAULT_NAME, SHADER_CONSTANT_DATA_NAME];

/// `VK_DEVICE_FAULT_FLAG_*_KHR`.
pub mod fault_flags {
    /// The device is lost; no further report follows.
    pub const DEVICE_LOST: u32 = 1 << 0;
    /// `faultAddressInfo` is set.
    pub const MEMORY_ADDRESS: u32 = 1 << 1;
    /// `instructionAddressInfo` is set.
    pub const INSTRUCTION_ADDRESS: u32 = 1 << 2;
    /// `vendorInfo` is set.
    pub const VENDOR: u32 = 1 << 3;
    /// The GPU ran into a time limit.
    pub const WATCHDOG_TIMEOUT: u32 = 1 << 4;
    /// Earlier reports are gone.
    pub const OVERFLOW: u32 = 1 << 5;

    /// The names of the bits in `flags`, joined with `|`.
    pub fn names(flags: u32) -> String {
        let known = [
            (DEVICE_LOST, "DEVICE_LOST"),
            (MEMORY_ADDRESS, "MEMORY_ADDRESS"),
            (INSTRUCTION_ADDRESS, "INSTRUCTION_ADDRESS"),
            (VENDOR, "VENDOR"),
            (WATCHDOG_TIMEOUT, "WATCHDOG_TIMEOUT"),
            (OVERFLOW, "OVERFLOW"),
        ];
        let set: Vec<&str> = known
            .iter()
            .filter(|(bit, _)| flags & bit != 0)
            .map(|(_, name)| *name)
            .collect();
        if set.is_empty() { "0".into() } else { set.join("|") }
    }
}

/// A structure that is chained through `pNext`, with the type number that the registry gives it.
macro_rules! tagged {
    ($(#[$doc:meta])* $name:ident = $number:literal, extends [$($base:ident),*] {
        $($(#[$field_doc:meta])* $field:ident: $ty:ty,)*
    }) => {
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct $name {
            /// Says which structure this is.
            pub s_type: vk::StructureType,
            /// Next structure of the chain, or null.
            pub p_next: *mut c_void,
            $($(#[$field_doc])* pub $field: $ty,)*
        }

        // SAFETY: the structure starts with `sType` and `pNext` as its declaration in the registry does, and
        // STRUCTURE_TYPE is its number there.
        unsafe impl vk::TaggedStructure for $name {
            const STRUCTURE_TYPE: vk::StructureType = vk::StructureType::from_raw($number);
        }
        $(
            // SAFETY: the registry lists the base in this structure's `structextends`.
            unsafe impl vk::$base for $name {}
        )*
    };
}

tagged! {
    /// `VkPhysicalDeviceShaderAbortFeaturesKHR`
    ShaderAbortFeatures = 1_000_233_000, extends [ExtendsPhysicalDeviceFeatures2, ExtendsDeviceCreateInfo] {
        /// Shaders may execute `OpAbortKHR`.
        shader_abort: vk::Bool32,
    }
}
tagged! {
    /// `VkDeviceFaultShaderAbortMessageInfoKHR`
    ShaderAbortMessageInfo = 1_000_233_001, extends [] {
        /// Bytes at `p_message_data`, or bytes needed.
        message_data_size: u64,
        /// Null to ask for the size.
        p_message_data: *mut c_void,
    }
}
tagged! {
    /// `VkPhysicalDeviceShaderAbortPropertiesKHR`
    ShaderAbortProperties = 1_000_233_002, extends [ExtendsPhysicalDeviceProperties2] {
        /// Largest message in bytes.
        max_shader_abort_message_size: u64,
    }
}
tagged! {
    /// `VkPhysicalDeviceShaderConstantDataFeaturesKHR`
    ShaderConstantDataFeatures = 1_000_231_000, extends [ExtendsPhysicalDeviceFeatures2, ExtendsDeviceCreateInfo] {
        /// Shaders may use `OpConstantDataKHR`.
        shader_constant_data: vk::Bool32,
    }
}
tagged! {
    /// `VkPhysicalDeviceFaultFeaturesKHR`
    FaultFeatures = 1_000_573_000, extends [ExtendsPhysicalDeviceFeatures2, ExtendsDeviceCreateInfo] {
        /// Faults can be queried.
        device_fault: vk::Bool32,
        /// Vendor binaries can be queried.
        device_fault_vendor_binary: vk::Bool32,
        /// Faults that the device masked are reported.
        device_fault_report_masked: vk::Bool32,
        /// Faults that the device masked lose it.
        device_fault_device_lost_on_masked: vk::Bool32,
    }
}
tagged! {
    /// `VkPhysicalDeviceFaultPropertiesKHR`
    FaultProperties = 1_000_573_001, extends [ExtendsPhysicalDeviceProperties2] {
        /// Most reports that are kept at a time.
        max_device_fault_count: u32,
    }
}
tagged! {
    /// `VkDeviceFaultInfoKHR`
    FaultInfo = 1_000_573_002, extends [] {
        /// [`fault_flags`].
        flags: u32,
        /// Reports with one cause share it.
        group_id: u64,
        /// NUL-terminated text.
        description: [c_char; vk::MAX_DESCRIPTION_SIZE],
        /// Address that was accessed.
        fault_address_info: vk::DeviceFaultAddressInfoEXT,
        /// Address of the instruction.
        instruction_address_info: vk::DeviceFaultAddressInfoEXT,
        /// What the vendor says.
        vendor_info: vk::DeviceFaultVendorInfoEXT,
    }
}
tagged! {
    /// `VkDeviceFaultDebugInfoKHR`
    FaultDebugInfo = 1_000_573_003, extends [] {
        /// Bytes at `p_vendor_binary_data`, or bytes needed.
        vendor_binary_size: u32,
        /// Null to ask for the size.
        p_vendor_binary_data: *mut c_void,
    }
}

impl ShaderAbortFeatures {
    /// With `shaderAbort` as given.
    pub fn new(enabled: bool) -> Self {
        Self {
            s_type: <Self as vk::TaggedStructure>::STRUCTURE_TYPE,
            p_next: ptr::null_mut(),
            shader_abort: vk::Bool32::from(enabled),
        }
    }
}

impl ShaderConstantDataFeatures {
    /// With `shaderConstantData` as given.
    pub fn new(enabled: bool) -> Self {
        Self {
            s_type: <Self as vk::TaggedStructure>::STRUCTURE_TYPE,
            p_next: ptr::null_mut(),
            shader_constant_data: vk::Bool32::from(enabled),
        }
    }
}

impl FaultFeatures {
    /// With `deviceFault` as given and the other features off.
    pub fn new(enabled: bool) -> Self {
        Self {
            s_type: <Self as vk::TaggedStructure>::STRUCTURE_TYPE,
            p_next: ptr::null_mut(),
            device_fault: vk::Bool32::from(enabled),
            device_fault_vendor_binary: vk::FALSE,
            device_fault_report_masked: vk::FALSE,
            device_fault_device_lost_on_masked: vk::FALSE,
        }
    }
}

impl Default for ShaderAbortProperties {
    fn default() -> Self {
        Self {
            s_type: <Self as vk::TaggedStructure>::STRUCTURE_TYPE,
            p_next: ptr::null_mut(),
            max_shader_abort_message_size: 0,
        }
    }
}

impl Default for FaultProperties {
    fn default() -> Self {
        Self {
            s_type: <Self as vk::TaggedStructure>::STRUCTURE_TYPE,
            p_next: ptr::null_mut(),
            max_device_fault_count: 0,
        }
    }
}

impl Default for FaultInfo {
    fn default() -> Self {
        Self {
            s_type: <Self as vk::TaggedStructure>::STRUCTURE_TYPE,
            p_next: ptr::null_mut(),
            flags: 0,
            group_id: 0,
            description: [0; vk::MAX_DESCRIPTION_SIZE],
            fault_address_info: vk::DeviceFaultAddressInfoEXT::default(),
            instruction_address_info: vk::DeviceFaultAddressInfoEXT::default(),
            vendor_info: vk::DeviceFaultVendorInfoEXT::default(),
        }
    }
}

impl FaultInfo {
    /// The description up to its NUL.
    pub fn text(&self) -> String {
        let bytes: Vec<u8> = self
            .description
            .iter()
            .map(|&c| c.cast_unsigned())
            .take_while(|&c| c != 0)
            .collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl FaultDebugInfo {
    /// A query with `message_info` chained to it and no room for a vendor binary. The caller keeps `message_info`
    /// alive and in place while the query is in use.
    pub fn with_messages(message_info: &mut ShaderAbortMessageInfo) -> Self {
        Self {
            s_type: <Self as vk::TaggedStructure>::STRUCTURE_TYPE,
            p_next: ptr::from_mut(message_info).cast(),
            vendor_binary_size: 0,
            p_vendor_binary_data: ptr::null_mut(),
        }
    }
}

impl ShaderAbortMessageInfo {
    /// A query that asks for the size.
    pub fn sizing() -> Self {
        Self {
            s_type: <Self as vk::TaggedStructure>::STRUCTURE_TYPE,
            p_next: ptr::null_mut(),
            message_data_size: 0,
            p_message_data: ptr::null_mut(),
        }
    }

    /// A query that fills `room`. The caller keeps `room` alive while the query is in use.
    pub fn filling(room: &mut [u8]) -> Self {
        Self {
            message_data_size: room.len() as u64,
            p_message_data: room.as_mut_ptr().cast(),
            ..Self::sizing()
        }
    }
}

/// `PFN_vkGetDeviceFaultReportsKHR`
pub type GetDeviceFaultReports =
    unsafe extern "system" fn(vk::Device, timeout: u64, count: *mut u32, infos: *mut FaultInfo) -> vk::Result;
/// `PFN_vkGetDeviceFaultDebugInfoKHR`
pub type GetDeviceFaultDebugInfo = unsafe extern "system" fn(vk::Device, info: *mut FaultDebugInfo) -> vk::Result;

/// The device commands of `VK_KHR_device_fault`.
#[derive(Clone, Copy, Debug)]
pub struct FaultCommands {
    /// The device they belong to.
    pub device: vk::Device,
    /// `vkGetDeviceFaultReportsKHR`
    pub get_reports: GetDeviceFaultReports,
    /// `vkGetDeviceFaultDebugInfoKHR`
    pub get_debug_info: GetDeviceFaultDebugInfo,
}

impl FaultCommands {
    /// Looks the commands up; `None` if `vkGetDeviceProcAddr` does not have them.
    pub fn load(instance: &ash::Instance, device: &ash::Device) -> Option<Self> {
        let look_up = |name: &CStr| {
            // SAFETY: `device` is alive and `name` is NUL-terminated.
            unsafe { instance.get_device_proc_addr(device.handle(), name.as_ptr()) }
        };
        let reports = look_up(c"vkGetDeviceFaultReportsKHR")?;
        let debug_info = look_up(c"vkGetDeviceFaultDebugInfoKHR")?;
        // SAFETY: the registry gives the command this signature.
        let get_reports = unsafe { std::mem::transmute::<unsafe extern "system" fn(), GetDeviceFaultReports>(reports) };
        // SAFETY: the registry gives the command this signature.
        let get_debug_info =
            unsafe { std::mem::transmute::<unsafe extern "system" fn(), GetDeviceFaultDebugInfo>(debug_info) };
        Some(Self {
            device: device.handle(),
            get_reports,
            get_debug_info,
        })
    }

    /// The number of reports that wait, after at most `timeout` nanoseconds.
    pub fn report_count(&self, timeout: u64) -> (vk::Result, u32) {
        let mut count = 0;
        // SAFETY: the device is alive as long as the application keeps it; a null array asks for the count.
        let result = unsafe { (self.get_reports)(self.device, timeout, &raw mut count, ptr::null_mut()) };
        (result, count)
    }

    /// At most `room` reports, after at most `timeout` nanoseconds.
    pub fn reports(&self, timeout: u64, room: u32) -> (vk::Result, Vec<FaultInfo>) {
        let mut infos = vec![FaultInfo::default(); room as usize];
        let mut count = room;
        // SAFETY: `infos` has room for `count` structures, all initialised.
        let result = unsafe { (self.get_reports)(self.device, timeout, &raw mut count, infos.as_mut_ptr()) };
        infos.truncate(count as usize);
        (result, infos)
    }

    /// Bytes of message data that there are.
    pub fn message_size(&self) -> (vk::Result, u64) {
        let mut messages = ShaderAbortMessageInfo::sizing();
        let mut info = FaultDebugInfo::with_messages(&mut messages);
        // SAFETY: `info` chains to `messages`, which asks for the size; both outlive the call.
        let result = unsafe { (self.get_debug_info)(self.device, &raw mut info) };
        (result, messages.message_data_size)
    }

    /// Fills `room` with message data. Returns the result and the number of bytes that were written.
    pub fn messages_into(&self, room: &mut [u8]) -> (vk::Result, u64) {
        let mut messages = ShaderAbortMessageInfo::filling(room);
        let mut info = FaultDebugInfo::with_messages(&mut messages);
        // SAFETY: `info` chains to `messages`, which points to as many writable bytes as it says; all outlive the call.
        let result = unsafe { (self.get_debug_info)(self.device, &raw mut info) };
        (result, messages.message_data_size)
    }

    /// All message data: the sizing call, then the filling call.
    ///
    /// # Errors
    ///
    /// Any result of either call but `VK_SUCCESS`.
    pub fn message_data(&self) -> Result<Vec<u8>, vk::Result> {
        let (result, size) = self.message_size();
        result.result()?;
        let mut data = vec![0; usize::try_from(size).unwrap_or(0)];
        let (result, written) = self.messages_into(&mut data);
        result.result()?;
        data.truncate(usize::try_from(written).unwrap_or(0));
        Ok(data)
    }
}
