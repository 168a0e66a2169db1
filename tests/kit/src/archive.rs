//! Files carried at the end of a program: their bytes one after the other, a list of them in JSON, the length of the list,
//! and a mark. The program is an ordinary one to the system, which never reads beyond its own parts.

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

/// The last bytes of a program that carries files.
const MARK: &[u8; 8] = b"vkabort1";

/// A file to carry.
pub struct Carried {
    /// Where it goes, relative to the folder that it is unpacked into.
    pub path: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether it is a program.
    pub program: bool,
}

/// Writes a program that carries the files: `program`, which carries none, with them behind it.
///
/// # Errors
///
/// A file cannot be read or written.
pub fn pack(program: &Path, files: &[Carried], out: &Path) -> Result<()> {
    let mut bytes = fs::read(program).with_context(|| format!("cannot read {}", program.display()))?;
    ensure!(!bytes.ends_with(MARK), "{} carries files already", program.display());
    let mut list = Vec::new();
    for file in files {
        list.push(json!({
            "path": file.path, "offset": bytes.len(), "size": file.bytes.len(), "program": file.program,
        }));
        bytes.extend(&file.bytes);
    }
    let list = json!({"begins": bytes.len(), "files": list}).to_string();
    bytes.extend(list.as_bytes());
    bytes.extend((list.len() as u64).to_le_bytes());
    bytes.extend(MARK);
    // Moved into place: the old one may be running.
    let fresh = out.with_extension(format!("{}.new", std::process::id()));
    fs::write(&fresh, bytes).with_context(|| format!("cannot write {}", fresh.display()))?;
    fs::set_permissions(&fresh, fs::Permissions::from_mode(0o755))?;
    fs::rename(&fresh, out).with_context(|| format!("cannot write {}", out.display()))
}

/// Writes the files that a program carries into a folder. Returns how many there are.
///
/// # Errors
///
/// It carries none, they are damaged, or a file cannot be written.
pub fn unpack(program: &Path, folder: &Path) -> Result<usize> {
    let mut file = File::open(program).with_context(|| format!("cannot read {}", program.display()))?;
    let length = file.metadata()?.len();
    let mut read = |offset: u64, size: u64| -> Result<Vec<u8>> {
        let inside = offset.checked_add(size).is_some_and(|end| end <= length);
        ensure!(inside, "{} is cut short", program.display());
        let mut bytes = vec![0; usize::try_from(size)?];
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    };
    let end = length.checked_sub(16).context("the program is too short")?;
    let tail = read(end, 16)?;
    let (size, mark) = tail.split_at(8);
    if mark != MARK {
        bail!(
            "{} carries no files: `cargo xtask bundle` makes the program that does",
            program.display()
        );
    }
    let size = u64::from_le_bytes(size.try_into()?);
    let begins = end.checked_sub(size).context("the list of files is damaged")?;
    let list: Value = serde_json::from_slice(&read(begins, size)?).context("the list of files is damaged")?;
    // A piece is missing before it, or too much: no file would be where the list says.
    ensure!(list["begins"] == begins, "{} is not whole", program.display());
    let list = list["files"].as_array().context("the list of files is damaged")?;
    for entry in list {
        let path = entry["path"].as_str().context("a file has no name")?;
        let number = |key: &str| entry[key].as_u64().context("a file has no place");
        let bytes = read(number("offset")?, number("size")?)?;
        write(&inside(folder, path)?, &bytes, entry["program"] == true)?;
    }
    Ok(list.len())
}

/// A path below the folder: nothing is written anywhere else.
fn inside(folder: &Path, path: &str) -> Result<PathBuf> {
    let path = Path::new(path);
    let plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    ensure!(
        plain && path.file_name().is_some(),
        "{} is no place for a file",
        path.display()
    );
    Ok(folder.join(path))
}

fn write(path: &Path, bytes: &[u8], program: bool) -> Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
    }
    let mode = if program { 0o700 } else { 0o600 };
    let options = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path);
    options
        .and_then(|mut file| file.write_all(bytes))
        .with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> Result<PathBuf> {
        let folder = std::env::temp_dir().join(format!("vkabort-pack-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    fn carried(path: &str) -> Carried {
        Carried {
            path: path.into(),
            bytes: path.as_bytes().to_vec(),
            program: path.ends_with("run"),
        }
    }

    #[test]
    fn what_is_packed_is_unpacked() -> Result<()> {
        let folder = folder("back")?;
        let (program, packed, out) = (folder.join("program"), folder.join("packed"), folder.join("out"));
        fs::write(&program, "the program")?;
        pack(&program, &[carried("a/b.txt"), carried("run")], &packed)?;
        assert_eq!(fs::metadata(&packed)?.permissions().mode() & 0o777, 0o755);
        assert!(fs::read(&packed)?.starts_with(b"the program"));
        assert_eq!(unpack(&packed, &out)?, 2);
        assert_eq!(fs::read_to_string(out.join("a/b.txt"))?, "a/b.txt");
        assert_eq!(fs::metadata(out.join("run"))?.permissions().mode() & 0o777, 0o700);
        assert!(pack(&packed, &[], &folder.join("twice")).is_err());
        assert!(unpack(&program, &out).is_err());
        Ok(fs::remove_dir_all(folder)?)
    }

    #[test]
    fn nothing_is_written_outside_the_folder() -> Result<()> {
        let folder = folder("outside")?;
        let (program, packed) = (folder.join("program"), folder.join("packed"));
        fs::write(&program, "the program")?;
        for path in ["../there", "/etc/there", "", "a/../../there"] {
            pack(&program, &[carried(path)], &packed)?;
            assert!(unpack(&packed, &folder.join("out")).is_err(), "{path:?}");
        }
        Ok(fs::remove_dir_all(folder)?)
    }

    #[test]
    fn damage_is_an_error() -> Result<()> {
        let folder = folder("damage")?;
        let (program, packed) = (folder.join("program"), folder.join("packed"));
        fs::write(&program, "the program")?;
        pack(&program, &[carried("a")], &packed)?;
        let whole = fs::read(&packed)?;
        for at in 0..whole.len() - MARK.len() {
            let cut = folder.join("cut");
            fs::write(&cut, &whole[at + 1..])?;
            assert!(
                unpack(&cut, &folder.join(format!("out{at}"))).is_err(),
                "without {at} bytes"
            );
        }
        Ok(fs::remove_dir_all(folder)?)
    }
}
