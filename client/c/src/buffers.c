/* librailhead's buffers, as railhead.h describes them. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client.h"
#include "error.h"
#include "flush.h"
#include "verbs.h"

static int sealed_memory(uint64_t bytes, struct rh_error *error) {
    int fd = memfd_create("railhead", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) != 0) {
        rh_fail_as(error, RAILHEAD_NO_MEMORY, "no shared memory: %s", strerror(errno));
        if (fd >= 0) {
            close(fd);
        }
        return -1;
    }
    return fd;
}

static int map(railhead_buffer *buffer, int flags, int fd, struct rh_error *error) {
    void *at = mmap(NULL, buffer->bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
    if (at == MAP_FAILED) {
        return rh_fail_as(error, RAILHEAD_NO_MEMORY, "memory cannot be mapped: %s", strerror(errno));
    }
    buffer->address = at;
    buffer->allocated = true;
    return 0;
}

static int share(railhead_buffer *buffer, const railhead_memory *memory, struct rh_error *error) {
    struct rh_session *core = buffer->session->core;
    if (memory->kind == RAILHEAD_HOST) {
        return rh_session_attach(core, buffer->address, buffer->bytes, &buffer->key, error);
    }
    if (memory->kind == RAILHEAD_MEMFD) {
        return rh_session_register(core, memory->descriptor, (uintptr_t)buffer->address, buffer->bytes, &buffer->key,
                                   error);
    }
    int fd = sealed_memory(buffer->bytes, error);
    if (fd < 0) {
        return -1;
    }
    int result = map(buffer, MAP_SHARED, fd, error);
    if (result == 0) {
        result = rh_session_register(core, fd, (uintptr_t)buffer->address, buffer->bytes, &buffer->key, error);
    }
    close(fd);
    return result;
}

static int pin(railhead_buffer *buffer, const railhead_memory *memory, struct rh_error *error) {
    struct rh_session *core = buffer->session->core;
    const bool device = memory->kind == RAILHEAD_DEVICE;
    uint32_t rkey;
    if (memory->kind == RAILHEAD_ALLOCATED && map(buffer, MAP_PRIVATE | MAP_ANONYMOUS, -1, error) != 0) {
        return -1;
    }
    if (device && rh_flush_choose(memory, &buffer->flush, &buffer->flush_context, error) != 0) {
        return -1;
    }
    buffer->region = rh_verbs_register(core->transport, buffer->address, buffer->bytes, device ? memory->descriptor : -1,
                                       memory->offset, &rkey, error);
    return buffer->region ? rh_session_register_region(core, (uintptr_t)buffer->address, buffer->bytes, rkey,
                                                       &buffer->key, error)
                          : -1;
}

static const char *mistake(const railhead_session *session, const railhead_memory *memory) {
    const bool verbs = session->fabric == RAILHEAD_VERBS;
    if (memory->kind < RAILHEAD_ALLOCATED || memory->kind > RAILHEAD_DEVICE || memory->bytes == 0
        || memory->bytes > INT64_MAX) {
        return "a buffer has a kind, and a length from 1 to 2^63 - 1";
    }
    if ((memory->kind == RAILHEAD_ALLOCATED) != !memory->address) {
        return "an address is for every kind of memory but RAILHEAD_ALLOCATED";
    }
    if (memory->kind == (verbs ? RAILHEAD_MEMFD : RAILHEAD_DEVICE)) {
        return verbs ? "RAILHEAD_MEMFD is for loopback" : "RAILHEAD_DEVICE is for verbs";
    }
    return NULL;
}

static void add(railhead_session *session, railhead_buffer *buffer) {
    pthread_mutex_lock(&session->core->lock);
    buffer->next = session->buffers;
    session->buffers = buffer;
    pthread_mutex_unlock(&session->core->lock);
}

RAILHEAD_PUBLIC int32_t railhead_register(railhead_session *session, const railhead_memory *memory,
                                          railhead_buffer **buffer) {
    struct rh_error error;
    const char *why = session && memory && buffer ? mistake(session, memory) : "NULL";
    if (why) {
        return rh_report_as(RAILHEAD_ARGUMENT, why);
    }
    railhead_buffer *made = calloc(1, sizeof *made);
    if (!made) {
        return rh_report_as(RAILHEAD_NO_MEMORY, "out of memory");
    }
    made->session = session;
    made->bytes = memory->bytes;
    made->address = memory->address;
    int result = session->fabric == RAILHEAD_VERBS ? pin(made, memory, &error) : share(made, memory, &error);
    if (result != 0) {
        /* A gateway that did not answer may have mapped it: the session is given up then, and shared pages stay. */
        rh_buffer_free(made, session->fabric == RAILHEAD_LOOPBACK && error.code == RAILHEAD_TIMED_OUT);
        return rh_report(&error);
    }
    add(session, made);
    *buffer = made;
    return RAILHEAD_OK;
}

RAILHEAD_PUBLIC void *railhead_buffer_address(const railhead_buffer *buffer) {
    return buffer->address;
}

RAILHEAD_PUBLIC uint64_t railhead_buffer_bytes(const railhead_buffer *buffer) {
    return buffer->bytes;
}

void rh_buffer_free(railhead_buffer *buffer, bool held) {
    if (buffer->region && rh_session_is_mine(buffer->session->core)) {
        rh_verbs_deregister(buffer->session->core->transport, buffer->region);
    }
    if (buffer->allocated && !held) {
        munmap(buffer->address, buffer->bytes);
    }
    free(buffer);
}

/* Takes the buffer out of the session's; false while requests use it. */
static bool take_out(railhead_buffer *buffer) {
    railhead_session *session = buffer->session;
    pthread_mutex_lock(&session->core->lock);
    bool idle = buffer->in_use == 0;
    if (idle) {
        railhead_buffer **at = &session->buffers;
        while (*at != buffer) {
            at = &(*at)->next;
        }
        *at = buffer->next;
    }
    pthread_mutex_unlock(&session->core->lock);
    return idle;
}

RAILHEAD_PUBLIC int32_t railhead_release(railhead_buffer *buffer) {
    struct rh_error error;
    struct rh_session *core = buffer->session->core;
    if (!rh_session_is_mine(core)) {
        return rh_report_as(RAILHEAD_ENDED, "the session is the parent process's");
    }
    if (!take_out(buffer)) {
        return rh_report_as(RAILHEAD_BUSY, "requests into the buffer are not collected");
    }
    bool let_go = rh_session_deregister(core, buffer->key, &error) == 0 || rh_session_await_end(core);
    rh_buffer_free(buffer, !let_go);
    return let_go ? RAILHEAD_OK : rh_report_as(RAILHEAD_HELD, "the gateway did not let go of the memory in time");
}
