//! What the driver does, as `VKABORT_TEST_DRIVER` says. The one place where its words are explained.
//!
//! The variable is read by `vkCreateInstance`, which fails if a word is not known. Words are separated by commas, parts
//! of a value by `+`. `N` is the number of a submission with command buffers, counted from 1 over the whole process, or
//! `*` for every one.
//!
//! | word | what it does |
//! | --- | --- |
//! | `kind=cpu`, `kind=gpu`, `kind=integrated` | what the physical devices are; the addresses of a CPU's buffers are host addresses; `gpu` is the default |
//! | `devices=COUNT` | how many physical devices there are; 1 is the default |
//! | `api=1.MINOR` | the version of the physical devices; 1.3 is the default |
//! | `native=abort+fault+data` | which of the three extensions the driver has itself |
//! | `ext_fault` | `VK_EXT_device_fault`, with the records of [`crate::fault`] |
//! | `no_addresses`, `no_vertex_stores`, `no_fragment_stores` | features that are missing |
//! | `replay` | `bufferDeviceAddressCaptureReplay` |
//! | `replay_refused` | the same, but an address that is asked for is always taken by something else |
//! | `import` | `VK_EXT_external_memory_host` |
//! | `memory=KIND+KIND` | the memory types, in this order: `vram`, `bar`, `host`, `cached`, `incoherent`, and with `VK_AMD_device_coherent_memory` alone `amd_bar`, `amd`, `amd_cached`; `vram+host+cached` is the default |
//! | `device_coherent` | `VK_AMD_device_coherent_memory` |
//! | `abort=N` | the shaders of that submission abort, if they can |
//! | `messages=COUNT` | with so many messages each; 1 is the default |
//! | `lose=submit:N` | `vkQueueSubmit` loses the device |
//! | `lose=execute:N` | the device is lost while it executes the submission |
//! | `lose=wait:N` | the Nth command that waits, of the whole process, loses the device |
//! | `lose_after=MS` | so long after the cause; until then the submission has not completed |
//! | `lost_memory=zeros`, `lost_memory=ones` | a loss takes what is in the GPU's own memory with it |
//! | `quiet_loss` | of a loss only `vkDeviceWaitIdle` and the fault queries tell; fences are signalled all the same |
//! | `hang=N`, `hang=N:MS` | the submission never completes, or only after so many milliseconds |
//! | `watchdog=MS` | a submission that hangs for longer loses the device |
//! | `no_faults` | accesses to unmapped addresses do nothing; else they lose the device |
//! | `delay=MS` | every submission takes so long |
//! | `refuse=WHAT:N` | the Nth call fails, `*` every one: `buffer`, `memory`, `import`, `map`, `fence`, `device` |
//! | `bad=counts` | the driver's own fault queries claim to have written more than there was room for |
//! | `bad=incomplete` | they never have room enough |
//! | `deferred` | ray-tracing pipelines are made when the deferred operation is joined, not before |

use std::time::Duration;

/// The variable's name.
pub const VARIABLE: &str = "VKABORT_TEST_DRIVER";

/// Which of a row of events is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nth {
    /// None.
    #[default]
    Never,
    /// The one with this number.
    At(u64),
    /// Each.
    Every,
}

impl Nth {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "*" => Some(Self::Every),
            number => number.parse().ok().filter(|n| *n > 0).map(Self::At),
        }
    }

    /// Whether event `number` is meant.
    pub fn is(self, number: u64) -> bool {
        match self {
            Self::Never => false,
            Self::At(at) => at == number,
            Self::Every => number > 0,
        }
    }
}

/// What a call may be refused.
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
}

