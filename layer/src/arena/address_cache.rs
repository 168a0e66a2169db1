//! Files with the opaque capture addresses of arenas, one per arena of a device that exists at the same time as others. A
//! file that is missing, damaged or from another driver costs nothing but the address.
//!
//! The folder and the files are private to the user. Other files in the folder with these names are not trusted: only
//! regular files of this user are opened, and a file that does not begin with [`MAGIC`] is never written.
//!
//! A process locks the file as long as it uses the address: shared, since processes usually have separate address spaces.
//! A writer locks it exclusively. So of two first runs the second finds the addresses of the first, and an address that is
//! refused while no other process has the lock is one that the driver no longer provides.

use super::capture_address::{CaptureAddresses, MAGIC, format, parse};
use crate::environment;
use crate::locks::lock;
use crate::os;
use crate::private_file::{self, Access};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Longest wait for another process that writes its first address.
const LOCK_TIMEOUT: Duration = Duration::from_secs(1);
/// Pause between attempts to lock a file.
const LOCK_RETRY: Duration = Duration::from_millis(2);
/// Size limit in bytes. This layer does not write larger files.
const MAX_BYTES: u64 = 1024;
/// Refusals in a row after which an address is replaced, although other devices or processes may have it.
const MAX_REFUSALS: u32 = 3;

/// A file with addresses, in use by one arena.
pub struct AddressFile {
    slot: AddressSlot,
    path: PathBuf,
    file: Option<File>,
    /// The lock is exclusive, so the file may be written.
    is_exclusive: bool,
    addresses: Option<CaptureAddresses>,
    refusals: u32,
    /// Why the file cannot be written.
    write_error: Option<String>,
}

/// The folder of the files.
///
/// # Errors
/// The environment names no cache folder.
pub fn folder() -> Result<PathBuf, String> {
    let set = |name: &str| environment::variable(name).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME")
        .or_else(|| set("HOME").map(|home| home.join(".cache")))
        .or_else(|| set("LOCALAPPDATA"));
    let cache = cache.ok_or("there is no cache folder: neither XDG_CACHE_HOME nor HOME is set")?;
    Ok(cache.join("vkabort"))
}

impl AddressFile {
    /// Opens the first file that this process does not use, from number `first_number` on. A file that cannot be opened
    /// has no addresses and cannot be written.
    ///
    /// # Errors
    /// All numbers are in use.
    pub fn open(folder: &Path, stem: &str, first_number: u32) -> Result<Self, String> {
        let slot = AddressSlot::take(stem, first_number).ok_or("too many devices exist at the same time")?;
        let path = folder.join(format!("{stem}-{}", slot.number()));
        let (file, write_error) = match open_file(folder, &path) {
            Ok(file) => (Some(file), None),
            // The addresses of a read-only file can still be used.
            Err(error) => (private_file::open_own(&path, Access::Read).ok(), Some(error)),
        };
        let mut file = Self {
            slot,
            path,
            file,
            is_exclusive: false,
            addresses: None,
            refusals: 0,
            write_error,
        };
        file.load();
        Ok(file)
    }

    /// Waits until the file has addresses, or until no other process can write them.
    fn load(&mut self) {
        let deadline = Instant::now() + LOCK_TIMEOUT;
        while let Some(file) = &mut self.file {
            let is_exclusive = os::lock(file, true);
            if is_exclusive || os::lock(file, false) {
                let content = read(file);
                let text = content.as_ref().and_then(|bytes| std::str::from_utf8(bytes).ok());
                if let Some((addresses, refusals)) = text.and_then(parse) {
                    (self.addresses, self.refusals) = (Some(addresses), refusals);
                    if is_exclusive {
                        os::lock(file, false);
                    }
                    return;
                }
                // A new file is empty.
                if !content.is_some_and(|bytes| bytes.is_empty() || bytes.starts_with(MAGIC.as_bytes())) {
                    let path = self.path();
                    self.write_error = Some(format!("{path} was not written by this layer; move it away"));
                    self.file = None;
                    return;
                }
                if is_exclusive {
                    self.is_exclusive = true;
                    return;
                }
                os::unlock(file);
            }
            if Instant::now() >= deadline {
                let error = format!("{} is in use by another process and has no address", self.path());
                self.write_error = Some(error);
                return;
            }
            std::thread::sleep(LOCK_RETRY);
        }
    }

    /// Number of the file.
    pub fn number(&self) -> u32 {
        self.slot.number()
    }

    /// Path of the file, for people.
    pub fn path(&self) -> String {
        self.path.display().to_string()
    }

    /// The addresses in the file.
    pub fn addresses(&self) -> Option<CaptureAddresses> {
        self.addresses
    }

