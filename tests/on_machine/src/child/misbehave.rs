//! Parts that misbehave, for testing what becomes of such.

use super::context::PartContext;
use crate::parts::Misbehaviour;
use crate::results::Line;
use anyhow::Result;
use std::process::Command;
use std::time::Duration;

pub(super) fn run(context: &mut PartContext, how: Misbehaviour) -> Result<()> {
    context.start("self::before")?;
    context.end(&Line::Passed("self::before".to_owned()))?;
    context.start("self::it")?;
    match how {
        Misbehaviour::None => context.end(&Line::Skipped("self::it".to_owned(), "nothing to do".to_owned())),
        Misbehaviour::Fails => context.end(&Line::Failed("self::it".to_owned(), "as it should".to_owned())),
        Misbehaviour::Crashes => std::process::abort(),
        Misbehaviour::Hangs => {
            let child = Command::new(&context.unpacked.program)
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
