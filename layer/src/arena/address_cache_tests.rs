use super::super::capture_address::CaptureAddress;
use super::*;

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("vkabort-kept-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }

    fn open(&self) -> AddressFile {
        // A stem for each folder: the slots are the whole process's.
        let stem = self.0.file_name().map(|name| name.to_string_lossy().into_owned());
        AddressFile::open(&self.0, &stem.unwrap_or_default(), 0).expect("64 slots")
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
fn addresses_survive_the_file_and_damage_is_noticed() {
    for known in [FIRST, SECOND] {
        for refused in [0, 2] {
            assert_eq!(parse(&show(&known, refused)), Some((Some(known), refused)));
        }
    }
    let whole = show(&SECOND, 1);
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
fn what_is_stored_is_known_to_the_next() {
    let folder = Folder::new("stored");
    let mut first = folder.open();
    assert_eq!(first.known(), None);
    assert_eq!(first.store(FIRST), Ok(()));
    drop(first);
    let again = folder.open();
    assert_eq!((again.known(), again.number()), (Some(FIRST), 0));
    // While that one lives, another arena has another file.
    let second = folder.open();
    assert_eq!((second.known(), second.number()), (None, 1));
    drop(again);
    drop(second);
    std::fs::write(folder.open().path(), "no address at all").expect("the file can be written");
    let mut damaged = folder.open();
    assert_eq!(damaged.known(), None);
    assert_eq!(damaged.store(SECOND), Ok(()));
    drop(damaged);
    assert_eq!(folder.open().known(), Some(SECOND));
}

#[test]
fn a_refused_address_is_given_up_when_nobody_else_can_have_it() {
    let folder = Folder::new("refused");
    folder.open().store(FIRST).expect("stored");
    // Beside other devices, only the third time in a row.
    assert!(!folder.open().was_refused(false) && !folder.open().was_refused(false));
    assert_eq!(folder.open().known(), Some(FIRST));
    folder.open().was_given();
    assert!(!folder.open().was_refused(false) && !folder.open().was_refused(false));
    assert!(folder.open().was_refused(false));
    // Another process has the file.
    let path = folder.open().path();
    let other = File::open(path).expect("the file is there");
    assert!(lock::shared(&other));
    assert!(!folder.open().was_refused(true));
    assert!(
        folder.open().store(SECOND).is_err(),
        "stored over another process's address"
    );
    assert_eq!(folder.open().known(), Some(FIRST));
}

#[test]
fn who_comes_second_waits_for_the_first_address() {
    let folder = Folder::new("race");
    std::fs::create_dir_all(&folder.0).expect("a folder");
    let path = folder.open().path();
    let mut first = OpenOptions::new().write(true).open(path).expect("the file is there");
    assert!(lock::alone(&first), "as a first run does");
    let known = std::thread::scope(|scope| {
        let second = scope.spawn(|| folder.open().known());
        std::thread::sleep(Duration::from_millis(50));
        first.write_all(show(&SECOND, 0).as_bytes()).expect("written");
        lock::free(&first);
        second.join().expect("no panic")
    });
    assert_eq!(known, Some(SECOND));
}

#[test]
fn a_file_that_cannot_be_written_is_read_and_one_that_cannot_be_made_is_named() {
    let folder = Folder::new("no_folder");
    std::fs::write(&folder.0, "a file where the folder would be").expect("written");
    let mut kept = folder.open();
    assert_eq!(kept.known(), None);
    let problem = kept.store(FIRST).expect_err("there is no folder");
    assert!(
        problem.contains("cannot be written") && problem.contains(&kept.path()),
        "{problem}"
    );
    let _ = std::fs::remove_file(&folder.0);
}

#[test]
fn numbers_are_unique_while_they_live() {
    let (a, b) = (
        Slot::take("slots", 0).expect("free"),
        Slot::take("slots", 0).expect("free"),
    );
    assert_eq!((a.number, b.number), (0, 1));
    assert_eq!(Slot::take("other slots", 0).expect("free").number, 0);
    assert!(!a.is_only());
    drop(a);
    assert_eq!(Slot::take("slots", 0).expect("free").number, 0);
    assert!(Slot::take("slots", SLOTS).is_none());
}
