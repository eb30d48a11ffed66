#include "record.h"

#include <string.h>

#include "error.h"
#include "wire.h"

enum { TEXTS = 6, BUCKET = 0, KEY = 1, VERSION_ID = 2, IF_MATCH = 3, UPLOAD_ID = 4, HEADERS = 5 };
enum { ANSWER_CUT = 1, CACHE_RESULTS = 5 };

/* Bytes of the character that begins here, 0 if there is none: no surrogates, nothing longer than need be. */
static size_t character(const uint8_t *at, size_t left) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t width = *at < 0x80 ? 1 : *at >> 5 == 6 ? 2 : *at >> 4 == 14 ? 3 : *at >> 3 == 30 ? 4 : 0;
    uint32_t code = width == 1 ? *at : *at & (0x7fu >> width);
    if (width == 0 || width > left) {
        return 0;
    }
    for (size_t i = 1; i < width; i++) {
        if (at[i] >> 6 != 2) {
            return 0;
        }
        code = code << 6 | (at[i] & 0x3fu);
    }
    bool surrogate = code >= 0xd800 && code < 0xe000;
    return code < least[width] || code > 0x10ffff || surrogate ? 0 : width;
}

static bool is_utf8(const char *text, size_t bytes) {
    for (size_t at = 0; at < bytes;) {
        size_t width = character((const uint8_t *)text + at, bytes - at);
        if (width == 0) {
            return false;
        }
        at += width;
    }
    return true;
}

