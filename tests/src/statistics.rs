//! Statistics of `VK_KHR_pipeline_executable_properties` under one name for all drivers.

use crate::vk::Device;
use anyhow::Result;
use ash::khr::pipeline_executable_properties as extension;
use ash::vk;
use std::ffi::{CStr, c_char};

/// Statistics of one executable of a pipeline, by the driver's names.
#[derive(Clone, Debug, PartialEq)]
pub struct Executable {
    /// Its stages.
    pub stages: vk::ShaderStageFlags,
    /// Name and value.
    pub statistics: Vec<(String, f64)>,
}

/// How the values of several executables of a stage combine.
type Combine = fn(f64, f64) -> f64;

/// A metric, the drivers' names for it, and how values of several executables combine. Code is in bytes, in words on Turnip;
/// registers are vector registers of a lane; waves are those of a SIMD or core, on Intel the lanes of a thread.
const METRICS: [(&str, &[&str], Combine); 6] = [
    ("code", &["Code size", "Code Size", CODE_OF_TEXT], sum),
    (
        "instructions",
        &["Instructions", "Instruction Count", "Instruction count"],
        sum,
    ),
    (
        "registers",
        &["VGPRs", "Number of GPRs", "Max live registers", "Registers used"],
        f64::max,
    ),
    (
        "waves",
        &["Subgroups per SIMD", "Max Waves Per Core", "Max dispatch width"],
        f64::max,
    ),
    (
        "spills",
        &["Spilled VGPRs", "Spilled SGPRs", "Spill Count", "STP Count"],
        sum,
    ),
    ("scratch", &["Scratch size", "Scratch Memory Size", "SLM Size"], sum),
];

/// Name of the code size that [`code_size`] finds in an assembly listing.
const CODE_OF_TEXT: &str = "code size of the listing";

fn sum(one: f64, other: f64) -> f64 {
    one + other
}

/// Values by metric over the executables of `stages`. A metric that the driver does not report is missing.
pub fn metrics(executables: &[Executable], stages: vk::ShaderStageFlags) -> Vec<(&'static str, f64)> {
    let all = || {
        let of_stages = executables.iter().filter(|one| one.stages.intersects(stages));
        of_stages.flat_map(|one| &one.statistics)
    };
    let value = |names: &[&str], combine| {
        let values = all().filter(|(name, _)| names.contains(&name.as_str()));
        values.map(|(_, value)| *value).reduce(combine)
    };
    METRICS
        .iter()
        .filter_map(|(metric, names, combine)| Some((*metric, value(names, *combine)?)))
        .collect()
}

/// Flags of pipelines for [`executables`].
pub const CAPTURE: vk::PipelineCreateFlags = vk::PipelineCreateFlags::from_raw(
    vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR.as_raw()
        | vk::PipelineCreateFlags::CAPTURE_INTERNAL_REPRESENTATIONS_KHR.as_raw(),
);

/// Statistics of a pipeline that was created with [`CAPTURE`].
///
/// # Errors
///
/// A call fails.
pub fn executables(device: &Device<'_>, pipeline: vk::Pipeline) -> Result<Vec<Executable>> {
    let commands = extension::Device::new(&device.gpu.instance, &device.raw);
    let info = vk::PipelineInfoKHR::default().pipeline(pipeline);
    // SAFETY: the pipeline belongs to this device, which has the extension; both calls use a valid structure.
    let properties = unsafe { commands.get_pipeline_executable_properties(&info) }?;
    let mut all = Vec::new();
    for (properties, index) in properties.iter().zip(0..) {
        let info = vk::PipelineExecutableInfoKHR::default().pipeline(pipeline);
        // SAFETY: the pipeline has this executable, and was created with its statistics.
        let found = unsafe { commands.get_pipeline_executable_statistics(&info.executable_index(index)) }?;
        let mut statistics: Vec<_> = found.iter().map(|one| (text(&one.name), value(one))).collect();
        let listings = listings(&commands, &info.executable_index(index))?;
        if let Some(bytes) = listings.iter().find_map(|listing| code_size(listing)) {
            statistics.push((CODE_OF_TEXT.to_owned(), bytes));
        }
        all.push(Executable {
            stages: properties.stages,
            statistics,
        });
    }
    Ok(all)
}

/// Texts of an executable's internal representations.
fn listings(commands: &extension::Device, info: &vk::PipelineExecutableInfoKHR<'_>) -> Result<Vec<String>> {
    // SAFETY: the executable was created with its internal representations.
    let mut all = unsafe { commands.get_pipeline_executable_internal_representations(info) }?;
    let mut data: Vec<Vec<u8>> = all.iter().map(|one| vec![0; one.data_size]).collect();
    for (one, data) in all.iter_mut().zip(&mut data) {
        one.p_data = data.as_mut_ptr().cast();
    }
    let get = commands.fp().get_pipeline_executable_internal_representations_khr;
    let mut count = u32::try_from(all.len())?;
    // SAFETY: each structure has a buffer of the size that it names.
    unsafe { get(commands.device(), info, &raw mut count, all.as_mut_ptr()) }.result()?;
    let texts = data.iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    Ok(texts.collect())
}

/// Size of the code in bytes, from an Intel listing: 16 per instruction, 8 per compacted one. None for other texts.
fn code_size(listing: &str) -> Option<f64> {
    let instructions = listing.lines().filter(|line| line.contains("{ align"));
    let bytes = instructions.map(|line| if line.contains("compacted") { 8.0 } else { 16.0 });
    bytes.reduce(sum)
}

fn text(name: &[c_char]) -> String {
    let bytes: Vec<u8> = name.iter().map(|character| character.cast_unsigned()).collect();
    let text = CStr::from_bytes_until_nul(&bytes).unwrap_or_default();
    text.to_string_lossy().into_owned()
}

fn value(statistic: &vk::PipelineExecutableStatisticKHR<'_>) -> f64 {
    type Format = vk::PipelineExecutableStatisticFormatKHR;
    // SAFETY: the format says which field the driver has written.
    unsafe {
        match statistic.format {
            Format::BOOL32 => f64::from(statistic.value.b32),
            Format::INT64 => statistic.value.i64 as f64,
            Format::UINT64 => statistic.value.u64 as f64,
            _ => statistic.value.f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_size_of_a_listing_counts_compacted_instructions_half() {
        let listing = "LABEL1:\nmov(8) g1<1>UD g0<8,8,1>UD { align1 1Q };\nadd(8) g2 g1 g1 { align1 1Q compacted };\n";
        assert_eq!(code_size(listing), Some(24.0));
        assert_eq!(code_size("mov r1, r2\n"), None);
    }

    #[test]
    fn executables_of_a_stage_combine() {
        let executable = |stages, registers, code| Executable {
            stages,
            statistics: vec![("Max live registers".into(), registers), ("Code size".into(), code)],
        };
        let (vertex, fragment) = (vk::ShaderStageFlags::VERTEX, vk::ShaderStageFlags::FRAGMENT);
        let all = [
            executable(fragment, 20.0, 100.0),
            executable(fragment, 30.0, 60.0),
            executable(vertex, 90.0, 1000.0),
        ];
        assert_eq!(metrics(&all, fragment), [("code", 160.0), ("registers", 30.0)]);
    }
}
