#include "record.h"

#include <inttypes.h>
#include <string.h>

#include "check.h"
#include "wire.h"

static struct rh_error error;

/* The message of docs/native-channel.md in the block of that name. */
static size_t example(const char *name, uint8_t *out) {
    FILE *page = fopen(RAILHEAD_PAGE, "re");
    char line[300], fence[40];
    bool inside = false;
    size_t held = 0;
    CHECK(page, "%s", RAILHEAD_PAGE);
    snprintf(fence, sizeof fence, "```%s\n", name);
    while (fgets(line, sizeof line, page)) {
        if (inside && line[0] == '`') {
            break;
        }
        unsigned byte;
        for (int i = 0; inside && i < 16 && sscanf(line + 6 + 3 * i, "%2x", &byte) == 1 && line[6 + 3 * i] != ' '; i++) {
            out[held++] = (uint8_t)byte;
        }
        inside |= strcmp(line, fence) == 0;
    }
    fclose(page);
    CHECK(held > RH_HEADER_BYTES, "no block %s", name);
    return held;
}

static void requests_are_those_of_the_specification(void) {
    uint8_t wanted[512], made[512];
    size_t bytes = example("requests", wanted);
    railhead_request get = {.operation = RAILHEAD_GET, .flags = RAILHEAD_RANGE, .bucket = "data", .key = "a/b.bin",
                            .offset = 4096, .window = 65536, .range_last = 99};
    railhead_request head = {.operation = RAILHEAD_HEAD, .bucket = "data", .key = "none"};
    int first = rh_request_encode(&get, 0x11223344, made + RH_HEADER_BYTES, 400, &error);
    CHECK(first == 80, "%d: %s", first, error.text);
    rh_request_number(made + RH_HEADER_BYTES, 1);
    int second = rh_request_encode(&head, 0, made + RH_HEADER_BYTES + first, 400, &error);
    CHECK(second == 72, "%d: %s", second, error.text);
    rh_request_number(made + RH_HEADER_BYTES + first, 2);
    rh_message_begin(made, RH_REQUESTS, (size_t)(first + second));
    CHECK(bytes == (size_t)(RH_HEADER_BYTES + first + second), "%zu bytes", bytes);
    for (size_t i = 0; i < bytes; i++) {
        CHECK(made[i] == wanted[i], "byte %zu: %02x, not %02x", i, made[i], wanted[i]);
    }
}

static void answers_are_those_of_the_specification(void) {
    uint8_t bytes[512];
    struct rh_message message;
    struct rh_answer answer;
    CHECK(rh_message_parse(bytes, example("answers", bytes), &message) > 0 && message.type == RH_ANSWERS, "no message");
    int length = rh_answer_decode(message.payload, message.bytes, &answer);
    CHECK(length == 64 && answer.id == 1 && answer.status == 206 && answer.bytes_moved == 100, "%d", length);
    CHECK(answer.object_bytes == 1000 && answer.first_byte == 0 && answer.cache == 1 && answer.flags == 0, "%d",
          answer.cache);
    CHECK(answer.last_modified_millis == 1700000000000, "%" PRIu64, answer.last_modified_millis);
    CHECK(answer.text_bytes[0] == 6 && memcmp(answer.text[0], "\"5d41\"", 6) == 0, "%d", answer.text_bytes[0]);
    CHECK(rh_answer_decode(message.payload + 64, message.bytes - 64u, &answer) == 72, "the second");
    CHECK(answer.id == 2 && answer.status == 404 && answer.text_bytes[2] == 9, "%d", answer.status);
    CHECK(memcmp(answer.text[2], "NoSuchKey", 9) == 0, "%.9s", answer.text[2]);
}

