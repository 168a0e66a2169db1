use super::super::capture_address::CaptureAddress;
use super::*;
use std::fs::OpenOptions;

/// A folder that is removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("vkabort-addresses-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }

    fn open(&self) -> AddressFile {
        // Each test has its own stem, since all tests share the process's slots.
        let stem = self.0.file_name().map(|name| name.to_string_lossy().into_owned());
        AddressFile::open(&self.0, &stem.unwrap_or_default(), 0).expect("a free slot")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const FIRST: CaptureAddresses = CaptureAddresses {
    records: CaptureAddress {
        buffer: 0xFFFF_8000_1234_0000,
        memory: 7,
    },
    control: None,
};
const SECOND: CaptureAddresses = CaptureAddresses {
    records: CaptureAddress { buffer: 1, memory: 0 },
    control: Some(CaptureAddress { buffer: 0, memory: 9 }),
};

#[test]
fn addresses_survive_the_file_and_damage_is_detected() {
    for addresses in [FIRST, SECOND] {
        for refusals in [0, 2] {
            assert_eq!(parse(&format(&addresses, refusals)), Some((addresses, refusals)));
        }
    }
    let whole = format(&SECOND, 1);
    for end in 0..whole.len() {
        assert_eq!(
            parse(&whole[..end]).filter(|_| !whole[..end].ends_with('\n')),
            None,
            "cut at {end}"
        );
    }
    for damaged in [
        "",
        "vkabort 2\nrecords 1 2\n",
        "vkabort 1\n",
        "vkabort 1\nrecords 1\n",
        "vkabort 1\nrecords 1 zz\n",
        "vkabort 1\nrecords 1 2 3\n",
        "vkabort 1\nrecords 0 0\n",
        "vkabort 1\nrecords 1 2\nrecords 1 2\n",
        "vkabort 1\nrecords 1 2\ncontrol 0 0\n",
        "vkabort 1\ncontrol 1 2\n",
        "vkabort 1\nrecords 1 2\nanother 1\n",
        "12 34\n",
    ] {
        assert_eq!(parse(damaged), None, "{damaged:?}");
    }
}

#[test]
fn stored_addresses_are_found_by_the_next_run() {
    let folder = Folder::new("stored");
    let mut first = folder.open();
    assert_eq!(first.addresses(), None);
    assert_eq!(first.store(FIRST), Ok(()));
    drop(first);
    let again = folder.open();
    assert_eq!((again.addresses(), again.number()), (Some(FIRST), 0));
    // An arena that exists at the same time uses another file.
    let second = folder.open();
    assert_eq!((second.addresses(), second.number()), (None, 1));
    drop(again);
    drop(second);
    std::fs::write(folder.open().path(), "vkabort 1\nno address at all").expect("the file can be written");
    let mut damaged = folder.open();
    assert_eq!(damaged.addresses(), None);
    assert_eq!(damaged.store(SECOND), Ok(()));
    drop(damaged);
    assert_eq!(folder.open().addresses(), Some(SECOND));
}

#[test]
fn a_refused_address_is_replaced_when_nothing_else_can_have_it() {
    let folder = Folder::new("refused");
    folder.open().store(FIRST).expect("stored");
    // While other devices exist, only after the third refusal in a row.
    assert!(!folder.open().count_refusal(false) && !folder.open().count_refusal(false));
    assert_eq!(folder.open().addresses(), Some(FIRST));
    folder.open().confirm();
    assert!(!folder.open().count_refusal(false) && !folder.open().count_refusal(false));
    assert!(folder.open().count_refusal(false));
    // Another process uses the file.
    let path = folder.open().path();
    let other = File::open(path).expect("the file is there");
    assert!(os::lock(&other, false), "the file is locked");
    assert!(!folder.open().count_refusal(true));
    assert!(
        folder.open().store(SECOND).is_err(),
        "overwrote another process's address"
    );
    assert_eq!(folder.open().addresses(), Some(FIRST));
}

#[test]
fn a_second_process_waits_for_the_address_of_the_first() {
    let folder = Folder::new("race");
    std::fs::create_dir_all(&folder.0).expect("a folder");
    let path = folder.open().path();
    let mut first = OpenOptions::new().write(true).open(path).expect("the file is there");
    assert!(os::lock(&first, true), "the file is locked");
    let addresses = std::thread::scope(|scope| {
        let second = scope.spawn(|| folder.open().addresses());
        std::thread::sleep(Duration::from_millis(50));
        first.write_all(format(&SECOND, 0).as_bytes()).expect("written");
        os::unlock(&first);
        second.join().expect("no panic")
    });
    assert_eq!(addresses, Some(SECOND));
}

#[test]
fn a_file_that_cannot_be_created_is_named_in_the_error() {
    let folder = Folder::new("no_folder");
    std::fs::write(&folder.0, "a file in place of the folder").expect("written");
    let mut file = folder.open();
    assert_eq!(file.addresses(), None);
    let error = file.store(FIRST).expect_err("there is no folder");
    assert!(
        error.contains("cannot write") && error.contains(&file.path()),
        "{error}"
    );
    let _ = std::fs::remove_file(&folder.0);
}

#[test]
fn numbers_are_unique_while_in_use() {
    let take = |stem| AddressSlot::take(stem, 0).expect("a free number");
    let (a, b) = (take("slots"), take("slots"));
    assert_eq!((a.number(), b.number()), (0, 1));
    assert_eq!(take("other slots").number(), 0);
    assert!(!a.is_only());
    drop(a);
    assert_eq!(take("slots").number(), 0);
    assert!(AddressSlot::take("slots", SLOTS).is_none());
}

/// A child that outlives the device inherits the open file, and with it the lock.
#[cfg(unix)]
#[test]
fn a_child_does_not_keep_the_file_locked() {
    let folder = Folder::new("forked");
    let mut file = folder.open();
    assert_eq!(file.store(FIRST), Ok(()));
    // SAFETY: the child only waits for a signal and exits, which is async-signal-safe.
    let child = unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::pause();
            libc::_exit(0);
        }
        child
    };
    assert!(child > 0);
    drop(file);
    let is_free = folder.open().make_exclusive();
    // SAFETY: the child is not reaped yet, so the id is still its own.
    unsafe {
        libc::kill(child, libc::SIGKILL);
        libc::waitpid(child, std::ptr::null_mut(), 0);
    }
    assert!(is_free, "the file is locked");
}

