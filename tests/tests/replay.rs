//! Addresses that are kept between runs, by several processes on the tests' own driver, whose address space begins
//! elsewhere in every process.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use vkabort_test_kit::cargo;
use vkabort_test_kit::scratch;
use vkabort_test_kit::scratch::TempDir;
use vkabort_test_kit::supervise::run_with_limit;
use vkabort_tests::harness::{DRIVER_SETTINGS, HAS_DEVICE, HOLD, MAY_END, Placement, environment};

const ONE: &str = "test_driver_binaries::pipeline_cache_data";
const THREE: &str = "test_driver_binaries::of_three_devices";
const BESIDE: &str = "test_driver_binaries::beside_another_device";
const HELD: &str = "test_driver_binaries::while_other_processes_run";

/// A home that processes share.
struct Home(TempDir);

impl Home {
    fn new() -> Result<Self> {
        Ok(Self(scratch::folder()?))
    }

    fn cache(&self) -> PathBuf {
        self.0.path().join("home/.cache")
    }

    /// Runs a case on a driver with these settings, in a folder of its own. What it prints, and its log.
    fn say(&self, case: &str, settings: &str, more: impl FnOnce(&mut Command)) -> Result<(String, String)> {
        let (layer, driver) = (cargo::build_layer()?, cargo::build_test_driver()?);
        let own = scratch::folder()?;
        let environment = environment(&driver, &layer, Placement::Alone, own.path())?;
        let mut command = environment.command(Path::new(env!("CARGO_BIN_EXE_vkabort-e2e")))?;
        command
            .arg(case)
            .env(DRIVER_SETTINGS, settings)
            .env("VK_SHADER_ABORT_LOG_LEVEL", "info")
            .env("XDG_CACHE_HOME", self.cache());
        more(&mut command);
        let ended = run_with_limit(&mut command, Duration::from_secs(60), own.path())?;
        ensure!(ended.status.success(), "{}\n{}", ended.status, ended.output_tail());
        ensure!(ended.stdout.starts_with("cache "), "{}", ended.output_tail());
        Ok((ended.stdout, ended.stderr))
    }

    fn run(&self, case: &str, settings: &str) -> Result<String> {
        Ok(self.say(case, settings, |_| {})?.0)
    }

