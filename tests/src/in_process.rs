//! Runs a case in this process, which exits with the result.

use crate::case::{Case, Context, Skip};

/// Exit code of a process whose case passed.
pub const PASSED: u8 = 0;
/// Exit code of a process whose case failed.
pub const FAILED: u8 = 1;
/// Exit code of a process whose case does not apply to the device.
pub const SKIPPED: u8 = 77;

/// Runs a case in this process. Prints the reason of a failure or skip. Returns the exit code.
pub fn run(case: &Case) -> u8 {
    let context = Context::default();
    let result = case.run.call(&context);
    let messages = context.messages.take();
    let code = match result {
        Err(error) if error.is::<Skip>() => {
            println!("{error}");
            return SKIPPED;
        }
        Err(error) => {
            println!("{error:#}");
            FAILED
        }
        Ok(()) if messages.is_empty() => PASSED,
        Ok(()) => FAILED,
    };
    for message in messages {
        println!("message of the validation layer: {message}");
    }
    code
}
