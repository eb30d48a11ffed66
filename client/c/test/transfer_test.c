/* librailhead by its header alone, against a fake gateway. */
#include "railhead/railhead.h"

#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "fake_gateway.h"

enum { BUFFER_BYTES = 2 * FAKE_OBJECT_BYTES, MOST = 64, PATIENCE_MILLIS = 20000 };

struct site {
    struct fake_gateway gateway;
    railhead_session *session;
    railhead_buffer *buffer;
    uint8_t *memory;
};

static void connect_to(struct site *site, uint32_t timeout_millis) {
    railhead_options options;
    railhead_options_init(&options, sizeof options);
    options.endpoint = site->gateway.endpoint;
    options.region = FAKE_REGION;
    options.access_key = FAKE_ACCESS;
    options.secret_key = FAKE_SECRET;
    options.timeout_millis = timeout_millis;
    CHECK(railhead_connect(&options, &site->session) == RAILHEAD_OK, "%s", railhead_last_error());
    railhead_memory memory = {.kind = RAILHEAD_ALLOCATED, .descriptor = -1, .bytes = BUFFER_BYTES};
    CHECK(railhead_register(site->session, &memory, &site->buffer) == RAILHEAD_OK, "%s", railhead_last_error());
    site->memory = railhead_buffer_address(site->buffer);
}

static struct site *open_site(uint32_t max_requests, uint32_t timeout_millis) {
    struct site *site = calloc(1, sizeof *site);
    site->gateway.keep_alive_millis = 60000;
    site->gateway.max_requests = max_requests;
    fake_gateway_start(&site->gateway, "transfer_test.sock");
    fake_gateway_start_http(&site->gateway);
    connect_to(site, timeout_millis);
    return site;
}

static void close_site(struct site *site) {
    CHECK(railhead_close(site->session) == RAILHEAD_OK, "%s", railhead_last_error());
    fake_gateway_stop(&site->gateway);
    free(site);
}

static railhead_request get(const struct site *site, uint64_t offset, uint64_t first, uint64_t last) {
    return (railhead_request){.operation = RAILHEAD_GET, .flags = RAILHEAD_RANGE, .bucket = FAKE_BUCKET, .key = FAKE_OBJECT,
                              .buffer = site->buffer, .offset = offset, .window = last - first + 1, .range_first = first,
                              .range_last = last};
}

static void submit(struct site *site, const railhead_request *requests, size_t count, uint64_t *ids) {
    CHECK(railhead_submit(site->session, requests, count, ids) == RAILHEAD_OK, "%s", railhead_last_error());
}

static void collect(struct site *site, railhead_completion *completions, size_t count) {
    for (size_t got = 0; got < count;) {
        int32_t more = railhead_wait(site->session, completions + got, count - got, PATIENCE_MILLIS);
        CHECK(more > 0, "%d: %s", more, more < 0 ? railhead_last_error() : "none in time");
        got += (size_t)more;
    }
}

static railhead_completion only(struct site *site, railhead_request request) {
    railhead_completion completion;
    request.user = 77;
    submit(site, &request, 1, NULL);
    collect(site, &completion, 1);
    CHECK(completion.user == 77, "%" PRIu64, completion.user);
    return completion;
}

static bool is_object(const uint8_t *at, uint64_t first, uint64_t bytes) {
    for (uint64_t i = 0; i < bytes; i++) {
        if (at[i] != fake_byte(first + i)) {
            return false;
        }
    }
    return true;
}

static void what_is_asked_for_is_in_the_window(void) {
    struct site *site = open_site(8, 10000);
    railhead_request whole = get(site, 5, 0, FAKE_OBJECT_BYTES - 1);
    whole.flags = 0;
    whole.range_last = 0;
    railhead_completion done = only(site, whole);
    CHECK(done.result == RAILHEAD_OK && done.status == 200 && done.bytes == FAKE_OBJECT_BYTES, "%s", done.code);
    CHECK(is_object(site->memory + 5, 0, FAKE_OBJECT_BYTES), "the bytes");
    CHECK(site->memory[4] == 0 && site->memory[5 + FAKE_OBJECT_BYTES] == 0, "others are touched");
    CHECK(strcmp(done.etag, "\"v1\"") == 0 && done.cache == RAILHEAD_CACHE_HIT, "%s", done.etag);
    railhead_completions_free(&done, 1);

    done = only(site, get(site, 0, 100, 199));
    CHECK(done.status == 206 && done.bytes == 100 && done.first_byte == 100 && is_object(site->memory, 100, 100), "%s",
          done.code);
    CHECK(done.object_bytes == FAKE_OBJECT_BYTES && done.last_modified_millis == 1700000000000, "its size");
    railhead_completions_free(&done, 1);

    railhead_request last = get(site, 0, 0, 49);
    last.flags = RAILHEAD_LAST;
    last.range_first = 50;
    last.range_last = 0;
    done = only(site, last);
    CHECK(done.bytes == 50 && is_object(site->memory, FAKE_OBJECT_BYTES - 50, 50), "%" PRIu64, done.bytes);
    railhead_completions_free(&done, 1);
    close_site(site);
}

