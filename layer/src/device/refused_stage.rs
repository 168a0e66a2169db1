//! `emulation = partial`: refuses aborts in shader stages in which the driver lacks stores.

use crate::device::state::{AbortState, Device, Module, Stores};
use crate::report::log::Level;
use ash::vk;
use std::ffi::CStr;

/// The stages that can lack stores.
const STAGES: [(vk::ShaderStageFlags, &str); 5] = [
    (vk::ShaderStageFlags::VERTEX, "vertex"),
    (vk::ShaderStageFlags::TESSELLATION_CONTROL, "tessellation control"),
    (vk::ShaderStageFlags::TESSELLATION_EVALUATION, "tessellation evaluation"),
    (vk::ShaderStageFlags::GEOMETRY, "geometry"),
    (vk::ShaderStageFlags::FRAGMENT, "fragment"),
];

impl Device {
    /// Checks that a stage, which runs the entry point `entry` of a module, does not abort where it could not write the
    /// message.
    ///
    /// # Errors
    /// The entry point reaches an abort. The reason is logged.
    pub fn check_stage(
        &self,
        state: &AbortState,
        stage: vk::ShaderStageFlags,
        entry: &CStr,
        module: &Module,
    ) -> Result<(), vk::Result> {
        if !state.refused_stages.intersects(stage) || !module.is_rewritten {
            return Ok(());
        }
        let aborts = aborts_of(module, stage, entry);
        if aborts == 0 {
            return Ok(());
        }
        let name = STAGES.iter().find(|row| row.0 == stage).map_or("", |row| row.1);
        let feature = match stage {
            vk::ShaderStageFlags::FRAGMENT => "fragmentStoresAndAtomics",
            _ => "vertexPipelineStoresAndAtomics",
        };
        let plural = if aborts == 1 { "" } else { "s" };
        let text = format!(
            "the {name} shader `{}` of module {} contains {aborts} abort{plural}, which cannot be emulated: the driver lacks \
             {feature}. Under emulation = partial only the other stages can abort",
            entry.to_string_lossy(),
            module.sites.module_hash,
        );
        self.instance.log.line(Level::Error, &text);
        Err(vk::Result::ERROR_UNKNOWN)
    }
}

/// Number of abort sites that an entry point of a stage reaches.
fn aborts_of(module: &Module, stage: vk::ShaderStageFlags, entry: &CStr) -> usize {
    let Some((entry, _)) = module.entry_point(stage, entry.to_bytes()) else {
        return 0;
    };
    let sites = module.sites.sites.iter();
    sites.filter(|site| site.entry_points.contains(&(entry as u32))).count()
}

/// What a device with `stores` cannot do, for the log. None if it can do everything.
pub fn restriction(stores: Stores) -> Option<String> {
    let stages: Vec<&str> = STAGES
        .iter()
        .filter(|row| stores.refused_stages().contains(row.0))
        .map(|row| row.1)
        .collect();
    let missing: Vec<&str> = stores.missing().collect();
    (!missing.is_empty()).then(|| {
        format!(
            "aborts in {} shaders are refused: the driver lacks {}",
            stages.join(", "),
            missing.join(" and ")
        )
    })
}
