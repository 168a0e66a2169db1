/* Runs a compute shader on 64 words, in plain Vulkan. If the shader aborts, the program writes the messages to a file, creates
 * a new device and runs the shader again, with words that are all zero.
 *
 * Usage: sum SHADER.spv
 * The shader has one storage buffer of 64 words at binding 0, and 32 invocations in a workgroup.
 *
 * Compiled with -DPLAIN, the program knows nothing of aborts, and enables no extension. */
#ifdef PLAIN
#include <vulkan/vulkan.h>
#else
#include "shader_abort.h"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 64, GROUPS = 2 };

static const char *name_of(VkResult result) {
    switch (result) {
#define NAME(result) case result: return #result;
    NAME(VK_ERROR_OUT_OF_HOST_MEMORY) NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY) NAME(VK_ERROR_INITIALIZATION_FAILED)
    NAME(VK_ERROR_MEMORY_MAP_FAILED) NAME(VK_ERROR_LAYER_NOT_PRESENT) NAME(VK_ERROR_EXTENSION_NOT_PRESENT)
    NAME(VK_ERROR_FEATURE_NOT_PRESENT) NAME(VK_ERROR_INCOMPATIBLE_DRIVER) NAME(VK_ERROR_TOO_MANY_OBJECTS)
    NAME(VK_ERROR_INVALID_SHADER_NV) NAME(VK_ERROR_UNKNOWN)
#undef NAME
    default: return "an unknown error";
    }
}

/* Ends the program unless the call was successful or the device is lost. `call` begins with the name of the function. */
static VkResult check(VkResult result, const char *call) {
    if (result < 0 && result != VK_ERROR_DEVICE_LOST) {
        fprintf(stderr, "%.*s returned %s (%d)\n", (int)strcspn(call, "("), call, name_of(result), result);
        exit(EXIT_FAILURE);
    }
    return result;
}
#define CHECK(call) check(call, #call)

static VkDevice create_device(VkPhysicalDevice physical) {
    float priority = 1;
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1,
                                     .pQueuePriorities = &priority};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue};
#ifndef PLAIN
    const char *extensions[] = {VK_KHR_SHADER_ABORT_EXTENSION_NAME, VK_KHR_DEVICE_FAULT_EXTENSION_NAME,
                                VK_KHR_SHADER_CONSTANT_DATA_EXTENSION_NAME};
    VkPhysicalDeviceShaderAbortFeaturesKHR abort_features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ABORT_FEATURES_KHR, .shaderAbort = VK_TRUE};
    VkPhysicalDeviceFaultFeaturesKHR fault = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_KHR,
                                              .pNext = &abort_features, .deviceFault = VK_TRUE};
    VkPhysicalDeviceShaderConstantDataFeaturesKHR constant_data = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CONSTANT_DATA_FEATURES_KHR, .pNext = &fault,
        .shaderConstantData = VK_TRUE};
    info.pNext = &constant_data;
    info.enabledExtensionCount = 3;
    info.ppEnabledExtensionNames = extensions;
#endif
    VkDevice device;
    VkResult result = vkCreateDevice(physical, &info, NULL, &device);
    if (result == VK_ERROR_EXTENSION_NOT_PRESENT) {
        fprintf(stderr, "The driver has no VK_KHR_shader_abort: use `vkabort run`, and `vkabort doctor` if it does not help\n");
        exit(2);
    }
    check(result, "vkCreateDevice");
    return device;
}

/* Names an object: reports of aborts show the name. */
static void name(VkDevice device, VkObjectType type, uint64_t object, const char *text) {
#ifndef PLAIN
    PFN_vkSetDebugUtilsObjectNameEXT set_name =
        (PFN_vkSetDebugUtilsObjectNameEXT)vkGetDeviceProcAddr(device, "vkSetDebugUtilsObjectNameEXT");
    VkDebugUtilsObjectNameInfoEXT info = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT, .objectType = type,
                                          .objectHandle = object, .pObjectName = text};
    check(set_name(device, &info), "vkSetDebugUtilsObjectNameEXT");
#else
    (void)device, (void)type, (void)object, (void)text;
#endif
}

