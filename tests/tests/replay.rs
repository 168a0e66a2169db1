//! Message addresses saved between runs, tested with several processes on the test driver, whose address space starts at
//! a different address in each process.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};
use vkabort_test_kit::scratch::{self, TempDir};
use vkabort_tests::case_process::CaseProcess;
use vkabort_tests::harness::{HAS_DEVICE, HOLD, MAY_END};

const ONE: &str = "test_driver_binaries::pipeline_cache_data";
const THREE: &str = "test_driver_binaries::of_three_devices";
const BESIDE: &str = "test_driver_binaries::beside_another_device";
const HELD: &str = "test_driver_binaries::while_other_processes_run";

/// A home directory that processes share.
struct Home {
    folder: TempDir,
    process: CaseProcess,
}

impl Home {
    fn new() -> Result<Self> {
        Ok(Self {
            folder: scratch::folder()?,
            process: CaseProcess {
                program: env!("CARGO_BIN_EXE_vkabort-e2e"),
            },
        })
    }

    fn cache(&self) -> PathBuf {
        self.folder.path().join("home/.cache")
    }

    /// Runs a case with these settings of the test driver, in its own folder. Returns stdout and the log.
    fn exec(&self, case: &str, settings: &str, more: impl FnOnce(&mut Command)) -> Result<(String, String)> {
        let cache = self.cache();
        let ended = self.process.run(case, settings, &scratch::folder()?, |command| {
            command
                .env("VK_SHADER_ABORT_LOG_LEVEL", "info")
                .env("XDG_CACHE_HOME", cache);
            more(command);
        })?;
        Ok((ended.stdout, ended.stderr))
    }

    fn run(&self, case: &str, settings: &str) -> Result<String> {
        Ok(self.exec(case, settings, |_| {})?.0)
    }

    /// Address files of the layer, sorted by name.
    fn files(&self) -> Result<Vec<PathBuf>> {
        let folder = self.cache().join("vkabort");
        let entries = fs::read_dir(&folder).with_context(|| format!("{}", folder.display()))?;
        let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        files.sort();
        Ok(files)
    }
}

#[test]
fn a_replayed_address_is_the_same_in_two_processes() -> Result<()> {
    let home = Home::new()?;
    let first = home.run(ONE, "replay")?;
    ensure!(home.files()?.len() == 1, "{:?}", home.files()?);
    let (second, log) = home.exec(ONE, "replay", |_| {})?;
    ensure!(second == first, "the second process has other binaries");
    let expected = format!(
        "message address: same as in an earlier run, from {}\n",
        home.files()?[0].display()
    );
    ensure!(log.contains(&expected), "{log}");
    // Another user's home contains no address file.
    ensure!(
        Home::new()?.run(ONE, "replay")? != first,
        "addresses do not show in the binaries"
    );
    Ok(())
}

#[test]
fn a_refused_unused_address_and_a_damaged_file_are_replaced() -> Result<()> {
    let home = Home::new()?;
    let first = home.run(ONE, "replay")?;
    let (second, log) = home.exec(ONE, "replay_refused", |_| {})?;
    ensure!(
        second != first && log.contains("no longer provides the address"),
        "{log}"
    );
    ensure!(home.run(ONE, "replay")? == second, "the new address is not kept");
    for file in home.files()? {
        fs::write(file, "vkabort 1\nnot an address")?;
    }
    let third = home.run(ONE, "replay")?;
    ensure!(third != second, "the damaged file was read");
    ensure!(home.run(ONE, "replay")? == third, "a damaged file is not replaced");
    Ok(())
}

#[test]
fn two_devices_in_one_slot_have_separate_addresses() -> Result<()> {
    let home = Home::new()?;
    let first = home.run(ONE, "replay")?;
    let (_, log) = home.exec(ONE, "replay,device_id=77", |_| {})?;
    ensure!(log.contains("new, saved for later runs"), "{log}");
    ensure!(home.files()?.len() == 2, "{:?}", home.files()?);
    ensure!(
        home.run(ONE, "replay")? == first,
        "the first device's address is not kept"
    );
    Ok(())
}

#[test]
fn a_file_of_another_program_is_not_overwritten() -> Result<()> {
    let home = Home::new()?;
    home.run(ONE, "replay")?;
    let file = &home.files()?[0];
    fs::write(file, "not an address")?;
    let (_, log) = home.exec(ONE, "replay", |_| {})?;
    ensure!(log.contains("was not written by this layer; move it away"), "{log}");
    ensure!(fs::read_to_string(file)? == "not an address", "the file has changed");
    Ok(())
}

#[test]
fn a_possibly_used_address_is_replaced_after_three_refusals() -> Result<()> {
    let home = Home::new()?;
    let first = home.run(ONE, "replay")?;
    let refused = || home.exec(BESIDE, "replay_refused", |_| {});
    for _ in 0..2 {
        let (other, log) = refused()?;
        ensure!(other != first && log.contains("is in use: "), "{log}");
    }
    ensure!(home.run(ONE, "replay")? == first, "the address was not kept");
    // The successful run reset the count of refusals.
    for _ in 0..2 {
        refused()?;
    }
    ensure!(home.run(ONE, "replay")? == first, "replaced too early");
    for _ in 0..2 {
        refused()?;
    }
    let (_, log) = refused()?;
    ensure!(log.contains("no longer provides the address"), "{log}");
    ensure!(home.run(ONE, "replay")? != first, "the address was not replaced");
    Ok(())
}

