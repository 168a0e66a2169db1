//! Behaviour of the driver, read from `VKABORT_TEST_DRIVER`. This page documents every word.
//!
//! `vkCreateInstance` reads the variable and fails on an unknown word. Words are separated by commas, parts of a value by
//! `+`. `N` is the number of a submission with command buffers, counted from 1 over the whole process, or `*` for each.
//!
//! | word | effect |
//! | --- | --- |
//! | `kind=cpu`, `kind=gpu`, `kind=integrated` | type of the physical devices; the buffer addresses of a CPU are host addresses; default `gpu` |
//! | `devices=COUNT` | number of physical devices, which form one group; default 1 |
//! | `device_id=NUMBER` | device ID of the first physical device; the UUID stays that of its slot; default 1 |
//! | `api=1.MINOR` | API version of the physical devices; default 1.3 |
//! | `native=abort+fault+data` | native extensions among the three |
//! | `ext_fault` | supports `VK_EXT_device_fault`, with the records of [`crate::fault`] |
//! | `markers=amd`, `markers=nv` | supports `VK_AMD_buffer_marker` or `VK_NV_device_diagnostic_checkpoints` |
//! | `begun=COUNT`, `ended=COUNT` | of a submission that loses the device, that many draws and dispatches begin, and end; default all |
//! | `no_addresses`, `no_vertex_stores`, `no_fragment_stores` | removes features |
//! | `replay` | supports `bufferDeviceAddressCaptureReplay` |
//! | `replay_refused` | same, but every requested address is occupied |
//! | `import` | supports `VK_EXT_external_memory_host` |
//! | `memory=KIND+KIND` | memory types in order: `vram`, `bar`, `host`, `cached`, `incoherent`, and only with `VK_AMD_device_coherent_memory` `amd_bar`, `amd`, `amd_cached`; default `vram+host+cached` |
//! | `device_coherent` | supports `VK_AMD_device_coherent_memory` |
//! | `abort=N` | shaders of that submission abort, if they can |
//! | `messages=COUNT` | number of messages per abort; default 1 |
//! | `lose=submit:N` | `vkQueueSubmit` loses the device |
//! | `lose=execute:N` | execution of the submission loses the device |
//! | `lose=wait:N` | the Nth waiting command of the process loses the device |
//! | `lose_after=MS` | delay between cause and loss; the submission stays incomplete during it |
//! | `lost_memory=zeros`, `lost_memory=ones` | a loss overwrites device-local memory |
//! | `quiet_loss` | only `vkDeviceWaitIdle` and the fault queries report a loss; fences are still signalled |
//! | `hang=N`, `hang=N:MS` | the submission never completes, or completes after MS milliseconds |
//! | `watchdog=MS` | a submission that hangs for longer loses the device |
//! | `no_faults` | accesses to unmapped addresses have no effect; otherwise they lose the device |
//! | `delay=MS` | duration of every submission |
//! | `delay=wait` | a submission is not executed until a command that is called after it waits in the driver |
//! | `refuse=CALL:N` | the Nth call fails, or each with `*`: `buffer`, `memory`, `import`, `map`, `fence`, `device`, `module`, `pipeline`, `shader` (pipelines and shader objects are counted one by one) |
//! | `refuse=CALL:N:host` | same, with `VK_ERROR_OUT_OF_HOST_MEMORY` |
//! | `bad=counts` | native fault queries return counts beyond the buffers |
//! | `bad=binary` | the fault query says that its binary has 16 TiB |
//! | `bad=incomplete` | native fault queries always return `VK_INCOMPLETE` |
//! | `deferred` | ray tracing pipelines are created when the deferred operation is joined |

use ash::vk;
use std::time::Duration;

/// Name of the environment variable.
pub const VARIABLE: &str = "VKABORT_TEST_DRIVER";

/// Selects events of a sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nth {
    /// No event.
    #[default]
    Never,
    /// The event with this number.
    At(u64),
    /// Every event.
    Every,
}