static void keys_are_those_of_the_specification(void) {
    static const uint8_t hashes[] = {0x00, 0xff, 0x10, 0xa0, 0x01, 0x23, 0x45, 0x67};
    uint8_t wanted[512], made[512];
    size_t bytes = example("keys", wanted);
    railhead_request exists = {.operation = RAILHEAD_EXISTS, .bucket = "kv-a", .key = "m@", .keys = hashes,
                               .keys_bytes = sizeof hashes, .keys_count = 2, .hash_bytes = 4};
    railhead_request delete = {.operation = RAILHEAD_DELETE, .bucket = "kv-a", .keys = "\1\0a\3\0b/c", .keys_bytes = 8,
                               .keys_count = 2};
    int first = rh_request_encode(&exists, 0, made + RH_HEADER_BYTES, 400, &error);
    CHECK(first == 88, "%d: %s", first, error.text);
    rh_request_number(made + RH_HEADER_BYTES, 3);
    int second = rh_request_encode(&delete, 0, made + RH_HEADER_BYTES + first, 400, &error);
    CHECK(second == 80, "%d: %s", second, error.text);
    rh_request_number(made + RH_HEADER_BYTES + first, 4);
    rh_message_begin(made, RH_REQUESTS, (size_t)(first + second));
    CHECK(bytes == (size_t)(RH_HEADER_BYTES + first + second), "%zu bytes", bytes);
    for (size_t i = 0; i < bytes; i++) {
        CHECK(made[i] == wanted[i], "byte %zu: %02x, not %02x", i, made[i], wanted[i]);
    }
    railhead_request lease = {.operation = RAILHEAD_LEASE, .bucket = "kv-a", .key = "m@", .keys = hashes,
                              .keys_bytes = sizeof hashes, .keys_count = 2, .hash_bytes = 4, .part_number = 30000};
    CHECK(rh_request_encode(&lease, 0, made, sizeof made, &error) == 88 && made[2] == 9 && rh_get32(made + 12) == 30000,
          "%s", error.text);
    railhead_request removals = {.operation = RAILHEAD_REMOVALS, .bucket = "kv-a", .key = "m@", .part_number = 10000};
    CHECK(rh_request_encode(&removals, 0, made, sizeof made, &error) == 72 && made[2] == 12 && rh_get32(made + 12) == 10000,
          "%s", error.text);
    static const uint8_t many[5000];
    exists.keys = many;
    exists.keys_bytes = sizeof many;
    exists.keys_count = sizeof many / 4;
    CHECK(rh_request_encode(&exists, 0, made, sizeof made, &error) < 0 && strstr(error.text, "too long"), "%s", error.text);
}

static void windows_are_those_of_the_specification(void) {
    static const railhead_window two[] = {{4096, 65536}, {1 << 20, 65536}};
    uint8_t wanted[512], made[512];
    size_t bytes = example("windows", wanted);
    railhead_request get = {.operation = RAILHEAD_GET, .bucket = "kv-a", .key = "m@1", .windows = two, .windows_count = 2};
    memset(made, 0xff, sizeof made);
    int length = rh_request_encode(&get, 0x11223344, made + RH_HEADER_BYTES, 400, &error);
    CHECK(length == 120, "%d: %s", length, error.text);
    rh_request_number(made + RH_HEADER_BYTES, 5);
    rh_message_begin(made, RH_REQUESTS, (size_t)length);
    CHECK(bytes == (size_t)(RH_HEADER_BYTES + length), "%zu bytes", bytes);
    for (size_t i = 0; i < bytes; i++) {
        CHECK(made[i] == wanted[i], "byte %zu: %02x, not %02x", i, made[i], wanted[i]);
    }
    get.windows_count = 65;
    CHECK(rh_request_encode(&get, 1, made, sizeof made, &error) < 0 && strstr(error.text, "64 at most"), "%s", error.text);
}

