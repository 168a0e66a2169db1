//! Lists of files in the registry, by which the Vulkan loader and its tools find drivers, layers and settings: the name of each
//! value is a path, and its data is a DWORD, 0 if the entry is active.

use crate::wide;
use std::ffi::OsString;
use std::io::{Error, Result};
use std::os::windows::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};
use windows_sys::Win32::Foundation::{ERROR_FILE_NOT_FOUND, ERROR_MORE_DATA, ERROR_SUCCESS};
use windows_sys::Win32::System::Registry::{
    HKEY, HKEY_CURRENT_USER, HKEY_LOCAL_MACHINE, KEY_READ, KEY_WRITE, REG_DWORD, RegCloseKey, RegCreateKeyExW,
    RegDeleteKeyW, RegDeleteValueW, RegEnumValueW, RegOpenKeyExW, RegQueryInfoKeyW, RegSetValueExW,
};

/// Longest name of a value, in UTF-16 units with the final zero.
const MAX_NAME: usize = 16_384;

/// A part of the registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hive {
    /// For all users of the machine. Only administrators can write to it.
    Machine,
    /// For this user.
    User,
}

/// An open key.
struct Key(HKEY);

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: the key is open, and nothing uses it afterwards.
        unsafe { RegCloseKey(self.0) };
    }
}

impl Hive {
    fn root(self) -> HKEY {
        match self {
            Self::Machine => HKEY_LOCAL_MACHINE,
            Self::User => HKEY_CURRENT_USER,
        }
    }

    fn open(self, key: &str, rights: u32) -> Result<Key> {
        let mut opened: HKEY = null_mut();
        // SAFETY: the key's name ends with a zero, and the result is written to a local variable.
        check(unsafe { RegOpenKeyExW(self.root(), wide(Path::new(key)).as_ptr(), 0, rights, &mut opened) })?;
        Ok(Key(opened))
    }

    /// The active entries of a list. Empty if the key does not exist or cannot be read.
    pub fn entries(self, key: &str) -> Vec<PathBuf> {
        let Ok(key) = self.open(key, KEY_READ) else {
            return Vec::new();
        };
        let mut name = vec![0u16; MAX_NAME];
        let mut entries = Vec::new();
        for index in 0.. {
            let (mut kind, mut data) = (0u32, 1u32);
            let mut length = MAX_NAME as u32;
            let mut size = size_of_val(&data) as u32;
            // SAFETY: the call writes to local variables of the sizes that are passed.
            let status = unsafe {
                RegEnumValueW(
                    key.0,
                    index,
                    name.as_mut_ptr(),
                    &mut length,
                    null(),
                    &mut kind,
                    (&raw mut data).cast(),
                    &mut size,
                )
            };
            match status {
                ERROR_SUCCESS if kind == REG_DWORD && data == 0 => {
                    let text = name.get(..length as usize).unwrap_or_default();
                    entries.push(OsString::from_wide(text).into());
                }
                // An inactive entry, or one with more data than a DWORD.
                ERROR_SUCCESS | ERROR_MORE_DATA => {}
                _ => break,
            }
        }
        entries
    }

    /// Adds an active entry to a list, which is created if it does not exist.
    ///
    /// # Errors
    ///
    /// The registry refuses: only administrators can write to [`Hive::Machine`].
    pub fn add_entry(self, key: &str, path: &Path) -> Result<()> {
        let mut opened: HKEY = null_mut();
        let key = wide(Path::new(key));
        // SAFETY: the key's name ends with a zero, and the result is written to a local variable.
        check(unsafe {
            let root = self.root();
            RegCreateKeyExW(
                root,
                key.as_ptr(),
                0,
                null(),
                0,
                KEY_WRITE,
                null(),
                &mut opened,
                null_mut(),
            )
        })?;
        let opened = Key(opened);
        // SAFETY: the name ends with a zero, and the data has the size that is passed.
        check(unsafe { RegSetValueExW(opened.0, wide(path).as_ptr(), 0, REG_DWORD, [0u8; 4].as_ptr(), 4) })
    }

