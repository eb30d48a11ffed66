/*
 * A program of the installed package against a real gateway; test/gateway runs it. `all`: every operation, compared with
 * what was put. `until-the-end`: reads and writes without a pause, until the gateway is killed. `forever`: until it is killed
 * itself.
 */
#include <errno.h>
#include <inttypes.h>
#include <railhead/railhead.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "check.h"

enum { OBJECT_BYTES = 9 << 20, SLOTS = 48, SLOT_BYTES = 1 << 20, PATIENCE_MILLIS = 60000 };

static const char *const bucket = "railhead-c";
static railhead_session *session;
static railhead_buffer *buffer, *source;
static uint8_t *memory, *object;

static uint8_t byte_at(uint64_t at) {
    return (uint8_t)(at * 0x9e3779b97f4a7c15u >> 40);
}

static bool is_object(const uint8_t *bytes, uint64_t first, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        if (bytes[i] != byte_at(first + i)) {
            return false;
        }
    }
    return true;
}

static railhead_buffer *allocate(uint64_t bytes) {
    railhead_buffer *made;
    railhead_memory wanted = {.kind = RAILHEAD_ALLOCATED, .descriptor = -1, .bytes = bytes};
    CHECK(railhead_register(session, &wanted, &made) == RAILHEAD_OK, "%s", railhead_last_error());
    return made;
}

static void open_session(void) {
    railhead_options options;
    railhead_options_init(&options, sizeof options);
    const char *fabric = getenv("RAILHEAD_FABRIC");
    options.fabric = fabric && strcmp(fabric, "verbs") == 0 ? RAILHEAD_VERBS : RAILHEAD_LOOPBACK;
    CHECK(railhead_connect(&options, &session) == RAILHEAD_OK, "%s", railhead_last_error());
    buffer = allocate((uint64_t)SLOTS * SLOT_BYTES);
    source = allocate(OBJECT_BYTES);
    memory = railhead_buffer_address(buffer);
    object = railhead_buffer_address(source);
    for (uint64_t i = 0; i < OBJECT_BYTES; i++) {
        object[i] = byte_at(i);
    }
}

static railhead_completion only(railhead_request request) {
    railhead_completion done;
    request.bucket = bucket;
    CHECK(railhead_submit(session, &request, 1, NULL) == RAILHEAD_OK, "%s", railhead_last_error());
    CHECK(railhead_wait(session, &done, 1, PATIENCE_MILLIS) == 1, "%s", railhead_last_error());
    return done;
}

static void put_object(const char *key) {
    railhead_completion done = only((railhead_request){.operation = RAILHEAD_PUT, .key = key, .buffer = source,
                                                       .window = OBJECT_BYTES,
                                                       .headers = "content-type: a/b\nx-amz-meta-who: c\n"});
    CHECK(done.result == RAILHEAD_OK && done.bytes == OBJECT_BYTES && *done.etag, "%d %u %s %s", done.result, done.status,
          done.code, done.message);
    railhead_completions_free(&done, 1);
}

static railhead_request random_read(uint64_t slot, const char *key) {
    uint64_t bytes = 1 + (uint64_t)random() % SLOT_BYTES, first = (uint64_t)random() % (OBJECT_BYTES - bytes + 1);
    return (railhead_request){.operation = RAILHEAD_GET, .flags = RAILHEAD_RANGE, .bucket = bucket, .key = key,
                              .buffer = buffer, .offset = slot * SLOT_BYTES, .window = bytes, .range_first = first,
                              .range_last = first + bytes - 1, .user = slot};
}

static void check_read(const railhead_request *asked, const railhead_completion *done) {
    CHECK(done->result == RAILHEAD_OK && done->bytes == asked->window, "%d %u %s %s", done->result, done->status,
          done->code, done->message);
    CHECK(is_object(memory + asked->offset, asked->range_first, asked->window), "other bytes, %" PRIu64 " at %" PRIu64,
          asked->window, asked->range_first);
}

static void random_ranges_are_the_objects(int rounds) {
    railhead_request requests[SLOTS];
    railhead_completion completions[SLOTS];
    for (int round = 0; round < rounds; round++) {
        for (uint64_t i = 0; i < SLOTS; i++) {
            requests[i] = random_read(i, "object");
        }
        CHECK(railhead_submit(session, requests, SLOTS, NULL) == RAILHEAD_OK, "%s", railhead_last_error());
        for (int32_t got = 0; got < SLOTS;) {
            int32_t more = railhead_wait(session, completions, SLOTS, PATIENCE_MILLIS);
            CHECK(more > 0, "%s", more < 0 ? railhead_last_error() : "none in time");
            for (int32_t i = 0; i < more; i++) {
                check_read(&requests[completions[i].user], &completions[i]);
            }
            railhead_completions_free(completions, (size_t)more);
            got += more;
        }
    }
}