static void objects_are_described_and_put(void) {
    struct site *site = open_site(8, 10000);
    railhead_completion done = only(site, (railhead_request){.operation = RAILHEAD_HEAD, .bucket = FAKE_BUCKET,
                                                             .key = FAKE_OBJECT});
    CHECK(done.result == RAILHEAD_OK && done.object_bytes == FAKE_OBJECT_BYTES, "%d", done.result);
    railhead_completions_free(&done, 1);
    done = only(site, (railhead_request){.operation = RAILHEAD_HEAD, .bucket = FAKE_BUCKET, .key = "none"});
    CHECK(done.result == RAILHEAD_STORE && done.status == 404 && strcmp(done.code, "NoSuchKey") == 0, "%s", done.code);
    railhead_completions_free(&done, 1);
    memset(site->memory, 9, 300);
    done = only(site, (railhead_request){.operation = RAILHEAD_PUT, .bucket = FAKE_BUCKET, .key = "new",
                                         .buffer = site->buffer, .offset = 10, .window = 200,
                                         .headers = "content-type: a/b\n"});
    CHECK(done.result == RAILHEAD_OK && strcmp(done.etag, "\"v2\"") == 0, "%s", done.code);
    CHECK(site->gateway.put_bytes == 200 && site->gateway.put[199] == 9, "%" PRIu64, site->gateway.put_bytes);
    railhead_completions_free(&done, 1);
    site->gateway.fault = DECLINE_REQUESTS;
    done = only(site, get(site, 0, 0, 9));
    CHECK(done.result == RAILHEAD_NOT_SERVED && strcmp(done.code, "unsupported") == 0, "%s", done.code);
    railhead_completions_free(&done, 1);
    close_site(site);
}

/* What failed after the last byte was sent may be stored; what says that nothing was done is not. */
static void a_put_that_fails_at_the_store_is_unknown_unless_nothing_was_done(void) {
    static const struct {
        struct fake_refusal refusal;
        int32_t put;
    } cases[] = {{{500, "InternalError"}, RAILHEAD_UNKNOWN},      {{502, "BadGateway"}, RAILHEAD_UNKNOWN},
                 {{503, "ServiceUnavailable"}, RAILHEAD_UNKNOWN}, {{504, "GatewayTimeout"}, RAILHEAD_UNKNOWN},
                 {{503, ""}, RAILHEAD_UNKNOWN},                   {{503, "SlowDownWrite"}, RAILHEAD_UNKNOWN},
                 {{503, "SlowDown"}, RAILHEAD_STORE},             {{500, "RDMATransferFenced"}, RAILHEAD_STORE},
                 {{501, "NotImplemented"}, RAILHEAD_STORE},       {{412, "PreconditionFailed"}, RAILHEAD_STORE}};
    struct site *site = open_site(4, 10000);
    site->gateway.fault = REFUSE_REQUESTS;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        railhead_request put = {.operation = RAILHEAD_PUT, .bucket = FAKE_BUCKET, .key = "new", .buffer = site->buffer,
                                .window = 10};
        railhead_request part = put;
        part.operation = RAILHEAD_UPLOAD_PART;
        part.part_number = 1;
        part.upload_id = "u";
        railhead_request requests[] = {put, part, get(site, 0, 0, 9)};
        site->gateway.refusal = cases[i].refusal;
        for (int j = 0; j < 3; j++) {
            railhead_completion done = only(site, requests[j]);
            CHECK(done.result == (j == 0 ? cases[i].put : RAILHEAD_STORE), "%u %s: %d", done.status, done.code, done.result);
            CHECK(done.status == cases[i].refusal.status && strcmp(done.code, cases[i].refusal.code) == 0, "%u %s",
                  done.status, done.code);
            railhead_completions_free(&done, 1);
        }
    }
    CHECK(railhead_is_open(site->session), "the session goes on");
    close_site(site);
}

/* Random ranges, far more than credits, compared with the object; a seed that fails is printed. */
static void batches_are_within_the_credits(unsigned seed) {
    enum { COUNT = 500, SLOT = 400 };
    struct site *site = open_site(3, 10000);
    railhead_request requests[COUNT];
    railhead_completion completions[COUNT];
    uint64_t ids[COUNT];
    bool seen[COUNT] = {false};
    srandom(seed);
    for (uint64_t i = 0; i < COUNT; i++) {
        uint64_t first = (uint64_t)random() % (FAKE_OBJECT_BYTES - SLOT), bytes = 1 + (uint64_t)random() % SLOT;
        requests[i] = get(site, i * SLOT, first, first + bytes - 1);
        requests[i].user = i;
    }
    submit(site, requests, COUNT, ids);
    collect(site, completions, COUNT);
    for (int i = 0; i < COUNT; i++) {
        const railhead_completion *done = &completions[i];
        const railhead_request *asked = &requests[done->user];
        CHECK(!seen[done->user] && done->id == ids[done->user], "seed %u: %" PRIu64, seed, done->user);
        CHECK(done->result == RAILHEAD_OK && done->bytes == asked->window, "seed %u: %d", seed, done->result);
        CHECK(is_object(site->memory + asked->offset, asked->range_first, asked->window), "seed %u", seed);
        seen[done->user] = true;
    }
    CHECK(site->gateway.seen == COUNT && site->gateway.messages < COUNT, "%d messages", site->gateway.messages);
    CHECK(railhead_poll(site->session, completions, 1) == 0, "one too many");
    railhead_completions_free(completions, COUNT);
    close_site(site);
}

