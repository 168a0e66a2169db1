//! Declarations and first statements of a program: buffers, shared arrays, and the loop that stores every element of these.

use super::ShapeWriter;
use crate::program::Language;
use vkabort_oracle::generate::{CONTROL, DATA, OUT, Shape};

impl ShapeWriter<'_> {
    pub(super) fn head(&mut self, shape: Shape) {
        let has_addresses = shape == Shape::OneAddress;
        let data = match (self.language, has_addresses) {
            (_, false) => "uint data",
            (Language::Glsl, true) => "Node nodes",
            (Language::Slang, true) => "Node* nodes",
        };
        let (element, name) = data.split_once(' ').unwrap_or_default();
        match self.language {
            Language::Glsl => {
                self.line("#version 460");
                if has_addresses {
                    self.line("#extension GL_EXT_buffer_reference : require");
                    self.line("struct Pair { uint first; uint second; };");
                    self.line("layout(buffer_reference) buffer Node;");
                    self.line("layout(buffer_reference, std430, buffer_reference_align = 16) buffer Node {");
                    self.line("    uint words[16]; uvec4 vector; Node next; uvec2 unused; Pair pairs[4];");
                    self.line("};");
                }
                self.line(&format!("layout(local_size_x = {}) in;", self.invocations));
                self.line(&format!(
                    "layout(std430, binding = {OUT}) buffer Out {{ uint result[]; }};"
                ));
                self.line(&format!(
                    "layout(std140, binding = {CONTROL}) uniform Settings {{ uvec4 counts[4]; vec4 scales[4]; }} settings;"
                ));
                self.line(&format!(
                    "layout(std430, binding = {DATA}) buffer Data {{ {element} {name}[]; }};"
                ));
                self.line("shared uint a[32], b[32], d[32];");
            }
            Language::Slang => {
                if has_addresses {
                    self.line("struct Pair { uint first; uint second; };");
                    self.line(
                        "struct Node { uint words[16]; uint4 vector; Node* next; uint2 unused; Pair pairs[4]; };",
                    );
                }
                self.line("struct Settings { uint4 counts[4]; float4 scales[4]; };");
                self.line(&format!("[[vk::binding({OUT}, 0)]] RWStructuredBuffer<uint> result;"));
                self.line(&format!(
                    "[[vk::binding({CONTROL}, 0)]] ConstantBuffer<Settings> settings;"
                ));
                self.line(&format!(
                    "[[vk::binding({DATA}, 0)]] RWStructuredBuffer<{element}> {name};"
                ));
                self.line("groupshared uint a[32]; groupshared uint b[32]; groupshared uint d[32];");
            }
        }
    }

    /// The entry point up to the first statement.
    pub(super) fn begin_main(&mut self) {
        match self.language {
            Language::Glsl => {
                self.open("void main()");
                self.line("uint l = gl_LocalInvocationIndex;");
            }
            Language::Slang => {
                self.line("[shader(\"compute\")]");
                self.line(&format!("[numthreads({}, 1, 1)]", self.invocations));
                self.open("void main(uint l : SV_GroupIndex)");
            }
        }
        self.line("uint sum = l;");
        let store = "a[i] = i * 2654435769u; b[i] = i * 40503u; d[i] = (i & 15u) + 1u;";
        match self.invocations {
            32 => self.line(&store.replace('i', "l")),
            count => self.line(&format!("for (uint i = l; i < 32u; i += {count}u) {{ {store} }}")),
        }
        self.barrier();
    }
}
