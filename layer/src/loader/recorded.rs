//! The commands of command buffers that `commands = on` intercepts, in the form of `loader::commands`: actions, which draw, dispatch
//! or trace, and the state that tells which shaders an action runs, and under which labels.
//!
//! ```text
//! command [| alias]..: type => (pipelines [, draws]) (parameters);       action
//! command [| alias]..: type => (function [-> result]) (parameters);      state
//! ```
//!
//! An action keeps its arguments that are numbers (`device::features::recordings::action::Argument`), by their names, from which
//! `vkabort_report::PendingCommand` tells what they admit. `pipelines` is the bind point of the pipeline that it runs. `draws` is an
//! expression for the first vertex or index and the count of each draw, for commands with a list of them.
//!
//! A test holds the actions against the Vulkan registry. Not in the table are commands that run no shader of SPIR-V:
//! [`WITHOUT_SHADERS`].
//!
//! The decisions and their reasons: `docs/design/commands.md`.

/// Passes the rows of all recorded commands to the macro `$with`, in groups.
macro_rules! recorded {
    ($with:ident) => {
        $with! {
            actions {
                vkCmdDraw: vk::PFN_vkCmdDraw => (Graphics)
                    (vertex_count: u32, instance_count: u32, first_vertex: u32, first_instance: u32);
                vkCmdDrawIndexed: vk::PFN_vkCmdDrawIndexed => (Graphics)
                    (index_count: u32, instance_count: u32, first_index: u32, vertex_offset: i32, first_instance: u32);
                vkCmdDrawMultiEXT: vk::PFN_vkCmdDrawMultiEXT => (Graphics, draws(draw_count, infos, stride))
                    (draw_count: u32, infos: *const vk::MultiDrawInfoEXT, instance_count: u32, first_instance: u32, stride: u32);
                vkCmdDrawMultiIndexedEXT: vk::PFN_vkCmdDrawMultiIndexedEXT => (Graphics, draws(draw_count, infos.cast(), stride))
                    (draw_count: u32, infos: *const vk::MultiDrawIndexedInfoEXT, instance_count: u32, first_instance: u32,
                     stride: u32, vertex_offset: *const i32);
                vkCmdDrawIndirect: vk::PFN_vkCmdDrawIndirect => (Graphics)
                    (buffer: vk::Buffer, offset: u64, draw_count: u32, stride: u32);
                vkCmdDrawIndexedIndirect: vk::PFN_vkCmdDrawIndexedIndirect => (Graphics)
                    (buffer: vk::Buffer, offset: u64, draw_count: u32, stride: u32);
                vkCmdDrawIndirectCount | vkCmdDrawIndirectCountKHR | vkCmdDrawIndirectCountAMD:
                    vk::PFN_vkCmdDrawIndirectCount => (Graphics)
                    (buffer: vk::Buffer, offset: u64, counts: vk::Buffer, count_buffer_offset: u64, max_draw_count: u32,
                     stride: u32);
                vkCmdDrawIndexedIndirectCount | vkCmdDrawIndexedIndirectCountKHR | vkCmdDrawIndexedIndirectCountAMD:
                    vk::PFN_vkCmdDrawIndexedIndirectCount => (Graphics)
                    (buffer: vk::Buffer, offset: u64, counts: vk::Buffer, count_buffer_offset: u64, max_draw_count: u32,
                     stride: u32);
                vkCmdDrawIndirectByteCountEXT: vk::PFN_vkCmdDrawIndirectByteCountEXT => (Graphics)
                    (instance_count: u32, first_instance: u32, buffer: vk::Buffer, counter_buffer_offset: u64,
                     counter_offset: u32, vertex_stride: u32);
                vkCmdDrawIndirectByteCount2EXT: vk_ext::CmdDrawIndirectByteCount2 => (Graphics)
                    (instance_count: u32, first_instance: u32, info: *const c_void, counter_offset: u32, vertex_stride: u32);
                vkCmdDrawIndirect2KHR: vk_ext::CmdWithInfo => (Graphics) (info: *const c_void);
                vkCmdDrawIndexedIndirect2KHR: vk_ext::CmdWithInfo => (Graphics) (info: *const c_void);
                vkCmdDrawIndirectCount2KHR: vk_ext::CmdWithInfo => (Graphics) (info: *const c_void);
                vkCmdDrawIndexedIndirectCount2KHR: vk_ext::CmdWithInfo => (Graphics) (info: *const c_void);
                vkCmdDrawMeshTasksNV: vk::PFN_vkCmdDrawMeshTasksNV => (Graphics) (task_count: u32, first_task: u32);
                vkCmdDrawMeshTasksIndirectNV: vk::PFN_vkCmdDrawMeshTasksIndirectNV => (Graphics)
                    (buffer: vk::Buffer, offset: u64, draw_count: u32, stride: u32);
                vkCmdDrawMeshTasksIndirectCountNV: vk::PFN_vkCmdDrawMeshTasksIndirectCountNV => (Graphics)
                    (buffer: vk::Buffer, offset: u64, counts: vk::Buffer, count_buffer_offset: u64, max_draw_count: u32,
                     stride: u32);
                vkCmdDrawMeshTasksEXT: vk::PFN_vkCmdDrawMeshTasksEXT => (Graphics)
                    (group_count_x: u32, group_count_y: u32, group_count_z: u32);
                vkCmdDrawMeshTasksIndirectEXT: vk::PFN_vkCmdDrawMeshTasksIndirectEXT => (Graphics)
                    (buffer: vk::Buffer, offset: u64, draw_count: u32, stride: u32);
                vkCmdDrawMeshTasksIndirectCountEXT: vk::PFN_vkCmdDrawMeshTasksIndirectCountEXT => (Graphics)
                    (buffer: vk::Buffer, offset: u64, counts: vk::Buffer, count_buffer_offset: u64, max_draw_count: u32,
                     stride: u32);
                vkCmdDrawMeshTasksIndirect2EXT: vk_ext::CmdWithInfo => (Graphics) (info: *const c_void);
                vkCmdDrawMeshTasksIndirectCount2EXT: vk_ext::CmdWithInfo => (Graphics) (info: *const c_void);
                vkCmdDrawClusterHUAWEI: vk::PFN_vkCmdDrawClusterHUAWEI => (Graphics)
                    (group_count_x: u32, group_count_y: u32, group_count_z: u32);
                vkCmdDrawClusterIndirectHUAWEI: vk::PFN_vkCmdDrawClusterIndirectHUAWEI => (Graphics)
                    (buffer: vk::Buffer, offset: u64);
                vkCmdSubpassShadingHUAWEI: vk::PFN_vkCmdSubpassShadingHUAWEI => (SubpassShading) ();

                vkCmdDispatch: vk::PFN_vkCmdDispatch => (Compute) (group_count_x: u32, group_count_y: u32, group_count_z: u32);
                vkCmdDispatchBase | vkCmdDispatchBaseKHR: vk::PFN_vkCmdDispatchBase => (Compute)
                    (base_group_x: u32, base_group_y: u32, base_group_z: u32,
                     group_count_x: u32, group_count_y: u32, group_count_z: u32);
                vkCmdDispatchIndirect: vk::PFN_vkCmdDispatchIndirect => (Compute) (buffer: vk::Buffer, offset: u64);
                vkCmdDispatchIndirect2KHR: vk_ext::CmdWithInfo => (Compute) (info: *const c_void);
                vkCmdDispatchTileQCOM: vk_ext::CmdWithInfo => (Compute) (info: *const c_void);
                // The last version of the provisional extension, which has a size behind the address.
                vkCmdDispatchGraphAMDX: vk_ext::CmdDispatchGraph => (Graph)
                    (scratch: u64, scratch_size: u64, counts: *const c_void);
                vkCmdDispatchGraphIndirectAMDX: vk_ext::CmdDispatchGraph => (Graph)
                    (scratch: u64, scratch_size: u64, counts: *const c_void);
                vkCmdDispatchGraphIndirectCountAMDX: vk_ext::CmdDispatchGraphIndirectCount => (Graph)
                    (scratch: u64, scratch_size: u64, count_info: u64);

                vkCmdTraceRaysKHR: vk::PFN_vkCmdTraceRaysKHR => (RayTracing)
                    (raygen: Region, miss: Region, hit: Region, callable: Region, width: u32, height: u32, depth: u32);
                vkCmdTraceRaysIndirectKHR: vk::PFN_vkCmdTraceRaysIndirectKHR => (RayTracing)
                    (raygen: Region, miss: Region, hit: Region, callable: Region, indirect_device_address: u64);
                vkCmdTraceRaysIndirect2KHR: vk::PFN_vkCmdTraceRaysIndirect2KHR => (RayTracing) (indirect_device_address: u64);
                vkCmdTraceRaysNV: vk::PFN_vkCmdTraceRaysNV => (RayTracing)
                    (raygen: vk::Buffer, raygen_offset: u64, miss: vk::Buffer, miss_offset: u64, miss_stride: u64,
                     hit: vk::Buffer, hit_offset: u64, hit_stride: u64, callable: vk::Buffer, callable_offset: u64,
                     callable_stride: u64, width: u32, height: u32, depth: u32);

                // They may bind other pipelines on the device.
                vkCmdExecuteGeneratedCommandsNV: vk::PFN_vkCmdExecuteGeneratedCommandsNV => (Any)
                    (is_preprocessed: u32, info: *const vk::GeneratedCommandsInfoNV<'_>);
                vkCmdExecuteGeneratedCommandsEXT: vk_ext::CmdExecuteGeneratedCommands => (Any)
                    (is_preprocessed: u32, info: *const c_void);
            }
            states {
                vkCmdBindPipeline: vk::PFN_vkCmdBindPipeline => (bind_pipeline)
                    (point: vk::PipelineBindPoint, pipeline: vk::Pipeline);
                vkCmdBindPipelineShaderGroupNV: vk::PFN_vkCmdBindPipelineShaderGroupNV => (bind_pipeline_group)
                    (point: vk::PipelineBindPoint, pipeline: vk::Pipeline, group: u32);
                vkCmdBindShadersEXT: vk::PFN_vkCmdBindShadersEXT => (bind_shaders)
                    (count: u32, stages: *const vk::ShaderStageFlags, shaders: *const vk::ShaderEXT);
                vkCmdBeginDebugUtilsLabelEXT: vk::PFN_vkCmdBeginDebugUtilsLabelEXT => (begin_label)
                    (label: *const vk::DebugUtilsLabelEXT<'_>);
                vkCmdInsertDebugUtilsLabelEXT: vk::PFN_vkCmdInsertDebugUtilsLabelEXT => (insert_label)
                    (label: *const vk::DebugUtilsLabelEXT<'_>);
                vkCmdEndDebugUtilsLabelEXT: vk::PFN_vkCmdEndDebugUtilsLabelEXT => (end_label) ();
                vkCmdBeginRenderPass: vk::PFN_vkCmdBeginRenderPass => (begin_render_pass)
                    (info: *const vk::RenderPassBeginInfo<'_>, contents: vk::SubpassContents);
                vkCmdBeginRenderPass2 | vkCmdBeginRenderPass2KHR: vk::PFN_vkCmdBeginRenderPass2 => (begin_render_pass2)
                    (info: *const vk::RenderPassBeginInfo<'_>, subpass: *const vk::SubpassBeginInfo<'_>);
                vkCmdBeginRendering | vkCmdBeginRenderingKHR: vk::PFN_vkCmdBeginRendering => (begin_rendering)
                    (info: *const vk::RenderingInfo<'_>);
                vkCmdExecuteCommands: vk::PFN_vkCmdExecuteCommands => (execute)
                    (count: u32, buffers: *const vk::CommandBuffer);
                vkEndCommandBuffer: vk::PFN_vkEndCommandBuffer => (end -> vk::Result) ();
            }
        }
    };
}
pub(crate) use recorded;

/// Commands of the registry that launch work without shaders of SPIR-V: kernels of CUDA, and graphs of tensors.
#[cfg(test)]
pub const WITHOUT_SHADERS: [&str; 3] = [
    "vkCmdCuLaunchKernelNVX",
    "vkCmdCudaLaunchKernelNV",
    "vkCmdDispatchDataGraphARM",
];
