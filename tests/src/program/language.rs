//! Differences between GLSL and Slang.

use vkabort_oracle::generate::{CONTROL, COUNTERS, DATA, OUT};

/// Source language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// GLSL with `GL_EXT_abort`.
    Glsl,
    /// Slang.
    Slang,
}

/// The function `due`, valid in both languages. Slang's `[noinline]` comes before it.
const DUE: &str = "bool due() {
    ticks += 1u;
    return ticks == when[invocation];
}
";

impl Language {
    /// Text before the functions. `extension` is one of GLSL.
    pub(super) fn head(self, extension: Option<&str>) -> String {
        let buffers = [
            (OUT, "Out", "result"),
            (CONTROL, "Control", "when"),
            (DATA, "Data", "data"),
            (COUNTERS, "Counters", "counters"),
        ];
        let mut text = String::new();
        match self {
            Self::Glsl => {
                text += "#version 460\n";
                if let Some(extension) = extension {
                    text += &format!("#extension {extension} : require\n");
                }
                text += "layout(local_size_x = 4) in;\n";
                for (binding, block, name) in buffers {
                    text += &format!("layout(set = 0, binding = {binding}) buffer {block} {{ uint {name}[]; }};\n");
                }
                text += "struct Pair { uint first; uvec2 second; };\nuint ticks; uint invocation; uint common_word;\n";
            }
            Self::Slang => {
                for (binding, _, name) in buffers {
                    text += &format!("[[vk::binding({binding}, 0)]] RWStructuredBuffer<uint> {name};\n");
                }
                text += "struct Pair { uint first; uint2 second; };\n";
                text += "static uint ticks; static uint invocation; static uint common_word;\n";
            }
        }
        if self == Self::Slang {
            text += "[noinline]\n";
        }
        text + DUE
    }

    /// The entry point.
    pub(super) fn main(self) -> &'static str {
        match self {
            Self::Glsl => {
                "void main() {
    invocation = gl_GlobalInvocationID.x;
    ticks = 0u;
    common_word = 5u;
    all();
}
"
            }
            Self::Slang => {
                "[shader(\"compute\")]
[numthreads(4, 1, 1)]
void main(uint3 id : SV_DispatchThreadID) {
    invocation = id.x;
    ticks = 0u;
    common_word = 5u;
    all();
}
"
            }
        }
    }

    /// The type of vectors of `count` `uint`s.
    pub(super) fn vector(self, count: u32) -> String {
        match self {
            Self::Glsl => format!("uvec{count}"),
            Self::Slang => format!("uint{count}"),
        }
    }

    /// The statement that aborts.
    pub(super) fn abort(self) -> &'static str {
        match self {
            Self::Glsl => "abortEXT",
            Self::Slang => "abort",
        }
    }

    /// The function that prints.
    pub(super) fn print(self) -> &'static str {
        match self {
            Self::Glsl => "debugPrintfEXT",
            Self::Slang => "printf",
        }
    }

    /// The name of a function of floats, by its name in GLSL.
    pub(super) fn float_function(self, name: &'static str) -> &'static str {
        match (self, name) {
            (Self::Slang, "inversesqrt") => "rsqrt",
            _ => name,
        }
    }

    /// Atomically adds to a word of a buffer.
    pub(super) fn atomic_add(self, place: &str, value: &str) -> String {
        match self {
            Self::Glsl => format!("atomicAdd({place}, {value});"),
            Self::Slang => format!("InterlockedAdd({place}, {value});"),
        }
    }
}
