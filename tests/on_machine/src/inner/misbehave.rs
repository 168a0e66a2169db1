//! Parts that misbehave, for testing what becomes of such.

use super::Inner;
use crate::parts::Misbehaviour;
use crate::results::Line;
use anyhow::Result;
use std::process::Command;
use std::time::Duration;

pub(super) fn run(inner: &mut Inner, how: Misbehaviour) -> Result<()> {
    inner.start("self::before")?;
    inner.end(&Line::Passed("self::before".to_owned()))?;
    inner.start("self::it")?;
    match how {
        Misbehaviour::None => inner.end(&Line::Skipped("self::it".to_owned(), "nothing to do".to_owned())),
        Misbehaviour::Fails => inner.end(&Line::Failed("self::it".to_owned(), "as it should".to_owned())),
        Misbehaviour::Crashes => std::process::abort(),
        Misbehaviour::Hangs => {
            let child = Command::new(&inner.carried.program)
                .args(["--child", "sleep"])
                .spawn()?;
            // So that a test can see what becomes of it.
            println!("sleeping {}", child.id());
            sleep();
            Ok(())
        }
    }
}

/// Much longer than any part may take.
pub(super) fn sleep() {
    std::thread::sleep(Duration::from_secs(600));
}
