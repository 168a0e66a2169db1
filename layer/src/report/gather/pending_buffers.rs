//! The lines about command buffers that were pending when the driver lost the device, with all their labels.

use super::replay::replay;
use crate::device::features::recordings::Recording;
use crate::device::state::{Objects, Users};
use ash::vk::{Handle as _, ObjectType};
use std::sync::Arc;

/// Command buffers, and labels of each, that are listed after a loss by the driver; the others are counted.
const SHOWN: usize = 16;

/// A line for each pending command buffer: its name, the number of its commands, and their labels.
pub fn pending_buffers(objects: &Objects, pending: &[Arc<Recording>]) -> Vec<String> {
    let users = Users::any();
    let shown = pending.iter().take(SHOWN).map(|recording| {
        let commands = replay(objects, recording, &users);
        let mut paths: Vec<String> = commands
            .iter()
            .map(|(_, command)| command.place.labels.join(" > "))
            .collect();
        paths.dedup();
        paths.retain(|path| !path.is_empty());
        let more = paths.len().saturating_sub(SHOWN);
        paths.truncate(SHOWN);
        paths.extend((more > 0).then(|| format!("... {more} more")));
        let labels = match paths.is_empty() {
            true => String::new(),
            false => format!(" (labels: {})", paths.join(", ")),
        };
        let buffer = match objects.name(ObjectType::COMMAND_BUFFER, recording.buffer.as_raw()) {
            Some(name) => format!("command buffer \"{name}\""),
            None => "a command buffer without a name".to_owned(),
        };
        let plural = if commands.len() == 1 { "" } else { "s" };
        format!("{buffer} with {} command{plural}{labels}", commands.len())
    });
    let more = pending.len().saturating_sub(SHOWN);
    let more = (more > 0).then(|| format!("... {more} more command buffers"));
    shown.chain(more).collect()
}
