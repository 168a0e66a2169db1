//! The layer's entry points of the commands that `loader::recorded` declares. They forward, and note the command.

use super::{EntryResult, guarded};
use crate::device::Device;
use crate::device::features::recordings::action::{ActionNumber, Argument as _, draws};
use crate::device::features::recordings::{CommandBuffers, Recording};
use crate::device::registry::device_of;
use crate::loader::dispatch::{RecordedTable, VoidFn, erase};
use crate::loader::ffi::{elements, string};
use crate::loader::recorded::recorded;
use ash::vk;
use std::ffi::{CStr, c_void};

type Region = *const vk::StridedDeviceAddressRegionKHR;

/// Notes a command, then calls the next layer's, between markers if it is an action.
///
/// # Safety
/// The command buffer must be live, and `name` the command of type `F`.
#[inline]
unsafe fn forward<const IS_ACTION: bool, F: Copy, R: EntryResult>(
    buffer: vk::CommandBuffer,
    name: &CStr,
    pick: impl FnOnce(&RecordedTable) -> Option<F>,
    note: impl FnOnce(&CommandBuffers),
    call: impl FnOnce(F) -> R,
) -> R {
    guarded(R::PANICKED, || {
        // SAFETY: the command buffer is live (the caller's contract).
        let Some(device) = (unsafe { device_of(buffer) }) else {
            return R::MISSING;
        };
        let commands = device.state.as_ref().and_then(|state| state.commands.as_ref());
        let next = match commands {
            Some(commands) => {
                note(commands);
                let next = pick(&commands.next);
                if IS_ACTION && let Some(next) = next {
                    // SAFETY: valid usage of the action (the caller's contract).
                    return unsafe { commands.with_markers(buffer, || call(next)) };
                }
                next
            }
            // SAFETY: the name belongs to the type (the caller's contract).
            None => unsafe { look_up(device, name) },
        };
        next.map_or(R::MISSING, call)
    })
}

/// The next layer's function, on a device whose commands are not recorded: loaders that do not know a command take the layer's entry
/// point for all devices.
///
/// # Safety
/// `F` must be the type of the function.
#[cold]
unsafe fn look_up<F: Copy>(device: &Device, name: &CStr) -> Option<F> {
    // SAFETY: the device is live, and the function has this type (the caller's contract).
    unsafe {
        let next = (device.next_gdpa)(device.handle, name.as_ptr())?;
        Some(std::mem::transmute_copy::<VoidFn, F>(&next))
    }
}

macro_rules! entry_points {
    (
        actions { $($action:ident $(| $a_alias:ident)*: $a_pfn:ty => $bound:tt $a_parameters:tt;)* }
        states { $($state:ident $(| $s_alias:ident)*: $s_pfn:ty => $code:tt $s_parameters:tt;)* }
    ) => {
        #[allow(non_snake_case, clippy::too_many_arguments)]
        mod actions {
            use super::*;
            $(
                entry_points!(@action $action $action $bound $a_parameters);
                $(entry_points!(@action $a_alias $action $bound $a_parameters);)*
            )*
        }
        #[allow(non_snake_case)]
        mod states {
            use super::*;
            $(
                entry_points!(@state $state $code $s_parameters);
                $(entry_points!(@state $s_alias $code $s_parameters);)*
            )*
        }

        /// The layer's entry point of a recorded command.
        pub fn find(name: &CStr) -> Option<VoidFn> {
            let name = name.to_bytes();
            $(entry_points!(@find name $a_pfn, actions $action $($a_alias)*);)*
            $(entry_points!(@find name $s_pfn, states $state $($s_alias)*);)*
            None
        }
    };
    (@find $name:ident $pfn:ty, $module:ident $($command:ident)*) => {
        $(if $name == stringify!($command).as_bytes() {
            return Some(erase::<$pfn>($module::$command));
        })*
    };
    (@action $command:ident $number:ident ($bound:ident $(, $draws:expr)?) ($($parameter:ident: $type:ty),*)) => {
        pub unsafe extern "system" fn $command(buffer: vk::CommandBuffer, $($parameter: $type),*) {
            const NAME: &CStr = entry_points!(@name $command);
            // SAFETY: valid usage: the command buffer is live and externally synchronised, and the arguments are passed on.
            unsafe {
                let note = |commands: &CommandBuffers| commands.record(buffer, |recording| {
                    recording.action(ActionNumber::$number, |_words| {
                        $($parameter.push(_words);)*
                        $(_words.extend($draws.flatten());)?
                    });
                });
                forward::<true, _, _>(buffer, NAME, |next| next.$command, note, |next| next(buffer, $($parameter),*));
            }
        }
    };
    (@state $command:ident ($code:ident $(-> $result:ty)?) ($($parameter:ident: $type:ty),*)) => {
        pub unsafe extern "system" fn $command(buffer: vk::CommandBuffer, $($parameter: $type),*) $(-> $result)? {
            const NAME: &CStr = entry_points!(@name $command);
            // SAFETY: valid usage: the command buffer is live and externally synchronised, and the arguments are passed on.
            unsafe {
                let note = |commands: &CommandBuffers| $code(commands, buffer, $($parameter),*);
                forward::<false, _, _>(buffer, NAME, |next| next.$command, note, |next| next(buffer, $($parameter),*))
            }
        }
    };
    (@name $command:ident) => {
        match CStr::from_bytes_with_nul(concat!(stringify!($command), "\0").as_bytes()) {
            Ok(name) => name,
            Err(_) => panic!("a function name"),
        }
    };
}
recorded!(entry_points);

