//! Parts that hang, crash or fail on purpose, to test the supervisor.

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
        Misbehaviour::Fails => context.end(&Line::Failed("self::it".to_owned(), "intended failure".to_owned())),
        Misbehaviour::Crashes => std::process::abort(),
        Misbehaviour::Hangs => {
            let child = Command::new(&context.unpacked.program)
                .args(["--child", "sleep"])
                .spawn()?;
            // The test reads the process id and checks that the process dies.
            println!("sleeping {}", child.id());
            sleep();
            Ok(())
        }
    }
}

/// Sleeps longer than any part's limit.
pub(super) fn sleep() {
    std::thread::sleep(Duration::from_secs(600));
}
