/*
 * What a gateway may say, whatever it is: framing, answers, the end, and the JSON of a grant. Built by clang it is libFuzzer's
 * target; else its own `main` breaks messages that are right in seeded ways. `fuzz SEED ROUNDS` repeats a run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "json.h"
#include "session.h"

enum { CREDITS = 8, ROUNDS = 30000, MOST_BYTES = 2 * RH_MESSAGE_BYTES };

/* With two requests under way, as the first ones in their slots. */
static void start(struct rh_requests *requests) {
    struct rh_error error;
    uint8_t message[RH_MESSAGE_BYTES];
    CHECK(rh_requests_init(requests, CREDITS, RH_MESSAGE_BYTES, &error) == 0, "%s", error.text);
    for (uint64_t i = 1; i <= 2; i++) {
        struct rh_request *request = calloc(1, sizeof *request + RH_REQUEST_FIXED_BYTES);
        request->id = i;
        request->deadline = INT64_MAX;
        request->record_bytes = RH_REQUEST_FIXED_BYTES;
        rh_requests_add(requests, request);
    }
    CHECK(rh_requests_next(requests, message) > 0 && requests->sent == 2, "%u", requests->sent);
}

static void look_at(const railhead_completion *done) {
    size_t bytes = strlen(done->etag ? done->etag : "") + strlen(done->code ? done->code : "")
                   + strlen(done->headers ? done->headers : "");
    CHECK(bytes < RH_MESSAGE_BYTES && done->result <= RAILHEAD_OK && done->result >= RAILHEAD_NOT_FLUSHED, "%zu", bytes);
}

static void hear(const uint8_t *bytes, size_t held) {
    struct rh_requests requests;
    struct rh_message message;
    struct rh_request *request;
    int length, taken = 0, done = 0;
    start(&requests);
    for (; taken == 0 && (length = rh_message_parse(bytes, held, &message)) > 0; bytes += length, held -= (size_t)length) {
        if (message.type == RH_ANSWERS) {
            taken = rh_requests_answered(&requests, message.payload, message.bytes, false);
        } else if (message.type == RH_ENDED && message.bytes >= 8) {
            taken = rh_requests_answered(&requests, message.payload + 8, message.bytes - 8u, true);
        }
    }
    rh_requests_end(&requests, false);
    for (; (request = rh_requests_take(&requests, true)) != NULL; done++) {
        look_at(&request->completion);
        free(request->completion.owned);
        free(request);
    }
    CHECK(done == 2, "%d completions of 2 requests", done);
    rh_requests_destroy(&requests);
}

static void read_grant(const uint8_t *bytes, size_t held) {
    char *text = malloc(held + 1), out[8][48];
    uint32_t number;
    memcpy(text, bytes, held);
    text[held] = 0;
    rh_json_string(text, "session", out[0], sizeof out[0]);
    rh_json_number(text, "port", &number);
    rh_json_strings(text, "addresses", out[0], sizeof out[0], 8, &number);
    CHECK(number <= 8, "%u", number);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t held);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t held) {
    uint8_t *exact = malloc(held + !held); /* so that the sanitizer sees a byte too far */
    memcpy(exact, bytes, held);
    hear(exact, held);
    read_grant(exact, held);
    free(exact);
    return 0;
}

#ifndef RAILHEAD_LIBFUZZER
static size_t put_answer(uint8_t *at, uint32_t id, uint16_t status, const char *code) {
    size_t bytes = (RH_ANSWER_FIXED_BYTES + strlen(code) + 7) & ~(size_t)7;
    memset(at, 0, bytes);
    rh_put16(at, (uint16_t)bytes);
    rh_put16(at + 2, status);
    rh_put32(at + 4, id);
    rh_put16(at + 44, (uint16_t)strlen(code));
    memcpy(at + RH_ANSWER_FIXED_BYTES, code, strlen(code));
    return bytes;
}

static size_t put_message(uint8_t *at, uint8_t type, size_t prefix) {
    size_t bytes = prefix;
    memset(at + RH_HEADER_BYTES, 0, prefix);
    bytes += put_answer(at + RH_HEADER_BYTES + bytes, 0x10000, 206, "");
    bytes += put_answer(at + RH_HEADER_BYTES + bytes, 0x10001, 0, "cancelled");
    rh_message_begin(at, type, bytes);
    return RH_HEADER_BYTES + bytes;
}

static size_t whole(uint8_t *out, int which) {
    static const char grant[] = "{\"session\":\"00\",\"port\":7471,\"addresses\":[\"10.0.0.7\",\"::1\"],\"x\":[{\"y\":1e3}]}";
    switch (which) {
        case 0: return put_message(out, RH_ANSWERS, 0);
        case 1: return put_message(out, RH_ENDED, 8);
        default: memcpy(out, grant, sizeof grant - 1); return sizeof grant - 1;
    }
}

int main(int count, char **arguments) {
    unsigned seed = count > 1 ? (unsigned)strtoul(arguments[1], NULL, 10) : (unsigned)time(NULL);
    long rounds = count > 2 ? strtol(arguments[2], NULL, 10) : ROUNDS;
    static const uint8_t edges[] = {0, 1, 7, 8, 0x10, 0x11, 0x7f, 0x80, 0xff, '"', '[', '}'};
    uint8_t bytes[MOST_BYTES];
    printf("seed %u\n", seed);
    fflush(stdout);
    srandom(seed);
    for (long round = 0; round < rounds; round++) {
        size_t held = whole(bytes, (int)(round % 3));
        for (long n = random() % 4; n > 0; n--) {
            bytes[(size_t)random() % held] = random() % 2 ? edges[(size_t)random() % sizeof edges] : (uint8_t)random();
        }
        LLVMFuzzerTestOneInput(bytes, random() % 4 ? held : (size_t)random() % (held + 1));
    }
    return 0;
}
#endif