    /// Removes an entry from a list, and the list with the keys above it that are then empty. Returns whether the entry was there.
    ///
    /// # Errors
    ///
    /// The registry refuses: only administrators can write to [`Hive::Machine`].
    pub fn remove_entry(self, key: &str, path: &Path) -> Result<bool> {
        if !self.entries(key).iter().any(|entry| entry == path) {
            return Ok(false);
        }
        let opened = self.open(key, KEY_WRITE)?;
        // SAFETY: the name ends with a zero.
        match unsafe { RegDeleteValueW(opened.0, wide(path).as_ptr()) } {
            ERROR_FILE_NOT_FOUND => return Ok(false),
            status => check(status)?,
        }
        drop(opened);
        self.remove_empty(key);
        Ok(true)
    }

    /// Removes a key without values and subkeys, then those above it that are empty without it, but not the key of all software.
    fn remove_empty(self, key: &str) {
        let mut key = key;
        while let Some((above, _)) = key.rsplit_once('\\') {
            let is_empty = self.open(key, KEY_READ).is_ok_and(|key| key.is_empty());
            // SAFETY: the key's name ends with a zero.
            let removes = || unsafe { RegDeleteKeyW(self.root(), wide(Path::new(key)).as_ptr()) } == ERROR_SUCCESS;
            if !is_empty || !removes() {
                return;
            }
            key = above;
        }
    }
}

impl Key {
    /// Whether the key has neither values nor subkeys. False if that cannot be queried.
    fn is_empty(&self) -> bool {
        let (mut keys, mut values) = (1u32, 1u32);
        // SAFETY: the call writes two numbers to local variables; every other pointer is null, which it allows.
        let status = unsafe {
            RegQueryInfoKeyW(
                self.0,
                null_mut(),
                null_mut(),
                null_mut(),
                &mut keys,
                null_mut(),
                null_mut(),
                &mut values,
                null_mut(),
                null_mut(),
                null_mut(),
                null_mut(),
            )
        };
        status == ERROR_SUCCESS && keys == 0 && values == 0
    }
}

fn check(status: u32) -> Result<()> {
    match status {
        ERROR_SUCCESS => Ok(()),
        status => Err(Error::from_raw_os_error(status as i32)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key of the user, which is deleted when the test ends, also if it fails.
    struct TestKey(String);

    impl Drop for TestKey {
        fn drop(&mut self) {
            // SAFETY: the key's name ends with a zero.
            unsafe { RegDeleteKeyW(HKEY_CURRENT_USER, wide(Path::new(&self.0)).as_ptr()) };
        }
    }

    #[test]
    fn entries_are_added_listed_and_removed() {
        let name = format!("Software\\vkabort-test-{}", std::process::id());
        let owner = TestKey(name.clone());
        let key = name.as_str();
        let path = Path::new("C:\\a folder\\ü.json");
        assert_eq!(Hive::User.entries(key), Vec::<PathBuf>::new());
        assert!(!Hive::User.remove_entry(key, path).expect("no key"));
        Hive::User.add_entry(key, path).expect("the user's own hive");
        Hive::User.add_entry(key, path).expect("twice is once");
        assert_eq!(Hive::User.entries(key), [path]);
        assert!(Hive::User.remove_entry(key, path).expect("removed"));
        assert_eq!(Hive::User.entries(key), Vec::<PathBuf>::new());
        assert!(Hive::User.open(key, KEY_READ).is_err(), "the key is left behind");
        drop(owner);
    }

    #[test]
    fn a_list_is_removed_with_its_last_entry_and_the_empty_keys_above_it() {
        let top = format!("Software\\vkabort-test-{}-lists", std::process::id());
        let [first, second] = ["one", "two"].map(|name| format!("{top}\\Vulkan\\{name}"));
        let owners = [&first, &second, &format!("{top}\\Vulkan"), &top].map(|key| TestKey(key.clone()));
        let exists = |key: &str| Hive::User.open(key, KEY_READ).is_ok();
        let [own, other] = ["C:\\own.json", "C:\\other.json"].map(Path::new);
        for (key, path) in [(&first, own), (&first, other), (&second, own)] {
            Hive::User.add_entry(key, path).expect("the user's own hive");
        }
        assert!(Hive::User.remove_entry(&first, own).expect("removed"));
        assert_eq!(Hive::User.entries(&first), [other], "a list with another entry stays");
        assert!(Hive::User.remove_entry(&second, own).expect("removed"));
        assert!(!exists(&second) && exists(&first), "only the empty list is removed");
        assert!(Hive::User.remove_entry(&first, other).expect("removed"));
        assert!(!exists(&top) && exists("Software"));
        drop(owners);
    }
}
