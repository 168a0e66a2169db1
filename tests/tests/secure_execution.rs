//! A setuid program and one with file capabilities, which an unprivileged user runs with an environment and files of his
//! choice. They run in a root folder of their own, since the loader then searches only the system's folders for layers and
//! drivers, and tests install nothing there.
#![allow(clippy::print_stdout, reason = "a skipped test prints the reason")]

use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use vkabort_manifest::Kind;
use vkabort_runner::supervise::{Finished, run_with_limit};
use vkabort_test_kit::cargo::{self, Profile};
use vkabort_test_kit::drivers;
use vkabort_test_kit::layer::{ENABLE_VARIABLE, NAME, VARIABLE_PREFIX};
use vkabort_test_kit::scratch::{self, TempDir};
use vkabort_tests::glsl::{self, TargetEnv};
use vkabort_tests::harness::{DRIVER_SETTINGS, drivers_are_required};
use vkabort_tests::shader_cache;

const CASE: &str = "test_driver_secure_execution::only_the_application_configures_it";
/// Folder with the compiled shader.
const SHADER_CACHE: &str = "/shader_cache";
const SHADER: &str = "shaders/abort/entry_point.comp";
/// An unprivileged user and group without a name.
const ATTACKER: &str = "54321:54321";
/// Folder that the attacker may write to.
const ATTACK: &str = "/attack";

/// Mode, owner and content of files.
type Snapshot = BTreeMap<PathBuf, (u32, u32, Vec<u8>)>;

/// How the program gets its privileges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Privileges {
    None,
    SetUid,
    Capabilities,
}

/// A root folder with the program, the loader, the layer and the test driver.
struct Root(TempDir);

impl Root {
    /// None: the user who runs the tests is not root.
    fn new() -> Result<Option<Self>> {
        // SAFETY: returns a number.
        if unsafe { libc::geteuid() } != 0 {
            println!("skipped: only root can create setuid programs of another user");
            return Ok(None);
        }
        let root = Self(scratch::folder()?);
        let (layer, driver) = (
            cargo::build_layer(Profile::OWN)?,
            cargo::build_test_driver_library(Profile::OWN)?,
        );
        let loader = drivers::loader().context("the Vulkan loader is not installed")?;
        let program = Path::new(env!("CARGO_BIN_EXE_vkabort-e2e"));
        for (from, to) in [
            (program, "/program"),
            (&layer.library, "/libVkLayer_vkabort_shader_abort.so"),
            (&driver, "/libdriver.so"),
            (&loader, &*loader.to_string_lossy()),
            (
                &Path::new(env!("CARGO_MANIFEST_DIR")).join(SHADER),
                &format!("/{SHADER}"),
            ),
        ] {
            root.copy(from, to)?;
        }
        for library in libraries(&[program, &loader, &layer.library, &driver])? {
            root.copy(&library, &library.to_string_lossy())?;
        }
        // Nothing but the program runs in the folder: no compiler.
        let shader = fs::read_to_string(root.path(&format!("/{SHADER}")))?;
        glsl::compile_into(&root.path(SHADER_CACHE), &shader, "comp", TargetEnv::Vulkan1_2)?;
        drivers::write_manifest(Path::new("/libdriver.so"), &root.path("/etc/vulkan/icd.d/driver.json"))?;
        let manifests = root.path("/etc/vulkan").join(Kind::Implicit.folder());
        let library = Path::new("/libVkLayer_vkabort_shader_abort.so");
        vkabort_manifest::write(Kind::Implicit, NAME, library, &manifests)?;
        root.folder(ATTACK, 0o777)?;
        fs::set_permissions(root.path("/"), Permissions::from_mode(0o755))?;
        Ok(Some(root))
    }

    /// The path outside of the root folder.
    fn path(&self, inside: &str) -> PathBuf {
        self.0.path().join("root").join(inside.trim_start_matches('/'))
    }