impl Nth {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "*" => Some(Self::Every),
            number => number.parse().ok().filter(|n| *n > 0).map(Self::At),
        }
    }

    /// Whether event `number` is selected.
    pub fn is(self, number: u64) -> bool {
        match self {
            Self::Never => false,
            Self::At(at) => at == number,
            Self::Every => number > 0,
        }
    }
}

/// Calls that can be refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// `vkCreateBuffer`.
    Buffer,
    /// `vkAllocateMemory` of the driver's own memory.
    Memory,
    /// `vkAllocateMemory` of host memory.
    Import,
    /// `vkMapMemory`.
    Map,
    /// `vkCreateFence`.
    Fence,
    /// `vkCreateDevice`.
    Device,
    /// `vkCreateShaderModule`.
    Module,
    /// A pipeline.
    Pipeline,
    /// A shader object.
    Shader,
}

impl Refused {
    /// Words, calls, and their errors unless the settings name another.
    const ALL: [(&'static str, (Self, vk::Result)); 9] = [
        ("buffer", (Self::Buffer, vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)),
        ("memory", (Self::Memory, vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)),
        ("import", (Self::Import, vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)),
        ("map", (Self::Map, vk::Result::ERROR_MEMORY_MAP_FAILED)),
        ("fence", (Self::Fence, vk::Result::ERROR_OUT_OF_HOST_MEMORY)),
        ("device", (Self::Device, vk::Result::ERROR_OUT_OF_HOST_MEMORY)),
        ("module", (Self::Module, vk::Result::ERROR_UNKNOWN)),
        ("pipeline", (Self::Pipeline, vk::Result::ERROR_UNKNOWN)),
        ("shader", (Self::Shader, vk::Result::ERROR_UNKNOWN)),
    ];
}

/// Words of the memory kinds.
pub const MEMORY: [&str; 8] = [
    "vram",
    "bar",
    "host",
    "cached",
    "incoherent",
    "amd_bar",
    "amd",
    "amd_cached",
];

/// Words that apply before those of the variable.
const DEFAULTS: &str = "devices=1,device_id=1,api=1.3,memory=vram+host+cached,messages=1";

/// Parsed settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the module's table documents every word")]
pub struct Settings {
    pub cpu: bool,
    pub integrated: bool,
    pub devices: usize,
    pub device_id: u32,
    pub minor: u32,
    pub native_abort: bool,
    pub native_fault: bool,
    pub native_data: bool,
    pub ext_fault: bool,
    pub amd_markers: bool,
    pub nv_markers: bool,
    pub begun: Option<u64>,
    pub ended: Option<u64>,
    pub no_addresses: bool,
    pub no_vertex_stores: bool,
    pub no_fragment_stores: bool,
    pub replay: bool,
    pub replay_refused: bool,
    pub import: bool,
    pub memory: Vec<&'static str>,
    pub device_coherent: bool,
    pub abort: Nth,
    pub messages: u32,
    pub lose_submit: Nth,
    pub lose_execute: Nth,
    pub lose_wait: Nth,
    pub lose_after: Duration,
    /// Byte that overwrites device-local memory.
    pub lost_memory: Option<u8>,
    pub quiet_loss: bool,
    pub hang: Nth,
    pub hang_for: Option<Duration>,
    pub watchdog: Option<Duration>,
    pub no_faults: bool,
    pub delay: Duration,
    pub delay_until_wait: bool,
    pub refuse: Vec<(Refused, Nth, vk::Result)>,
    pub bad_counts: bool,
    pub bad_binary: bool,
    pub bad_incomplete: bool,
    pub deferred: bool,
}

impl Settings {
    /// Settings from the environment variable.
    ///
    /// # Errors
    /// The first unknown word.
    pub fn from_environment() -> Result<Self, String> {
        Self::parse(&std::env::var(VARIABLE).unwrap_or_default())
    }

    /// Parses the variable's value.
    ///
    /// # Errors
    /// The first unknown word.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut settings = Self::default();
        for word in DEFAULTS
            .split(',')
            .chain(text.split(','))
            .map(str::trim)
            .filter(|word| !word.is_empty())
        {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            settings.set(key, value).ok_or_else(|| word.to_owned())?;
        }
        Ok(settings)
    }