#ifndef PLAIN
/* Writes the messages of the lost device to a file, which `vkabort decode` shows. */
static void save_messages(VkDevice device, const char *path) {
    PFN_vkGetDeviceFaultDebugInfoKHR get_debug_info =
        (PFN_vkGetDeviceFaultDebugInfoKHR)vkGetDeviceProcAddr(device, "vkGetDeviceFaultDebugInfoKHR");
    VkDeviceFaultShaderAbortMessageInfoKHR messages = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_FAULT_SHADER_ABORT_MESSAGE_INFO_KHR};
    VkDeviceFaultDebugInfoKHR info = {.sType = VK_STRUCTURE_TYPE_DEVICE_FAULT_DEBUG_INFO_KHR, .pNext = &messages};
    check(get_debug_info(device, &info), "vkGetDeviceFaultDebugInfoKHR"); /* The first call returns the size, the second the data. */
    messages.pMessageData = malloc(messages.messageDataSize + 1);
    check(get_debug_info(device, &info), "vkGetDeviceFaultDebugInfoKHR");
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(messages.pMessageData, 1, messages.messageDataSize, file) != messages.messageDataSize)
        perror(path);
    if (file)
        fclose(file);
    printf("The device is lost: %u bytes of messages are in %s\n", (unsigned)messages.messageDataSize, path);
    free(messages.pMessageData);
}
#endif

/* Runs the shader on the words. Returns VK_ERROR_DEVICE_LOST if it aborts. */
static VkResult run(VkPhysicalDevice physical, VkDevice device, const uint32_t *code, size_t size, uint32_t *words) {
    VkBuffer buffer;
    CHECK(vkCreateBuffer(device, &(VkBufferCreateInfo){.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = WORDS * 4,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT}, NULL, &buffer));
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device, buffer, &needs);
    VkPhysicalDeviceMemoryProperties types;
    vkGetPhysicalDeviceMemoryProperties(physical, &types);
    VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t type = 0; /* The specification guarantees such a type for every buffer. */
    while (!(needs.memoryTypeBits >> type & 1) || (types.memoryTypes[type].propertyFlags & wanted) != wanted)
        type++;
    VkDeviceMemory memory;
    void *mapped;
    CHECK(vkAllocateMemory(device, &(VkMemoryAllocateInfo){.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs.size, .memoryTypeIndex = type}, NULL, &memory));
    CHECK(vkBindBufferMemory(device, buffer, memory, 0));
    CHECK(vkMapMemory(device, memory, 0, VK_WHOLE_SIZE, 0, &mapped));
    memcpy(mapped, words, WORDS * 4);

    VkDescriptorSetLayout set_layout;
    CHECK(vkCreateDescriptorSetLayout(device, &(VkDescriptorSetLayoutCreateInfo){
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = 1,
        .pBindings = &(VkDescriptorSetLayoutBinding){.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .descriptorCount = 1, .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT}}, NULL, &set_layout));
    VkPipelineLayout layout;
    CHECK(vkCreatePipelineLayout(device, &(VkPipelineLayoutCreateInfo){.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1, .pSetLayouts = &set_layout}, NULL, &layout));
    VkShaderModule module;
    CHECK(vkCreateShaderModule(device, &(VkShaderModuleCreateInfo){.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = size, .pCode = code}, NULL, &module));
    VkPipeline pipeline;
    CHECK(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &(VkComputePipelineCreateInfo){
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO, .layout = layout,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, .stage = VK_SHADER_STAGE_COMPUTE_BIT,
            .module = module, .pName = "main"}}, NULL, &pipeline));
    name(device, VK_OBJECT_TYPE_SHADER_MODULE, (uint64_t)module, "sum");
    name(device, VK_OBJECT_TYPE_PIPELINE, (uint64_t)pipeline, "sum of words");
    VkDescriptorPool pool;
    CHECK(vkCreateDescriptorPool(device, &(VkDescriptorPoolCreateInfo){.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = 1, .poolSizeCount = 1, .pPoolSizes = &(VkDescriptorPoolSize){VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1}},
        NULL, &pool));
    VkDescriptorSet set;
    CHECK(vkAllocateDescriptorSets(device, &(VkDescriptorSetAllocateInfo){
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, .descriptorPool = pool, .descriptorSetCount = 1,
        .pSetLayouts = &set_layout}, &set));
    vkUpdateDescriptorSets(device, 1, &(VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, .dstSet = set,
        .descriptorCount = 1, .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        .pBufferInfo = &(VkDescriptorBufferInfo){buffer, 0, VK_WHOLE_SIZE}}, 0, NULL);

    VkCommandPool commands;
    VkCommandBuffer command;
    VkQueue queue;
    vkGetDeviceQueue(device, 0, 0, &queue);
    name(device, VK_OBJECT_TYPE_QUEUE, (uint64_t)(uintptr_t)queue, "compute queue");
    CHECK(vkCreateCommandPool(device, &(VkCommandPoolCreateInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO}, NULL,
        &commands));
    CHECK(vkAllocateCommandBuffers(device, &(VkCommandBufferAllocateInfo){
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = commands, .commandBufferCount = 1}, &command));
    CHECK(vkBeginCommandBuffer(command, &(VkCommandBufferBeginInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO}));
    vkCmdBindPipeline(command, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdBindDescriptorSets(command, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, NULL);
    vkCmdDispatch(command, GROUPS, 1, 1);
    CHECK(vkEndCommandBuffer(command));
    VkResult result = CHECK(vkQueueSubmit(queue, 1, &(VkSubmitInfo){.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1, .pCommandBuffers = &command}, VK_NULL_HANDLE));
    if (result == VK_SUCCESS)
        result = CHECK(vkQueueWaitIdle(queue));
    memcpy(words, mapped, WORDS * 4);

    vkDestroyCommandPool(device, commands, NULL);
    vkDestroyDescriptorPool(device, pool, NULL);
    vkDestroyPipeline(device, pipeline, NULL);
    vkDestroyShaderModule(device, module, NULL);
    vkDestroyPipelineLayout(device, layout, NULL);
    vkDestroyDescriptorSetLayout(device, set_layout, NULL);
    vkDestroyBuffer(device, buffer, NULL);
    vkFreeMemory(device, memory, NULL);
    return result;
}

