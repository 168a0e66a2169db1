//! `emulation = partial`: refuses aborts in shader stages in which the driver lacks stores.

use crate::device::state::Module;
use crate::device::{AbortState, Device};
use crate::log::Level;
use ash::vk;
use std::ffi::CStr;
use vkabort_record::stage::{Stage, StoreFeature, stage_name};

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
        let Some((index, model)) = module.entry_point(stage, entry.to_bytes()) else {
            return Ok(());
        };
        let sites = module.sites.sites.iter();
        let aborts = sites.filter(|site| site.entry_points.contains(&(index as u32))).count();
        if aborts == 0 {
            return Ok(());
        }
        let feature = Stage::of(model).and_then(|stage| stage.stores);
        let feature = feature.map_or("stores", StoreFeature::name);
        let plural = if aborts == 1 { "" } else { "s" };
        let text = format!(
            "the {} shader `{}` of module {} contains {aborts} abort{plural}, which cannot be emulated: the driver lacks \
             {feature}. Under emulation = partial only the other stages can abort",
            stage_name(model),
            entry.to_string_lossy(),
            module.sites.module_hash,
        );
        self.instance.log.line(Level::Error, &text);
        Err(vk::Result::ERROR_UNKNOWN)
    }
}
