//! GLSL with debug information in both of its forms. The crate `glslang` offers neither, so this calls glslang's C
//! functions: what `glslangValidator -g` and `-gVS` do.

use crate::glsl::folder;
use anyhow::{Context, Result, bail, ensure};
use glslang_sys as sys;
use std::ffi::{CStr, CString, c_char};

/// How a module says where its instructions come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `OpLine`, and the source in `OpSource`.
    Lines,
    /// `NonSemantic.Shader.DebugInfo.100`, source included.
    NonSemantic,
}

/// Compiles `shaders/<name>` with debug information for Vulkan 1.2 and SPIR-V 1.5. Its file has the name `name` there.
///
/// # Errors
///
/// The file is not there or does not compile.
pub fn compile(name: &str, form: Form) -> Result<Vec<u32>> {
    let path = folder().join(name);
    let source = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let stage = match name.rsplit('.').next() {
        Some("comp") => sys::glslang_stage_t::Compute,
        Some("vert") => sys::glslang_stage_t::Vertex,
        Some("frag") => sys::glslang_stage_t::Fragment,
        _ => bail!("{name} does not say its stage"),
    };
    // Starts glslang, and keeps it started.
    let _compiler = glslang::Compiler::acquire().context("glslang did not start")?;
    let (file, text) = (CString::new(name)?, CString::new(source)?);
    let limits = limits();
    let messages = sys::glslang_messages_t::SPV_RULES
        | sys::glslang_messages_t::VULKAN_RULES
        | sys::glslang_messages_t::DEBUG_INFO;
    let input = sys::glslang_input_t {
        language: sys::glslang_source_t::GLSL,
        stage,
        client: sys::glslang_client_t::Vulkan,
        client_version: sys::glslang_target_client_version_t::Vulkan1_2,
        target_language: sys::glslang_target_language_t::SPIRV,
        target_language_version: sys::glslang_target_language_version_t::SPIRV1_5,
        code: text.as_ptr(),
        default_version: 100,
        default_profile: sys::glslang_profile_t::None,
        force_default_version_and_profile: 0,
        forward_compatible: 0,
        messages,
        resource: &limits,
        callbacks: sys::glsl_include_callbacks_t {
            include_system: None,
            include_local: None,
            free_include_result: None,
        },
        callbacks_ctx: std::ptr::null_mut(),
    };
    let mut options = sys::glslang_spv_options_t {
        generate_debug_info: true,
        strip_debug_info: false,
        disable_optimizer: true,
        optimize_size: false,
        optimize_performance: false,
        disassemble: false,
        validate: false,
        emit_nonsemantic_shader_debug_info: form == Form::NonSemantic,
        emit_nonsemantic_shader_debug_source: form == Form::NonSemantic,
        compile_only: false,
        optimize_allow_expanded_id_bound: false,
        compiler_signature: std::ptr::null(),
        command_line_arguments: std::ptr::null(),
        current_working_directory: std::ptr::null(),
    };
    // SAFETY: glslang is started; the input and what it points to outlive the objects, which their guards destroy.
    unsafe {
        let shader = Shader(sys::glslang_shader_create(&input));
        ensure!(!shader.0.is_null(), "glslang made no shader");
        let parsed =
            sys::glslang_shader_preprocess(shader.0, &input) != 0 && sys::glslang_shader_parse(shader.0, &input) != 0;
        ensure!(parsed, "{name}: {}", said(sys::glslang_shader_get_info_log(shader.0)));
        let program = Program(sys::glslang_program_create());
        ensure!(!program.0.is_null(), "glslang made no program");
        sys::glslang_program_add_shader(program.0, shader.0);
        let linked = sys::glslang_program_link(program.0, messages.0) != 0;
        ensure!(linked, "{name}: {}", said(sys::glslang_program_get_info_log(program.0)));
        sys::glslang_program_set_source_file(program.0, stage, file.as_ptr());
        sys::glslang_program_add_source_text(program.0, stage, text.as_ptr(), text.as_bytes().len());
        sys::glslang_program_SPIRV_generate_with_options(program.0, stage, &mut options);
        let mut words = vec![0; sys::glslang_program_SPIRV_get_size(program.0)];
        ensure!(!words.is_empty(), "glslang made no SPIR-V of {name}");
        sys::glslang_program_SPIRV_get(program.0, words.as_mut_ptr());
        Ok(words)
    }
}

/// Enough for the tests' shaders.
fn limits() -> sys::glslang_resource_t {
    // SAFETY: integers, and structures and unions of integers and truth values.
    let mut limits: sys::glslang_resource_t = unsafe { std::mem::zeroed() };
    limits.max_draw_buffers = 8;
    limits.max_compute_work_group_count_x = 65535;
    limits.max_compute_work_group_count_y = 65535;
    limits.max_compute_work_group_count_z = 65535;
    limits.max_compute_work_group_size_x = 128;
    limits.max_compute_work_group_size_y = 128;
    limits.max_compute_work_group_size_z = 64;
    limits.limits = sys::glslang_limits_t::default();
    limits
}

/// # Safety
/// `text` must be null or a C string.
unsafe fn said(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the caller vouches for the text.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().trim().to_owned()
}

struct Shader(*mut sys::glslang_shader_t);

impl Drop for Shader {
    fn drop(&mut self) {
        // SAFETY: made once, and the program that it was added to is gone.
        unsafe { sys::glslang_shader_delete(self.0) };
    }
}

struct Program(*mut sys::glslang_program_t);

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: made once.
        unsafe { sys::glslang_program_delete(self.0) };
    }
}
