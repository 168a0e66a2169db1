#include "crash_handler.h"

#include <stdio.h>
#include <vkabort_decode.h>

static VkabortDecoder *decoder;

int crash_handler_start(void) {
    uint32_t library = vkabort_decode_version();
    if (library >> 16 != VKABORT_DECODE_VERSION >> 16 || library < VKABORT_DECODE_VERSION) {
        fprintf(stderr, "libvkabort_decode has version %u.%u\n", library >> 16, library & 0xffff);
        return 0;
    }
    decoder = vkabort_decoder_create();
    return decoder != NULL;
}

void crash_handler_add_shader(const char *name, const uint32_t *words, size_t word_count) {
    if (vkabort_decoder_add_shader(decoder, words, word_count, name) < 0) {
        fprintf(stderr, "aborts of %s will have no source lines: %s\n", name, vkabort_error_message());
    }
}

int crash_handler_device_lost(const void *messages, size_t size, const char *json_path) {
    char *text = NULL, *json = NULL;
    int done = 0;
    if (vkabort_decoder_decode(decoder, messages, size, VKABORT_FORMAT_TEXT, &text) < 0 ||
        vkabort_decoder_decode(decoder, messages, size, VKABORT_FORMAT_JSON_LINES, &json) < 0) {
        fprintf(stderr, "the messages cannot be decoded: %s\n", vkabort_error_message());
    } else {
        fputs(text, stderr);
        FILE *file = fopen(json_path, "w");
        if (file != NULL) {
            done = fputs(json, file) >= 0;
            done = fclose(file) == 0 && done;
        }
        if (!done) {
            perror(json_path);
        }
    }
    vkabort_report_free(text);
    vkabort_report_free(json);
    return done;
}

void crash_handler_stop(void) {
    vkabort_decoder_free(decoder);
    decoder = NULL;
}