static bool is_name(const char *at, const char *end) {
    for (const char *c = at; c < end; c++) {
        if (!((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') || strchr("!#$%&'*+-.^_`|~", *c))) {
            return false;
        }
    }
    return at < end;
}

static bool is_there_before(const char *lines, const char *at, size_t name_bytes) {
    for (const char *line = lines; line < at; line = strchr(line, '\n') + 1) {
        if (strncmp(line, at, name_bytes) == 0 && line[name_bytes] == ':') {
            return true;
        }
    }
    return false;
}

/* Of a header: without control characters. */
static bool is_value(const char *text, const char *end) {
    for (const char *c = text; c < end; c++) {
        if (((unsigned char)*c < ' ' && *c != '\t') || *c == 0x7f) {
            return false;
        }
    }
    return true;
}

/* "name: value\n" each, names in lower case and once, values without control characters. */
static bool are_headers(const char *lines) {
    for (const char *at = lines; *at;) {
        const char *colon = strstr(at, ": "), *end = strchr(at, '\n');
        if (!colon || !end || end < colon || !is_name(at, colon) || is_there_before(lines, at, (size_t)(colon - at))) {
            return false;
        }
        if (!is_value(colon + 2, end)) {
            return false;
        }
        at = end + 1;
    }
    return true;
}

static const char *range_mistake(const railhead_request *request) {
    const uint64_t first = request->range_first, last = request->range_last;
    if (request->flags == 0) {
        return first == 0 && last == 0 ? NULL : "bounds without RAILHEAD_RANGE or RAILHEAD_LAST";
    }
    if (request->operation != RAILHEAD_GET) {
        return "a range, but it is no GET";
    }
    if (request->flags == RAILHEAD_LAST) {
        return first <= INT64_MAX && last == 0 ? NULL : "last bytes beyond 2^63 - 1, or a range_last";
    }
    if (request->flags != RAILHEAD_RANGE) {
        return "unknown flags";
    }
    return first <= INT64_MAX && (last == UINT64_MAX || (last <= INT64_MAX && first <= last))
               ? NULL : "a range that ends before it begins, or beyond 2^63 - 1";
}

static bool is_of_keys(const railhead_request *request) {
    return request->operation >= RAILHEAD_EXISTS && request->operation <= RAILHEAD_REMOVALS;
}

/* Of what has keys in place of one object. The gateway looks into the keys themselves. */
static const char *keys_mistake(const railhead_request *request, const char *const texts[TEXTS]) {
    if (!*texts[BUCKET]) {
        return "no bucket";
    }
    if (request->buffer || request->offset || request->window) {
        return "keys have no window";
    }
    if (*texts[VERSION_ID] || *texts[IF_MATCH] || *texts[UPLOAD_ID] || *texts[HEADERS]) {
        return "a version id, if_match, upload id or headers, but it is of many keys";
    }
    const bool lasts = request->operation == RAILHEAD_LEASE || request->operation == RAILHEAD_REMOVALS;
    if (lasts ? request->part_number < 1 || request->part_number > INT32_MAX : request->part_number != 0) {
        return "a part number is for UPLOAD_PART, LEASE and REMOVALS, from 1";
    }
    if (request->operation == RAILHEAD_DELETE_PREFIX || request->operation == RAILHEAD_USAGE ||
        request->operation == RAILHEAD_REMOVALS) {
        return request->keys || request->keys_bytes || request->keys_count || request->hash_bytes
                   ? "keys, but all that begin with a prefix are meant" : NULL;
    }
    if (!request->keys || request->keys_bytes == 0 || request->keys_count == 0) {
        return "no keys";
    }
    if (request->keys_count > UINT16_MAX || request->hash_bytes > UINT16_MAX) {
        return "too many keys, or hashes that are too long";
    }
    return request->hash_bytes && request->keys_bytes != (uint64_t)request->keys_count * request->hash_bytes
               ? "keys_bytes that are not keys_count hashes" : NULL;
}

static const char *windows_mistake(const railhead_request *request) {
    if (request->windows_count == 0) {
        return request->windows ? "windows without their count" : NULL;
    }
    if (request->operation != RAILHEAD_GET && request->operation != RAILHEAD_PUT) {
        return "several windows are for GET and PUT";
    }
    return !request->windows || request->windows_count > RH_MOST_WINDOWS || request->offset || request->window
               ? "windows are 64 at most, with an offset and a window of 0" : NULL;
}

/* Of all windows together. */
static uint64_t window_bytes(const railhead_request *request) {
    uint64_t bytes = request->window;
    for (uint32_t i = 0; i < request->windows_count; i++) {
        bytes += request->windows[i].bytes;
    }
    return bytes;
}

static const char *object_mistake(const railhead_request *request, const char *const texts[TEXTS]) {
    const uint32_t operation = request->operation;
    const bool part = operation == RAILHEAD_UPLOAD_PART, writes = part || operation == RAILHEAD_PUT;
    if (request->keys || request->keys_bytes || request->keys_count || request->hash_bytes) {
        return "keys are for EXISTS, PREFIX, DELETE, LEASE and TOUCH";
    }
    if (!*texts[BUCKET] || !*texts[KEY]) {
        return "no bucket or no key";
    }
    if (part ? request->part_number < 1 || request->part_number > INT32_MAX : request->part_number != 0) {
        return "a part number is for UPLOAD_PART, LEASE and REMOVALS, from 1";
    }
    if (part != (*texts[UPLOAD_ID] != 0)) {
        return "an upload id is for UPLOAD_PART, and for nothing else";
    }
    if ((writes && *texts[VERSION_ID]) || (!writes && *texts[HEADERS])) {
        return "a version id is for GET and HEAD, headers are for PUT and UPLOAD_PART";
    }
    if (operation == RAILHEAD_HEAD && (request->buffer || request->offset || request->window)) {
        return "HEAD has no window";
    }
    if (!is_value(texts[IF_MATCH], texts[IF_MATCH] + strlen(texts[IF_MATCH]))) {
        return "an if_match with control characters";
    }
    return are_headers(texts[HEADERS]) ? NULL : "headers must be \"name: value\\n\" each, in lower case and once";
}

static const char *mistake(const railhead_request *request, const char *const texts[TEXTS]) {
    if (request->operation < RAILHEAD_GET || request->operation > RAILHEAD_REMOVALS) {
        return "an unknown operation";
    }
    const char *why = is_of_keys(request) ? keys_mistake(request, texts) : object_mistake(request, texts);
    why = why ? why : windows_mistake(request);
    return why ? why : range_mistake(request);
}

static uint8_t *put_keys(uint8_t *at, const railhead_request *request) {
    rh_put16(at, (uint16_t)request->keys_count);
    rh_put16(at + 2, (uint16_t)request->hash_bytes);
    memcpy(at + RH_KEYS_FIXED_BYTES, request->keys, request->keys_bytes);
    return at + RH_KEYS_FIXED_BYTES + request->keys_bytes;
}

static void put_windows(uint8_t *at, const railhead_request *request, uint32_t buffer_key) {
    for (uint32_t i = 0; i < request->windows_count; i++, at += RH_WINDOW_BYTES) {
        rh_put32(at, buffer_key);
        rh_put64(at + 8, request->windows[i].offset);
        rh_put64(at + 16, request->windows[i].bytes);
    }
}

static void put_fixed(uint8_t *out, const railhead_request *request, uint32_t buffer_key, size_t record_bytes) {
    rh_put16(out, (uint16_t)record_bytes);
    out[2] = (uint8_t)request->operation;
    out[3] = request->flags == RAILHEAD_LAST ? 3 : (uint8_t)request->flags;
    rh_put32(out + 8, request->windows_count ? 0 : buffer_key);
    rh_put32(out + 12, request->part_number);
    rh_put64(out + 16, request->offset);
    rh_put64(out + 24, window_bytes(request));
    rh_put64(out + 32, request->range_first);
    rh_put64(out + 40, request->range_last);
    rh_put16(out + 60, (uint16_t)request->windows_count);
}

int rh_request_encode(const railhead_request *request, uint32_t buffer_key, uint8_t *out, size_t room,
                      struct rh_error *error) {
    const char *texts[TEXTS] = {request->bucket, request->key, request->version_id, request->if_match,
                                request->upload_id, request->headers};
    size_t lengths[TEXTS], record_bytes = RH_REQUEST_FIXED_BYTES;
    room = room < RH_MESSAGE_BYTES - RH_HEADER_BYTES ? room : RH_MESSAGE_BYTES - RH_HEADER_BYTES;
    for (int i = 0; i < TEXTS; i++) {
        texts[i] = texts[i] ? texts[i] : "";
        lengths[i] = strlen(texts[i]);
        record_bytes += lengths[i] < room ? lengths[i] : room;
        if (!is_utf8(texts[i], lengths[i])) {
            return rh_fail(error, "a text is not UTF-8");
        }
    }
    const char *why = mistake(request, texts);
    if (why) {
        return rh_fail(error, "%s", why);
    }
    if (request->keys) { /* in the place of headers */
        lengths[HEADERS] = RH_KEYS_FIXED_BYTES + (size_t)request->keys_bytes;
        record_bytes += lengths[HEADERS];
    }
    record_bytes += (size_t)request->windows_count * RH_WINDOW_BYTES;
    record_bytes = (record_bytes + 7) & ~(size_t)7;
    if (record_bytes > room) {
        return rh_fail(error, "the texts are too long for a message: %zu of %zu bytes", record_bytes, room);
    }
    memset(out, 0, record_bytes);
    put_fixed(out, request, buffer_key, record_bytes);
    uint8_t *at = out + RH_REQUEST_FIXED_BYTES;
    for (int i = 0; i < TEXTS; i++) {
        rh_put16(out + 48 + 2 * i, (uint16_t)lengths[i]);
        if (i == HEADERS && request->keys) {
            at = put_keys(at, request);
            break;
        }
        memcpy(at, texts[i], lengths[i]);
        at += lengths[i];
    }
    put_windows(at, request, buffer_key);
    return (int)record_bytes;
}

void rh_request_number(uint8_t *record, uint32_t id) {
    rh_put32(record + 4, id);
}

int rh_answer_decode(const uint8_t *at, size_t left, struct rh_answer *answer) {
    size_t bytes = left < RH_ANSWER_FIXED_BYTES ? 0 : rh_get16(at), used = RH_ANSWER_FIXED_BYTES;
    if (bytes < RH_ANSWER_FIXED_BYTES || bytes > left || bytes % 8 != 0 || at[50] >= CACHE_RESULTS
        || (at[51] & ~ANSWER_CUT) || rh_get32(at + 52) != 0) {
        return -1;
    }
    *answer = (struct rh_answer){.id = rh_get32(at + 4), .status = rh_get16(at + 2), .cache = at[50], .flags = at[51],
                                 .bytes_moved = rh_get64(at + 8), .object_bytes = rh_get64(at + 16),
                                 .first_byte = rh_get64(at + 24), .last_modified_millis = rh_get64(at + 32)};
    for (int i = 0; i < RH_ANSWER_TEXTS; i++) {
        answer->text_bytes[i] = rh_get16(at + 40 + 2 * i);
        answer->text[i] = (const char *)at + used;
        used += answer->text_bytes[i];
        if (used > bytes || !is_utf8(answer->text[i], answer->text_bytes[i])) {
            return -1;
        }
    }
    if (bytes - used >= 8) {
        return -1;
    }
    for (; used < bytes; used++) {
        if (at[used] != 0) {
            return -1;
        }
    }
    return (int)bytes;
}