static void await(atomic_int *count, int wanted) {
    for (int i = 0; i < 20000 && *count < wanted; i++) {
        usleep(1000);
    }
    CHECK(*count >= wanted, "%d of %d", *count, wanted);
}

static bool is_readable(const struct site *site, int millis) {
    struct pollfd waiting = {.fd = railhead_event_fd(site->session), .events = POLLIN};
    return poll(&waiting, 1, millis) == 1;
}

static void what_is_cancelled_has_its_completion(void) {
    struct site *site = open_site(2, 10000);
    railhead_request requests[3];
    railhead_completion completions[3];
    uint64_t ids[3];
    site->gateway.fault = HOLD_REQUESTS;
    for (uint64_t i = 0; i < 3; i++) {
        requests[i] = get(site, i * 100, 0, 99);
        requests[i].user = i;
    }
    submit(site, requests, 3, ids);
    await(&site->gateway.seen, 2);
    CHECK(site->gateway.most == 2, "%d at a time", site->gateway.most);
    CHECK(!is_readable(site, 0) && railhead_poll(site->session, completions, 3) == 0, "nothing is done");
    CHECK(railhead_release(site->buffer) == RAILHEAD_BUSY, "%s", railhead_last_error());
    CHECK(railhead_cancel(site->session, &ids[2], 1) == RAILHEAD_OK, "%s", railhead_last_error());
    CHECK(is_readable(site, PATIENCE_MILLIS), "the descriptor");
    collect(site, completions, 1);
    CHECK(completions[0].user == 2 && completions[0].result == RAILHEAD_CANCELLED, "%d", completions[0].result);
    CHECK(site->gateway.cancels == 0 && !is_readable(site, 0), "it was not sent");
    uint64_t twice[] = {ids[0], ids[1], ids[0], 999};
    CHECK(railhead_cancel(site->session, twice, 4) == RAILHEAD_OK, "%s", railhead_last_error());
    collect(site, completions + 1, 2);
    for (int i = 1; i < 3; i++) {
        CHECK(completions[i].result == RAILHEAD_CANCELLED && !(completions[i].flags & RAILHEAD_WINDOW_HELD), "%d",
              completions[i].result);
    }
    CHECK(site->gateway.cancels == 2, "%d", site->gateway.cancels);
    railhead_completions_free(completions, 3);
    site->gateway.fault = NO_FAULT;
    completions[0] = only(site, requests[0]);
    CHECK(completions[0].result == RAILHEAD_OK, "%d after it", completions[0].result);
    railhead_completions_free(completions, 1);
    CHECK(railhead_release(site->buffer) == RAILHEAD_OK && site->gateway.registered == 0, "%s", railhead_last_error());
    close_site(site);
}

static int32_t wait_all(struct site *site, railhead_completion *completions, size_t room, uint64_t last_id) {
    int32_t came = railhead_wait_all(site->session, completions, room, last_id, PATIENCE_MILLIS);
    CHECK(came > 0, "%d: %s", came, came < 0 ? railhead_last_error() : "none in time");
    return came;
}

static void who_waits_for_all_is_waken_once(void) {
    struct site *site = open_site(8, 10000);
    railhead_request requests[5];
    railhead_completion completions[5];
    uint64_t ids[5];
    for (uint64_t i = 0; i < 5; i++) {
        requests[i] = get(site, i * 100, 0, 99);
        requests[i].user = i;
    }
    submit(site, requests, 5, ids);
    CHECK(wait_all(site, completions, 5, ids[4]) == 5, "all of them");
    railhead_completions_free(completions, 5);

    submit(site, requests, 5, ids);
    CHECK(wait_all(site, completions, 2, ids[4]) == 2 && wait_all(site, completions + 2, 3, ids[4]) == 3, "as there is room");
    railhead_completions_free(completions, 5);

    site->gateway.fault = HOLD_REQUESTS;
    submit(site, requests, 3, ids);
    CHECK(railhead_wait_all(site->session, completions, 5, ids[2], 20) == 0, "none in time");
    await(&site->gateway.seen, 13);
    CHECK(railhead_cancel(site->session, ids, 1) == RAILHEAD_OK, "%s", railhead_last_error());
    CHECK(wait_all(site, completions, 5, ids[2]) == 1 && completions[0].result == RAILHEAD_CANCELLED, "one that failed");
    railhead_completions_free(completions, 1);

    site->gateway.fault = NO_FAULT;
    submit(site, requests + 3, 1, NULL);
    CHECK(wait_all(site, completions, 5, ids[2]) == 1 && completions[0].user == 3, "one that somebody else submitted");
    railhead_completions_free(completions, 1);
    CHECK(railhead_cancel(site->session, ids, 3) == RAILHEAD_OK, "%s", railhead_last_error());
    collect(site, completions, 2);
    railhead_completions_free(completions, 2);
    close_site(site);
}

