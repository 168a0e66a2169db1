/* Runs the crash handler on a file of messages, which ../c/main.c writes, as if the device had just been lost:
 *
 *   crash_handler messages.bin crash.jsonl sum.spv ..
 */
#include "crash_handler.h"

#include <stdio.h>
#include <stdlib.h>

/* Reads a file into memory that malloc aligns for any type. */
static void *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        return NULL;
    }
    size_t room = 4096;
    char *data = malloc(room);
    *size = 0;
    while (data != NULL) {
        size_t count = fread(data + *size, 1, room - *size, file);
        if (count == 0) {
            break;
        }
        *size += count;
        if (*size == room) {
            char *larger = realloc(data, room *= 2);
            if (larger == NULL) {
                free(data);
            }
            data = larger;
        }
    }
    fclose(file);
    return data;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: %s messages.bin crash.jsonl [shader.spv ..]\n", argv[0]);
        return 2;
    }
    if (!crash_handler_start()) {
        return 1;
    }
    size_t size = 0;
    for (int i = 3; i < argc; i++) {
        uint32_t *words = read_file(argv[i], &size);
        if (words != NULL) {
            crash_handler_add_shader(argv[i], words, size / sizeof *words);
        }
        free(words);
    }
    void *messages = read_file(argv[1], &size);
    int done = messages != NULL && crash_handler_device_lost(messages, size, argv[2]);
    free(messages);
    crash_handler_stop();
    return done ? 0 : 1;
}
