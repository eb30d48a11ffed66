/* librailhead over verbs, with test/fake_rdma.c for rdma-core. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "fake_gateway.h"
#include "railhead/railhead.h"

enum { BUFFER_BYTES = 2 * FAKE_OBJECT_BYTES, MOST = 300, PATIENCE_MILLIS = 20000, CREDITS = 3 };

static struct fake_gateway gateway;
static railhead_session *session;
static railhead_buffer *buffer;

static int32_t try_connect(uint32_t timeout_millis) {
    railhead_options options;
    railhead_options_init(&options, sizeof options);
    options.fabric = RAILHEAD_VERBS;
    options.endpoint = gateway.endpoint;
    options.region = FAKE_REGION;
    options.access_key = FAKE_ACCESS;
    options.secret_key = FAKE_SECRET;
    options.timeout_millis = timeout_millis;
    return railhead_connect(&options, &session);
}

static void start(void) {
    memset(&gateway, 0, sizeof gateway);
    gateway.verbs = true;
    gateway.keep_alive_millis = 60000;
    gateway.max_requests = CREDITS;
    fake_gateway_start(&gateway, "verbs_test.sock");
    fake_gateway_start_http(&gateway);
    setenv("RAILHEAD_FAKE_ADAPTER", "verbs_test.sock", 1);
    setenv("RAILHEAD_FAKE_CREDITS", "3", 1);
}

static void open_site(uint32_t timeout_millis) {
    start();
    CHECK(try_connect(timeout_millis) == RAILHEAD_OK, "%s", railhead_last_error());
    railhead_memory memory = {.kind = RAILHEAD_ALLOCATED, .descriptor = -1, .bytes = BUFFER_BYTES};
    CHECK(railhead_register(session, &memory, &buffer) == RAILHEAD_OK, "%s", railhead_last_error());
}

static void close_site(void) {
    CHECK(railhead_close(session) == RAILHEAD_OK, "%s", railhead_last_error());
    fake_gateway_stop(&gateway);
}

static railhead_request get(railhead_buffer *into, uint64_t offset, uint64_t first, uint64_t bytes) {
    return (railhead_request){.operation = RAILHEAD_GET, .flags = RAILHEAD_RANGE, .bucket = FAKE_BUCKET, .key = FAKE_OBJECT,
                              .buffer = into, .offset = offset, .window = bytes, .range_first = first,
                              .range_last = first + bytes - 1};
}

static void run(const railhead_request *requests, railhead_completion *completions, size_t count) {
    CHECK(railhead_submit(session, requests, count, NULL) == RAILHEAD_OK, "%s", railhead_last_error());
    for (size_t got = 0; got < count;) {
        int32_t more = railhead_wait(session, completions + got, count - got, PATIENCE_MILLIS);
        CHECK(more > 0, "%d: %s", more, more < 0 ? railhead_last_error() : "none in time");
        got += (size_t)more;
    }
}

/* Far more than credits: each message finds its receive, which the fake adapter sees to. */
static void objects_come_and_go_within_the_credits(void) {
    railhead_request requests[MOST];
    railhead_completion completions[MOST];
    open_site(10000);
    uint8_t *memory = railhead_buffer_address(buffer);
    CHECK(railhead_max_requests(session) == CREDITS && gateway.registered == 1, "%u", railhead_max_requests(session));
    for (uint64_t i = 0; i < MOST; i++) {
        requests[i] = get(buffer, i * 100, i * 7, 100);
    }
    run(requests, completions, MOST);
    for (uint64_t i = 0; i < MOST; i++) {
        CHECK(completions[i].result == RAILHEAD_OK && completions[i].bytes == 100, "%d", completions[i].result);
        CHECK(memory[i * 100] == fake_byte(i * 7) && memory[i * 100 + 99] == fake_byte(i * 7 + 99), "the bytes");
    }
    railhead_completions_free(completions, MOST);
    railhead_request put = {.operation = RAILHEAD_PUT, .bucket = FAKE_BUCKET, .key = "new", .buffer = buffer, .window = 50};
    run(&put, completions, 1);
    CHECK(completions[0].result == RAILHEAD_OK && memcmp(gateway.put, memory, 50) == 0, "%d", completions[0].result);
    railhead_completions_free(completions, 1);
    CHECK(railhead_release(buffer) == RAILHEAD_OK && gateway.registered == 0, "%s", railhead_last_error());
    close_site();
    CHECK(gateway.byes == 1, "%d", gateway.byes);
}