    fn set(&mut self, key: &str, value: &str) -> Option<()> {
        let milliseconds = |text: &str| text.parse().ok().map(Duration::from_millis);
        match key {
            "kind" => {
                let kinds = [
                    ("cpu", (true, false)),
                    ("gpu", (false, false)),
                    ("integrated", (false, true)),
                ];
                (self.cpu, self.integrated) = one_of(value, &kinds)?;
            }
            "lose_after" => self.lose_after = milliseconds(value)?,
            "lost_memory" => self.lost_memory = Some(one_of(value, &[("zeros", 0), ("ones", 0xFF)])?),
            "watchdog" => self.watchdog = Some(milliseconds(value)?),
            "devices" => self.devices = value.parse().ok()?,
            "device_id" => self.device_id = value.parse().ok()?,
            "api" => self.minor = value.strip_prefix("1.")?.parse().ok()?,
            "native" => {
                for part in value.split('+') {
                    match part {
                        "abort" => self.native_abort = true,
                        "fault" => self.native_fault = true,
                        "data" => self.native_data = true,
                        _ => return None,
                    }
                }
            }
            "memory" => {
                let kind = |part| MEMORY.into_iter().find(|kind| *kind == part);
                self.memory = value.split('+').map(kind).collect::<Option<_>>()?;
            }
            "markers" => {
                let kinds = [("amd", (true, false)), ("nv", (false, true))];
                (self.amd_markers, self.nv_markers) = one_of(value, &kinds)?;
            }
            "begun" => self.begun = Some(value.parse().ok()?),
            "ended" => self.ended = Some(value.parse().ok()?),
            "abort" => self.abort = Nth::parse(value)?,
            "messages" => self.messages = value.parse().ok()?,
            "lose" => {
                let (when, number) = value.split_once(':')?;
                let number = Nth::parse(number)?;
                match when {
                    "submit" => self.lose_submit = number,
                    "execute" => self.lose_execute = number,
                    "wait" => self.lose_wait = number,
                    _ => return None,
                }
            }
            "hang" => {
                let (number, time) = value.split_once(':').unwrap_or((value, ""));
                self.hang = Nth::parse(number)?;
                self.hang_for = if time.is_empty() {
                    None
                } else {
                    Some(milliseconds(time)?)
                };
            }
            "delay" if value == "wait" => self.delay_until_wait = true,
            "delay" => self.delay = milliseconds(value)?,
            "refuse" => {
                let (call, number) = value.split_once(':')?;
                let (call, error) = one_of(call, &Refused::ALL)?;
                let (number, error) = match number.strip_suffix(":host") {
                    Some(number) => (number, vk::Result::ERROR_OUT_OF_HOST_MEMORY),
                    None => (number, error),
                };
                self.refuse.push((call, Nth::parse(number)?, error));
            }
            "bad" => match value {
                "counts" => self.bad_counts = true,
                "binary" => self.bad_binary = true,
                "incomplete" => self.bad_incomplete = true,
                _ => return None,
            },
            _ if value.is_empty() => self.flag(key)?,
            _ => return None,
        }
        Some(())
    }

    fn flag(&mut self, word: &str) -> Option<()> {
        match word {
            "ext_fault" => self.ext_fault = true,
            "no_addresses" => self.no_addresses = true,
            "no_vertex_stores" => self.no_vertex_stores = true,
            "no_fragment_stores" => self.no_fragment_stores = true,
            "replay" => self.replay = true,
            "replay_refused" => (self.replay, self.replay_refused) = (true, true),
            "import" => self.import = true,
            "device_coherent" => self.device_coherent = true,
            "quiet_loss" => self.quiet_loss = true,
            "no_faults" => self.no_faults = true,
            "deferred" => self.deferred = true,
            _ => return None,
        }
        Some(())
    }
}

fn one_of<T: Copy>(word: &str, all: &[(&str, T)]) -> Option<T> {
    all.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
}

#[cfg(test)]
mod tests;
