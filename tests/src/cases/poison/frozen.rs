//! A frozen value is the same at every use.

use super::support::run;
use super::text::{POISON_MODE, Words};
use crate::vk::Device;
use crate::word_shader::word_shader;
use anyhow::{Result, ensure};

/// Freezes poison, an undefined value, a poisonous quotient and a normal one, and uses the results repeatedly: in other
/// blocks, in composites, in a callee and in a phi.
pub(super) fn frozen(device: &Device<'_>) -> Result<()> {
    let mut words = Words::default();
    let pairs = [
        ("%f0", "%phi"),
        ("%f1", "%f1"),
        ("%f2", "%f2"),
        ("%f3", "%f3"),
        ("%f4", "%i"),
        ("%f5", "%f5"),
        ("%f6", "%twice"),
        ("%f7", "%again"),
    ];
    for (at, (first, second)) in (0..).zip(pairs) {
        words.store(2 * at, 16, "%i", first);
        // Arithmetic that restores the value prevents merging the two stores.
        let flipped = words.value(&format!("OpNot %uint {second}"));
        let back = words.value(&format!("OpNot %uint {flipped}"));
        words.store(2 * at + 1, 16, "%i", &back);
    }
    for mode in [true, false] {
        // Division by zero is poison only under the mode.
        let (modes, divisor) = if mode { (POISON_MODE, "%zero") } else { ("", "%one") };
        let values = [
            ("modes", modes),
            ("divisor", divisor),
            ("generated_types", &words.types),
            ("generated_code", &words.code),
        ];
        let assembly = word_shader(&["poison/frozen", "poison/base"], &values)?;
        let after = run(device, &assembly, &[0xDEAD; 64 * 16])?;
        for (i, invocation) in after.chunks_exact(16).enumerate() {
            for (number, (pair, (name, _))) in invocation.chunks_exact(2).zip(pairs).enumerate() {
                ensure!(pair[0] == pair[1], "{name} of invocation {i} is {pair:?}");
                ensure!(
                    number != 4 || pair[0] == i as u32,
                    "{name} of invocation {i} is {pair:?}"
                );
            }
        }
    }
    Ok(())
}
