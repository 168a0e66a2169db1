//! Divisions of specialisation constants, some of which divide by zero or overflow.

use super::division::{DIVISIONS, OPERANDS, divided};
use super::support::run;
use super::text::shader;
use crate::vk::Device;
use anyhow::{Result, ensure};
use std::fmt::Write;

/// Every invocation stores every result. Scalars only, because the validation layer specialises vectors of such a module
/// into constants that are used before they are declared.
pub(super) fn division(device: &Device<'_>) -> Result<()> {
    let cases = OPERANDS
        .iter()
        .flat_map(|pair| DIVISIONS.map(|operation| (*pair, operation)));
    let cases: Vec<((u64, u64), &str)> = cases.collect();
    let (mut types, mut code) = (String::new(), String::new());
    for (number, ((a, b), operation)) in cases.iter().enumerate() {
        let (a, b, name) = (*a as u32, *b as u32, operation.trim_start_matches("Op"));
        write!(
            types,
            "%a{number} = OpSpecConstant %uint {a}
             %b{number} = OpSpecConstant %uint {b}
             %q{number} = OpSpecConstantOp %uint {name} %a{number} %b{number}
             %at{number} = OpConstant %uint {number}\n"
        )?;
        write!(
            code,
            "%p{number} = OpAccessChain %element %words %zero %at{number}
             OpStore %p{number} %q{number}\n"
        )?;
    }
    let after = run(device, &shader(true, "", &types, &code)?, &vec![0; cases.len()])?;
    for (number, ((a, b), operation)) in cases.iter().enumerate() {
        let expected = divided(operation, *a, *b, 32);
        let found = after[number];
        ensure!(
            expected.is_none_or(|expected| u64::from(found) == expected),
            "{operation} {a:#x} {b:#x} is {found:#x}, expected {expected:x?}"
        );
    }
    Ok(())
}