    /// Files that the layer keeps, by name.
    fn kept(&self) -> Result<Vec<PathBuf>> {
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
    ensure!(home.kept()?.len() == 1, "{:?}", home.kept()?);
    let (second, log) = home.say(ONE, "replay", |_| {})?;
    ensure!(second == first, "the second process has other binaries");
    let said = format!(
        "message address: same as in an earlier run, from {}\n",
        home.kept()?[0].display()
    );
    ensure!(log.contains(&said), "{log}");
    // Another user's home has nothing to replay.
    ensure!(
        Home::new()?.run(ONE, "replay")? != first,
        "addresses do not show in the binaries"
    );
    Ok(())
}

#[test]
fn an_address_that_nobody_has_and_the_driver_refuses_is_replaced_and_a_damaged_file_too() -> Result<()> {
    let home = Home::new()?;
    let first = home.run(ONE, "replay")?;
    let (second, log) = home.say(ONE, "replay_refused", |_| {})?;
    ensure!(
        second != first && log.contains("no longer provides the address"),
        "{log}"
    );
    ensure!(home.run(ONE, "replay")? == second, "the new address is not kept");
    for file in home.kept()? {
        fs::write(file, "no address at all")?;
    }
    let third = home.run(ONE, "replay")?;
    ensure!(third != second, "the damaged file has an address");
    ensure!(home.run(ONE, "replay")? == third, "a damaged file is not replaced");
    Ok(())
}

#[test]
fn an_address_that_another_device_may_have_is_left_to_it_and_given_up_at_last() -> Result<()> {
    let home = Home::new()?;
    let first = home.run(ONE, "replay")?;
    let refused = || home.say(BESIDE, "replay_refused", |_| {});
    for _ in 0..2 {
        let (other, log) = refused()?;
        ensure!(other != first && log.contains("is in use: "), "{log}");
    }
    ensure!(home.run(ONE, "replay")? == first, "the address was not kept");
    // It was given, so counting begins anew.
    for _ in 0..2 {
        refused()?;
    }
    ensure!(home.run(ONE, "replay")? == first, "the address was given up too early");
    for _ in 0..2 {
        refused()?;
    }
    let (_, log) = refused()?;
    ensure!(log.contains("no longer provides the address"), "{log}");
    ensure!(home.run(ONE, "replay")? != first, "the address is not given up");
    Ok(())
}

#[test]
fn an_address_that_another_process_has_is_left_to_it() -> Result<()> {
    let home = Home::new()?;
    let first = home.run(ONE, "replay")?;
    let folder = scratch::folder()?;
    std::thread::scope(|scope| {
        let holds = scope.spawn(|| {
            home.say(HELD, "replay", |command| {
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
        // Where processes have address spaces of their own, both have the address.
        let same = home.run(ONE, "replay");
        let refused = home.say(ONE, "replay_refused", |_| {});
        fs::write(folder.path().join(MAY_END), "")?;
        let (held, _) = holds.join().expect("no panic")?;
        ensure!(held == first && same? == first, "not all have the address");
        let (other, log) = refused?;
        ensure!(other != first && log.contains("is in use: "), "{log}");
        ensure!(home.run(ONE, "replay")? == first, "the address was replaced");
        Ok(())
    })
}

#[test]
fn first_runs_at_the_same_time_agree() -> Result<()> {
    for _ in 0..5 {
        let home = Home::new()?;
        let runs: Vec<Result<(String, String)>> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..6)
                .map(|_| scope.spawn(|| home.say(ONE, "replay", |_| {})))
                .collect();
            all.into_iter().map(|run| run.join().expect("no panic")).collect()
        });
        let runs = runs.into_iter().collect::<Result<Vec<_>>>()?;
        ensure!(home.kept()?.len() == 1, "{:?}", home.kept()?);
        let last = home.run(ONE, "replay")?;
        let mut first = 0;
        for (cache, log) in &runs {
            ensure!(*cache == last, "processes have different addresses:\n{log}");
            first += usize::from(log.contains("new, saved for later runs"));
        }
        ensure!(first == 1, "{first} processes take themselves for the first");
    }
    Ok(())
}

#[test]
fn devices_side_by_side_have_an_address_each() -> Result<()> {
    let home = Home::new()?;
    let first = home.run(THREE, "replay")?;
    ensure!(first.lines().count() == 3 && home.kept()?.len() == 3, "{first}");
    ensure!(
        home.run(THREE, "replay")? == first,
        "the second process has other binaries"
    );
    ensure!(
        first.starts_with(&home.run(ONE, "replay")?),
        "a device alone has another address than the first of three"
    );
    Ok(())
}

#[test]
fn a_control_block_apart_has_its_address_back_or_neither_has() -> Result<()> {
    let home = Home::new()?;
    let apart = "replay,memory=vram+bar+cached";
    let first = home.run(ONE, apart)?;
    let text = || -> Result<String> { Ok(fs::read_to_string(&home.kept()?[0])?) };
    let kept = text()?;
    ensure!(
        kept.lines().any(|line| line.starts_with("records ")) && kept.lines().any(|line| line.starts_with("control ")),
        "{kept}"
    );
    ensure!(home.run(ONE, apart)? == first, "the second process has other binaries");
    // The second allocation is the control block's: the first is not kept without it.
    let (other, log) = home.say(ONE, &format!("{apart},refuse=memory:2"), |_| {})?;
    ensure!(other != first && log.contains("is in use: vkAllocateMemory"), "{log}");
    ensure!(
        home.run(ONE, apart)? == first && text()? == kept,
        "the addresses are not kept"
    );
    // A first run without it keeps nothing.
    let poor = Home::new()?;
    let (_, log) = poor.say(ONE, &format!("{apart},refuse=memory:2"), |_| {})?;
    ensure!(
        log.contains("message address: chosen by the driver: the control block"),
        "{log}"
    );
    let whole = poor.run(ONE, apart)?;
    ensure!(poor.run(ONE, apart)? == whole, "the address is not kept afterwards");
    // An address is good for buffers made in the same way.
    ensure!(
        home.run(ONE, "replay,memory=vram+bar+cached,devices=1")? == first,
        "the same way"
    );
    let (_, log) = home.say(ONE, apart, |command| {
        command.env("VK_SHADER_ABORT_CONTROL_BLOCK", "host");
    })?;
    ensure!(log.contains("new, saved for later runs"), "{log}");
    Ok(())
}

#[test]
fn without_a_folder_the_address_is_not_kept_and_that_is_said() -> Result<()> {
    let home = Home::new()?;
    let file = home.0.path().join("a file");
    fs::write(&file, "")?;
    let (first, log) = home.say(ONE, "replay", |command| {
        command.env("XDG_CACHE_HOME", &file);
    })?;
    ensure!(
        log.contains("may differ in the next run (") && log.contains("cannot write "),
        "{log}"
    );
    let (second, log) = home.say(ONE, "replay", |command| {
        command.env_remove("XDG_CACHE_HOME").env_remove("HOME");
    })?;
    ensure!(second != first && log.contains("there is no cache folder"), "{log}");
    Ok(())
}
