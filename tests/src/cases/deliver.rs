//! Report delivery to messengers, the log and a folder, before the application's call returns.

use super::command_pool::{ON, Pool};
use super::support::{expect_lost, marked};
use crate::case::{Case, Context, cases};
use crate::glsl_debug::{self, Form};
use crate::report_files;
use crate::vk::{Buffer, Chained, Device, Gpu, Kernel, WordKernel};
use anyhow::{Context as _, Result, ensure};
use ash::vk;
use std::ffi::{CStr, c_void};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use vkabort_oracle::words::from_bytes;
use vkabort_record::framing::message_data;
use vkabort_record::site::SiteTable;
use vkabort_report::Report;
use vkabort_test_kit::spirv_tools::{TargetEnv, validate};

pub(super) const CASES: &[Case] = cases! {
    "deliver::to_a_messenger_of_the_instance_and_a_later_one" => messengers(context);
    "deliver::to_messengers_of_the_severity_in_the_settings" => severity(context, 1),
        alone(), set(&[("messenger_severity", "info")]), reports("glsl_lines");
    "deliver::to_no_messenger" => severity(context, 0),
        alone(), set(&[("messenger_severity", "off")]), reports("glsl_lines");
    "deliver::the_log_is_complete_when_the_process_dies" => abort_on(gpu, |_| std::process::abort()),
        alone(), kills_itself(), reports("glsl_lines");
    "deliver::the_log_file_is_complete_when_the_call_returns" => abort_on(gpu, log_file),
        alone(), set(&[("log_file", "layer.log")]), silent();
    "deliver::a_log_file_that_cannot_be_opened_is_reported_on_stderr" => abort_on(gpu, |_| Ok(())),
        alone(), set(&[("log_file", "no/such/folder/log")]), logs(&["log_file = no/such/folder/log: cannot open the file", "is out of bounds"]);
    "deliver::nothing_is_logged_when_the_level_is_off" => messengers(context),
        alone(), set(&[("log_level", "off")]), silent();
    "deliver::the_dump_folder_is_complete" => abort_on(gpu, dump),
        alone(), set(&[("dump_dir", "dumps")]), logs(&["index 4000 at 4000.0, 0.5", "   = dump: dumps/abort-"]);
    "deliver::the_dump_folder_of_a_native_driver" => abort_on(gpu, native_dump),
        on_native(), set(&[("dump_dir", "dumps")]), logs(&["index 4000 at 4000.0, 0.5", "   = dump: dumps/abort-"]);
    "deliver::labels_to_messengers" => labels(context), alone(), set(ON);
    "deliver::to_messengers_on_a_native_driver" => native_messenger(context), on_native();
};

pub(super) fn shader() -> Result<Vec<u32>> {
    glsl_debug::compile("report/bounds.comp", Form::Lines)
}

