//! Compiled shaders, which the processes of all test runs share.

use crate::case::Skip;
use anyhow::{Context, Result};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use vkabort_oracle::words::{from_bytes, to_bytes};
use vkabort_test_kit::{glslang, root, spirv_tools, target};

/// Environment variable with the folder. Without it, every call compiles.
pub const VARIABLE: &str = "VKABORT_SHADER_CACHE";

/// Code that determines how a source is compiled, besides the arguments of [`compiled`].
const COMPILERS: [&str; 4] = [
    include_str!("assembly.rs"),
    include_str!("glsl.rs"),
    include_str!("glsl_debug.rs"),
    include_str!("slang.rs"),
];

/// The folder of this version of the compilers in Cargo's target folder.
///
/// # Errors
///
/// `Cargo.lock` cannot be read, or the folder cannot be created.
pub fn folder() -> Result<PathBuf> {
    let lock = fs::read_to_string(root().join("Cargo.lock")).context("cannot read Cargo.lock")?;
    let glslang = fs::read_to_string(glslang::folder().join("version")).unwrap_or_default();
    let folder = target().join("shader_cache").join(hash(&(lock, glslang, COMPILERS)));
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(folder)
}

/// The words that `compile` returned for `key` before, in this process or another.
///
/// # Errors
///
/// `compile` fails, or its result cannot be written.
pub fn compiled(key: &impl Hash, compile: impl FnOnce() -> Result<Vec<u32>>) -> Result<Vec<u32>> {
    compiled_in(std::env::var_os(VARIABLE).as_deref().map(Path::new), key, compile)
}

/// A shader that `spirv-opt` has optimized.
///
/// # Errors
///
/// SPIRV-Tools are missing or fail, or do not run here: [`Skip`].
pub fn optimized(words: &[u32]) -> Result<Vec<u32>> {
    compiled(&("spirv-opt", words), || match cfg!(windows) {
        true => Err(Skip("the optimizer of SPIRV-Tools is a program for Linux".into()).into()),
        false => spirv_tools::optimize(words),
    })
}

/// As [`compiled`], in a folder.
pub(crate) fn compiled_in(
    folder: Option<&Path>,
    key: &impl Hash,
    compile: impl FnOnce() -> Result<Vec<u32>>,
) -> Result<Vec<u32>> {
    let Some(folder) = folder else {
        return compile();
    };
    let path = folder.join(hash(key)).with_extension("spv");
    if let Ok(bytes) = fs::read(&path) {
        return Ok(from_bytes(&bytes));
    }
    let words = compile()?;
    // Renamed into place, since other threads and processes read the folder. Several may compile the same shader.
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let staged = path.with_extension(format!("{}-{number}.new", std::process::id()));
    fs::write(&staged, to_bytes(&words))?;
    fs::rename(&staged, &path)?;
    Ok(words)
}

fn hash(value: &impl Hash) -> String {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn threads_may_compile_the_same_shader_at_the_same_time() -> Result<()> {
        const THREADS: usize = 4;
        let folder = vkabort_test_kit::scratch::folder()?;
        let expected = vec![0x0723_0203; 1 << 12];
        for key in 0..50 {
            let barrier = Barrier::new(THREADS);
            let compile = || {
                barrier.wait();
                Ok(expected.clone())
            };
            let results = std::thread::scope(|scope| {
                let threads = [(); THREADS].map(|()| scope.spawn(|| compiled_in(Some(folder.path()), &key, compile)));
                threads.map(|thread| thread.join().expect("no panic"))
            });
            for result in results {
                assert!(result? == expected);
            }
        }
        Ok(())
    }
}