#[test]
fn an_address_in_use_by_another_process_is_not_replaced() -> Result<()> {
    let home = Home::new()?;
    let first = home.run(ONE, "replay")?;
    let folder = scratch::folder()?;
    std::thread::scope(|scope| {
        let holds = scope.spawn(|| {
            home.exec(HELD, "replay", |command| {
                command.env(HOLD, "1").current_dir(folder.path());
            })
        });
        let began = Instant::now();
        while !folder.path().join(HAS_DEVICE).exists()
            && !holds.is_finished()
            && began.elapsed() < Duration::from_secs(30)
        {
            std::thread::sleep(Duration::from_millis(2));
        }
        // The processes have separate GPU address spaces, so both get the address.
        let same = home.run(ONE, "replay");
        let refused = home.exec(ONE, "replay_refused", |_| {});
        fs::write(folder.path().join(MAY_END), "")?;
        let (held, _) = holds.join().expect("no panic")?;
        ensure!(held == first && same? == first, "the addresses differ");
        let (other, log) = refused?;
        ensure!(other != first && log.contains("is in use: "), "{log}");
        ensure!(home.run(ONE, "replay")? == first, "the address was replaced");
        Ok(())
    })
}

#[test]
fn concurrent_first_runs_agree_on_an_address() -> Result<()> {
    for _ in 0..5 {
        let home = Home::new()?;
        let runs: Vec<Result<(String, String)>> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..6)
                .map(|_| scope.spawn(|| home.exec(ONE, "replay", |_| {})))
                .collect();
            all.into_iter().map(|run| run.join().expect("no panic")).collect()
        });
        let runs = runs.into_iter().collect::<Result<Vec<_>>>()?;
        ensure!(home.files()?.len() == 1, "{:?}", home.files()?);
        let last = home.run(ONE, "replay")?;
        let mut first = 0;
        for (cache, log) in &runs {
            ensure!(*cache == last, "processes have different addresses:\n{log}");
            first += usize::from(log.contains("new, saved for later runs"));
        }
        ensure!(first == 1, "{first} processes saved a new address");
    }
    Ok(())
}

#[test]
fn each_concurrent_device_has_its_own_address() -> Result<()> {
    let home = Home::new()?;
    let first = home.run(THREE, "replay")?;
    ensure!(first.lines().count() == 3 && home.files()?.len() == 3, "{first}");
    ensure!(
        home.run(THREE, "replay")? == first,
        "the second process has other binaries"
    );
    ensure!(
        first.starts_with(&home.run(ONE, "replay")?),
        "a single device has a different address than the first of three"
    );
    Ok(())
}

#[test]
fn a_separate_control_block_is_replayed_with_the_records_or_not_at_all() -> Result<()> {
    let home = Home::new()?;
    let apart = "replay,memory=vram+bar+cached";
    let first = home.run(ONE, apart)?;
    let text = || -> Result<String> { Ok(fs::read_to_string(&home.files()?[0])?) };
    let kept = text()?;
    ensure!(
        kept.lines().any(|line| line.starts_with("records ")) && kept.lines().any(|line| line.starts_with("control ")),
        "{kept}"
    );
    ensure!(home.run(ONE, apart)? == first, "the second process has other binaries");
    // The second allocation is the control block; without it the records do not use the saved address either.
    let (other, log) = home.exec(ONE, &format!("{apart},refuse=memory:2"), |_| {})?;
    ensure!(other != first && log.contains("is in use: vkAllocateMemory"), "{log}");
    ensure!(
        home.run(ONE, apart)? == first && text()? == kept,
        "the addresses are not kept"
    );
    // A first run without a control block saves nothing.
    let poor = Home::new()?;
    let (_, log) = poor.exec(ONE, &format!("{apart},refuse=memory:2"), |_| {})?;
    ensure!(
        log.contains("message address: chosen by the driver: the control block"),
        "{log}"
    );
    let whole = poor.run(ONE, apart)?;
    ensure!(poor.run(ONE, apart)? == whole, "the address is not kept afterwards");
    // An address is reused only by buffers with the same memory placement.
    ensure!(
        home.run(ONE, "replay,memory=vram+bar+cached,devices=1")? == first,
        "same placement, other address"
    );
    let (_, log) = home.exec(ONE, apart, |command| {
        command.env("VK_SHADER_ABORT_CONTROL_BLOCK", "host");
    })?;
    ensure!(log.contains("new, saved for later runs"), "{log}");
    Ok(())
}

#[test]
fn without_a_cache_folder_the_address_is_not_saved_and_the_log_says_so() -> Result<()> {
    let home = Home::new()?;
    let file = home.folder.path().join("a file");
    fs::write(&file, "")?;
    let (first, log) = home.exec(ONE, "replay", |command| {
        command.env("XDG_CACHE_HOME", &file);
    })?;
    ensure!(
        log.contains("may differ in the next run (") && log.contains("cannot write "),
        "{log}"
    );
    let (second, log) = home.exec(ONE, "replay", |command| {
        command.env_remove("XDG_CACHE_HOME").env_remove("HOME");
    })?;
    ensure!(second != first && log.contains("there is no cache folder"), "{log}");
    Ok(())
}