    fn folder(&self, path: &str, mode: u32) -> Result<()> {
        fs::create_dir_all(self.path(path))?;
        Ok(fs::set_permissions(self.path(path), Permissions::from_mode(mode))?)
    }

    fn copy(&self, from: &Path, to: &str) -> Result<()> {
        let to = self.path(to);
        fs::create_dir_all(to.parent().context("no folder")?)?;
        fs::copy(from, &to).with_context(|| format!("cannot copy {}", from.display()))?;
        Ok(())
    }

    fn write(&self, path: &str, text: &str) -> Result<()> {
        let path = self.path(path);
        fs::create_dir_all(path.parent().context("no folder")?)?;
        Ok(fs::write(path, text)?)
    }

    /// Runs the program as the attacker, with these variables besides those that select layer and driver.
    fn run(&self, privileges: Privileges, variables: &[(String, String)]) -> Result<Finished> {
        let program = self.path("/program");
        let mode = if privileges == Privileges::SetUid {
            0o4755
        } else {
            0o755
        };
        fs::set_permissions(&program, Permissions::from_mode(mode))?;
        set_capability(&program, privileges == Privileges::Capabilities)?;
        let mut command = Command::new("chroot");
        command
            .arg(format!("--userspec={ATTACKER}"))
            .arg("--groups=")
            .arg(self.path("/"))
            .args(["/program", CASE])
            .env_clear()
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .env(ENABLE_VARIABLE, "1")
            .env(DRIVER_SETTINGS, "replay,abort=1")
            .env("VKABORT_TEST_FILES", "/")
            .env(shader_cache::VARIABLE, SHADER_CACHE)
            .env("HOME", ATTACK)
            .envs(variables.iter().cloned());
        run_with_limit(&mut command, Duration::from_secs(60), self.0.path())
    }

    /// Mode, owner and content of every file below the root folder except for the program.
    fn snapshot(&self) -> Result<Snapshot> {
        let mut found = Snapshot::new();
        let mut folders = vec![self.path("/")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder)? {
                let path = entry?.path();
                let metadata = fs::symlink_metadata(&path)?;
                let content = if metadata.is_file() {
                    fs::read(&path)?
                } else {
                    Vec::new()
                };
                if metadata.is_dir() {
                    folders.push(path.clone());
                }
                if path != self.path("/program") {
                    found.insert(path, (metadata.mode(), metadata.uid(), content));
                }
            }
        }
        Ok(found)
    }
}

/// The shared libraries of programs and libraries, with those that they depend on.
fn libraries(of: &[&Path]) -> Result<Vec<PathBuf>> {
    let output = Command::new("ldd").args(of).output().context("cannot start ldd")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let words = text
        .split_whitespace()
        .filter(|word| word.starts_with('/') && !word.ends_with(':'));
    Ok(words.map(PathBuf::from).collect())
}

/// Gives a program the capability to open privileged ports, or takes it away.
fn set_capability(program: &Path, has_capability: bool) -> Result<()> {
    /// `VFS_CAP_REVISION_2` with the effective bit; permitted: `CAP_NET_BIND_SERVICE` (linux/capability.h).
    const VALUE: [u32; 5] = [0x0200_0001, 1 << 10, 0, 0, 0];
    let path = CString::new(program.as_os_str().as_bytes())?;
    let name = c"security.capability".as_ptr();
    // SAFETY: both strings are null-terminated, and the value has the length that is passed.
    let result = unsafe {
        match has_capability {
            true => libc::setxattr(path.as_ptr(), name, VALUE.as_ptr().cast(), size_of_val(&VALUE), 0),
            false => libc::removexattr(path.as_ptr(), name).min(0),
        }
    };
    ensure!(result == 0 || !has_capability, std::io::Error::last_os_error());
    Ok(())
}