static void a_request_has_its_time(void) {
    struct site *site = open_site(1, 10000);
    railhead_request requests[] = {get(site, 0, 0, 99), get(site, 100, 0, 99)};
    railhead_completion completions[2];
    requests[0].timeout_millis = requests[1].timeout_millis = 30;
    site->gateway.fault = HOLD_REQUESTS;
    submit(site, requests, 2, NULL);
    collect(site, completions, 2);
    CHECK(completions[0].result == RAILHEAD_TIMED_OUT && completions[1].result == RAILHEAD_TIMED_OUT, "%d %d",
          completions[0].result, completions[1].result);
    CHECK(site->gateway.cancels == 1 && railhead_is_open(site->session), "the session goes on");
    railhead_completions_free(completions, 2);
    site->gateway.fault = NO_FAULT;
    railhead_completion done = only(site, get(site, 0, 0, 99));
    CHECK(done.result == RAILHEAD_OK, "%d", done.result);
    railhead_completions_free(&done, 1);
    close_site(site);
}

/* The gateway neither answers nor hears of the end: nobody knows what it still does with the window. */
static void a_gateway_that_hangs_keeps_the_window(void) {
    struct site *site = open_site(1, 60);
    railhead_request request = get(site, 0, 0, 99);
    railhead_completion done;
    request.timeout_millis = 20;
    fake_gateway_hang(&site->gateway);
    submit(site, &request, 1, NULL);
    collect(site, &done, 1);
    CHECK(done.result == RAILHEAD_ENDED && (done.flags & RAILHEAD_WINDOW_HELD), "%d %x", done.result, done.flags);
    railhead_completions_free(&done, 1);
    CHECK(railhead_poll(site->session, &done, 1) == RAILHEAD_ENDED && is_readable(site, 0), "%s", railhead_last_error());
    CHECK(railhead_submit(site->session, &request, 1, NULL) == RAILHEAD_ENDED, "it is over");
    CHECK(railhead_close(site->session) == RAILHEAD_HELD, "%s", railhead_last_error());
    fake_gateway_resume(&site->gateway);
    fake_gateway_stop(&site->gateway);
    free(site);
}

static void a_gateway_that_dies_in_a_transfer(enum fault fault, const char *code) {
    struct site *site = open_site(4, 10000);
    railhead_request requests[] = {get(site, 0, 0, 9999),
                                   {.operation = RAILHEAD_PUT, .bucket = FAKE_BUCKET, .key = "new", .buffer = site->buffer,
                                    .offset = 20000, .window = 10}};
    railhead_completion done;
    for (int i = 0; i < 2; i++) {
        site->gateway.fault = fault;
        submit(site, &requests[i], 1, NULL);
        collect(site, &done, 1);
        CHECK(done.result == (i == 0 ? RAILHEAD_ENDED : RAILHEAD_UNKNOWN), "%d: %s", done.result, done.code);
        CHECK(strcmp(done.code, i == 0 ? code : "") == 0, "%s", done.code);
        CHECK(!(done.flags & RAILHEAD_WINDOW_HELD) && !railhead_is_open(site->session), "%x", done.flags);
        railhead_completions_free(&done, 1);
        CHECK(railhead_wait(site->session, &done, 1, -1) == RAILHEAD_ENDED, "it is over");
        CHECK(railhead_release(site->buffer) == RAILHEAD_OK, "%s", railhead_last_error());
        CHECK(railhead_close(site->session) == RAILHEAD_OK, "%s", railhead_last_error());
        site->gateway.fault = NO_FAULT;
        connect_to(site, 10000); /* and the next one serves */
        requests[0].buffer = requests[1].buffer = site->buffer;
    }
    close_site(site);
}

static void an_answer_that_nobody_asked_for_ends_the_session(enum fault fault, uint32_t operation) {
    struct site *site = open_site(4, 10000);
    site->gateway.fault = fault;
    bool head = operation == RAILHEAD_HEAD;
    railhead_completion done = only(site, (railhead_request){
        .operation = operation, .bucket = FAKE_BUCKET, .key = FAKE_OBJECT, .buffer = head ? NULL : site->buffer,
        .window = head ? 0 : 10});
    CHECK(done.result == (operation == RAILHEAD_PUT ? RAILHEAD_UNKNOWN : RAILHEAD_ENDED), "%d", done.result);
    CHECK(done.bytes == 0 && !(done.flags & RAILHEAD_WINDOW_HELD), "%" PRIu64 " bytes", done.bytes);
    CHECK(site->gateway.byes == 1, "without a word the gateway's end would say nothing of its copies");
    railhead_completions_free(&done, 1);
    close_site(site);
}