/* The gateway ends a session for any of these: they must not be sent. */
static void malformed_requests_are_not_sent(void) {
    static const railhead_window one = {0, 1};
    static const struct {
        railhead_request request;
        const char *why;
    } cases[] = {
        {{.operation = 0, .bucket = "b", .key = "k"}, "operation"},
        {{.operation = RAILHEAD_REMOVALS + 1, .bucket = "b", .key = "k"}, "operation"},
        {{.operation = RAILHEAD_LEASE, .bucket = "b", .keys = "12", .keys_bytes = 2, .keys_count = 2, .hash_bytes = 1}, "part number"},
        {{.operation = RAILHEAD_LEASE, .bucket = "b", .keys = "12", .keys_bytes = 2, .keys_count = 2, .hash_bytes = 1,
          .part_number = 0x80000000u}, "part number"},
        {{.operation = RAILHEAD_TOUCH, .bucket = "b", .keys = "12", .keys_bytes = 2, .keys_count = 2, .hash_bytes = 1,
          .part_number = 1}, "part number"},
        {{.operation = RAILHEAD_EXISTS, .bucket = "b", .key = "k"}, "no keys"},
        {{.operation = RAILHEAD_EXISTS, .key = "k", .keys = "12", .keys_bytes = 2, .keys_count = 2, .hash_bytes = 1}, "no bucket"},
        {{.operation = RAILHEAD_EXISTS, .bucket = "b", .keys = "12", .keys_bytes = 2, .keys_count = 3, .hash_bytes = 1}, "hashes"},
        {{.operation = RAILHEAD_PREFIX, .bucket = "b", .keys = "12", .keys_bytes = 2, .keys_count = 2, .hash_bytes = 1,
          .window = 1}, "window"},
        {{.operation = RAILHEAD_DELETE, .bucket = "b", .keys = "12", .keys_bytes = 2, .keys_count = 2, .hash_bytes = 1,
          .headers = "a: b\n"}, "headers"},
        {{.operation = RAILHEAD_DELETE, .bucket = "b", .keys = "12", .keys_bytes = 2, .keys_count = 2, .hash_bytes = 1,
          .flags = RAILHEAD_RANGE, .range_last = 1}, "range"},
        {{.operation = RAILHEAD_DELETE, .bucket = "b", .keys = "1", .keys_bytes = 1, .keys_count = 65536}, "too many"},
        {{.operation = RAILHEAD_DELETE_PREFIX, .bucket = "b", .keys = "1", .keys_bytes = 1, .keys_count = 1}, "prefix"},
        {{.operation = RAILHEAD_REMOVALS, .bucket = "b", .key = "p"}, "part number"},
        {{.operation = RAILHEAD_REMOVALS, .bucket = "b", .keys = "1", .keys_bytes = 1, .keys_count = 1, .part_number = 1}, "prefix"},
        {{.operation = RAILHEAD_USAGE, .bucket = "b", .keys = "1", .keys_bytes = 1, .keys_count = 1}, "prefix"},
        {{.operation = RAILHEAD_GET, .bucket = "b", .key = "k", .keys = "1", .keys_bytes = 1, .keys_count = 1}, "keys"},
        {{.operation = RAILHEAD_HEAD, .bucket = "b", .key = "k", .windows = &one, .windows_count = 1}, "GET and PUT"},
        {{.operation = RAILHEAD_GET, .bucket = "b", .key = "k", .window = 1, .windows = &one, .windows_count = 1}, "window of 0"},
        {{.operation = RAILHEAD_GET, .bucket = "b", .key = "k", .windows_count = 1}, "windows"},
        {{.operation = RAILHEAD_GET, .bucket = "b", .key = "k", .windows = &one}, "count"},
        {{.operation = RAILHEAD_GET, .key = "k"}, "no bucket"},
        {{.operation = RAILHEAD_GET, .bucket = "b", .key = ""}, "no key"},
        {{.operation = RAILHEAD_GET, .bucket = "b", .key = "\xc3"}, "UTF-8"},
        {{.operation = RAILHEAD_GET, .bucket = "b", .key = "\xed\xa0\x80"}, "UTF-8"},
        {{.operation = RAILHEAD_GET, .bucket = "b", .key = "\xc0\x80"}, "UTF-8"},
        {{.operation = RAILHEAD_GET, .bucket = "b", .key = "k", .range_first = 1}, "bounds"},
        {{.operation = RAILHEAD_GET, .bucket = "b", .key = "k", .flags = 1, .range_first = 2, .range_last = 1}, "before"},
        {{.operation = RAILHEAD_GET, .bucket = "b", .key = "k", .flags = 1, .range_last = 1ull << 63}, "beyond"},
        {{.operation = RAILHEAD_GET, .bucket = "b", .key = "k", .flags = 2, .range_first = 1ull << 63}, "beyond"},
        {{.operation = RAILHEAD_GET, .bucket = "b", .key = "k", .flags = 2, .range_first = 1, .range_last = 1}, "range_last"},
        {{.operation = RAILHEAD_GET, .bucket = "b", .key = "k", .flags = 3}, "flags"},
        {{.operation = RAILHEAD_PUT, .bucket = "b", .key = "k", .flags = 1}, "range"},
        {{.operation = RAILHEAD_HEAD, .bucket = "b", .key = "k", .flags = RAILHEAD_RANGE, .range_last = 9}, "range"},
        {{.operation = RAILHEAD_HEAD, .bucket = "b", .key = "k", .flags = RAILHEAD_LAST, .range_first = 9}, "range"},
        {{.operation = RAILHEAD_PUT, .bucket = "b", .key = "k", .version_id = "v"}, "version"},
        {{.operation = RAILHEAD_GET, .bucket = "b", .key = "k", .headers = "a: b\n"}, "headers"},
        {{.operation = RAILHEAD_PUT, .bucket = "b", .key = "k", .headers = "a: b"}, "headers"},
        {{.operation = RAILHEAD_PUT, .bucket = "b", .key = "k", .headers = "A: b\n"}, "lower"},
        {{.operation = RAILHEAD_PUT, .bucket = "b", .key = "k", .headers = "a: b\na: c\n"}, "once"},
        {{.operation = RAILHEAD_PUT, .bucket = "b", .key = "k", .headers = "a: \x01\n"}, "headers"},
        {{.operation = RAILHEAD_PUT, .bucket = "b", .key = "k", .headers = ": b\n"}, "headers"},
        {{.operation = RAILHEAD_GET, .bucket = "b", .key = "k", .if_match = "\"e\"\r\nA: b"}, "if_match"},
        {{.operation = RAILHEAD_PUT, .bucket = "b", .key = "k", .if_match = "\x7f"}, "if_match"},
        {{.operation = RAILHEAD_PUT, .bucket = "b", .key = "k", .upload_id = "u"}, "upload"},
        {{.operation = RAILHEAD_PUT, .bucket = "b", .key = "k", .part_number = 1}, "part"},
        {{.operation = RAILHEAD_UPLOAD_PART, .bucket = "b", .key = "k", .part_number = 1}, "upload"},
        {{.operation = RAILHEAD_UPLOAD_PART, .bucket = "b", .key = "k", .upload_id = "u"}, "part"},
        {{.operation = RAILHEAD_HEAD, .bucket = "b", .key = "k", .window = 1}, "window"},
    };
    uint8_t out[512];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK(rh_request_encode(&cases[i].request, 1, out, sizeof out, &error) < 0, "case %zu: %s", i, cases[i].why);
    }
    char longest[513];
    memset(longest, 'k', sizeof longest);
    longest[sizeof longest - 1] = 0;
    railhead_request request = {.operation = RAILHEAD_HEAD, .bucket = "b", .key = longest};
    CHECK(rh_request_encode(&request, 0, out, sizeof out, &error) < 0 && strstr(error.text, "too long"), "%s", error.text);
    longest[512 - RH_REQUEST_FIXED_BYTES - 1] = 0;
    CHECK(rh_request_encode(&request, 0, out, sizeof out, &error) == 512, "%s", error.text);
    static char endless[RH_MESSAGE_BYTES + 1];
    uint8_t most[RH_MESSAGE_BYTES];
    memset(endless, 'k', sizeof endless - 1);
    request.key = endless;
    for (size_t room = 0; room < 8; room++) {
        CHECK(rh_request_encode(&request, 0, most, room - RH_HEADER_BYTES, &error) < 0, "%zu bytes of room", room);
        CHECK(rh_request_encode(&request, 0, most, room, &error) < 0, "%zu bytes of room", room);
    }
    request = (railhead_request){.operation = RAILHEAD_PUT, .bucket = "b", .key = "\xf0\x9f\x9a\x82", .headers =
                                 "content-type: text/plain\nx-amz-meta-a: \xc3\xa4\tb\n"};
    CHECK(rh_request_encode(&request, 0, out, sizeof out, &error) > 0, "%s", error.text);
}

static void malformed_answers_are_none(void) {
    static const struct {
        size_t at;
        uint8_t byte;
        const char *what;
    } cases[] = {{0, 57, "not a multiple of 8"}, {0, 48, "too short"}, {0, 72, "beyond the message"}, {50, 5, "no such cache"},
                 {51, 2, "no such flag"},        {52, 1, "reserved"},  {40, 9, "texts beyond it"},     {63, 1, "padding"},
                 {40, 0, "8 bytes of padding"}, {56, 0x80, "not UTF-8"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t bytes[64] = {64};
        struct rh_answer answer;
        bytes[40] = 1;
        bytes[56] = '1';
        CHECK(rh_answer_decode(bytes, sizeof bytes, &answer) == 64, "a whole one");
        bytes[cases[i].at] = cases[i].byte;
        bytes[56] = bytes[40] ? bytes[56] : 0;
        CHECK(rh_answer_decode(bytes, sizeof bytes, &answer) < 0, "%s", cases[i].what);
    }
}

int main(void) {
    malformed_answers_are_none();
    requests_are_those_of_the_specification();
    keys_are_those_of_the_specification();
    answers_are_those_of_the_specification();
    windows_are_those_of_the_specification();
    malformed_requests_are_not_sent();
    return 0;
}