/* Where the queue pair is in ERR nothing is written any more, whatever the gateway does. */
static void no_gateway_holds_a_window(bool dies) {
    railhead_completion done;
    open_site(60);
    railhead_request request = get(buffer, 0, 0, 1000);
    request.timeout_millis = 20;
    if (dies) {
        gateway.fault = DIE_IN_TRANSFER;
    } else {
        fake_gateway_hang(&gateway);
    }
    run(&request, &done, 1);
    CHECK(done.result == RAILHEAD_ENDED && !(done.flags & RAILHEAD_WINDOW_HELD), "%d %x", done.result, done.flags);
    railhead_completions_free(&done, 1);
    fake_gateway_resume(&gateway);
    CHECK(railhead_release(buffer) == RAILHEAD_OK, "%s", railhead_last_error());
    close_site();
}

static void *fake(const char *name) {
    void *library = dlopen("librdmacm.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *found = library ? dlsym(library, name) : NULL;
    CHECK(found, "%s", dlerror());
    return found;
}

/* The kernel ends `rdma link delete` when nobody holds the device: a client that sits idle must not hold it. */
static void a_removed_adapter_is_let_go_of_before_the_close(void) {
    open_site(10000);
    bool (*is_held)(void) = (bool (*)(void))fake("fake_is_held");
    CHECK(is_held(), "nothing is held");
    ((void (*)(void))fake("fake_remove"))();
    for (int waited = 0; is_held(); waited++) {
        CHECK(waited < PATIENCE_MILLIS, "the adapter is still held");
        usleep(1000);
    }
    CHECK(!railhead_is_open(session), "a session without an adapter");
    railhead_memory memory = {.kind = RAILHEAD_ALLOCATED, .descriptor = -1, .bytes = BUFFER_BYTES};
    railhead_buffer *other;
    CHECK(railhead_register(session, &memory, &other) == RAILHEAD_ENDED, "%s", railhead_last_error());
    memset(railhead_buffer_address(buffer), 1, BUFFER_BYTES);
    CHECK(railhead_release(buffer) == RAILHEAD_OK, "%s", railhead_last_error());
    close_site();
}

static void a_refusal_is_told(void) {
    start();
    gateway.fault = REFUSE_HELLO;
    CHECK(try_connect(10000) == RAILHEAD_REFUSED && strstr(railhead_last_error(), "unknown session"), "%s",
          railhead_last_error());
    CHECK(gateway.grants == 2, "%d: a session that came too late is asked for once more", gateway.grants);
    fake_gateway_stop(&gateway);
}

static void an_adapter_that_takes_no_receive_is_named(void) {
    railhead_completion done;
    setenv("RAILHEAD_FAKE_RECEIVES", "9", 1); /* those of the start, WELCOME's again, and REGISTERED's */
    open_site(10000);
    railhead_request request = get(buffer, 0, 0, 1000);
    run(&request, &done, 1);
    CHECK(done.result == RAILHEAD_OK, "%d", done.result);
    railhead_completions_free(&done, 1);
    CHECK(railhead_wait(session, &done, 1, PATIENCE_MILLIS) == RAILHEAD_ENDED, "%s", railhead_last_error());
    CHECK(strstr(railhead_last_error(), "a receive was refused"), "%s", railhead_last_error());
    close_site();
    unsetenv("RAILHEAD_FAKE_RECEIVES");
}

static struct {
    int calls;
    int result;
} flushes;

static int flush(void *context) {
    CHECK(context == &flushes, "another context");
    flushes.calls++;
    return flushes.result;
}

static railhead_buffer *device(uint8_t *address, int dma_buf) {
    railhead_buffer *made;
    railhead_memory memory = {.kind = RAILHEAD_DEVICE, .descriptor = dma_buf, .address = address, .bytes = 4000, .offset = 64,
                              .flush = flush, .flush_context = &flushes};
    CHECK(railhead_register(session, &memory, &made) == RAILHEAD_OK, "%s", railhead_last_error());
    return made;
}

static void what_comes_into_a_gpu_is_flushed_before_it_is_told(void) {
    static uint8_t gpu[4000];
    railhead_completion completions[2];
    open_site(10000);
    railhead_buffer *made = device(gpu, 0);
    railhead_request requests[] = {get(made, 0, 0, 10), get(buffer, 0, 0, 10)};
    run(requests, completions, 2);
    CHECK(flushes.calls == 1 && gpu[9] == fake_byte(9), "%d", flushes.calls);
    CHECK(completions[0].result == RAILHEAD_OK && completions[1].result == RAILHEAD_OK, "%d", completions[0].result);
    railhead_completions_free(completions, 2);
    requests[0].key = "none";
    run(requests, completions, 1);
    CHECK(completions[0].result == RAILHEAD_STORE && flushes.calls == 1, "nothing came that could be flushed");
    railhead_completions_free(completions, 1);
    railhead_request put = {.operation = RAILHEAD_PUT, .bucket = FAKE_BUCKET, .key = "new", .buffer = made, .window = 50};
    run(&put, completions, 1);
    CHECK(flushes.calls == 1, "nothing is flushed that is read");
    railhead_completions_free(completions, 1);
    requests[0].key = FAKE_OBJECT;
    flushes.result = 1;
    run(requests, completions, 1);
    CHECK(completions[0].result == RAILHEAD_NOT_FLUSHED && flushes.calls == 2, "%d", completions[0].result);
    railhead_completions_free(completions, 1);
    CHECK(railhead_release(made) == RAILHEAD_OK, "%s", railhead_last_error());
    close_site();
}

static void gpu_memory_goes_by_dma_buf_then_by_peer_memory_or_not_at_all(void) {
    static uint8_t gpu[4000];
    railhead_buffer *made;
    open_site(10000);
    CHECK(railhead_release(device(gpu, -1)) == RAILHEAD_OK, "%s", railhead_last_error());
    CHECK(railhead_release(device(gpu, 9999)) == RAILHEAD_OK, "no dma-buf: by its address");
    railhead_memory memory = {.kind = RAILHEAD_DEVICE, .descriptor = 9999, .address = (void *)64, .bytes = 100, .offset = 64,
                              .flush = flush};
    CHECK(railhead_register(session, &memory, &made) == RAILHEAD_UNAVAILABLE, "nobody knows the address");
    CHECK(strstr(railhead_last_error(), "ibv_reg_dmabuf_mr"), "%s", railhead_last_error());
    memory = (railhead_memory){.kind = RAILHEAD_DEVICE, .descriptor = -1, .address = gpu, .bytes = 100};
    CHECK(railhead_register(session, &memory, &made) == RAILHEAD_UNAVAILABLE, "there is no CUDA");
    CHECK(strstr(railhead_last_error(), "cuFlushGPUDirectRDMAWrites"), "%s", railhead_last_error());
    memory = (railhead_memory){.kind = RAILHEAD_MEMFD, .descriptor = 0, .address = gpu, .bytes = 100};
    CHECK(railhead_register(session, &memory, &made) == RAILHEAD_ARGUMENT, "%s", railhead_last_error());
    close_site();
}

int main(void) {
    setenv("NO_PROXY", "*", 1);
    objects_come_and_go_within_the_credits();
    no_gateway_holds_a_window(true);
    no_gateway_holds_a_window(false);
    a_removed_adapter_is_let_go_of_before_the_close();
    a_refusal_is_told();
    an_adapter_that_takes_no_receive_is_named();
    what_comes_into_a_gpu_is_flushed_before_it_is_told();
    gpu_memory_goes_by_dma_buf_then_by_peer_memory_or_not_at_all();
    return 0;
}