int main(int count, char **arguments) {
    static uint32_t code[1 << 16];
    FILE *file = count == 2 ? fopen(arguments[1], "rb") : NULL;
    if (!file) {
        fprintf(stderr, "Usage: %s SHADER.spv\n", arguments[0]);
        return 2;
    }
    size_t size = fread(code, 1, sizeof code, file);
    fclose(file);
    if (size == sizeof code) {
        fprintf(stderr, "%s: larger than %zu bytes\n", arguments[1], sizeof code - 1);
        return 2;
    }

    VkInstance instance;
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &(VkApplicationInfo){.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
            .apiVersion = VK_API_VERSION_1_2}};
#ifndef PLAIN
    info.enabledExtensionCount = 1;
    info.ppEnabledExtensionNames = (const char *[]){VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
#endif
    CHECK(vkCreateInstance(&info, NULL, &instance));
    uint32_t devices = 1;
    VkPhysicalDevice physical;
    CHECK(vkEnumeratePhysicalDevices(instance, &devices, &physical));
    if (devices == 0) {
        fprintf(stderr, "No Vulkan device was found: `vkabort doctor` lists the drivers\n");
        return 2;
    }

    uint32_t words[WORDS];
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = i == 40 ? 4000000 : i; /* An index beyond the buffer. */
    VkResult result = VK_ERROR_DEVICE_LOST;
    for (int attempt = 0; attempt < 2 && result == VK_ERROR_DEVICE_LOST; attempt++) {
        VkDevice device = create_device(physical);
        result = run(physical, device, code, size, words);
        if (result == VK_ERROR_DEVICE_LOST) {
#ifndef PLAIN
            save_messages(device, "messages.bin");
#endif
            memset(words, 0, sizeof words);
        }
        vkDestroyDevice(device, NULL);
    }
    if (result == VK_SUCCESS)
        printf("The shader has run: word 1 is %u\n", words[1]);
    vkDestroyInstance(instance, NULL);
    return result == VK_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
