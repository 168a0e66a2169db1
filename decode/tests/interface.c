/* Tests of the C interface: results, errors, ownership and threads. `tests/tests/examples.rs` compiles and runs it. */
#include <vkabort_decode.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                  \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            fprintf(stderr, "line %d: %s [%s]\n", __LINE__, #condition, vkabort_error_message()); \
            exit(1);                                                                      \
        }                                                                                 \
    } while (0)

/* A 64-bit size and a payload: a format, its NUL and an argument. */
static const unsigned char MESSAGE[] = {12, 0, 0, 0, 0, 0, 0, 0, 'b', 'a', 'd', ' ', '%', 'u', 0, 0, 7, 0, 0, 0};

static void errors(void) {
    VkabortDecoder *decoder = vkabort_decoder_create();
    char *report = NULL;
    const uint32_t words[] = {1, 2, 3};
    CHECK(decoder != NULL);
    CHECK(strcmp(vkabort_error_message(), "") == 0);
    CHECK(vkabort_decoder_add_shader(NULL, words, 3, NULL) == VKABORT_RESULT_INVALID_ARGUMENT);
    CHECK(strcmp(vkabort_error_message(), "the decoder is null") == 0);
    CHECK(vkabort_decoder_add_shader(decoder, NULL, 3, NULL) == VKABORT_RESULT_INVALID_ARGUMENT);
    CHECK(vkabort_decoder_add_shader(decoder, words, 3, "\xff") == VKABORT_RESULT_INVALID_ARGUMENT);
    CHECK(vkabort_decoder_add_shader(decoder, words, 3, "words") == VKABORT_RESULT_INVALID_SHADER);
    CHECK(vkabort_decoder_add_site_tables(decoder, "{}", 2, NULL) == VKABORT_RESULT_INVALID_SITE_TABLE);
    CHECK(strstr(vkabort_error_message(), "not a site table: missing field") != NULL);
    CHECK(vkabort_decoder_decode(decoder, MESSAGE, 5, VKABORT_FORMAT_TEXT, &report) == VKABORT_RESULT_INVALID_MESSAGES);
    CHECK(report == NULL);
    CHECK(vkabort_decoder_decode(decoder, MESSAGE, 5, 77, &report) == VKABORT_RESULT_INVALID_ARGUMENT);
    CHECK(strcmp(vkabort_error_message(), "77 is not a format") == 0);
    CHECK(vkabort_decoder_decode(decoder, NULL, 5, VKABORT_FORMAT_TEXT, &report) == VKABORT_RESULT_INVALID_ARGUMENT);
    CHECK(vkabort_decoder_decode(decoder, MESSAGE, 5, VKABORT_FORMAT_TEXT, NULL) == VKABORT_RESULT_INVALID_ARGUMENT);
    CHECK(vkabort_decoder_decode(decoder, NULL, 0, VKABORT_FORMAT_TEXT, &report) == VKABORT_RESULT_SUCCESS);
    CHECK(strcmp(vkabort_error_message(), "") == 0);
    CHECK(strcmp(report, "vkabort: no shader aborted\n") == 0);
    vkabort_report_free(report);
    vkabort_report_free(NULL);
    vkabort_decoder_free(decoder);
    vkabort_decoder_free(NULL);
}

static void formats(void) {
    VkabortDecoder *decoder = vkabort_decoder_create();
    unsigned char cut[sizeof MESSAGE + 12] = {0};
    char *report = NULL;
    memcpy(cut, MESSAGE, sizeof MESSAGE);
    cut[24] = 99;
    CHECK(vkabort_decoder_decode(decoder, cut, sizeof cut, VKABORT_FORMAT_JSON_LINES, &report) == VKABORT_RESULT_INCOMPLETE);
    /* A report outlives its decoder. */
    vkabort_decoder_free(decoder);
    CHECK(strncmp(report, "{\"type\":\"abort\"", 15) == 0 && strstr(report, "bad 7") != NULL);
    vkabort_report_free(report);
}

static void logs(void) {
    static const char LOG[] = "{\"type\":\"dropped_prints\",\"version\":\"1.5.0\",\"module_hash\":null,\"function\":\"main\","
                              "\"location\":null,\"count\":3}\n";
    char *text = NULL;
    CHECK(vkabort_log_format(LOG, sizeof LOG - 1, VKABORT_FORMAT_TEXT, &text) == VKABORT_RESULT_SUCCESS);
    CHECK(strcmp(text, "vkabort: 3 prints of main have no room (printf_size)\n") == 0);
    vkabort_report_free(text);
    CHECK(vkabort_log_format("{}", 2, VKABORT_FORMAT_TEXT, &text) == VKABORT_RESULT_INVALID_LOG);
    CHECK(text == NULL);
    CHECK(vkabort_log_format(LOG, 1, 77, &text) == VKABORT_RESULT_INVALID_ARGUMENT);
    CHECK(vkabort_log_format(NULL, 0, VKABORT_FORMAT_TEXT, NULL) == VKABORT_RESULT_INVALID_ARGUMENT);
}

static void *use(void *decoder) {
    for (int i = 0; i < 50; i++) {
        char *report = NULL;
        CHECK(vkabort_decoder_add_site_tables(decoder, "[]", 2, "none") == VKABORT_RESULT_SUCCESS);
        CHECK(vkabort_decoder_add_site_tables(decoder, "?", 1, NULL) == VKABORT_RESULT_INVALID_SITE_TABLE);
        CHECK(strlen(vkabort_error_message()) > 0);
        CHECK(vkabort_decoder_decode(decoder, MESSAGE, sizeof MESSAGE, VKABORT_FORMAT_TEXT, &report) == VKABORT_RESULT_SUCCESS);
        CHECK(strstr(report, "shader aborted: bad 7") != NULL);
        vkabort_report_free(report);
    }
    return NULL;
}

static void threads(void) {
    VkabortDecoder *decoder = vkabort_decoder_create();
    pthread_t all[4];
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_create(&all[i], NULL, use, decoder) == 0);
    }
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_join(all[i], NULL) == 0);
    }
    vkabort_decoder_free(decoder);
}

int main(void) {
    CHECK(vkabort_decode_version() == VKABORT_DECODE_VERSION);
    errors();
    formats();
    logs();
    threads();
    return 0;
}