static void what_waits_is_not_sent_by_the_close(void) {
    struct site *site = open_site(1, 10000);
    site->gateway.fault = HOLD_REQUESTS;
    railhead_request requests[] = {get(site, 0, 0, 9), get(site, 10, 0, 9), get(site, 20, 0, 9)};
    submit(site, requests, 3, NULL);
    CHECK(railhead_close(site->session) == RAILHEAD_OK, "%s", railhead_last_error());
    CHECK(site->gateway.seen == 1 && site->gateway.byes == 1, "%d of 3", site->gateway.seen);
    fake_gateway_stop(&site->gateway);
    free(site);
}

/* This side dies: the gateway hears of it, and serves the next. */
static void a_program_that_is_killed_leaves_a_gateway_that_serves(void) {
    struct site *site = calloc(1, sizeof *site);
    site->gateway.keep_alive_millis = 60000;
    site->gateway.max_requests = 4;
    site->gateway.fault = HOLD_REQUESTS;
    fake_gateway_start(&site->gateway, "transfer_test.sock");
    fake_gateway_start_http(&site->gateway);
    pid_t child = fork();
    if (child == 0) {
        railhead_request request;
        connect_to(site, 10000);
        request = get(site, 0, 0, 9999);
        submit(site, &request, 1, NULL);
        pause();
    }
    await(&site->gateway.seen, 1);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    site->gateway.fault = NO_FAULT;
    connect_to(site, 10000);
    railhead_completion done = only(site, get(site, 0, 0, 99));
    CHECK(done.result == RAILHEAD_OK && site->gateway.connections == 2, "%d", done.result);
    railhead_completions_free(&done, 1);
    close_site(site);
}

static void a_forked_child_has_no_session(void) {
    struct site *site = open_site(4, 10000);
    int events = railhead_event_fd(site->session);
    pid_t child = fork();
    if (child == 0) {
        railhead_request request = get(site, 0, 0, 9);
        railhead_completion done;
        railhead_buffer *another;
        railhead_memory memory = {.kind = RAILHEAD_ALLOCATED, .descriptor = -1, .bytes = 10};
        uint64_t id = 1;
        bool wrong = railhead_submit(site->session, &request, 1, NULL) != RAILHEAD_ENDED
                     || railhead_register(site->session, &memory, &another) != RAILHEAD_ENDED
                     || railhead_cancel(site->session, &id, 1) != RAILHEAD_ENDED
                     || railhead_max_requests(site->session) != 4 || railhead_event_fd(site->session) != events
                     || railhead_buffer_address(site->buffer) != site->memory
                     || railhead_buffer_bytes(site->buffer) != BUFFER_BYTES
                     || railhead_poll(site->session, &done, 1) != RAILHEAD_ENDED || railhead_is_open(site->session)
                     || railhead_release(site->buffer) != RAILHEAD_ENDED || railhead_close(site->session) != RAILHEAD_OK;
        _exit(wrong);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0, "%x", (unsigned)status);
    railhead_completion done = only(site, get(site, 0, 0, 99));
    CHECK(done.result == RAILHEAD_OK && site->gateway.byes == 0, "it is the parent's");
    railhead_completions_free(&done, 1);
    close_site(site);
}

static void mistakes_are_the_callers_and_do_no_harm(void) {
    struct site *site = open_site(4, 10000);
    railhead_request requests[] = {get(site, 0, 0, 9), get(site, BUFFER_BYTES - 5, 0, 9)};
    CHECK(railhead_submit(site->session, requests, 2, NULL) == RAILHEAD_ARGUMENT, "outside of the buffer");
    CHECK(strstr(railhead_last_error(), "request 1"), "%s", railhead_last_error());
    requests[1].offset = requests[1].window = 0;
    CHECK(railhead_submit(site->session, requests, 2, NULL) == RAILHEAD_ARGUMENT, "a window of nothing");
    requests[1].buffer = NULL;
    requests[1].window = 10;
    CHECK(railhead_submit(site->session, requests, 2, NULL) == RAILHEAD_ARGUMENT, "no buffer");
    railhead_buffer *buffer;
    railhead_memory memory = {.kind = RAILHEAD_DEVICE, .descriptor = -1, .address = site, .bytes = 1};
    CHECK(railhead_register(site->session, &memory, &buffer) == RAILHEAD_ARGUMENT, "a GPU's memory over loopback");
    railhead_completion done;
    CHECK(railhead_poll(site->session, &done, 0) == RAILHEAD_ARGUMENT, "no room");
    CHECK(railhead_wait(site->session, &done, 1, 1) == 0, "nothing of it was submitted");
    CHECK(site->gateway.seen == 0, "%d", site->gateway.seen);
    close_site(site);
    railhead_options options;
    railhead_session *session;
    railhead_options_init(&options, sizeof options);
    options.endpoint = "http://127.0.0.1:9";
    options.access_key = "a";
    CHECK(railhead_connect(&options, &session) == RAILHEAD_ARGUMENT, "half of the keys");
    CHECK(railhead_connect(&options, NULL) == RAILHEAD_ARGUMENT && strstr(railhead_last_error(), "session"), "%s",
          railhead_last_error());
    options.secret_key = "s";
    CHECK(railhead_connect(&options, &session) == RAILHEAD_UNAVAILABLE, "%s", railhead_last_error());
    options.fabric = 9;
    CHECK(railhead_connect(&options, &session) == RAILHEAD_ARGUMENT, "%s", railhead_last_error());
}

