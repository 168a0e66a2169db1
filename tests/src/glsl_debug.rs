//! Compiles GLSL with debug information, as `glslangValidator -g` and `-gVS` do. Calls glslang's C interface, since the
//! crate `glslang` does not support it.

use crate::glsl::folder;
use crate::shader_cache;
use anyhow::{Context, Result, bail, ensure};
use glslang_sys as sys;
use std::ffi::{CStr, CString, c_char};
use std::path::Path;

/// Form of a module's debug information.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `OpLine`, and the source in `OpSource`.
    Lines,
    /// `NonSemantic.Shader.DebugInfo.100`, source included.
    NonSemantic,
}

/// Versions of Vulkan and SPIR-V.
type Versions = (
    sys::glslang_target_client_version_t,
    sys::glslang_target_language_version_t,
);

/// Compiles `shaders/<name>` for Vulkan 1.2 and SPIR-V 1.5. The debug information names the file `name`.
///
/// # Errors
///
/// The file does not exist or does not compile.
pub fn compile(name: &str, form: Form) -> Result<Vec<u32>> {
    use glslang_sys::{glslang_target_client_version_t as Vulkan, glslang_target_language_version_t as Spirv};
    compile_for(&folder(), name, form, (Vulkan::Vulkan1_2, Spirv::SPIRV1_5), "")
}

/// [`compile`] for a file of a folder and other versions of Vulkan and SPIR-V, with `preamble` before its second line. The
/// output does not depend on the folder.
///
/// # Errors
///
/// The file does not exist or does not compile.
pub fn compile_for(folder: &Path, name: &str, form: Form, versions: Versions, preamble: &str) -> Result<Vec<u32>> {
    let path = folder.join(name);
    let source = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let key = ("glslang", name, &source, format!("{form:?} {versions:?}"), preamble);
    shader_cache::compiled(&key, || compile_source(name, &source, form, versions, preamble))
}

/// Compiles a compute shader's text for Vulkan 1.2 and SPIR-V 1.5. The debug information names the file `name`.
///
/// # Errors
///
/// The text does not compile.
pub fn compile_text(name: &str, source: &str, form: Form) -> Result<Vec<u32>> {
    use glslang_sys::{glslang_target_client_version_t as Vulkan, glslang_target_language_version_t as Spirv};
    let key = ("glslang text", name, source, format!("{form:?}"));
    shader_cache::compiled(&key, || {
        compile_source(name, source, form, (Vulkan::Vulkan1_2, Spirv::SPIRV1_5), "")
    })
}

fn compile_source(
    name: &str,
    source: &str,
    form: Form,
    (client_version, target_language_version): Versions,
    preamble: &str,
) -> Result<Vec<u32>> {
    let stage = match name.rsplit('.').next() {
        Some("comp") => sys::glslang_stage_t::Compute,
        Some("vert") => sys::glslang_stage_t::Vertex,
        Some("frag") => sys::glslang_stage_t::Fragment,
        _ => bail!("{name}: unknown shader stage"),
    };
    // Keeps glslang initialized.
    let _compiler = glslang::Compiler::acquire().context("cannot start glslang")?;
    let (file, text, preamble) = (CString::new(name)?, CString::new(source)?, CString::new(preamble)?);
    let limits = limits();
    let messages = sys::glslang_messages_t::SPV_RULES
        | sys::glslang_messages_t::VULKAN_RULES
        | sys::glslang_messages_t::DEBUG_INFO;
    let input = sys::glslang_input_t {
        language: sys::glslang_source_t::GLSL,
        stage,
        client: sys::glslang_client_t::Vulkan,
        client_version,
        target_language: sys::glslang_target_language_t::SPIRV,
        target_language_version,
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
    // SAFETY: glslang is initialized, the input and its strings outlive the objects, and guards destroy the objects.
    unsafe {
        let shader = Shader(sys::glslang_shader_create(&input));
        ensure!(!shader.0.is_null(), "glslang created no shader");
        sys::glslang_shader_set_preamble(shader.0, preamble.as_ptr());
        let parsed =
            sys::glslang_shader_preprocess(shader.0, &input) != 0 && sys::glslang_shader_parse(shader.0, &input) != 0;
        ensure!(parsed, "{name}: {}", copy(sys::glslang_shader_get_info_log(shader.0)));
        let program = Program(sys::glslang_program_create());
        ensure!(!program.0.is_null(), "glslang created no program");
        sys::glslang_program_add_shader(program.0, shader.0);
        let linked = sys::glslang_program_link(program.0, messages.0) != 0;
        ensure!(linked, "{name}: {}", copy(sys::glslang_program_get_info_log(program.0)));
        sys::glslang_program_set_source_file(program.0, stage, file.as_ptr());
        sys::glslang_program_add_source_text(program.0, stage, text.as_ptr(), text.as_bytes().len());
        sys::glslang_program_SPIRV_generate_with_options(program.0, stage, &mut options);
        let mut words = vec![0; sys::glslang_program_SPIRV_get_size(program.0)];
        ensure!(!words.is_empty(), "glslang returned no SPIR-V for {name}");
        sys::glslang_program_SPIRV_get(program.0, words.as_mut_ptr());
        Ok(words)
    }
}

/// Limits that suffice for the tests' shaders.
fn limits() -> sys::glslang_resource_t {
    // SAFETY: the structure consists of integers and booleans, so zero is valid.
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
/// `text` must be null or a NUL-terminated string.
unsafe fn copy(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: `text` is a NUL-terminated string per the function's contract.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().trim().to_owned()
}

struct Shader(*mut sys::glslang_shader_t);

impl Drop for Shader {
    fn drop(&mut self) {
        // SAFETY: created by glslang, destroyed only here, after the program that uses it.
        unsafe { sys::glslang_shader_delete(self.0) };
    }
}

struct Program(*mut sys::glslang_program_t);

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: created by glslang, destroyed only here.
        unsafe { sys::glslang_program_delete(self.0) };
    }
}
