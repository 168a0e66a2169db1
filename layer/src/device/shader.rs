//! From the application's SPIR-V to the driver's.

use crate::device::state::{AbortState, Device, Module};
use crate::report::log::Level;
use ash::vk;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use vkabort_instrument::{Options, Outcome, instrument, sites};

/// What becomes of the words of a module.
pub enum Rewritten {
    /// They pass as they are.
    Unchanged,
    /// They pass as they are, to a driver that runs aborts itself.
    Known {
        /// What is remembered of the module.
        module: Arc<Module>,
    },
    /// They are replaced.
    Changed {
        /// What the driver gets.
        words: Vec<u32>,
        /// What is remembered of the module.
        module: Arc<Module>,
    },
}

/// `OpCapability`.
const OP_CAPABILITY: u32 = 17;
/// Words before the first instruction.
const HEADER: usize = 5;
const CAPABILITY_ABORT: u32 = 5120;
const CAPABILITY_CONSTANT_DATA: u32 = 5146;
const CAPABILITY_POISON_FREEZE: u32 = 5156;

impl Device {
    /// Rewrites a module, if it uses something that the layer provides.
    ///
    /// # Errors
    /// What the command has to return. The reason is in the log.
    pub fn rewrite(
        &self,
        state: &AbortState,
        words: &[u32],
        specialization: BTreeMap<u32, Vec<u8>>,
    ) -> Result<Rewritten, vk::Result> {
        let uses = Uses::of(words);
        if !uses.concern(state) {
            let native = uses.abort && state.enabled.abort && !state.emulated.abort;
            let known = native.then(|| self.known(state, words)).flatten();
            return Ok(known.map_or(Rewritten::Unchanged, |module| Rewritten::Known { module }));
        }
        let options = if specialization.is_empty() {
            Cow::Borrowed(&state.options)
        } else {
            Cow::Owned(Options {
                specialization,
                ..state.options.clone()
            })
        };
        match instrument(words, &options) {
            Ok(Outcome::Unchanged) => Ok(Rewritten::Unchanged),
            Ok(Outcome::Instrumented(new)) => {
                let dump = self.instance.settings.dump_dir.is_some();
                let again = !new.data_spec_ids.is_empty();
                if self.instance.log.takes(Level::Debug) {
                    self.instance.log.line(
                        Level::Debug,
                        &format!(
                            "module {}: {} words became {}, {} abort sites",
                            new.module_hash,
                            words.len(),
                            new.words.len(),
                            new.sites.sites.len()
                        ),
                    );
                }
                let module = Arc::new(Module {
                    sites: Arc::new(new.sites),
                    original: (dump || again).then(|| words.to_vec()),
                    rewritten: dump.then(|| new.words.clone()),
                    data_spec_ids: new.data_spec_ids,
                });
                state.modules.add(&module);
                Ok(Rewritten::Changed {
                    words: new.words,
                    module,
                })
            }
            Err(error) => {
                self.instance
                    .log
                    .line(Level::Error, &format!("a shader module was refused: {error}"));
                Err(vk::Result::ERROR_UNKNOWN)
            }
        }
    }
}

impl Device {
    /// What is to be remembered of a module whose aborts the driver runs: its messages are decoded by it.
    fn known(&self, state: &AbortState, words: &[u32]) -> Option<Arc<Module>> {
        let log = &self.instance.log;
        let options = Options {
            // The limit is the driver's own.
            max_message_bytes: u32::MAX,
            ..Options::default()
        };
        match sites(words, &options) {
            Ok(table) => {
                let module = Arc::new(Module {
                    sites: Arc::new(table?),
                    original: self.instance.settings.dump_dir.is_some().then(|| words.to_vec()),
                    rewritten: None,
                    data_spec_ids: Vec::new(),
                });
                if log.takes(Level::Debug) {
                    let (hash, count) = (module.sites.module_hash, module.sites.sites.len());
                    log.line(
                        Level::Debug,
                        &format!("module {hash}: left to the driver, {count} abort sites"),
                    );
                }
                state.modules.add(&module);
                Some(module)
            }
            Err(error) => {
                let text =
                    format!("a shader module is left to the driver, and its messages cannot be decoded: {error}");
                log.line(Level::Warning, &text);
                None
            }
        }
    }
}

/// Capabilities that a module declares, of those that the layer lowers.
#[derive(Clone, Copy, Default)]
struct Uses {
    abort: bool,
    constant_data: bool,
    poison_freeze: bool,
}

impl Uses {
    /// Reads the capabilities only, which come first in a module.
    fn of(words: &[u32]) -> Self {
        let mut uses = Self::default();
        let mut rest = words.get(HEADER..).unwrap_or_default();
        while let [first, capability, ..] = rest {
            let length = (first >> 16) as usize;
            if first & 0xFFFF != OP_CAPABILITY || length < 2 {
                break;
            }
            uses.abort |= *capability == CAPABILITY_ABORT;
            uses.constant_data |= *capability == CAPABILITY_CONSTANT_DATA;
            uses.poison_freeze |= *capability == CAPABILITY_POISON_FREEZE;
            rest = rest.get(length..).unwrap_or_default();
        }
        uses
    }