/* What the gateway would end the session for, with all that others have under way, does not reach it. */
static void a_descriptor_that_is_no_sealed_memfd_is_the_callers_mistake(void) {
    struct site *site = open_site(4, 10000);
    railhead_request held = get(site, 0, 0, 9);
    uint64_t id;
    site->gateway.fault = HOLD_REQUESTS;
    submit(site, &held, 1, &id);
    await(&site->gateway.seen, 1);
    int unsealed = memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING), events = railhead_event_fd(site->session);
    int descriptors[] = {9999, unsealed, events};
    for (size_t i = 0; i < sizeof descriptors / sizeof descriptors[0]; i++) {
        railhead_buffer *buffer;
        railhead_memory memory = {.kind = RAILHEAD_MEMFD, .descriptor = descriptors[i], .address = site, .bytes = 1};
        CHECK(railhead_register(site->session, &memory, &buffer) == RAILHEAD_ARGUMENT, "%d: %s", descriptors[i],
              railhead_last_error());
    }
    close(unsealed);
    CHECK(railhead_is_open(site->session) && site->gateway.registered == 1, "%s", railhead_last_error());
    CHECK(railhead_cancel(site->session, &id, 1) == RAILHEAD_OK, "%s", railhead_last_error());
    railhead_completion done;
    collect(site, &done, 1);
    CHECK(done.result == RAILHEAD_CANCELLED, "%d", done.result);
    railhead_completions_free(&done, 1);
    close_site(site);
}

static int refuse(void *context, railhead_http *exchange) {
    ++*(int *)context;
    CHECK(strcmp(exchange->method, "POST") == 0 && strcmp(exchange->url, "http://gateway/.railhead/sessions?fabric=loopback")
          == 0, "%s", exchange->url);
    CHECK(strcmp(exchange->headers[0], "Host: gateway") == 0 && !exchange->headers[4], "%s", exchange->headers[0]);
    exchange->status = 403;
    exchange->answer_bytes = (size_t)snprintf(exchange->answer, exchange->answer_room,
                                              "<Error><Code>AccessDenied</Code></Error>");
    return 0;
}

static railhead_options options_with(railhead_http_function http, int *calls) {
    railhead_options options;
    railhead_options_init(&options, sizeof options);
    options.endpoint = "http://gateway";
    options.access_key = "a";
    options.secret_key = "s";
    options.http = http;
    options.http_context = calls;
    return options;
}

static void a_program_may_bring_its_own_http(void) {
    int calls = 0;
    railhead_session *session;
    railhead_options options = options_with(refuse, &calls);
    CHECK(railhead_connect(&options, &session) == RAILHEAD_REFUSED && calls == 1, "%s", railhead_last_error());
    CHECK(strstr(railhead_last_error(), "AccessDenied"), "%s", railhead_last_error());
}

static int refuse_shared(void *context, railhead_http *exchange) {
    ++*(int *)context;
    CHECK(strcmp(exchange->url, "http://gateway/.railhead/sessions?fabric=loopback&shared=true") == 0, "%s", exchange->url);
    exchange->status = 403;
    return 0;
}

static void a_session_with_an_owner_is_for_what_all_gateways_serve(void) {
    int calls = 0;
    railhead_session *session;
    railhead_options options = options_with(refuse_shared, &calls);
    options.shared_only = 1;
    CHECK(railhead_connect(&options, &session) == RAILHEAD_REFUSED && calls == 1, "%s", railhead_last_error());
}