#[cfg(unix)]
mod of_others {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

    /// Opens the folder's file and tries to save addresses in it.
    fn store(folder: &Folder) -> Result<(), String> {
        let mut file = folder.open();
        assert_eq!(file.addresses(), None);
        file.store(FIRST)
    }

    /// Path of the file that a folder's first arena uses.
    fn path(folder: &Folder) -> PathBuf {
        let path = folder.open().path().into();
        let _ = fs::remove_file(&path);
        path
    }

    #[test]
    fn files_and_folders_are_private() {
        let folder = Folder::new("private");
        store(&folder).expect("stored");
        let mode = |path: &Path| fs::metadata(path).expect("there").mode() & 0o777;
        assert_eq!(
            (mode(&folder.0), mode(&PathBuf::from(folder.open().path()))),
            (0o700, 0o600)
        );
    }

    #[test]
    fn a_file_without_the_magic_is_not_overwritten() {
        let folder = Folder::new("foreign");
        let path = path(&folder);
        for content in ["ssh-rsa AAAA\n", "vkabort", "\u{FFFD}"] {
            fs::write(&path, content).expect("written");
            let error = store(&folder).expect_err("overwritten");
            assert!(error.contains("was not written by this layer"), "{error}");
            assert_eq!(fs::read_to_string(&path).expect("there"), content);
        }
        fs::write(&path, [0xFF, 0xFE]).expect("written");
        assert!(store(&folder).is_err());
        assert_eq!(fs::read(&path).expect("there"), [0xFF, 0xFE]);
    }

    #[test]
    fn a_symbolic_link_is_not_followed() {
        let folder = Folder::new("link");
        let path = path(&folder);
        let victim = folder.0.join("victim");
        for content in ["", "important", &format(&FIRST, 0)] {
            fs::write(&victim, content).expect("written");
            let _ = symlink(&victim, &path);
            let error = store(&folder).expect_err("followed");
            assert!(error.contains("it is a symbolic link"), "{error}");
            assert_eq!(fs::read_to_string(&victim).expect("there"), content);
        }
        // Nor is a file created at the target of a dangling link.
        fs::remove_file(&victim).expect("removed");
        assert!(store(&folder).is_err() && !victim.exists());
    }

    #[test]
    fn only_a_regular_file_is_opened() {
        let folder = Folder::new("fifo");
        let path = path(&folder);
        let name = std::ffi::CString::new(path.to_string_lossy().as_bytes()).expect("a path");
        // SAFETY: a null-terminated string.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o400) }, 0);
        let error = store(&folder).expect_err("opened");
        assert!(error.contains("it is not a regular file"), "{error}");
    }

    #[test]
    fn a_folder_that_others_can_write_to_is_not_used() {
        let folder = Folder::new("shared");
        fs::create_dir_all(&folder.0).expect("a folder");
        fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o777)).expect("set");
        let error = store(&folder).expect_err("used");
        assert!(error.contains("other users can write to it"), "{error}");
    }

    #[test]
    fn files_and_folders_of_other_users_are_not_used() {
        // SAFETY: takes no pointer, and changes nothing.
        if unsafe { libc::geteuid() } != 0 {
            // Only root can give files away.
            return;
        }
        let folder = Folder::new("owner");
        let path = path(&folder);
        fs::write(&path, format(&FIRST, 0)).expect("written");
        std::os::unix::fs::chown(&path, Some(54321), None).expect("given away");
        let error = store(&folder).expect_err("used");
        assert!(error.contains("it belongs to another user"), "{error}");
        fs::remove_file(&path).expect("removed");
        std::os::unix::fs::chown(&folder.0, Some(54321), None).expect("given away");
        let error = store(&folder).expect_err("used");
        assert!(error.contains("it belongs to another user"), "{error}");
    }
}
