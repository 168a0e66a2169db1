//! Calls the Slang compiler through its C interface, which takes the arguments of `slangc`.

use crate::case::Skip;
use crate::{files, shader_cache};
use anyhow::{Context, Result, bail, ensure};
use libloading::Library;
use std::cell::OnceCell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use vkabort_oracle::words::from_bytes;

/// `SLANG_SOURCE_LANGUAGE_SLANG`.
const SLANG: c_int = 1;
/// `SLANG_SOURCE_LANGUAGE_HLSL`.
const HLSL: c_int = 2;

/// The option with a folder of included files.
const INCLUDE: &str = "-I";

/// A compiler, loaded when a source has to be compiled. Loading its standard library is slow, so reuse it for several shaders.
pub struct Slang {
    library: PathBuf,
    session: OnceCell<Session>,
}

/// A loaded compiler.
struct Session {
    session: *mut c_void,
    functions: Functions,
    /// Keeps the functions mapped.
    _library: Library,
}

/// `extern "C"` functions of the library. A result below 0 is a failure.
struct Functions {
    destroy_session: unsafe extern "C" fn(*mut c_void),
    create_request: unsafe extern "C" fn(*mut c_void) -> *mut c_void,
    destroy_request: unsafe extern "C" fn(*mut c_void),
    arguments: unsafe extern "C" fn(*mut c_void, *const *const c_char, c_int) -> c_int,
    add_unit: unsafe extern "C" fn(*mut c_void, c_int, *const c_char) -> c_int,
    add_source: unsafe extern "C" fn(*mut c_void, c_int, *const c_char, *const c_char),
    compile: unsafe extern "C" fn(*mut c_void) -> c_int,
    diagnostics: unsafe extern "C" fn(*mut c_void) -> *const c_char,
    code: unsafe extern "C" fn(*mut c_void, *mut usize) -> *const c_void,
}

impl Slang {
    /// Finds the compiler.
    ///
    /// # Errors
    ///
    /// The library is not installed; the message names the command that installs it.
    pub fn find() -> Result<Self> {
        if files::are_unpacked() {
            return Err(Skip("the Slang compiler is not part of the bundle".into()).into());
        }
        if cfg!(any(windows, target_pointer_width = "32")) {
            return Err(Skip("the Slang compiler is a library for 64-bit Linux".into()).into());
        }
        Ok(Self {
            library: vkabort_test_kit::slang::find().map_err(anyhow::Error::msg)?,
            session: OnceCell::new(),
        })
    }

    /// Compiles a source whose entry points have `shader` attributes. `file` is its name in debug information and errors,
    /// and that of an HLSL source ends with `.hlsl`; `arguments` are those of `slangc`, for example `-g2`.
    ///
    /// # Errors
    ///
    /// The source does not compile (the message contains the diagnostics), or the library lacks a function.
    pub fn compile(&self, file: &str, source: &str, arguments: &[&str]) -> Result<Vec<u32>> {
        let compile = || self.session()?.compile(file, source, arguments);
        if arguments.contains(&INCLUDE) {
            // The included files are not part of the key.
            return compile();
        }
        shader_cache::compiled(&("slang", &self.library, file, source, arguments), compile)
    }

    fn session(&self) -> Result<&Session> {
        if let Some(session) = self.session.get() {
            return Ok(session);
        }
        let session = Session::load(&self.library)?;
        Ok(self.session.get_or_init(|| session))
    }
}

impl Session {
    fn load(path: &Path) -> Result<Self> {
        // SAFETY: the library's initialisers have no preconditions, and the signatures match its header `slang.h`.
        unsafe {
            let library = Library::new(path).with_context(|| format!("cannot load {}", path.display()))?;
            let create_session: unsafe extern "C" fn(*const c_char) -> *mut c_void =
                *library.get(b"spCreateSession\0")?;
            let functions = Functions {
                destroy_session: *library.get(b"spDestroySession\0")?,
                create_request: *library.get(b"spCreateCompileRequest\0")?,
                destroy_request: *library.get(b"spDestroyCompileRequest\0")?,
                arguments: *library.get(b"spProcessCommandLineArguments\0")?,
                add_unit: *library.get(b"spAddTranslationUnit\0")?,
                add_source: *library.get(b"spAddTranslationUnitSourceString\0")?,
                compile: *library.get(b"spCompile\0")?,
                diagnostics: *library.get(b"spGetDiagnosticOutput\0")?,
                code: *library.get(b"spGetCompileRequestCode\0")?,
            };
            let session = create_session(std::ptr::null());
            ensure!(!session.is_null(), "{} cannot be initialized", path.display());
            Ok(Self {
                session,
                functions,
                _library: library,
            })
        }
    }

    fn compile(&self, file: &str, source: &str, arguments: &[&str]) -> Result<Vec<u32>> {
        let arguments: Vec<CString> = ["-target", "spirv"]
            .iter()
            .chain(arguments)
            .map(|argument| CString::new(*argument))
            .collect::<Result<_, _>>()?;
        let arguments: Vec<*const c_char> = arguments.iter().map(|argument| argument.as_ptr()).collect();
        let is_hlsl = file.ends_with(".hlsl");
        let (file, source) = (CString::new(file)?, CString::new(source)?);
        let functions = &self.functions;
        // SAFETY: the session is alive, the strings outlive the calls, and the code is copied before its request is
        // destroyed.
        unsafe {
            let request = Request(self, (functions.create_request)(self.session));
            let result = (functions.arguments)(request.1, arguments.as_ptr(), c_int::try_from(arguments.len())?);
            ensure!(result >= 0, "Slang rejects its arguments: {}", request.diagnostics());
            let language = if is_hlsl { HLSL } else { SLANG };
            let unit = (functions.add_unit)(request.1, language, std::ptr::null());
            (functions.add_source)(request.1, unit, file.as_ptr(), source.as_ptr());
            if (functions.compile)(request.1) < 0 {
                bail!("{}", request.diagnostics());
            }
            let mut size = 0;
            let code = (functions.code)(request.1, &mut size).cast::<u8>();
            ensure!(
                !code.is_null() && size != 0,
                "Slang returned no SPIR-V: {}",
                request.diagnostics()
            );
            Ok(from_bytes(std::slice::from_raw_parts(code, size)))
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: the session is alive, and requests borrow `self`, so none exists.
        unsafe { (self.functions.destroy_session)(self.session) };
    }
}

/// A request of a session.
struct Request<'a>(&'a Session, *mut c_void);

impl Request<'_> {
    fn diagnostics(&self) -> String {
        // SAFETY: the request is alive and returns a NUL-terminated string or null.
        let text = unsafe {
            let text = (self.0.functions.diagnostics)(self.1);
            if text.is_null() { c"" } else { CStr::from_ptr(text) }
        };
        text.to_string_lossy().trim().to_owned()
    }
}

impl Drop for Request<'_> {
    fn drop(&mut self) {
        // SAFETY: the request is alive.
        unsafe { (self.0.functions.destroy_request)(self.1) };
    }
}