/// Defines the notes of states. Each is called by its command alone, with its arguments.
macro_rules! states {
    ($($name:ident($recording:ident $(, $parameter:ident: $type:ty)*) $body:block)*) => {$(
        /// # Safety
        /// Valid usage of the command.
        unsafe fn $name(commands: &CommandBuffers, buffer: vk::CommandBuffer $(, $parameter: $type)*) {
            // SAFETY: valid usage of the command (the caller's contract).
            unsafe { commands.record(buffer, |$recording: &mut Recording| $body) }
        }
    )*};
}

states! {
    bind_pipeline(recording, point: vk::PipelineBindPoint, pipeline: vk::Pipeline) {
        recording.bind_pipeline(point, pipeline);
    }
    bind_pipeline_group(recording, point: vk::PipelineBindPoint, pipeline: vk::Pipeline, _group: u32) {
        recording.bind_pipeline(point, pipeline);
    }
    bind_shaders(recording, count: u32, stages: *const vk::ShaderStageFlags, shaders: *const vk::ShaderEXT) {
        let stages = elements(stages, count).iter().enumerate();
        for (index, stage) in stages {
            // A null list unbinds all stages.
            let shader = if shaders.is_null() { vk::ShaderEXT::null() } else { *shaders.add(index) };
            recording.bind_shader(*stage, shader);
        }
    }
    begin_label(recording, label: *const vk::DebugUtilsLabelEXT<'_>) {
        if let Some(label) = label.as_ref() {
            recording.begin_label(&string(label.p_label_name).unwrap_or_default().to_string_lossy());
        }
    }
    insert_label(recording, label: *const vk::DebugUtilsLabelEXT<'_>) {
        if let Some(label) = label.as_ref() {
            recording.insert_label(&string(label.p_label_name).unwrap_or_default().to_string_lossy());
        }
    }
    end_label(recording) {
        recording.end_label();
    }
    begin_render_pass(recording, info: *const vk::RenderPassBeginInfo<'_>, _contents: vk::SubpassContents) {
        if let Some(info) = info.as_ref() {
            recording.begin_rendering(info.render_area);
        }
    }
    begin_render_pass2(recording, info: *const vk::RenderPassBeginInfo<'_>, _subpass: *const vk::SubpassBeginInfo<'_>) {
        if let Some(info) = info.as_ref() {
            recording.begin_rendering(info.render_area);
        }
    }
    begin_rendering(recording, info: *const vk::RenderingInfo<'_>) {
        if let Some(info) = info.as_ref() {
            recording.begin_rendering(info.render_area);
        }
    }
}

/// # Safety
/// Valid usage of `vkCmdExecuteCommands`.
unsafe fn execute(commands: &CommandBuffers, buffer: vk::CommandBuffer, count: u32, buffers: *const vk::CommandBuffer) {
    // SAFETY: the list has `count` live secondary command buffers, which are not being recorded (the caller's contract).
    unsafe {
        let secondaries = elements(buffers, count).iter();
        let secondaries = secondaries.filter_map(|secondary| commands.finished(*secondary));
        commands.record(buffer, |recording| recording.execute(secondaries));
    }
}

/// # Safety
/// Valid usage of `vkEndCommandBuffer`.
unsafe fn end(commands: &CommandBuffers, buffer: vk::CommandBuffer) {
    // SAFETY: valid usage of the command (the caller's contract).
    unsafe { commands.end(buffer) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loader::recorded::WITHOUT_SHADERS;
    use std::ffi::CString;

    const ACTION_COMMANDS: &str = include_str!("action_commands.txt");

    #[test]
    fn every_command_of_the_registry_that_draws_dispatches_or_traces_is_recorded() {
        let commands = ACTION_COMMANDS.lines().filter(|line| !line.starts_with('#'));
        let mut count = 0;
        for command in commands.filter(|command| !WITHOUT_SHADERS.contains(command)) {
            let name = CString::new(command).expect("no NUL in a name");
            assert!(find(&name).is_some(), "{command} has no row in loader/recorded.rs");
            count += 1;
        }
        assert!(count > 0, "the list is empty");
    }
}