/* The values of docs/http-api.md. */
static void owners_are_found_by_the_published_rule(void) {
    uint64_t member = railhead_member("railhead-0"), run = railhead_run("bucket", "a/key", 7);
    CHECK(member == 0x91e80f388516ae51 && run == 0xd5830f4dc3851d42, "%" PRIx64 " %" PRIx64, member, run);
    CHECK(railhead_score(member, run) == 0x0b056ab02aef2778, "%" PRIx64, railhead_score(member, run));
    run = railhead_run("bucket", "Z\xC3\xBCrich/\xE6\x97\xA5\xE6\x9C\xAC/\xF0\x9F\x9A\x82", 0);
    CHECK(run == 0x9963d79a5e757962, "units of UTF-16: %" PRIx64, run);
    static const char *const broken[] = {"a\xFF\x80/b", "a\xC3\xC3/b", "a\xE6\x97/b", "a\xF0\x9F/b"};
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        CHECK(railhead_run("bucket", broken[i], 0) == 0x141754a532a8c94f, "not UTF-8, %zu", i);
    }
    const uint64_t members[] = {member, railhead_member("railhead-1"), railhead_member("railhead-2")};
    static const size_t owners[] = {2, 2, 1, 1, 0, 2, 2, 1};
    for (size_t i = 0; i < sizeof owners / sizeof owners[0]; i++) {
        size_t owner = railhead_owner(members, 3, "bucket", "a/key", i);
        CHECK(owner == owners[i], "run %zu: %zu", i, owner);
    }
    CHECK(railhead_owner(members, 0, "bucket", "a/key", 0) == 0, "nobody");
}

static int answer_503(void *code, railhead_http *exchange) {
    exchange->status = 503;
    exchange->answer_bytes = (size_t)snprintf(exchange->answer, exchange->answer_room, "<Error><Code>%s</Code></Error>",
                                              (const char *)code);
    return 0;
}

static void a_fabric_that_the_gateway_has_not_is_unavailable(void) {
    static char unavailable[] = "RDMAUnavailable", busy[] = "SlowDown";
    railhead_options options;
    railhead_session *session;
    railhead_options_init(&options, sizeof options);
    options.endpoint = "http://gateway";
    options.access_key = "a";
    options.secret_key = "s";
    options.http = answer_503;
    options.http_context = unavailable;
    CHECK(railhead_connect(&options, &session) == RAILHEAD_UNAVAILABLE, "%s", railhead_last_error());
    CHECK(strstr(railhead_last_error(), "HTTP 503: RDMAUnavailable"), "%s", railhead_last_error());
    options.http_context = busy;
    CHECK(railhead_connect(&options, &session) == RAILHEAD_REFUSED, "%s", railhead_last_error());
}

static int grant_too_late(void *context, railhead_http *exchange) {
    CHECK(exchange->timeout_millis <= *(const uint32_t *)context, "%u", exchange->timeout_millis);
    usleep(1000 * (*(const uint32_t *)context + 1));
    exchange->status = 200;
    exchange->answer_bytes = (size_t)snprintf(exchange->answer, exchange->answer_room,
                                              "{\"session\":\"%032d\",\"socket\":\"no-such.sock\"}", 0);
    return 0;
}

static void a_connection_has_its_time_with_its_http(void) {
    railhead_options options;
    railhead_session *session;
    railhead_options_init(&options, sizeof options);
    options.endpoint = "http://gateway";
    options.access_key = "a";
    options.secret_key = "s";
    options.timeout_millis = 20;
    options.http = grant_too_late;
    options.http_context = &options.timeout_millis;
    CHECK(railhead_connect(&options, &session) == RAILHEAD_TIMED_OUT, "%s", railhead_last_error());
}

static railhead_request exists(uint32_t count) {
    static const uint8_t hashes[100 * 32];
    return (railhead_request){.operation = RAILHEAD_EXISTS, .bucket = FAKE_BUCKET, .key = "m@", .keys = hashes,
                              .keys_bytes = count * 32, .keys_count = count, .hash_bytes = 32};
}

static void many_keys_are_asked_for_at_once(void) {
    struct site *site = calloc(1, sizeof *site);
    site->gateway.max_operation = RAILHEAD_DELETE_PREFIX;
    site->gateway.max_requests = 8;
    fake_gateway_start(&site->gateway, "transfer_test.sock");
    fake_gateway_start_http(&site->gateway);
    connect_to(site, 10000);
    railhead_completion done = only(site, exists(100));
    CHECK(done.result == RAILHEAD_OK && done.object_bytes == 50 && done.bytes == 0, "%d: %s", done.result, done.code);
    CHECK(strcmp(done.headers, "x-railhead-keys: 55555555555555555555555555\n") == 0, "%s", done.headers);
    railhead_completions_free(&done, 1);
    railhead_request wrong = exists(100);
    wrong.keys_bytes--;
    CHECK(railhead_submit(site->session, &wrong, 1, NULL) == RAILHEAD_ARGUMENT, "%s", railhead_last_error());
    close_site(site);
}

