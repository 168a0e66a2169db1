//! Reports modules whose aborts have no effect, because the application did not enable what they need. The driver ignores
//! such a module's aborts or refuses the module, and without the report nothing says why.

use crate::device::Device;
use crate::device::creation::probe;
use crate::device::state::Module;
use crate::locks::lock;
use crate::log::Level;
use crate::settings::Emulation;
use vkabort_instrument::{Feature, Options, scan, sites};
use vkabort_record::site::SiteTable;

impl Device {
    /// A module of a device that does not use the extensions: the driver gets it as it is.
    pub fn pass_module(&self, words: &[u32]) {
        self.instance.module_files.dump(words, None, &self.instance.log);
        self.report_unused_aborts(words);
    }

    /// Reports a module that aborts, on a device that did not enable `VK_KHR_shader_abort`. Once per module and instance.
    /// Under 100 ns for a module that does not.
    pub fn report_unused_aborts(&self, words: &[u32]) {
        if !scan(words).contains(Feature::Abort) || !self.instance.log.is_enabled(Level::Error) {
            return;
        }
        let options = Options {
            max_message_bytes: u32::MAX,
            ..Options::default()
        };
        let capabilities = probe::physical_device(&self.instance, self.physical);
        if self.instance.settings.emulation == Emulation::Off && !capabilities.native.abort {
            return;
        }
        // The driver reports an invalid module.
        if let Ok(Some(table)) = sites(words, &options)
            && self.is_first_report(&table)
        {
            let remedy = match &capabilities.reason {
                Some(reason) => format!("The layer cannot provide it on this device: {reason}"),
                None => "Enable the extension and the feature shaderAbort, or set enable = always".to_owned(),
            };
            let text = format!(
                "{}, but this device did not enable VK_KHR_shader_abort: the aborts have no effect, or the driver refuses the \
                 module. {remedy}",
                subject(&table)
            );
            self.instance.log.line(Level::Error, &text);
        }
    }

    /// Reports a module that aborts, on a device that enabled `VK_KHR_shader_abort` without the feature `shaderAbort`. Once
    /// per module and instance.
    pub fn report_missing_feature(&self, module: &Module) {
        let is_missing = self.state.as_ref().is_some_and(|state| state.lacks_feature);
        if !is_missing || module.sites.sites.is_empty() || !self.is_first_report(&module.sites) {
            return;
        }
        let (level, effect) = match module.is_rewritten {
            true => (
                Level::Warning,
                "this layer executes the aborts, other implementations need not",
            ),
            false => (
                Level::Error,
                "the aborts have no effect, or the driver refuses the module",
            ),
        };
        let text = format!(
            "{}, but this device did not enable the feature shaderAbort of VK_KHR_shader_abort: {effect}",
            subject(&module.sites)
        );
        self.instance.log.line(level, &text);
    }

    fn is_first_report(&self, table: &SiteTable) -> bool {
        lock(&self.instance.reported_modules).insert(table.module_hash)
    }
}

/// The module's hash, its source file or else its entry point, and its number of aborts.
fn subject(table: &SiteTable) -> String {
    let file = table.sites.iter().find_map(|site| site.location.as_ref());
    let name = match (file, table.entry_points.first()) {
        (Some(location), _) => format!(" ({})", location.file),
        (None, Some(entry)) => format!(" (entry point `{}`)", entry.name),
        (None, None) => String::new(),
    };
    let count = table.sites.len();
    let plural = if count == 1 { "" } else { "s" };
    format!("module {}{name} contains {count} abort{plural}", table.module_hash)
}
