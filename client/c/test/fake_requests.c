/* Requests, taken apart as docs/native-channel.md draws them, and not by the library's own code. */
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "fake_wire.h"

enum { GET = 1, HEAD = 2, PUT = 3, UPLOAD_PART = 4, EXISTS = 5 };

uint8_t fake_byte(uint64_t at) {
    return (uint8_t)(at * 2654435761u >> 13);
}

struct record {
    const uint8_t *at;
    uint16_t bytes;
    uint8_t operation;
    uint8_t flags;
    uint32_t id;
    uint64_t offset;
    uint64_t window;
    uint64_t first;
    uint64_t last;
};

static struct record read_record(const uint8_t *at, size_t left) {
    struct record record = {.at = at, .bytes = rh_get16(at), .operation = at[2], .flags = at[3], .id = rh_get32(at + 4),
                            .offset = rh_get64(at + 16), .window = rh_get64(at + 24), .first = rh_get64(at + 32),
                            .last = rh_get64(at + 40)};
    CHECK(record.bytes >= 64 && record.bytes <= left && record.bytes % 8 == 0, "%d bytes", record.bytes);
    return record;
}

static bool is_text(const struct record *record, int which, const char *wanted) {
    const uint8_t *text = record->at + 64;
    for (int i = 0; i < which; i++) {
        text += rh_get16(record->at + 48 + 2 * i);
    }
    size_t bytes = rh_get16(record->at + 48 + 2 * which);
    return bytes == strlen(wanted) && memcmp(text, wanted, bytes) == 0;
}

static bool answer(struct rh_wire *wire, uint32_t id, uint16_t status, uint64_t moved, uint64_t first, const char *etag,
                   const char *code) {
    struct rh_error error;
    uint8_t out[256] = {0};
    size_t bytes = (56 + strlen(etag) + strlen(code) + 7) & ~(size_t)7;
    rh_put16(out, (uint16_t)bytes);
    rh_put16(out + 2, status);
    rh_put32(out + 4, id);
    rh_put64(out + 8, moved);
    rh_put64(out + 16, FAKE_OBJECT_BYTES);
    rh_put64(out + 24, first);
    rh_put64(out + 32, 1700000000000);
    rh_put16(out + 40, (uint16_t)strlen(etag));
    rh_put16(out + 44, (uint16_t)strlen(code));
    out[50] = 1;
    memcpy(out + 56, etag, strlen(etag));
    memcpy(out + 56 + strlen(etag), code, strlen(code));
    return fake_send(wire, RH_ANSWERS, out, bytes, &error) == 0;
}

/* Where byte `at` of the request's windows lies in the buffer. */
static uint64_t place(const struct record *record, uint64_t at) {
    const uint8_t *window = record->at + 64;
    for (int i = 0; i < 6; i++) {
        window += rh_get16(record->at + 48 + 2 * i);
    }
    unsigned count = rh_get16(record->at + 60);
    for (unsigned i = 0; i < count; i++, window += 24) {
        if (at < rh_get64(window + 16)) {
            return rh_get64(window + 8) + at;
        }
        at -= rh_get64(window + 16);
    }
    CHECK(count == 0, "behind the windows");
    return record->offset + at;
}

static uint64_t deliver(struct fake_gateway *gateway, const struct record *record, uint64_t first, uint64_t bytes) {
    for (uint64_t i = 0; i < bytes; i++) {
        CHECK(place(record, i) < gateway->mapped_bytes, "outside of the buffer");
        gateway->mapped[place(record, i)] = fake_byte(first + i);
    }
    return bytes;
}

static bool get(struct fake_gateway *gateway, struct rh_wire *wire, const struct record *record) {
    uint64_t first = 0, wanted = FAKE_OBJECT_BYTES;
    if (record->flags == 3) {
        wanted = record->first < FAKE_OBJECT_BYTES ? record->first : FAKE_OBJECT_BYTES;
        first = FAKE_OBJECT_BYTES - wanted;
    } else if (record->flags == 1) {
        first = record->first;
        wanted = (record->last < FAKE_OBJECT_BYTES ? record->last + 1 : FAKE_OBJECT_BYTES) - first;
    }
    uint64_t bytes = wanted < record->window ? wanted : record->window;
    if (gateway->fault == DIE_IN_TRANSFER || gateway->fault == END_IN_TRANSFER) {
        deliver(gateway, record, first, bytes / 2);
        return false;
    }
    return answer(wire, record->id, bytes == FAKE_OBJECT_BYTES ? 200 : 206, deliver(gateway, record, first, bytes), first,
                  "\"v1\"", "");
}

