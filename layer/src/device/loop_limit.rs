//! Drivers that end every loop after a number of iterations, so that the check of loops with a larger budget never fails there.

use ash::vk;

/// Iterations after which llvmpipe ends the loops of an invocation (`LP_MAX_TGSI_LOOP_ITERATIONS`).
const LLVMPIPE: u32 = 65_535;
/// The last major version of Mesa whose llvmpipe was seen to do so; 25.0.7 does not.
const LAST_MESA: u32 = 22;

/// The limit of a driver, by its name and what it says of its version (`driverInfo`): "Mesa 22.3.6 (LLVM 15.0.6)".
pub fn loop_limit(driver: vk::DriverId, info: &str) -> Option<u32> {
    let version = info.strip_prefix("Mesa ")?.split('.').next()?;
    let is_old = driver == vk::DriverId::MESA_LLVMPIPE && version.parse::<u32>().is_ok_and(|major| major <= LAST_MESA);
    is_old.then_some(LLVMPIPE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_old_versions_of_llvmpipe_end_loops() {
        let llvmpipe = |info| loop_limit(vk::DriverId::MESA_LLVMPIPE, info);
        assert_eq!(llvmpipe("Mesa 22.3.6 (LLVM 15.0.6)"), Some(65_535));
        assert_eq!(llvmpipe("Mesa 25.0.7-2~bpo12+1 (LLVM 15.0.6)"), None);
        assert_eq!(
            (llvmpipe(""), llvmpipe("Mesa "), llvmpipe("Mesa git")),
            (None, None, None)
        );
        assert_eq!(loop_limit(vk::DriverId::MESA_RADV, "Mesa 22.3.6"), None);
    }
}
