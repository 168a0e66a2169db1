//! The bundle as a person has it: one file that carries everything, run where nothing else of ours is.

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value as Json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use vkabort_tests::harness::{DRIVER_SETTINGS, Scratch, drivers_are_required};
use xtask::drivers::Known;

/// The program with the files that it carries, as `cargo xtask bundle` packs them.
fn bundle() -> Result<&'static Path> {
    static PACKED: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let packed = PACKED.get_or_init(|| {
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("vkabort-bundle");
        let pack = |out: &Path| -> Result<()> {
            let files = xtask::bundle::files()?.carried()?;
            xtask::pack::pack(Path::new(env!("CARGO_BIN_EXE_vkabort-bundle")), &files, out)
        };
        pack(&out).map(|()| out).map_err(|error| format!("{error:#}"))
    });
    packed.as_deref().map_err(|error| anyhow::anyhow!("{error}"))
}

/// Another such program, of which a file is not what it should be.
fn with_damage(path: &str, out: &Path) -> Result<()> {
    let mut carried = xtask::bundle::files()?.carried()?;
    let file = carried.iter_mut().find(|file| file.path == path);
    file.context("no such file")?.bytes = b"something else".to_vec();
    xtask::pack::pack(Path::new(env!("CARGO_BIN_EXE_vkabort-bundle")), &carried, out)
}

/// The machine that the program is carried to: it has these drivers, and a folder for temporary files.
struct Machine {
    scratch: Scratch,
    drivers: Vec<PathBuf>,
    own: &'static str,
}

impl Machine {
    /// With our own driver, which does what the settings say.
    fn with_own(settings: &'static str) -> Result<Self> {
        let machine = Self {
            scratch: Scratch::new()?,
            drivers: vec![xtask::layer::build_driver()?.manifest],
            own: settings,
        };
        fs::create_dir_all(machine.temporary())?;
        fs::create_dir_all(machine.out())?;
        Ok(machine)
    }

    /// With lavapipe beside it. None, if lavapipe is not there and does not have to be.
    fn with_lavapipe(settings: &'static str) -> Result<Option<Self>> {
        let mut machine = Self::with_own(settings)?;
        match Known::Lavapipe.find() {
            Ok(driver) => machine.drivers.push(driver.manifest),
            Err(reason) if drivers_are_required() => bail!("{reason}"),
            Err(_) => return Ok(None),
        }
        Ok(Some(machine))
    }

    fn temporary(&self) -> PathBuf {
        self.scratch.0.join("temporary")
    }

    fn out(&self) -> PathBuf {
        self.scratch.0.join("out")
    }

    fn command(&self, words: &[&str]) -> Result<Command> {
        self.command_of(bundle()?, words)
    }

    fn command_of(&self, program: &Path, words: &[&str]) -> Result<Command> {
        let drivers = std::env::join_paths(&self.drivers)?;
        // No standard input at all, no home, and a folder that cannot be written.
        let mut command = Command::new("sh");
        command
            .args(["-c", "exec \"$0\" \"$@\" <&-"])
            .arg(program)
            .args(words)
            .current_dir("/proc")
            .env_remove("HOME")
            .env("TMPDIR", self.temporary())
            .env("VK_DRIVER_FILES", &drivers)
            .env("VK_ICD_FILENAMES", &drivers)
            .env(DRIVER_SETTINGS, self.own);
        Ok(command)
    }

    /// Runs the program to its end. Nothing of it may be left.
    fn run(&self, words: &[&str]) -> Result<Ran> {
        let ran = Ran(self.command(words)?.output()?);
        self.is_tidy()?;
        Ok(ran)
    }

    fn is_tidy(&self) -> Result<()> {
        let left: Vec<_> = fs::read_dir(self.temporary())?
            .flatten()
            .map(|entry| entry.path())
            .collect();
        ensure!(left.is_empty(), "left behind: {left:?}");
        Ok(())
    }
}

/// What came out.
struct Ran(Output);

impl Ran {
    fn out(&self) -> String {
        String::from_utf8_lossy(&self.0.stdout).into_owned()
    }

    fn err(&self) -> String {
        String::from_utf8_lossy(&self.0.stderr).into_owned()
    }

    /// The exit code, and each text in what was said.
    fn says(&self, code: i32, texts: &[&str]) -> Result<()> {
        let said = format!("{}{}", self.out(), self.err());
        ensure!(self.0.status.code() == Some(code), "{}\n{said}", self.0.status);
        for text in texts {
            ensure!(said.contains(text), "{text:?} is not in\n{said}");
        }
        Ok(())
    }

    /// The numbers of a part's row: passed, failed, skipped.
    fn row(&self, part: &str) -> Result<[usize; 3]> {
        let out = self.out();
        let mut lines = out.lines().map(str::split_whitespace);
        let row = lines.find_map(|mut words| (words.next() == Some(part)).then_some(words));
        let numbers: Vec<usize> = row
            .with_context(|| format!("no row {part}\n{out}"))?
            .take(3)
            .map(str::parse)
            .collect::<Result<_, _>>()?;
        numbers.try_into().map_err(|_| anyhow::anyhow!("a row of other length"))
    }
}

