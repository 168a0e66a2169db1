//! The number of iterations after which some drivers end every loop.

use ash::vk;

/// Iterations of all loops of an invocation together after which the driver ends each of them, without an error. `None`: no such
/// limit is known.
///
/// llvmpipe, which runs a vector of invocations at once, counts those of the vector (Mesa, `LP_MAX_TGSI_LOOP_ITERATIONS`).
pub fn loop_limit(driver: &vk::PhysicalDeviceDriverProperties<'_>) -> Option<u32> {
    let version = driver.driver_info_as_c_str().unwrap_or_default().to_string_lossy();
    let major = || version.strip_prefix("Mesa ")?.split('.').next()?.parse::<u32>().ok();
    let has_limit =
        driver.driver_id == vk::DriverId::MESA_LLVMPIPE && major().is_some_and(|major| major < FIRST_WITHOUT);
    has_limit.then_some(65_535)
}

/// A budget of iterations that an invocation uses up before the driver ends its loops: the largest round number.
pub fn budget_below(limit: u32) -> u32 {
    const ROUND: u32 = 1000;
    (limit.saturating_sub(1) / ROUND * ROUND).max(1)
}

/// The first major version of Mesa without the limit. Measured: 22.3 has it, 25.0 and 26.2 lack it. Sources between them have it.
const FIRST_WITHOUT: u32 = 25;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_depends_on_driver_and_version() {
        let limit = |id, info: &std::ffi::CStr| {
            let mut driver = vk::PhysicalDeviceDriverProperties::default().driver_id(id);
            driver = driver.driver_info(info).expect("short");
            loop_limit(&driver)
        };
        assert_eq!(
            limit(vk::DriverId::MESA_LLVMPIPE, c"Mesa 22.3.6 (LLVM 15.0.6)"),
            Some(65_535)
        );
        assert_eq!(limit(vk::DriverId::MESA_LLVMPIPE, c"Mesa 26.2.0 (LLVM 21.1.0)"), None);
        assert_eq!(limit(vk::DriverId::MESA_LLVMPIPE, c""), None);
        assert_eq!(limit(vk::DriverId::MESA_RADV, c"Mesa 22.3.6"), None);
    }
}
