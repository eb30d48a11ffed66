/*
 * get BUCKET KEY [FILE]: reads an object by a gateway's native channel, 16 pieces at a time, to FILE or standard output.
 * FILE appears only once it is whole. The gateway and the credentials are those of the environment (see railhead.h).
 *
 * cc get.c $(pkg-config --cflags --libs librailhead)
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <railhead/railhead.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECES = 16, PIECE_BYTES = 4 << 20 };

/* What FILE is, its links followed. */
static char target[PATH_MAX];
/* What is there of it, under a name beside it; empty where nothing is to be deleted. */
static char partial[PATH_MAX];

static void delete_partial(void) {
    if (*partial) {
        unlink(partial);
    }
}

static void end_by(int number) {
    delete_partial();
    signal(number, SIG_DFL);
    raise(number);
}

static void fail(const char *what, const char *why) {
    fprintf(stderr, "get: %s: %s\n", what, why);
    exit(1);
}

static void require(int32_t result, const char *what) {
    if (result < 0) {
        fail(what, railhead_last_error());
    }
}

/* Waits for one completion; its texts are not needed after this. */
static railhead_completion next(railhead_session *session) {
    railhead_completion done;
    require(railhead_wait(session, &done, 1, -1), "wait");
    if (done.result != RAILHEAD_OK) {
        /* With the name by which the gateway's logs know the request, where it answered. */
        fprintf(stderr, "%s", done.headers);
        fail(*done.code ? done.code : railhead_result_text(done.result), done.message);
    }
    return done;
}

static void read_pieces(railhead_session *session, railhead_buffer *buffer, const railhead_request *whole, uint64_t from,
                        uint64_t size, FILE *out) {
    railhead_request pieces[PIECES];
    size_t count = 0;
    for (uint64_t at = from; count < PIECES && at < size; at += PIECE_BYTES, count++) {
        uint64_t bytes = size - at < PIECE_BYTES ? size - at : PIECE_BYTES;
        pieces[count] = *whole;
        pieces[count].operation = RAILHEAD_GET;
        pieces[count].flags = RAILHEAD_RANGE;
        pieces[count].buffer = buffer;
        pieces[count].offset = count * PIECE_BYTES;
        pieces[count].window = bytes;
        pieces[count].range_first = at;
        pieces[count].range_last = at + bytes - 1;
    }
    require(railhead_submit(session, pieces, count, NULL), "submit");
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        railhead_completion done = next(session);
        bytes += done.bytes;
        railhead_completions_free(&done, 1);
    }
    if (fwrite(railhead_buffer_address(buffer), 1, bytes, out) != bytes) {
        fail("write", "the output is not taken");
    }
}

/* A device or a FIFO is written to as it is. */
static FILE *open_output(const char *file) {
    struct stat status;
    if (stat(file, &status) == 0 && !S_ISREG(status.st_mode)) {
        return fopen(file, "wb");
    }
    if (!realpath(file, target)) {
        snprintf(target, sizeof target, "%s", file);
    }
    if ((size_t)snprintf(partial, sizeof partial, "%s.%ld.partial", target, (long)getpid()) >= sizeof partial) {
        *partial = 0;
        errno = ENAMETOOLONG;
        return NULL;
    }
    atexit(delete_partial);
    const int ends[] = {SIGHUP, SIGINT, SIGTERM};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (signal(ends[i], end_by) == SIG_IGN) { /* as under nohup */
            signal(ends[i], SIG_IGN);
        }
    }
    return fopen(partial, "wbx");
}

static void finish(FILE *out, const char *file) {
    if (fclose(out) != 0 || (*partial && rename(partial, target) != 0)) {
        fail(file, strerror(errno));
    }
    *partial = 0;
}

int main(int count, char **arguments) {
    if (count < 3) {
        fail("usage", "get BUCKET KEY [FILE]");
    }
    const char *file = count > 3 ? arguments[3] : "-";
    FILE *out = count > 3 ? open_output(file) : stdout;
    if (!out) {
        fail(file, strerror(errno));
    }
    railhead_options options;
    railhead_session *session;
    railhead_buffer *buffer;
    railhead_options_init(&options, sizeof options);
    const char *fabric = getenv("RAILHEAD_FABRIC");
    options.fabric = fabric && strcmp(fabric, "verbs") == 0 ? RAILHEAD_VERBS : RAILHEAD_LOOPBACK;
    require(railhead_connect(&options, &session), "connect");
    railhead_memory memory = {.kind = RAILHEAD_ALLOCATED, .descriptor = -1, .bytes = (uint64_t)PIECES * PIECE_BYTES};
    require(railhead_register(session, &memory, &buffer), "register");

    railhead_request head = {.operation = RAILHEAD_HEAD, .bucket = arguments[1], .key = arguments[2]};
    require(railhead_submit(session, &head, 1, NULL), "submit");
    railhead_completion described = next(session);
    /* All pieces of one version: a write in between is refused, not mixed in. */
    railhead_request whole = {.bucket = arguments[1], .key = arguments[2], .if_match = described.etag};
    for (uint64_t at = 0; at < described.object_bytes; at += (uint64_t)PIECES * PIECE_BYTES) {
        read_pieces(session, buffer, &whole, at, described.object_bytes, out);
    }
    railhead_completions_free(&described, 1);
    require(railhead_close(session), "close");
    finish(out, file);
    return 0;
}
