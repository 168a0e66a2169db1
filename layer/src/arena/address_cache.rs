//! Files with the opaque addresses of arenas: one for each arena of a device that lives at the same time as others.
//! A file that is missing, damaged or from another driver costs nothing but the address.
//!
//! A process locks the file of an address for as long as it has the address: shared, since address spaces are mostly a
//! process's own. Whoever writes holds it alone. So of two first runs the second finds what the first has written, and an
//! address that is refused while nobody else holds the file is one that the driver will not give any more.

use super::capture_address::{CaptureAddresses, parse, show};
use super::lock;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Arenas of one kind that may live at the same time with an address to keep.
const SLOTS: u32 = 64;
/// A first run holds its file for as long as making an arena takes.
const PATIENCE: Duration = Duration::from_secs(1);
/// Between looks at a file that another process holds.
const LOOK: Duration = Duration::from_millis(2);
/// Larger files are not ours.
const MOST_BYTES: u64 = 1024;
/// Refusals in a row after which the address is given up although others may have had it.
const REFUSALS: u32 = 3;

/// Which files this process has in use: a set of bits by stem.
static TAKEN: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

/// How a file is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    /// By nobody else, so it may be written.
    Alone,
    /// With others, or perhaps so.
    Shared,
}

/// A file in use.
pub struct AddressFile {
    slot: Slot,
    path: PathBuf,
    file: Option<File>,
    held: Held,
    known: Option<CaptureAddresses>,
    refused: u32,
    /// Why it cannot be written.
    problem: Option<String>,
}

/// The folder of the files.
pub fn folder() -> Result<PathBuf, String> {
    let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME")
        .or_else(|| set("HOME").map(|home| home.join(".cache")))
        .or_else(|| set("LOCALAPPDATA"));
    let cache = cache.ok_or("there is no cache directory: neither XDG_CACHE_HOME nor HOME is set")?;
    Ok(cache.join("vkabort"))
}

impl AddressFile {
    /// The first file that this process does not use, from number `least` on.
    pub fn open(folder: &Path, stem: &str, least: u32) -> Result<Self, String> {
        let slot = Slot::take(stem, least).ok_or("too many devices live at the same time")?;
        let path = folder.join(format!("{stem}-{}", slot.number));
        let _ = std::fs::create_dir_all(folder);
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path);
        let (file, problem) = match opened {
            Ok(file) => (Some(file), None),
            // A file that can only be read has an address all the same.
            Err(error) => (
                File::open(&path).ok(),
                Some(format!("{} cannot be written: {error}", path.display())),
            ),
        };
        let mut kept = Self {
            slot,
            path,
            file,
            held: Held::Shared,
            known: None,
            refused: 0,
            problem,
        };
        kept.settle();
        Ok(kept)
    }

    /// Waits until there is an address, or nobody else who could write one.
    fn settle(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        while let Some(file) = &mut self.file {
            let alone = lock::alone(file);
            if alone || lock::shared(file) {
                let text = text(file);
                (self.known, self.refused) = text.as_deref().and_then(parse).unwrap_or_default();
                if self.known.is_some() {
                    lock::shared(file);
                    return;
                }
                if alone {
                    self.held = Held::Alone;
                    return;
                }
                lock::free(file);
            }
            if Instant::now() >= deadline {
                self.problem = Some(format!("{} is in use and has no address", self.path.display()));
                return;
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Number of the file.
    pub fn number(&self) -> u32 {
        self.slot.number
    }

    /// Its path, for people.
    pub fn path(&self) -> String {
        self.path.display().to_string()
    }

    /// The addresses in it.
    pub fn known(&self) -> Option<CaptureAddresses> {
        self.known
    }

    /// The driver gave the addresses.
    pub fn was_given(&mut self) {
        if self.refused > 0 && self.hold_alone() {
            let _ = self.write(self.known, 0);
        }
        self.share();
    }

    /// The driver refused the addresses; `alone`: this process has no other device. True: they are to be replaced. Else the
    /// file is left to those who have them.
    pub fn was_refused(&mut self, alone: bool) -> bool {
        if !self.hold_alone() {
            return false;
        }
        if alone && self.slot.is_only() {
            return true;
        }
        self.refused += 1;
        let _ = self.write(self.known, self.refused);
        self.refused >= REFUSALS
    }

    /// Keeps new addresses.
    pub fn store(&mut self, found: CaptureAddresses) -> Result<(), String> {
        if let Some(problem) = &self.problem {
            return Err(problem.clone());
        }
        if !self.hold_alone() {
            return Err(format!("{} is in use", self.path.display()));
        }
        let written = self.write(Some(found), 0);
        self.share();
        written
    }

    fn hold_alone(&mut self) -> bool {
        if self.held == Held::Shared
            && let Some(file) = &self.file
        {
            if lock::alone(file) {
                self.held = Held::Alone;
            } else {
                // A lock that cannot be had takes the one before with it.
                lock::shared(file);
            }
        }
        self.held == Held::Alone && self.file.is_some()
    }

    fn share(&mut self) {
        if let Some(file) = &self.file {
            lock::shared(file);
        }
        self.held = Held::Shared;
    }

    fn write(&mut self, known: Option<CaptureAddresses>, refused: u32) -> Result<(), String> {
        let (Some(file), Some(known)) = (&mut self.file, known) else {
            return Err("there is no file".to_owned());
        };
        let written = file
            .rewind()
            .and_then(|()| file.set_len(0))
            .and_then(|()| file.write_all(show(&known, refused).as_bytes()));
        written.map_err(|error| format!("{} cannot be written: {error}", self.path.display()))
    }
}

fn text(file: &mut File) -> Option<String> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(MOST_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

/// A number that no other live arena of this process and of that kind has.
struct Slot {
    stem: String,
    number: u32,
}

impl Slot {
    fn take(stem: &str, least: u32) -> Option<Self> {
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let bits = taken.entry(stem.to_owned()).or_default();
        let number = (least..SLOTS).find(|number| *bits >> number & 1 == 0)?;
        *bits |= 1 << number;
        Some(Self {
            stem: stem.to_owned(),
            number,
        })
    }

    /// No other arena of this process has an address to keep.
    fn is_only(&self) -> bool {
        let taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        taken.values().map(|bits| bits.count_ones()).sum::<u32>() == 1
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bits) = taken.get_mut(&self.stem) {
            *bits &= !(1 << self.number);
            if *bits == 0 {
                taken.remove(&self.stem);
            }
        }
    }
}

#[cfg(test)]
#[path = "address_cache_tests.rs"]
mod tests;