/// Settings of the attacker: each finds its way into the layer in a process without privileges.
fn attacks(root: &Root) -> Result<Vec<Vec<(String, String)>>> {
    let size = 131_072;
    let line = format!(
        "vkabort_shader_abort.max_message_size = {size}\nvkabort_shader_abort.log_file = {ATTACK}/log\n\
         vkabort_shader_abort.dump_dir = {ATTACK}/dumps\n"
    );
    root.write("/attack/.local/share/vulkan/settings.d/vk_layer_settings.txt", &line)?;
    root.write("/attack/data/vulkan/settings.d/vk_layer_settings.txt", &line)?;
    root.write("/attack/named/vk_layer_settings.txt", &line)?;
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let setting = |key: &str, value: &str| pair(&format!("{VARIABLE_PREFIX}{key}"), value);
    let elsewhere = pair("XDG_DATA_HOME", "/attack/none");
    Ok(vec![
        vec![
            elsewhere.clone(),
            setting("MAX_MESSAGE_SIZE", &size.to_string()),
            setting("LOG_FILE", "/attack/log"),
            setting("DUMP_DIR", "/attack/dumps"),
            setting("LOG_LEVEL", "debug"),
            setting("ENABLE", "always"),
            // Reported to the log without privileges.
            setting("NO_SUCH_SETTING", "1"),
            pair("VK_LAYER_SETTINGS_PATH", "/attack/none"),
            pair("XDG_CACHE_HOME", "/attack/cache"),
        ],
        vec![pair("XDG_DATA_HOME", "/attack/data")],
        vec![elsewhere, pair("VK_LAYER_SETTINGS_PATH", "/attack/named")],
        // The settings file below HOME.
        Vec::new(),
    ])
}

#[test]
fn a_privileged_program_reads_and_writes_nothing_of_its_user() -> Result<()> {
    let Some(root) = Root::new()? else {
        return Ok(());
    };
    for variables in attacks(&root)? {
        for privileges in [Privileges::SetUid, Privileges::Capabilities] {
            let before = root.snapshot()?;
            let ended = root.run(privileges, &variables)?;
            let about = || format!("{privileges:?} with {variables:?}\n{}", ended.output_tail());
            if ended.stdout.starts_with("secure false") && !drivers_are_required() {
                println!("skipped: {privileges:?} has no effect here (no_new_privs or a nosuid mount)");
                continue;
            }
            ensure!(ended.status.success(), about());
            ensure!(ended.stdout == "secure true, message size 65536\n", about());
            ensure!(ended.stderr.is_empty(), about());
            ensure!(root.snapshot()? == before, "files have changed: {}", about());
        }
        // The attack has an effect without privileges.
        let ended = root.run(Privileges::None, &variables)?;
        let about = || format!("{variables:?}\n{}", ended.output_tail());
        ensure!(ended.status.success(), about());
        ensure!(ended.stdout == "secure false, message size 131072\n", about());
        let cache = match variables.iter().any(|(name, _)| name == "XDG_CACHE_HOME") {
            true => "/attack/cache/vkabort",
            false => "/attack/.cache/vkabort",
        };
        for path in ["/attack/log", "/attack/dumps", cache] {
            ensure!(root.path(path).exists(), "{path} does not exist: {}", about());
        }
        fs::remove_file(root.path("/attack/log"))?;
        fs::remove_dir_all(root.path("/attack/dumps"))?;
        fs::remove_dir_all(root.path(cache))?;
    }
    Ok(())
}

#[test]
fn a_privileged_program_does_not_follow_links_to_its_own_files() -> Result<()> {
    let Some(root) = Root::new()? else {
        return Ok(());
    };
    root.write("/victim", "important\n")?;
    fs::create_dir_all(root.path("/attack/.cache"))?;
    symlink("/victim", root.path("/attack/log"))?;
    symlink("/", root.path("/attack/.cache/vkabort"))?;
    let before = root.snapshot()?;
    let variables = [(format!("{VARIABLE_PREFIX}LOG_FILE"), "/attack/log".to_owned())];
    let ended = root.run(Privileges::SetUid, &variables)?;
    ensure!(ended.status.success(), ended.output_tail());
    ensure!(
        root.snapshot()? == before,
        "files have changed: {}",
        ended.output_tail()
    );
    Ok(())
}