static void all(void) {
    open_session();
    put_object("object");
    railhead_completion done = only((railhead_request){.operation = RAILHEAD_HEAD, .key = "object"});
    CHECK(done.result == RAILHEAD_OK && done.object_bytes == OBJECT_BYTES, "%d %" PRIu64, done.result, done.object_bytes);
    CHECK(strstr(done.headers, "content-type: a/b\n") && strstr(done.headers, "x-amz-meta-who: c\n"), "%s", done.headers);
    railhead_request read = random_read(0, "object");
    read.if_match = done.etag;
    railhead_completion matched = only(read);
    check_read(&read, &matched);
    railhead_completions_free(&matched, 1);
    railhead_completions_free(&done, 1);
    read.if_match = "\"another\"";
    done = only(read);
    CHECK(done.result == RAILHEAD_STORE && done.status == 412, "%d %u", done.result, done.status);
    railhead_completions_free(&done, 1);
    done = only((railhead_request){.operation = RAILHEAD_HEAD, .key = "nobody's"});
    CHECK(done.result == RAILHEAD_STORE && done.status == 404, "%d %u", done.result, done.status);
    railhead_completions_free(&done, 1);
    random_ranges_are_the_objects(10);
    done = only(random_read(0, "object"));
    CHECK(done.cache == RAILHEAD_CACHE_HIT || done.cache == RAILHEAD_CACHE_REVALIDATED, "%u", done.cache);
    railhead_completions_free(&done, 1);
    CHECK(railhead_release(source) == RAILHEAD_OK, "%s", railhead_last_error());
    CHECK(railhead_close(session) == RAILHEAD_OK, "%s", railhead_last_error());
}

/* Answers what came, and asks for as much again; how many came. */
static int32_t keep_going(railhead_request *requests, const char *key) {
    railhead_completion completions[SLOTS];
    int32_t came = railhead_wait(session, completions, SLOTS, PATIENCE_MILLIS);
    CHECK(came != 0, "nothing came in time");
    for (int32_t i = 0; i < came; i++) {
        railhead_completion *done = &completions[i];
        railhead_request *asked = &requests[done->user];
        if (done->result == RAILHEAD_OK && asked->operation == RAILHEAD_GET) {
            check_read(asked, done);
        }
        if (done->result != RAILHEAD_OK) {
            bool wrote = asked->operation == RAILHEAD_PUT;
            CHECK(done->result == RAILHEAD_ENDED || (wrote && done->result == RAILHEAD_UNKNOWN), "%d %u %s %s",
                  done->result, done->status, done->code, done->message);
            CHECK(!(done->flags & RAILHEAD_WINDOW_HELD), "who is dead touches nothing");
            asked->user = SLOTS; /* it has its completion */
            continue;
        }
        if (asked->operation == RAILHEAD_GET) {
            *asked = random_read(done->user, key);
        }
        if (railhead_submit(session, asked, 1, NULL) != RAILHEAD_OK) {
            asked->user = SLOTS;
        }
    }
    if (came > 0) {
        railhead_completions_free(completions, (size_t)came);
    }
    return came;
}

static void until_the_end(bool killed_itself) {
    railhead_request requests[SLOTS];
    open_session();
    put_object("object");
    for (uint64_t i = 0; i < SLOTS; i++) {
        requests[i] = random_read(i, "object");
    }
    requests[0] = (railhead_request){.operation = RAILHEAD_PUT, .bucket = bucket, .key = "again", .buffer = source,
                                     .window = OBJECT_BYTES};
    CHECK(railhead_submit(session, requests, SLOTS, NULL) == RAILHEAD_OK, "%s", railhead_last_error());
    long came = 0;
    for (int32_t more; (more = keep_going(requests, "object")) > 0; came += more) {
        if (came < 3 * SLOTS && came + more >= 3 * SLOTS) {
            puts("under way");
            fflush(stdout);
        }
    }
    CHECK(!killed_itself, "the session ended: %s", railhead_last_error());
    for (int i = 0; i < SLOTS; i++) {
        CHECK(requests[i].user == SLOTS, "request %d has no completion", i);
    }
    CHECK(!railhead_is_open(session) && railhead_release(source) == RAILHEAD_OK, "%s", railhead_last_error());
    CHECK(railhead_close(session) == RAILHEAD_OK, "%s", railhead_last_error());
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    unsigned seed = (unsigned)time(NULL);
    printf("seed %u\n", seed);
    fflush(stdout);
    srandom(seed);
    if (strcmp(what, "all") == 0) {
        all();
    } else {
        CHECK(strcmp(what, "until-the-end") == 0 || strcmp(what, "forever") == 0, "usage: all, until-the-end, forever");
        until_the_end(strcmp(what, "forever") == 0);
    }
    return 0;
}