impl Refused {
    const ALL: [(&'static str, Self); 6] = [
        ("buffer", Self::Buffer),
        ("memory", Self::Memory),
        ("import", Self::Import),
        ("map", Self::Map),
        ("fence", Self::Fence),
        ("device", Self::Device),
    ];
}

/// Kinds of memory, by their word.
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

/// All of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "explained in the table above, word by word")]
pub struct Settings {
    pub cpu: bool,
    pub integrated: bool,
    pub devices: usize,
    pub minor: u32,
    pub native_abort: bool,
    pub native_fault: bool,
    pub native_data: bool,
    pub ext_fault: bool,
    pub addresses: bool,
    pub vertex_stores: bool,
    pub fragment_stores: bool,
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
    /// What fills the bytes of the GPU's own memory.
    pub lost_memory: Option<u8>,
    pub quiet_loss: bool,
    pub hang: Nth,
    pub hang_for: Option<Duration>,
    pub watchdog: Option<Duration>,
    pub faults: bool,
    pub delay: Duration,
    pub refuse: Vec<(Refused, Nth)>,
    pub bad_counts: bool,
    pub bad_incomplete: bool,
    pub deferred: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            cpu: false,
            integrated: false,
            devices: 1,
            minor: 3,
            native_abort: false,
            native_fault: false,
            native_data: false,
            ext_fault: false,
            addresses: true,
            vertex_stores: true,
            fragment_stores: true,
            replay: false,
            replay_refused: false,
            import: false,
            memory: vec!["vram", "host", "cached"],
            device_coherent: false,
            abort: Nth::Never,
            messages: 1,
            lose_submit: Nth::Never,
            lose_execute: Nth::Never,
            lose_wait: Nth::Never,
            lose_after: Duration::ZERO,
            lost_memory: None,
            quiet_loss: false,
            hang: Nth::Never,
            hang_for: None,
            watchdog: None,
            faults: true,
            delay: Duration::ZERO,
            refuse: Vec::new(),
            bad_counts: false,
            bad_incomplete: false,
            deferred: false,
        }
    }
}

impl Settings {
    /// What the environment says.
    ///
    /// # Errors
    /// The word that is not known.
    pub fn of_environment() -> Result<Self, String> {
        Self::parse(&std::env::var(VARIABLE).unwrap_or_default())
    }

    /// Reads the variable's value.
    ///
    /// # Errors
    /// The word that is not known.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut settings = Self::default();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
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
            "delay" => self.delay = milliseconds(value)?,
            "refuse" => {
                let (what, number) = value.split_once(':')?;
                self.refuse.push((one_of(what, &Refused::ALL)?, Nth::parse(number)?));
            }
            "bad" => match value {
                "counts" => self.bad_counts = true,
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
            "no_addresses" => self.addresses = false,
            "no_vertex_stores" => self.vertex_stores = false,
            "no_fragment_stores" => self.fragment_stores = false,
            "replay" => self.replay = true,
            "replay_refused" => (self.replay, self.replay_refused) = (true, true),
            "import" => self.import = true,
            "device_coherent" => self.device_coherent = true,
            "quiet_loss" => self.quiet_loss = true,
            "no_faults" => self.faults = false,
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
mod tests {
    use super::*;

    #[test]
    fn words_are_read_one_by_one() {
        let text = "kind=cpu, native=abort+data,lose=execute:3,hang=2:500,refuse=memory:*,memory=bar+amd,ext_fault";
        let read = Settings::parse(text).expect("all words are known");
        assert!(read.cpu && read.native_abort && read.native_data && !read.native_fault && read.ext_fault);
        assert_eq!(read.lose_execute, Nth::At(3));
        assert_eq!(
            (read.hang, read.hang_for),
            (Nth::At(2), Some(Duration::from_millis(500)))
        );
        assert_eq!(read.refuse, [(Refused::Memory, Nth::Every)]);
        assert_eq!(read.memory, ["bar", "amd"]);
    }

    #[test]
    fn a_word_that_is_not_known_is_named() {
        for text in [
            "hnag=1",
            "lose=later:1",
            "native=all",
            "hang=0",
            "ext_fault=1",
            "memory=fast",
        ] {
            assert_eq!(Settings::parse(&format!("kind=gpu,{text}")), Err(text.to_owned()));
        }
        assert_eq!(Settings::parse(""), Ok(Settings::default()));
    }
}
