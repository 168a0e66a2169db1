//! Tests of [`super`].

use super::*;
use crate::log::Format;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("vkabort-module-files-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// The log of `act`, with files of these folders.
fn logged(folder: &Path, settings: &Settings, act: impl FnOnce(&ModuleFiles, &Log)) -> String {
    let path = folder.join("log");
    let log = Log::new(Level::Info, Format::Text, Some(&path));
    act(&ModuleFiles::new(settings, &log), &log);
    let text = std::fs::read_to_string(&path).expect("a log");
    std::fs::remove_file(path).expect("removed");
    text
}

fn bytes(words: &[u32], bytes: fn(u32) -> [u8; 4]) -> Vec<u8> {
    words.iter().flat_map(|word| bytes(*word)).collect()
}

#[test]
fn a_module_is_replaced_by_the_file_with_its_hash() {
    let folder = folder("replace");
    let (module, other, new) = ([MAGIC, 1], [MAGIC, 2], [MAGIC, 3]);
    let hash = module_hash(&module, &Options::default());
    std::fs::write(folder.join(format!("{hash}.spv")), bytes(&new, u32::to_be_bytes)).expect("a file");
    std::fs::write(folder.join("0000000000000001.spv"), bytes(&new, u32::to_le_bytes)).expect("a file");
    std::fs::write(folder.join("0000000000000002.spv"), "text").expect("a file");
    std::fs::write(folder.join("other.spv"), bytes(&new, u32::to_le_bytes)).expect("a file");
    std::fs::write(folder.join("readme.txt"), "").expect("a file");
    let settings = Settings {
        replace_modules: Some(folder.clone()),
        ..Settings::default()
    };
    let text = logged(&folder, &settings, |files, log| {
        files.log_unused(log);
        for _ in 0..2 {
            assert_eq!(files.replacement(&module, log), Some(&new[..]));
            assert_eq!(files.replacement(&other, log), None);
        }
        files.log_unused(log);
        files.log_unused(log);
    });
    let count = |part: &str| text.matches(part).count();
    assert_eq!(count("is replaced: module"), 1, "{text}");
    assert_eq!(
        count("no module of the program has the hash 0000000000000001;"),
        1,
        "{text}"
    );
    assert_eq!(count("no module of the program has the hash"), 1, "{text}");
    assert_eq!(
        count("0000000000000002.spv is ignored: it is not a SPIR-V module"),
        1,
        "{text}"
    );
    assert_eq!(
        count("other.spv is ignored: a module hash is 16 hexadecimal digits"),
        1,
        "{text}"
    );
    std::fs::remove_dir_all(folder).expect("removed");
}

#[test]
fn every_module_is_written_once_and_again_if_the_driver_refuses_it() {
    let folder = folder("dump");
    let settings = Settings {
        dump_modules: Some(folder.join("modules")),
        ..Settings::default()
    };
    let module = [MAGIC, 1];
    let hash = module_hash(&module, &Options::default());
    let read = |kind: &str| std::fs::read(folder.join(format!("modules/{hash}.{kind}.spv"))).unwrap_or_default();
    logged(&folder, &settings, |files, log| {
        files.dump(&module, Some((hash, &[MAGIC, 2])), log);
        files.dump(&module, Some((hash, &[MAGIC, 3])), log);
        assert_eq!(read("original"), bytes(&module, u32::to_le_bytes));
        assert_eq!(read("rewritten"), bytes(&[MAGIC, 2], u32::to_le_bytes));
        files.forget(hash);
        files.dump(&module, None, log);
        assert!(read("rewritten").is_empty());
        // With specialisation data: the file begins with the hash of the original.
        let specialised = ModuleHash(7);
        let kind = format!("{specialised}.rewritten");
        files.dump(&module, Some((specialised, &[MAGIC, 4])), log);
        assert_eq!(read(&kind), bytes(&[MAGIC, 4], u32::to_le_bytes));
        files.forget(specialised);
        assert!(read(&kind).is_empty());
        log.line(Level::Error, "complete");
    });
    std::fs::remove_dir_all(folder).expect("removed");
}

#[test]
fn a_folder_that_cannot_be_used_is_logged_once() {
    let folder = folder("refused");
    let settings = Settings {
        dump_modules: Some(folder.join("file/modules")),
        replace_modules: Some(folder.join("nowhere")),
        ..Settings::default()
    };
    std::fs::write(folder.join("file"), "").expect("a file");
    let text = logged(&folder, &settings, |files, log| {
        files.dump(&[MAGIC, 1], None, log);
        files.dump(&[MAGIC, 2], None, log);
    });
    assert_eq!(text.matches("dump_modules: cannot write").count(), 1, "{text}");
    assert!(text.contains("nowhere: "), "{text}");
    std::fs::remove_dir_all(folder).expect("removed");
}
