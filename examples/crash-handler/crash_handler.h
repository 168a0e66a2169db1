/* The part of an engine that explains a lost device. */
#ifndef CRASH_HANDLER_H
#define CRASH_HANDLER_H

#include <stddef.h>
#include <stdint.h>

/* Before the first shader. Returns 0 if the library does not fit the header. */
int crash_handler_start(void);

/* Wherever the engine calls vkCreateShaderModule, on any thread: keeps the types and source lines of the shader's aborts. */
void crash_handler_add_shader(const char *name, const uint32_t *words, size_t word_count);

/* After VK_ERROR_DEVICE_LOST, with the data of VkDeviceFaultShaderAbortMessageInfoKHR: prints the messages, and writes them as
 * JSON lines to a file for the crash report. Returns 0 if the data is not valid or the file cannot be written.
 *
 * Call it on the thread that got the error. It allocates memory, so it must not be called from a signal handler. */
int crash_handler_device_lost(const void *messages, size_t size, const char *json_path);

/* At the end, when no thread uses the handler any more. */
void crash_handler_stop(void);

#endif
