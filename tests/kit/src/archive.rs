//! Programs that carry files: the program's bytes, a tar archive, a trailer with the archive's position. The ELF loader
//! ignores the bytes after the program's segments.

use anyhow::{Context, Result, bail, ensure};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path};
use tar::{Archive, Builder, EntryType, Header};

/// The last 8 bytes of a program that carries files.
const MAGIC: &[u8; 8] = b"vkabort2";
/// Bytes of the trailer: offset of the archive, length of the file, both 64-bit little-endian, and [`MAGIC`].
const TRAILER: u64 = 24;

/// A file to carry.
pub struct CarriedFile {
    /// Path relative to the folder that it is unpacked into.
    pub path: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether it is executable.
    pub is_program: bool,
}

/// Writes `program` with `files` appended to `out`.
///
/// # Errors
///
/// `program` carries files already, a path is not relative, or a file cannot be read or written.
pub fn pack(program: &Path, files: &[CarriedFile], out: &Path) -> Result<()> {
    let mut bytes = fs::read(program).with_context(|| format!("cannot read {}", program.display()))?;
    ensure!(!bytes.ends_with(MAGIC), "{} carries files already", program.display());
    let offset = bytes.len() as u64;
    let mut builder = Builder::new(&mut bytes);
    for file in files {
        let mut header = Header::new_gnu();
        header.set_size(file.bytes.len() as u64);
        header.set_mode(if file.is_program { 0o700 } else { 0o600 });
        builder
            .append_data(&mut header, &file.path, file.bytes.as_slice())
            .with_context(|| format!("cannot pack {:?}", file.path))?;
    }
    builder.into_inner()?;
    append_trailer(&mut bytes, offset);
    // Renamed into place, since the old program may be running.
    let staged = out.with_extension(format!("{}.new", std::process::id()));
    fs::write(&staged, bytes).with_context(|| format!("cannot write {}", staged.display()))?;
    #[cfg(unix)]
    fs::set_permissions(&staged, PermissionsExt::from_mode(0o755))?;
    fs::rename(&staged, out).with_context(|| format!("cannot write {}", out.display()))
}

fn append_trailer(bytes: &mut Vec<u8>, offset: u64) {
    let length = bytes.len() as u64 + TRAILER;
    bytes.extend(offset.to_le_bytes());
    bytes.extend(length.to_le_bytes());
    bytes.extend(MAGIC);
}

/// Writes the files that a program carries into a folder. Returns their number.
///
/// # Errors
///
/// The program carries no files, is damaged, names a path outside of the folder, or a file cannot be written.
pub fn unpack(program: &Path, folder: &Path) -> Result<usize> {
    let mut file = File::open(program).with_context(|| format!("cannot read {}", program.display()))?;
    let length = file.metadata()?.len();
    let end = length.checked_sub(TRAILER).context("the program is too short")?;
    let mut trailer = [[0; 8]; 3];
    file.seek(SeekFrom::Start(end))?;
    for part in &mut trailer {
        file.read_exact(part)?;
    }
    let [offset, stored_length, magic] = trailer;
    let (offset, stored_length) = (u64::from_le_bytes(offset), u64::from_le_bytes(stored_length));
    if magic != *MAGIC {
        bail!(
            "{} carries no files; `cargo xtask bundle` builds the program that does",
            program.display()
        );
    }
    ensure!(
        stored_length == length && offset <= end,
        "{} is damaged: it has {length} bytes instead of {stored_length}",
        program.display()
    );
    file.seek(SeekFrom::Start(offset))?;
    let mut archive = Archive::new(file.take(end - offset));
    archive.set_overwrite(false);
    let mut count = 0;
    for entry in archive.entries()? {
        let mut entry = entry.context("the archive is damaged")?;
        let path = entry.path()?.into_owned();
        let is_inside =
            path.file_name().is_some() && path.components().all(|part| matches!(part, Component::Normal(_)));
        ensure!(
            is_inside && entry.header().entry_type() == EntryType::Regular,
            "{path:?} is not a valid path of a carried file"
        );
        let target = folder.join(path);
        fs::create_dir_all(target.parent().unwrap_or(folder))?;
        entry
            .unpack(&target)
            .with_context(|| format!("cannot write {}", target.display()))?;
        count += 1;
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use tempfile::{TempDir, tempdir};

    fn carried(path: &str) -> CarriedFile {
        CarriedFile {
            path: path.into(),
            bytes: path.as_bytes().to_vec(),
            is_program: path.ends_with("run"),
        }
    }

    /// A folder, a program in it, and the path to pack the program to.
    fn program() -> Result<(TempDir, PathBuf, PathBuf)> {
        let folder = tempdir()?;
        let (program, packed) = (folder.path().join("program"), folder.path().join("packed"));
        fs::write(&program, "the program")?;
        Ok((folder, program, packed))
    }

    #[test]
    fn packed_files_are_unpacked() -> Result<()> {
        let (folder, program, packed) = program()?;
        let out = folder.path().join("out");
        pack(&program, &[carried("a/b.txt"), carried("run")], &packed)?;
        assert_eq!(fs::metadata(&packed)?.permissions().mode() & 0o777, 0o755);
        assert!(fs::read(&packed)?.starts_with(b"the program"));
        assert_eq!(unpack(&packed, &out)?, 2);
        assert_eq!(fs::read_to_string(out.join("a/b.txt"))?, "a/b.txt");
        assert_eq!(fs::metadata(out.join("run"))?.permissions().mode() & 0o777, 0o700);
        assert!(pack(&packed, &[], &folder.path().join("twice")).is_err());
        assert!(unpack(&program, &out).is_err());
        Ok(())
    }

    #[test]
    fn paths_outside_the_folder_are_rejected() -> Result<()> {
        let (folder, _, packed) = program()?;
        for path in ["../there", "/etc/there", "", "a/../../there"] {
            let mut bytes = b"the program".to_vec();
            let offset = bytes.len() as u64;
            let mut header = Header::new_old();
            // The builder rejects such names.
            header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
            header.set_entry_type(EntryType::Regular);
            header.set_size(0);
            header.set_cksum();
            let mut builder = Builder::new(&mut bytes);
            builder.append(&header, &[][..])?;
            builder.into_inner()?;
            append_trailer(&mut bytes, offset);
            fs::write(&packed, bytes)?;
            assert!(unpack(&packed, &folder.path().join("out")).is_err(), "{path:?}");
        }
        Ok(())
    }

    #[test]
    fn missing_bytes_are_detected() -> Result<()> {
        let (folder, program, packed) = program()?;
        pack(&program, &[carried("a")], &packed)?;
        let whole = fs::read(&packed)?;
        let cut = folder.path().join("cut");
        for start in 1..=whole.len() - MAGIC.len() {
            fs::write(&cut, &whole[start..])?;
            let out = folder.path().join(format!("out{start}"));
            assert!(unpack(&cut, &out).is_err(), "without {start} bytes");
        }
        Ok(())
    }
}