    /// Records that the driver provided the addresses.
    pub fn confirm(&mut self) {
        if self.refusals > 0 && self.make_exclusive() {
            let _ = self.write(self.addresses, 0);
        }
        self.make_shared();
    }

    /// Records that the driver refused the addresses. Returns whether to replace them: if this is the process's only device
    /// and no other process has the file, or after three refusals in a row.
    pub fn count_refusal(&mut self, only_device: bool) -> bool {
        if !self.make_exclusive() {
            return false;
        }
        if only_device && self.slot.is_only() {
            return true;
        }
        self.refusals += 1;
        let _ = self.write(self.addresses, self.refusals);
        self.refusals >= MAX_REFUSALS
    }

    /// Saves new addresses.
    ///
    /// # Errors
    /// The file cannot be written, or another process uses it.
    pub fn store(&mut self, addresses: CaptureAddresses) -> Result<(), String> {
        if let Some(error) = &self.write_error {
            return Err(error.clone());
        }
        if !self.make_exclusive() {
            return Err(format!("{} is in use by another process", self.path()));
        }
        let written = self.write(Some(addresses), 0);
        self.make_shared();
        written
    }

    fn make_exclusive(&mut self) -> bool {
        if !self.is_exclusive
            && let Some(file) = &self.file
        {
            self.is_exclusive = os::lock(file, true);
            if !self.is_exclusive {
                // The attempt has released the shared lock.
                os::lock(file, false);
            }
        }
        self.is_exclusive
    }

    fn make_shared(&mut self) {
        if let Some(file) = &self.file {
            os::lock(file, false);
        }
        self.is_exclusive = false;
    }

    fn write(&mut self, addresses: Option<CaptureAddresses>, refusals: u32) -> Result<(), String> {
        let (Some(file), Some(addresses)) = (&mut self.file, addresses) else {
            return Err("there is no file".to_owned());
        };
        let written = file
            .rewind()
            .and_then(|()| file.set_len(0))
            .and_then(|()| file.write_all(format(&addresses, refusals).as_bytes()));
        written.map_err(|error| cannot_write(&self.path, &error))
    }
}

impl Drop for AddressFile {
    fn drop(&mut self) {
        // Closing the file does not unlock it as long as a child of this process has inherited it.
        if let Some(file) = self.file.as_ref().filter(|_| self.slot.is_own()) {
            os::unlock(file);
        }
    }
}

/// Opens a file for reading and writing, or creates it, in a folder that only this user can write to.
fn open_file(folder: &Path, path: &Path) -> Result<File, String> {
    let created = private_file::create_folders(folder);
    if let Err(error) = created.and_then(|()| private_file::check_folder(folder)) {
        return Err(cannot_write(path, &format!("its folder cannot be used: {error}")));
    }
    private_file::open_own(path, Access::ReadWrite).map_err(|error| cannot_write(path, &error))
}

fn cannot_write(path: &Path, error: &dyn std::fmt::Display) -> String {
    format!("cannot write {}: {error}", path.display())
}

fn read(file: &mut File) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    file.rewind().ok()?;
    file.take(MAX_BYTES).read_to_end(&mut content).ok()?;
    Some(content)
}

/// Numbers per stem: arenas with saved addresses that may exist at the same time.
const SLOTS: u32 = 64;

/// The processes, stems and numbers in use: those of this process, and those that it inherited as the child of another.
static TAKEN: Mutex<BTreeSet<(u32, String, u32)>> = Mutex::new(BTreeSet::new());

/// A file stem and a number that no other live arena of this process has. Released when dropped.
struct AddressSlot((u32, String, u32));

impl AddressSlot {
    /// Takes the lowest free number of a stem from `first` on.
    fn take(stem: &str, first: u32) -> Option<Self> {
        let process = std::process::id();
        let mut taken = lock(&TAKEN);
        let mut slots = (first..SLOTS).map(|number| (process, stem.to_owned(), number));
        slots.find(|slot| taken.insert(slot.clone())).map(Self)
    }

    /// The number.
    fn number(&self) -> u32 {
        self.0.2
    }

    /// Whether this process took the slot, and not one that it is a child of.
    fn is_own(&self) -> bool {
        self.0.0 == std::process::id()
    }

    /// Whether this is the only slot in use in this process.
    fn is_only(&self) -> bool {
        lock(&TAKEN).iter().filter(|(process, ..)| *process == self.0.0).count() == 1
    }
}

impl Drop for AddressSlot {
    fn drop(&mut self) {
        let mut taken = lock(&TAKEN);
        taken.remove(&self.0);
        if taken.is_empty() {
            // An empty set keeps its memory, which would outlive the library when it is unloaded.
            *taken = BTreeSet::new();
        }
    }
}

#[cfg(test)]
#[path = "address_cache_tests.rs"]
mod tests;
