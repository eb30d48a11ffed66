/*
 * CUDA's driver as far as railhead uses it, on memory of the host. A copy is done by whoever first waits for an event after it,
 * or asks for the third time: what reads the target, or reuses the source, before that sees other bytes. Mistakes abort.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096, NOT_READY = 600, ALREADY_REGISTERED = 712 };

static struct copy { void *to; const void *from; size_t bytes; } copies[MOST];
static size_t begun, finished, contexts;
static void *pinned;
static size_t pinned_bytes;
static int stream_there, retained = 1;
int fake_cuda_copies, fake_cuda_pending_at_most, fake_cuda_fail_after = -1;

struct event { size_t at; int asked; };

static void need(int true_, const char *what) {
    if (!true_) {
        fprintf(stderr, "fake CUDA: %s\n", what);
        abort();
    }
}

static void finish(size_t until) {
    for (; finished < until; finished++) {
        struct copy *copy = &copies[finished % MOST];
        memcpy(copy->to, copy->from, copy->bytes);
    }
}

static int begin(void *to, const void *from, size_t bytes, const void *host, void *stream) {
    need(contexts > 0, "a copy without a current context");
    need(stream == &stream_there, "a copy on another stream");
    need((const char *)host >= (char *)pinned && (const char *)host + bytes <= (char *)pinned + pinned_bytes, "memory is not pinned");
    if (fake_cuda_fail_after == 0) {
        return 700;
    }
    fake_cuda_fail_after--;
    need(begun - finished < MOST, "too many copies");
    copies[begun++ % MOST] = (struct copy){to, from, bytes};
    fake_cuda_copies++;
    if ((int)(begun - finished) > fake_cuda_pending_at_most) {
        fake_cuda_pending_at_most = (int)(begun - finished);
    }
    return 0;
}

int cuInit(unsigned flags) { return (int)flags; }
int cuDeviceGet(int *device, int number) { *device = number; return number == 0 ? 0 : 101; }
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = &retained; return device; }
int cuCtxPushCurrent_v2(void *context) { need(context == &retained, "another context"); contexts++; return 0; }
int cuCtxPopCurrent_v2(void **context) { need(contexts-- > 0, "no context"); *context = &retained; return 0; }
int cuStreamCreate(void **stream, unsigned flags) { *stream = &stream_there; return flags == 1 ? 0 : 1; }
int cuStreamSynchronize(void *stream) { need(stream == &stream_there, "another stream"); finish(begun); return 0; }

int cuMemHostRegister_v2(void *address, size_t bytes, unsigned flags) {
    (void)flags;
    if (pinned) {
        return ALREADY_REGISTERED;
    }
    pinned = address;
    pinned_bytes = bytes;
    return 0;
}

int cuMemHostUnregister(void *address) {
    need(address == pinned && begun == finished, "unpinned while copies are under way");
    pinned = NULL;
    return 0;
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream) {
    return begin((void *)(uintptr_t)to, from, bytes, from, stream);
}

int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream) {
    return begin(to, (const void *)(uintptr_t)from, bytes, to, stream);
}

int cuEventCreate(struct event **event, unsigned flags) { (void)flags; *event = calloc(1, sizeof **event); return 0; }
int cuEventRecord(struct event *event, void *stream) { (void)stream; event->at = begun; return 0; }
int cuEventSynchronize(struct event *event) { finish(event->at); return 0; }
int cuEventDestroy_v2(struct event *event) { free(event); return 0; }

int cuEventQuery(struct event *event) {
    if (event->at > finished && ++event->asked < 3) {
        return NOT_READY;
    }
    finish(event->at);
    return 0;
}
