/*
 * reader BUCKET SIZE COUNT SECONDS: reads SIZE-0 to SIZE-(COUNT-1) by librailhead, all COUNT at a time, and prints a line of
 * JSON. Pieces of 8 MiB, as the Python package has them. READER_ENDS names a file of each object's first and last eight bytes,
 * which must come while it is measured.
 */
#include <railhead/railhead.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { PIECE_BYTES = 8 << 20, MOST_PIECES = 4096, MOST_OBJECTS = 64, END = 8 };

static void require(int32_t result, const char *what) {
    if (result < 0) {
        fprintf(stderr, "reader: %s: %s\n", what, railhead_last_error());
        exit(1);
    }
}

static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void read_all(railhead_session *session, const railhead_request *requests, size_t count) {
    railhead_completion done[64];
    require(railhead_submit(session, requests, count, NULL), "submit");
    for (size_t left = count; left > 0;) {
        int32_t got = railhead_wait(session, done, 64, -1);
        require(got, "wait");
        for (int32_t i = 0; i < got; i++) {
            if (done[i].result != RAILHEAD_OK || done[i].bytes != requests[done[i].user].window) {
                fprintf(stderr, "reader: %s %s\n", done[i].code, done[i].message);
                exit(1);
            }
        }
        railhead_completions_free(done, (size_t)got);
        left -= (size_t)got;
    }
}

static void check_ends(const char *memory, uint64_t size, size_t objects) {
    static char stored[MOST_OBJECTS][2 * END];
    FILE *file = fopen(getenv("READER_ENDS"), "rb");
    int wrong = file == NULL || fread(stored, 2 * END, objects, file) != objects;
    for (size_t i = 0; !wrong && i < objects; i++, memory += size) {
        wrong = memcmp(memory, stored[i], END) != 0 || memcmp(memory + size - END, stored[i] + END, END) != 0;
    }
    if (wrong) {
        fprintf(stderr, "reader: what was read is not what was stored\n");
        exit(1);
    }
}

int main(int arguments, char **argument) {
    if (arguments != 5) {
        return 2;
    }
    uint64_t size = strtoull(argument[2], NULL, 10);
    size_t objects = strtoul(argument[3], NULL, 10);
    double seconds = strtod(argument[4], NULL);
    if (size < 2 * END || objects > MOST_OBJECTS || (size + PIECE_BYTES - 1) / PIECE_BYTES * objects > MOST_PIECES) {
        fprintf(stderr, "reader: at most %d objects of at least %d bytes, at most %d pieces of 8 MiB\n", MOST_OBJECTS, 2 * END,
                MOST_PIECES);
        return 2;
    }
    railhead_options options;
    railhead_session *session;
    railhead_buffer *buffer;
    railhead_options_init(&options, sizeof options);
    require(railhead_connect(&options, &session), "connect");
    railhead_memory memory = {.kind = RAILHEAD_ALLOCATED, .descriptor = -1, .bytes = size * objects};
    require(railhead_register(session, &memory, &buffer), "register");
    static railhead_request requests[MOST_PIECES];
    static char keys[MOST_OBJECTS][32];
    size_t count = 0;
    for (size_t i = 0; i < objects; i++) {
        snprintf(keys[i], sizeof keys[i], "%llu-%zu", (unsigned long long)size, i);
        for (uint64_t at = 0; at < size; at += PIECE_BYTES, count++) {
            uint64_t bytes = size - at < PIECE_BYTES ? size - at : PIECE_BYTES;
            requests[count] = (railhead_request){.operation = RAILHEAD_GET, .flags = RAILHEAD_RANGE, .bucket = argument[1],
                                                 .key = keys[i], .buffer = buffer, .offset = i * size + at, .window = bytes,
                                                 .range_first = at, .range_last = at + bytes - 1, .user = count};
        }
    }
    for (double end = now(CLOCK_MONOTONIC) + seconds / 2; now(CLOCK_MONOTONIC) < end;) {
        read_all(session, requests, count);
    }
    char *read = railhead_buffer_address(buffer);
    for (size_t i = 0; i < objects; i++) {
        memset(read + i * size, 0, END);
        memset(read + (i + 1) * size - END, 0, END);
    }
    double begun = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID), taken = 0;
    uint64_t bytes = 0;
    for (; taken < seconds; taken = now(CLOCK_MONOTONIC) - begun) {
        read_all(session, requests, count);
        bytes += size * objects;
    }
    cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    check_ends(read, size, objects);
    printf("{\"bytes\": %llu, \"seconds\": %.6f, \"cpu\": %.6f}\n", (unsigned long long)bytes, taken, cpu);
    return railhead_close(session) != RAILHEAD_OK;
}