static void several_windows_are_filled_in_their_order(void) {
    struct site *site = calloc(1, sizeof *site);
    site->gateway.max_operation = RAILHEAD_USAGE;
    site->gateway.max_requests = 8;
    fake_gateway_start(&site->gateway, "transfer_test.sock");
    fake_gateway_start_http(&site->gateway);
    connect_to(site, 10000);
    const railhead_window windows[] = {{70, 30}, {10, 50}, {BUFFER_BYTES - 20, 20}};
    railhead_request asked = {.operation = RAILHEAD_GET, .flags = RAILHEAD_RANGE, .bucket = FAKE_BUCKET, .key = FAKE_OBJECT,
                              .buffer = site->buffer, .windows = windows, .windows_count = 3, .range_first = 5,
                              .range_last = 104};
    railhead_completion done = only(site, asked);
    CHECK(done.result == RAILHEAD_OK && done.bytes == 100, "%d: %s", done.result, done.code);
    railhead_completions_free(&done, 1);
    for (int i = 0; i < 100; i++) {
        const uint8_t *at = site->memory + (i < 30 ? 70 + i : i < 80 ? 10 + i - 30 : BUFFER_BYTES - 20 + i - 80);
        CHECK(*at == fake_byte(5u + (unsigned)i), "byte %d", i);
    }
    const railhead_window beyond = {BUFFER_BYTES - 20, 21}, empty = {0, 0}, none = {UINT64_MAX, 1};
    const railhead_window *const wrong[] = {&beyond, &empty, &none};
    asked.windows_count = 1;
    for (int i = 0; i < 3; i++) {
        asked.windows = wrong[i];
        CHECK(railhead_submit(site->session, &asked, 1, NULL) == RAILHEAD_ARGUMENT, "%s", railhead_last_error());
        CHECK(strstr(railhead_last_error(), "lies within"), "%s", railhead_last_error());
    }
    close_site(site);
}

/* It ends the session of who asks for what it does not know. */
static void a_gateway_of_before_is_not_asked_for_keys(void) {
    struct site *site = open_site(8, 10000);
    railhead_completion done = only(site, exists(3));
    CHECK(done.result == RAILHEAD_NOT_SERVED && strcmp(done.code, "unsupported") == 0, "%d: %s", done.result, done.code);
    railhead_completions_free(&done, 1);
    const railhead_window window = {0, 100};
    railhead_request asked = get(site, 0, 0, 99);
    asked.window = 0;
    asked.windows = &window;
    asked.windows_count = 1;
    done = only(site, asked);
    CHECK(done.result == RAILHEAD_NOT_SERVED && strcmp(done.code, "unsupported") == 0, "%d: %s", done.result, done.code);
    railhead_completions_free(&done, 1);
    CHECK(site->gateway.seen == 0, "%d requests", site->gateway.seen);
    done = only(site, get(site, 0, 0, 99));
    CHECK(done.result == RAILHEAD_OK && done.bytes == 100, "%d: %s", done.result, done.code);
    railhead_completions_free(&done, 1);
    close_site(site);
}

static void every_result_has_words(void) {
    for (int32_t result = RAILHEAD_NOT_FLUSHED; result <= RAILHEAD_OK; result++) {
        CHECK(*railhead_result_text(result) && strcmp(railhead_result_text(result), railhead_result_text(1)) != 0, "%d",
              result);
    }
    CHECK(railhead_abi_version() == RAILHEAD_ABI && *railhead_version(), "the version");
    CHECK(railhead_has_verbs() == 0 || railhead_has_verbs() == 1, "whether it has verbs");
}

int main(void) {
    setenv("NO_PROXY", "*", 1);
    owners_are_found_by_the_published_rule();
    a_session_with_an_owner_is_for_what_all_gateways_serve();
    what_is_asked_for_is_in_the_window();
    objects_are_described_and_put();
    a_put_that_fails_at_the_store_is_unknown_unless_nothing_was_done();
    batches_are_within_the_credits((unsigned)time(NULL));
    what_is_cancelled_has_its_completion();
    who_waits_for_all_is_waken_once();
    a_request_has_its_time();
    a_gateway_that_hangs_keeps_the_window();
    a_gateway_that_dies_in_a_transfer(DIE_IN_TRANSFER, "");
    a_gateway_that_dies_in_a_transfer(END_IN_TRANSFER, "shutting_down");
    an_answer_that_nobody_asked_for_ends_the_session(ANSWER_NOBODY, RAILHEAD_GET);
    an_answer_that_nobody_asked_for_ends_the_session(ANSWER_THE_NEXT, RAILHEAD_GET);
    an_answer_that_nobody_asked_for_ends_the_session(ANSWER_TOO_MUCH, RAILHEAD_GET);
    an_answer_that_nobody_asked_for_ends_the_session(ANSWER_TOO_MUCH, RAILHEAD_HEAD);
    an_answer_that_nobody_asked_for_ends_the_session(ANSWER_TOO_MUCH, RAILHEAD_PUT);
    what_waits_is_not_sent_by_the_close();
    a_program_that_is_killed_leaves_a_gateway_that_serves();
    a_forked_child_has_no_session();
    mistakes_are_the_callers_and_do_no_harm();
    a_descriptor_that_is_no_sealed_memfd_is_the_callers_mistake();
    a_program_may_bring_its_own_http();
    a_fabric_that_the_gateway_has_not_is_unavailable();
    a_connection_has_its_time_with_its_http();
    many_keys_are_asked_for_at_once();
    several_windows_are_filled_in_their_order();
    a_gateway_of_before_is_not_asked_for_keys();
    every_result_has_words();
    return 0;
}