static bool put(struct fake_gateway *gateway, struct rh_wire *wire, const struct record *record) {
    CHECK(record->window <= FAKE_OBJECT_BYTES && record->offset + record->window <= gateway->mapped_bytes, "too long");
    if (gateway->fault == DIE_IN_TRANSFER || gateway->fault == END_IN_TRANSFER) {
        return false;
    }
    memcpy(gateway->put, gateway->mapped + record->offset, record->window);
    gateway->put_bytes = record->window;
    return answer(wire, record->id, 200, record->window, 0, "\"v2\"", "");
}

/* Of the keys every other one is held, from the first on. */
static bool exists(struct rh_wire *wire, const struct record *record) {
    struct rh_error error;
    uint8_t out[512] = {0};
    const uint8_t *keys = record->at + 64 + rh_get16(record->at + 48) + rh_get16(record->at + 50);
    size_t count = rh_get16(keys), digits = 2 * ((count + 7) / 8);
    char *line = (char *)out + 56;
    int begun = sprintf(line, "x-railhead-keys: ");
    memset(line + begun, '5', digits);
    line[(size_t)begun + digits] = '\n';
    size_t lines = (size_t)begun + digits + 1, bytes = (56 + lines + 7) & ~(size_t)7;
    CHECK(bytes <= sizeof out, "%zu keys", count);
    rh_put16(out, (uint16_t)bytes);
    rh_put16(out + 2, 200);
    rh_put32(out + 4, record->id);
    rh_put64(out + 16, (count + 1) / 2);
    rh_put16(out + 48, (uint16_t)lines);
    return fake_send(wire, RH_ANSWERS, out, bytes, &error) == 0;
}

static bool serve(struct fake_gateway *gateway, struct rh_wire *wire, const struct record *record) {
    bool found = is_text(record, 0, FAKE_BUCKET) && is_text(record, 1, FAKE_OBJECT);
    switch (gateway->fault) {
        case ANSWER_NOBODY: return answer(wire, record->id + 1, 200, 0, 0, "", "");
        case ANSWER_THE_NEXT: return answer(wire, record->id + 0x10000, 200, 0, 0, "", "");
        case ANSWER_TOO_MUCH: return answer(wire, record->id, 200, record->window + 1, 0, "", "");
        case DECLINE_REQUESTS: return answer(wire, record->id, 0, 0, 0, "", "unsupported");
        case REFUSE_REQUESTS: return answer(wire, record->id, gateway->refusal.status, 0, 0, "", gateway->refusal.code);
        case HOLD_REQUESTS:
            CHECK(gateway->held_count < FAKE_MOST, "too many");
            gateway->held[gateway->held_count++] = (struct fake_request){record->id, record->operation};
            gateway->most = (int)gateway->held_count > gateway->most ? (int)gateway->held_count : gateway->most;
            return true;
        default: break;
    }
    if (record->operation == EXISTS) {
        return exists(wire, record);
    }
    if (record->operation == PUT || record->operation == UPLOAD_PART) {
        return put(gateway, wire, record);
    }
    return !found ? answer(wire, record->id, 404, 0, 0, "", "NoSuchKey")
                  : record->operation == HEAD ? answer(wire, record->id, 200, 0, 0, "\"v1\"", "")
                                              : get(gateway, wire, record);
}

/* ENDED, reason 3, with the record's answer unless it writes. */
static void end(struct rh_wire *wire, const struct record *record) {
    struct rh_error error;
    uint8_t out[8 + 72] = {0};
    bool reads = record->operation == GET || record->operation == HEAD;
    rh_put32(out, 3);
    rh_put32(out + 4, reads);
    rh_put16(out + 8, 72);
    rh_put32(out + 8 + 4, record->id);
    rh_put16(out + 8 + 44, 13);
    memcpy(out + 8 + 56, "shutting_down", 13);
    fake_send(wire, RH_ENDED, out, reads ? sizeof out : 8, &error);
}

bool fake_requests(struct fake_gateway *gateway, struct rh_wire *wire, const struct rh_message *message) {
    const uint8_t *at = message->payload, *last = at + message->bytes;
    gateway->messages++;
    while (at < last) {
        struct record record = read_record(at, (size_t)(last - at));
        gateway->seen++;
        if (!serve(gateway, wire, &record)) {
            if (gateway->fault == END_IN_TRANSFER) {
                end(wire, &record);
            }
            return false;
        }
        at += record.bytes;
    }
    return true;
}

bool fake_cancel(struct fake_gateway *gateway, struct rh_wire *wire, const struct rh_message *message) {
    uint32_t id = rh_get32(message->payload);
    CHECK(message->bytes == 8, "%d bytes", message->bytes);
    gateway->cancels++;
    for (uint32_t i = 0; i < gateway->held_count; i++) {
        if (gateway->held[i].id == id) {
            gateway->held[i] = gateway->held[--gateway->held_count];
            return answer(wire, id, 0, 0, 0, "", "cancelled");
        }
    }
    return true;
}