    /// Whether the layer has to lower something on this device.
    fn concern(self, state: &AbortState) -> bool {
        let emulated = state.emulated;
        self.abort && emulated.abort
            || self.constant_data && emulated.constant_data
            // No Vulkan extension brings it: whoever enables ours gets it along.
            || self.poison_freeze && !emulated.is_empty()
    }
}

/// The words behind a code pointer. Bytes beyond the last whole word are left out.
///
/// # Safety
/// `code` must be null or point to `bytes` bytes that outlive the result.
pub unsafe fn words_of<'a>(code: *const u32, bytes: usize) -> Cow<'a, [u32]> {
    if code.is_null() {
        return Cow::Borrowed(&[]);
    }
    if code.is_aligned() {
        // SAFETY: the caller vouches for the bytes; they are aligned.
        return Cow::Borrowed(unsafe { std::slice::from_raw_parts(code, bytes / 4) });
    }
    // SAFETY: as above; read one by one since they are not aligned.
    Cow::Owned(
        (0..bytes / 4)
            .map(|i| unsafe { code.add(i).read_unaligned() })
            .collect(),
    )
}

/// The specialisation data of a pipeline stage or shader by `SpecId`.
///
/// # Safety
/// `info` must be null or valid.
pub unsafe fn specialization(info: *const vk::SpecializationInfo<'_>) -> BTreeMap<u32, Vec<u8>> {
    // SAFETY: the caller vouches for the structure and what it points to.
    unsafe {
        let Some(info) = info.as_ref() else {
            return BTreeMap::new();
        };
        if info.p_map_entries.is_null() || info.p_data.is_null() {
            return BTreeMap::new();
        }
        let data = std::slice::from_raw_parts(info.p_data.cast::<u8>(), info.data_size);
        std::slice::from_raw_parts(info.p_map_entries, info.map_entry_count as usize)
            .iter()
            .filter_map(|entry| {
                let begin = entry.offset as usize;
                let bytes = data.get(begin..begin.checked_add(entry.size)?)?;
                Some((entry.constant_id, bytes.to_vec()))
            })
            .collect()
    }
}

/// Specialisation data as the driver gets it.
pub struct Specialization {
    entries: Vec<vk::SpecializationMapEntry>,
    info: vk::SpecializationInfo<'static>,
}

impl Specialization {
    /// The same data without the constants of `taken`, which the rewritten module does not have any more: not every
    /// driver gets along with data of any size. None if it has none of them.
    ///
    /// # Safety
    /// `info` must be null or valid, and outlive the result.
    pub unsafe fn without(info: *const vk::SpecializationInfo<'_>, taken: &[u32]) -> Option<Box<Self>> {
        // SAFETY: the caller vouches for the structure and what it points to.
        let (given, entries) = unsafe {
            let given = info.cast::<vk::SpecializationInfo<'static>>().as_ref()?;
            if given.p_map_entries.is_null() {
                return None;
            }
            (
                given,
                std::slice::from_raw_parts(given.p_map_entries, given.map_entry_count as usize),
            )
        };
        let left: Vec<_> = entries
            .iter()
            .filter(|entry| !taken.contains(&entry.constant_id))
            .copied()
            .collect();
        if left.len() == entries.len() {
            return None;
        }
        let mut without = Box::new(Self {
            entries: left,
            info: *given,
        });
        without.info.map_entry_count = u32::try_from(without.entries.len()).unwrap_or(u32::MAX);
        without.info.p_map_entries = without.entries.as_ptr();
        Some(without)
    }

    /// For a stage. Points into `self`.
    pub fn info(&self) -> *const vk::SpecializationInfo<'static> {
        &self.info
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_that_the_rewrite_took_do_not_reach_the_driver() {
        let entry = |id, offset, size| {
            vk::SpecializationMapEntry::default()
                .constant_id(id)
                .offset(offset)
                .size(size)
        };
        let entries = [entry(1, 0, 14), entry(2, 16, 4), entry(7, 20, 4)];
        let data = [0u8; 24];
        let info = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
        // SAFETY: the structure is valid and outlives the results.
        unsafe {
            assert!(Specialization::without(&info, &[3]).is_none());
            assert!(Specialization::without(std::ptr::null(), &[1]).is_none());
            let Some(left) = Specialization::without(&info, &[1, 7]) else {
                panic!("an entry has to go");
            };
            let left = &*left.info();
            assert_eq!((left.map_entry_count, left.data_size), (1, 24));
            assert_eq!((*left.p_map_entries).constant_id, 2);
            assert_eq!(left.p_data, info.p_data);
        }
    }
}
