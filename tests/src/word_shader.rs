//! SPIR-V assembly template of compute shaders that use a buffer of words.

/// Assembly that a shader adds to the template. The template declares `%void`, `%bool`, `%uint`, `%uvec3`, `%zero`, the
/// buffer `%words`, the type `%element` of pointers to its words, and the invocation's number `%i`.
#[derive(Clone, Copy, Debug, Default)]
pub struct WordShader<'t> {
    /// Capabilities and extensions.
    pub needs: &'t str,
    /// Execution modes of `%main`.
    pub modes: &'t str,
    /// Decorations.
    pub decorations: &'t str,
    /// Types, constants and global variables.
    pub types: &'t str,
    /// Variables of the function.
    pub variables: &'t str,
    /// Instructions up to `OpReturn`.
    pub code: &'t str,
}

impl WordShader<'_> {
    /// Assembly of the whole shader.
    #[must_use]
    pub fn text(&self) -> String {
        let Self {
            needs,
            modes,
            decorations,
            types,
            variables,
            code,
        } = self;
        format!(
            r#"
    OpCapability Shader
    {needs}
    OpMemoryModel Logical GLSL450
    OpEntryPoint GLCompute %main "main" %id %words
    OpExecutionMode %main LocalSize 32 1 1
    {modes}
    OpDecorate %id BuiltIn GlobalInvocationId
    OpDecorate %array ArrayStride 4
    OpDecorate %block Block
    OpMemberDecorate %block 0 Offset 0
    OpDecorate %words DescriptorSet 0
    OpDecorate %words Binding 0
    {decorations}
    %void = OpTypeVoid
    %function = OpTypeFunction %void
    %bool = OpTypeBool
    %uint = OpTypeInt 32 0
    %uvec3 = OpTypeVector %uint 3
    %zero = OpConstant %uint 0
    %input = OpTypePointer Input %uvec3
    %id = OpVariable %input Input
    %array = OpTypeRuntimeArray %uint
    %block = OpTypeStruct %array
    %buffer = OpTypePointer StorageBuffer %block
    %element = OpTypePointer StorageBuffer %uint
    %words = OpVariable %buffer StorageBuffer
    {types}
    %main = OpFunction %void None %function
    %entry = OpLabel
    {variables}
    %invocation = OpLoad %uvec3 %id
    %i = OpCompositeExtract %uint %invocation 0
    {code}
    OpReturn
    OpFunctionEnd
"#
        )
    }
}