/// Runs a dispatch in which one invocation aborts. Then runs `after` on the lost device.
fn abort_on(gpu: &Gpu, after: impl FnOnce(&Device<'_>) -> Result<()>) -> Result<()> {
    lose_named(gpu, &shader()?, &marked(&[5]), after)
}

/// Runs a workgroup that aborts, with all objects named. Then runs `after` on the lost device.
pub(super) fn lose_named(
    gpu: &Gpu,
    spirv: &[u32],
    words: &[u32],
    after: impl FnOnce(&Device<'_>) -> Result<()>,
) -> Result<()> {
    let device = Device::new(gpu)?;
    device.name(device.raw.handle(), c"the device")?;
    device.name(device.queue, c"the queue")?;
    let buffer = Buffer::storage(&device, words)?;
    let kernel = Kernel::named(&device, spirv, &[&buffer], [c"the module", c"the pipeline"])?;
    expect_lost(kernel.run_to_end(1)?)?;
    after(&device)
}

/// Texts that a messenger received from the layer.
#[derive(Default)]
pub(super) struct Received(Mutex<Vec<String>>);

impl Received {
    pub(super) fn info(
        &self,
        severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    ) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
        vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(severity)
            .message_type(vk::DebugUtilsMessageTypeFlagsEXT::GENERAL)
            .pfn_user_callback(Some(receive))
            .user_data(std::ptr::from_ref(self).cast_mut().cast())
    }

    /// Removes and returns the texts.
    pub(super) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

unsafe extern "system" fn receive(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _types: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    received: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the user data is a `Received` that outlives the instance; the callback's data is valid during the call.
    unsafe {
        let (received, data) = (&*received.cast::<Received>(), &*data);
        let text = |at| CStr::from_ptr(at).to_string_lossy();
        // Loaders and drivers send messages too.
        let id = (!data.p_message_id_name.is_null()).then(|| text(data.p_message_id_name));
        let id = id.as_deref().unwrap_or_default();
        if id == "vkabort-printf" && severity == vk::DebugUtilsMessageSeverityFlagsEXT::INFO {
            let mut list = received.0.lock().unwrap_or_else(PoisonError::into_inner);
            list.push(text(data.p_message).into_owned());
        } else if id.ends_with("DEBUG-PRINTF") {
            let mut list = received.0.lock().unwrap_or_else(PoisonError::into_inner);
            list.push(format!("validation layer: {}", text(data.p_message)));
        } else if id == "vkabort" {
            let severe = severity == vk::DebugUtilsMessageSeverityFlagsEXT::ERROR;
            let mut list = received.0.lock().unwrap_or_else(PoisonError::into_inner);
            let names = |labels: *const vk::DebugUtilsLabelEXT<'_>, count: u32| -> String {
                let names = (0..count as usize).map(|at| text((*labels.add(at)).p_label_name));
                names.map(|name| format!("{name}\n")).collect()
            };
            list.push(format!(
                "{}{}{}{}",
                if severe { "" } else { "not severe: " },
                text(data.p_message),
                names(data.p_queue_labels, data.queue_label_count),
                names(data.p_cmd_buf_labels, data.cmd_buf_label_count),
            ));
        }
    }
    vk::FALSE
}

/// Opens the driver with a messenger in the create info of the instance.
pub(super) fn open(context: &Context, messenger: Option<vk::DebugUtilsMessengerCreateInfoEXT<'static>>) -> Result<Gpu> {
    let chained = Chained {
        messenger,
        ..Chained::default()
    };
    Gpu::open_with(context, vk::API_VERSION_1_3, &chained)
}

/// Two messengers, of which the first receives errors and warnings. The second receives `expected` texts.
fn severity(context: &Context, expected: usize) -> Result<()> {
    use vk::DebugUtilsMessageSeverityFlagsEXT as Severity;
    let (severe, other) = (Received::default(), Received::default());
    let gpu = open(context, Some(severe.info(Severity::ERROR | Severity::WARNING)))?;
    let _messenger = gpu.messenger(&other.info(Severity::INFO | Severity::VERBOSE))?;
    abort_on(&gpu, |_| {
        let (severe, other) = (severe.take(), other.take());
        ensure!(
            severe.is_empty() && other.len() == expected,
            "the messengers received {severe:?} and {other:?}"
        );
        Ok(())
    })
}

fn messengers(context: &Context) -> Result<()> {
    use vk::DebugUtilsMessageSeverityFlagsEXT as Severity;
    let both = Severity::ERROR | Severity::WARNING;
    let (first, later) = (Received::default(), Received::default());
    // Per round: the messenger in the instance's create info, the one created later, and how many texts each receives.
    type Later<'a> = Option<(&'a Received, Severity)>;
    let rounds: [(Option<&Received>, Later<'_>, [usize; 2]); 5] = [
        (Some(&first), None, [1, 0]),
        (None, Some((&later, both)), [0, 1]),
        (Some(&first), Some((&later, both)), [1, 1]),
        // A messenger registered twice receives the text once.
        (Some(&first), Some((&first, both)), [1, 0]),
        (None, Some((&later, Severity::WARNING)), [0, 0]),
    ];
    for (round, (at_creation, created, expected)) in rounds.into_iter().enumerate() {
        let gpu = open(context, at_creation.map(|received| received.info(both)))?;
        let messenger = created.map(|(received, severity)| gpu.messenger(&received.info(severity)));
        let messenger = messenger.transpose()?;
        abort_on(&gpu, |device| {
            let received = [first.take(), later.take()];
            ensure!(
                received.each_ref().map(Vec::len) == expected,
                "in round {round} they received {received:?}"
            );
            for text in received.iter().flatten() {
                let log = std::fs::read_to_string(report_files::file("glsl_lines", "txt"))?;
                ensure!(*text == log, "a messenger received\n{text}\ninstead of\n{log}");
            }
            // A query does not deliver the report again.
            ensure!(device.payloads()?.len() == 1, "there is more than one message");
            Ok(())
        })?;
        drop(messenger);
        drop(gpu);
        ensure!(
            first.take().is_empty() && later.take().is_empty(),
            "a messenger received the report twice in round {round}"
        );
    }
    Ok(())
}

/// A messenger gets the labels of the queue and of the command, innermost first.
fn labels(context: &Context) -> Result<()> {
    let received = Received::default();
    let gpu = open(
        context,
        Some(received.info(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR)),
    )?;
    let device = &Device::new(&gpu)?;
    let kernel = WordKernel::new(device, &shader()?, &marked(&[5]))?;
    let pool = Pool::new(device)?;
    let frame = pool.allocate(vk::CommandBufferLevel::PRIMARY, c"frame")?;
    pool.record(frame, vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT, || {
        pool.label(frame, c"shadows", || pool.dispatch(frame, c"cull", &kernel, 1));
    })?;
    let queue_labels = ash::ext::debug_utils::Device::new(&gpu.instance, &device.raw);
    let label = vk::DebugUtilsLabelEXT::default().label_name(c"frame 7");
    // SAFETY: the queue belongs to the device, and no other thread uses it.
    unsafe { queue_labels.queue_begin_debug_utils_label(device.queue, &label) };
    pool.lose(frame)?;
    let texts = received.take();
    ensure!(
        texts.len() == 1 && texts[0].ends_with("frame 7\ncull\nshadows\n"),
        "{texts:?}"
    );
    Ok(())
}

fn log_file(_: &Device<'_>) -> Result<()> {
    let log = std::fs::read_to_string("layer.log").context("there is no log")?;
    report_files::check("glsl_lines", &log)
}

/// The layer copy that plays the driver also notifies the messenger, so the second report is the layer's.
fn native_messenger(context: &Context) -> Result<()> {
    let received = Received::default();
    let gpu = open(
        context,
        Some(received.info(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR)),
    )?;
    abort_on(&gpu, |_| {
        let texts = received.take();
        let text = std::fs::read_to_string(report_files::file("native_lines", "txt"))?;
        ensure!(texts.len() == 2 && texts[1] == text, "{texts:?}");
        Ok(())
    })
}

/// The only folder in `dumps`.
fn only_dump() -> Result<PathBuf> {
    let folders: Vec<PathBuf> = std::fs::read_dir("dumps")
        .context("there is no dump")?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    ensure!(folders.len() == 1, "{} dumps", folders.len());
    folders.into_iter().next().context("no dump")
}

/// Checks the dump of the report in `name.txt`: the files that every dump has, and their number. Returns the folder and
/// the module's hash.
fn check_dump(device: &Device<'_>, name: &str, count: usize) -> Result<(PathBuf, String)> {
    let text = std::fs::read_to_string(report_files::file(name, "txt"))?;
    let folder = only_dump()?;
    let files = std::fs::read_dir(&folder)?.count();
    ensure!(files == count, "{files} files");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).with_context(|| format!("no {name}"));
    ensure!(read("report.txt")? == text, "report.txt is\n{}", read("report.txt")?);
    let reports = Report::read_json_lines(&read("report.jsonl")?)?;
    ensure!(
        reports.len() == 1 && reports[0].text(false) == text,
        "report.jsonl says something else"
    );
    let expected = message_data(device.payloads()?.iter().map(Vec::as_slice));
    ensure!(
        std::fs::read(folder.join("messages.bin"))? == expected,
        "messages.bin differs from the queried messages"
    );
    let hash = reports[0].sites[0].module_hash.context("no module")?.to_string();
    ensure!(
        from_bytes(&std::fs::read(folder.join(format!("{hash}.original.spv")))?) == shader()?,
        "the original is another module"
    );
    let sites: SiteTable = serde_json::from_str(&read(&format!("{hash}.sites.json"))?)?;
    ensure!(sites.sites.len() == 2, "{} sites", sites.sites.len());
    Ok((folder, hash))
}

fn dump(device: &Device<'_>) -> Result<()> {
    let (folder, hash) = check_dump(device, "glsl_lines", 6)?;
    let rewritten = std::fs::read(folder.join(format!("{hash}.rewritten.spv")))?;
    validate(&from_bytes(&rewritten), TargetEnv::Vulkan1_2)
}

/// A native driver gets the original module, and its report has no invocation.
fn native_dump(device: &Device<'_>) -> Result<()> {
    check_dump(device, "native_lines", 5).map(drop)
}