/// Whether a process with this number is alive.
fn lives(process: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // A zombie is dead, whoever is to wait for it.
    !stat.is_empty() && !stat.contains(") Z ")
}

/// Waits until a process is dead: one that is killed with its group needs a moment.
fn dies(process: &str) -> Result<()> {
    let start = Instant::now();
    while lives(process) {
        ensure!(start.elapsed() < Duration::from_secs(10), "process {process} lives on");
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// The number of the process that a part has left behind, if it had its way.
fn sleeper(log: &Path) -> Option<String> {
    let log = fs::read_to_string(log).ok()?;
    log.lines()
        .find_map(|line| line.strip_prefix("sleeping ").map(str::to_owned))
}

#[test]
fn devices_are_listed_and_named() -> Result<()> {
    let machine = Machine::with_own("devices=2")?;
    machine.run(&["--list"])?.says(
        0,
        &[
            "vkabort test driver#1\n    discrete GPU, Vulkan 1.3",
            "vkabort test driver#2\n",
        ],
    )?;
    let named = machine.run(&["--only", "self:works", "--device", "DRIVER#2"])?;
    named.says(0, &["vkabort test driver#2 (named by --device DRIVER#2)"])?;
    ensure!(named.row("self:works")? == [1, 0, 1], "{}", named.out());
    machine.run(&["--only", "self:works", "--device", "test"])?.says(
        2,
        &["`test` is in the names of several devices: vkabort test driver#1, vkabort test driver#2"],
    )?;
    machine
        .run(&["--only", "self:works", "--device", "H200"])?
        .says(2, &["no device is called `H200`: there are vkabort test driver#1,"])?;
    machine.run(&["--only", "self:works"])?.says(
        0,
        &["vkabort test driver#1 (the first discrete GPU of 2 devices; --device takes another)"],
    )?;
    machine
        .run(&["--only", "nothing"])?
        .says(2, &["no part is called `nothing`"])?;
    machine.run(&["--only", "hang"])?.says(2, &["it takes --traps"])
}

#[test]
fn parts_that_hang_crash_or_fail_are_rows_and_the_table_goes_on() -> Result<()> {
    let machine = Machine::with_own("")?;
    let out = machine.out();
    let words = ["--only", "self", "--limit", "2", "--out"];
    let ran = machine.run(&[&words[..], &[&out.to_string_lossy()]].concat())?;
    ran.says(
        1,
        &[
            "not over after 2 s: killed",
            "the process died of SIGABRT",
            "as it should",
            "   1  nothing to do",
        ],
    )?;
    for (part, row) in [
        ("self:works", [1, 0, 1]),
        ("self:hangs", [1, 1, 0]),
        ("self:crashes", [1, 1, 0]),
        ("self:fails", [1, 1, 0]),
        ("in", [0, 0, 0]),
    ] {
        ensure!(part == "in" || ran.row(part)? == row, "{part}: {}", ran.out());
        ensure!(
            part == "in" || out.join(format!("{}.log", part.replace(':', "-"))).is_file(),
            "no log of {part}"
        );
    }
    dies(&sleeper(&out.join("self-hangs.log")).context("nothing slept")?)?;
    ensure!(
        fs::read_to_string(out.join("table.txt"))? == ran.out(),
        "table.txt is another table"
    );
    let json: Json = serde_json::from_str(&fs::read_to_string(out.join("table.json"))?)?;
    ensure!(json["about"]["device"] == "vkabort test driver", "{json}");
    ensure!(
        json["parts"][1]["failed"][0]["text"] == "not over after 2 s: killed",
        "{json}"
    );
    Ok(())
}

#[test]
fn an_interrupt_ends_children_and_leaves_nothing() -> Result<()> {
    let machine = Machine::with_own("")?;
    let out = machine.out();
    let mut command = machine.command(&["--only", "self:hangs,self:fails", "--out"])?;
    let child = command
        .arg(&out)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    // The log stands in the private folder while the part runs.
    let start = Instant::now();
    let sleeper = loop {
        ensure!(start.elapsed() < Duration::from_secs(30), "the part does not begin");
        let folders = fs::read_dir(machine.temporary())?.flatten();
        let mut logs = folders.map(|folder| folder.path().join("logs/self-hangs.log"));
        if let Some(found) = logs.find_map(|log| sleeper(&log)) {
            break found;
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    ensure!(lives(&sleeper), "nothing sleeps");
    let killed = Command::new("sh")
        .args(["-c", &format!("kill -INT {}", child.id())])
        .status()?;
    ensure!(killed.success(), "{killed}");
    let ran = Ran(child.wait_with_output()?);
    ran.says(
        130,
        &[
            "self::it (self:hangs)\n    interrupted",
            "Interrupted by SIGINT: the table is not whole.",
        ],
    )?;
    ensure!(ran.row("self:fails").is_err(), "it went on: {}", ran.out());
    ensure!(out.join("table.txt").is_file(), "there is no table");
    machine.is_tidy()?;
    dies(&sleeper)
}

#[test]
fn without_a_loader_or_a_driver_it_says_so() -> Result<()> {
    let mut machine = Machine::with_own("")?;
    let folder = machine.scratch.0.join("libraries");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("libvulkan.so.1"), "no library")?;
    let ran = Ran(machine.command(&["--list"])?.env("LD_LIBRARY_PATH", &folder).output()?);
    ran.says(2, &["the Vulkan loader (libvulkan.so.1) cannot be loaded: "])?;
    machine.is_tidy()?;
    machine.drivers = vec!["/nonexistent.json".into()];
    machine
        .run(&["--list"])?
        .says(2, &["the Vulkan loader finds no driver"])
}

#[test]
fn where_temporary_files_cannot_be_it_goes_elsewhere() -> Result<()> {
    let machine = Machine::with_own("")?;
    let ran = Ran(machine.command(&["--list"])?.env("TMPDIR", "/proc").output()?);
    ran.says(0, &["vkabort test driver"])
}

#[test]
fn a_program_that_carries_nothing_says_so() -> Result<()> {
    let ran = Ran(Command::new(env!("CARGO_BIN_EXE_vkabort-bundle"))
        .arg("--list")
        .output()?);
    ran.says(
        2,
        &["carries no files: `cargo xtask bundle` makes the program that does"],
    )
}

#[test]
fn the_suite_runs_on_a_driver_of_the_machine() -> Result<()> {
    let Some(machine) = Machine::with_lavapipe("")? else {
        return Ok(());
    };
    let out = machine.out();
    let only = "facts,e2e:abort,e2e:report,e2e:untouched,own:memory,bench:loss,bench:calls,fault,hang";
    let words = ["--device", "LLVMpipe", "--traps", "--only", only, "--out"];
    let ran = machine.run(&[&words[..], &[&out.to_string_lossy()]].concat())?;
    ran.says(
        0,
        &[
            "(named by --device LLVMpipe)",
            "doctor:   VK_KHR_shader_abort          emulated",
            "memory type 0: heap 0, DEVICE_LOCAL",
            "dispatch to VK_ERROR_DEVICE_LOST",
            "vkQueueSubmit, enabled",
            "trap = fault and trap = hang are refused on a CPU driver",
            "the Slang compiler is not carried along",
        ],
    )?;
    for line in ran.out().lines() {
        ensure!(line.chars().count() <= 100, "too wide: {line}");
    }
    for (part, passed) in [
        ("e2e:abort", 4),
        ("e2e:untouched", 2),
        ("own:memory", 3),
        ("bench:loss", 2),
    ] {
        let [found, failed, skipped] = ran.row(part)?;
        ensure!(found >= passed && failed == 0 && skipped == 0, "{part}: {}", ran.out());
    }
    for part in ["fault", "hang"] {
        let [passed, failed, skipped] = ran.row(part)?;
        ensure!(passed == 0 && failed == 0 && skipped > 0, "{part}: {}", ran.out());
    }
    let json: Json = serde_json::from_str(&fs::read_to_string(out.join("table.json"))?)?;
    let measured = json["benchmarks"].as_array().context("no benchmarks")?;
    ensure!(
        measured.len() >= 9 && measured.iter().any(|one| one["ratio"].is_number()),
        "{json}"
    );
    Ok(())
}

/// Here the repository is there too: what shows whether the program looks into it is that the carried file differs.
#[test]
fn cases_read_what_is_carried_and_nothing_else() -> Result<()> {
    let Some(machine) = Machine::with_lavapipe("")? else {
        return Ok(());
    };
    let program = machine.scratch.0.join("damaged");
    for (file, failing) in [
        ("files/reports/bare.txt", "report::without_debug_info_and_names"),
        ("files/shaders/stage/fragment.frag", "report::of_a_pixel"),
    ] {
        with_damage(file, &program)?;
        let mut command = machine.command_of(&program, &["--device", "llvmpipe", "--only", "e2e:report"])?;
        let ran = Ran(command.output()?);
        ran.says(1, &[&format!("FAILED {failing} (e2e:report)\n")])?;
        ensure!(ran.row("e2e:report")?[1] == 1, "{}", ran.out());
    }
    Ok(())
}

/// The driver makes the records that its shaders would, and loses the device after them: what a GPU does.
#[test]
fn traps_run_on_a_driver_that_plays_a_gpu() -> Result<()> {
    let machine = Machine::with_own("abort=1,lose=execute:1,ext_fault")?;
    let ran = machine.run(&["--traps", "--only", "fault,hang"])?;
    // The message is the driver's and not the shader's, and every device is lost: the cases see it.
    ran.says(
        1,
        &[
            "lost after ",
            "MEMORY_ADDRESS",
            "memory 0xdead0000",
            "real_fault::loses_the_device_and_keeps_the_message",
        ],
    )
}
