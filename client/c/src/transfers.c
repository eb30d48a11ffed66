/* librailhead's requests and completions, as railhead.h describes them. */
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "error.h"

enum { MOST_AT_ONCE = INT32_MAX };

/* Whether so many bytes lie within the buffer. */
static bool lies_within(const railhead_buffer *buffer, uint64_t offset, uint64_t bytes) {
    return offset <= buffer->bytes && bytes <= buffer->bytes - offset;
}

/* Their number and the rest of the request are looked at where it is encoded. */
static const char *windows_mistake(const railhead_buffer *buffer, const railhead_request *request) {
    for (uint32_t i = 0; request->windows && i < request->windows_count && i < RH_MOST_WINDOWS; i++) {
        const railhead_window *window = &request->windows[i];
        if (window->bytes == 0 || !lies_within(buffer, window->offset, window->bytes)) {
            return "a window has 1 byte at least, and lies within the buffer";
        }
    }
    return NULL;
}

static const char *window_mistake(const railhead_session *session, const railhead_request *request) {
    const railhead_buffer *buffer = request->buffer;
    if (request->operation == RAILHEAD_HEAD || request->operation > RAILHEAD_UPLOAD_PART) {
        return NULL; /* its encoding looks */
    }
    if (!buffer || buffer->session != session) {
        return "no buffer of this session";
    }
    if (request->windows_count) {
        return windows_mistake(buffer, request);
    }
    if (request->operation == RAILHEAD_GET && request->window == 0) {
        return "the window of a GET has 1 byte at least";
    }
    return lies_within(buffer, request->offset, request->window) ? NULL : "the window does not lie within the buffer";
}

static int encode(const railhead_session *session, const railhead_request *request, uint8_t *record, size_t room,
                  struct rh_error *error) {
    const char *why = window_mistake(session, request);
    return why ? rh_fail(error, "%s", why)
               : rh_request_encode(request, request->buffer ? request->buffer->key : 0, record, room, error);
}

static struct rh_request *new_request(const railhead_session *session, const railhead_request *asked,
                                      struct rh_error *error) {
    uint8_t record[RH_MESSAGE_BYTES];
    int bytes = encode(session, asked, record, session->core->requests.max_message - RH_HEADER_BYTES, error);
    if (bytes < 0) {
        error->code = RAILHEAD_ARGUMENT;
        return NULL;
    }
    struct rh_request *made = calloc(1, sizeof *made + (size_t)bytes);
    if (!made) {
        rh_fail_as(error, RAILHEAD_NO_MEMORY, "out of memory");
        return NULL;
    }
    const uint32_t timeout = asked->timeout_millis ? asked->timeout_millis : session->request_timeout_millis;
    made->buffer = asked->buffer;
    made->window = asked->window;
    for (uint32_t i = 0; i < asked->windows_count; i++) {
        made->window += asked->windows[i].bytes;
    }
    made->windows = asked->windows_count;
    made->deadline = rh_now_millis() + timeout;
    made->operation = asked->operation;
    made->completion = (railhead_completion){.user = asked->user, .etag = "", .version_id = "", .code = "",
                                             .message = "", .headers = ""};
    made->record_bytes = (size_t)bytes;
    memcpy(made->record, record, (size_t)bytes);
    return made;
}

static void free_all(struct rh_request *first) {
    while (first) {
        struct rh_request *next = first->next;
        free(first);
        first = next;
    }
}

/* A list of all of them, or none. */
static int make_all(const railhead_session *session, const railhead_request *requests, size_t count,
                    struct rh_request **first, struct rh_error *error) {
    struct rh_request **end = first;
    *first = NULL;
    for (size_t i = 0; i < count; i++) {
        struct rh_error why;
        *end = new_request(session, &requests[i], &why);
        if (!*end) {
            free_all(*first);
            return rh_fail_as(error, why.code, "request %zu: %.280s", i, why.text);
        }
        end = &(*end)->next;
    }
    return 0;
}

/* What the gateway does not know would end the session: it is done at once. */
static void add_all(struct rh_session *core, struct rh_request *first, uint64_t *ids) {
    struct rh_requests *all = &core->requests;
    while (first) {
        struct rh_request *next = first->next;
        first->id = first->completion.id = ++all->last_id;
        if (first->buffer) {
            first->buffer->in_use++;
        }
        if (ids) {
            *ids++ = first->id;
        }
        if (first->operation > core->max_operation || first->windows > core->max_windows) {
            rh_requests_unsupported(all, first);
        } else {
            rh_requests_add(all, first);
        }
        first = next;
    }
}

RAILHEAD_PUBLIC int32_t railhead_submit(railhead_session *session, const railhead_request *requests, size_t count,
                                        uint64_t *ids) {
    struct rh_session *core = session->core;
    struct rh_request *first;
    struct rh_error error;
    if (!rh_session_is_mine(core)) {
        return rh_report_as(RAILHEAD_ENDED, "the session is the parent process's");
    }
    if (make_all(session, requests, count, &first, &error) != 0) {
        return rh_report(&error);
    }
    pthread_mutex_lock(&core->lock);
    bool open = core->state == RH_OPEN && !core->bye_due;
    if (open) {
        add_all(core, first, ids);
        rh_session_flush(core);
        rh_session_hurry(core, core->requests.next_deadline);
        if (core->requests.done.first) {
            pthread_cond_broadcast(&core->changed); /* who waits for all is not to wait for these, too */
        }
    } else {
        rh_session_ended(core, &error);
    }
    pthread_mutex_unlock(&core->lock);
    if (!open) {
        free_all(first);
        return rh_report(&error);
    }
    return RAILHEAD_OK;
}

RAILHEAD_PUBLIC int32_t railhead_cancel(railhead_session *session, const uint64_t *ids, size_t count) {
    struct rh_session *core = session->core;
    if (!rh_session_is_mine(core)) {
        return rh_report_as(RAILHEAD_ENDED, "the session is the parent process's");
    }
    pthread_mutex_lock(&core->lock);
    for (size_t i = 0; i < count; i++) {
        rh_requests_cancel(&core->requests, ids[i]);
    }
    rh_session_flush(core);
    pthread_cond_broadcast(&core->changed);
    pthread_mutex_unlock(&core->lock);
    return RAILHEAD_OK;
}

/* Takes what is done, with the flush of each that has one due; under the lock. */
static size_t take(struct rh_session *core, railhead_completion *completions, railhead_buffer **to_flush, size_t room) {
    size_t taken = 0;
    while (taken < room) {
        struct rh_request *request = rh_requests_take(&core->requests, core->state == RH_OVER);
        if (!request) {
            break;
        }
        railhead_buffer *buffer = request->buffer;
        completions[taken] = request->completion;
        bool due = buffer && buffer->flush && request->operation == RAILHEAD_GET && request->completion.result == RAILHEAD_OK;
        to_flush[taken] = due ? buffer : NULL;
        if (buffer && !due) {
            buffer->in_use--;
        }
        free(request);
        taken++;
    }
    return taken;
}

/* One flush for all reads into a buffer; a buffer stays in use until its own is over. */
static void flush_all(struct rh_session *core, railhead_completion *completions, railhead_buffer **buffers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        railhead_buffer *buffer = buffers[i];
        int failed = buffer ? buffer->flush(buffer->flush_context) : 0;
        uint64_t done = 0;
        for (size_t j = i; buffer && j < count; j++) {
            if (buffers[j] == buffer) {
                completions[j].result = failed ? RAILHEAD_NOT_FLUSHED : completions[j].result;
                buffers[j] = NULL;
                done++;
            }
        }
        if (done) {
            pthread_mutex_lock(&core->lock);
            buffer->in_use -= done;
            pthread_mutex_unlock(&core->lock);
        }
    }
}

enum { AT_A_TIME = 256 };

/* Waits until it has enough, the session is over, or the time has come; under the lock. */
static void await_enough(struct rh_session *core, struct rh_collector *mine, int64_t until) {
    struct rh_collector **link = &core->requests.collectors;
    mine->next = *link;
    *link = mine;
    while (!rh_requests_enough(&core->requests, mine) && core->state != RH_OVER && rh_now_millis() < until) {
        rh_session_wait(core, until);
    }
    while (*link != mine) {
        link = &(*link)->next;
    }
    *link = mine->next;
}

static int32_t collect(railhead_session *session, railhead_completion *completions, size_t room, uint64_t last_id,
                       int64_t until) {
    struct rh_session *core = session->core;
    railhead_buffer *to_flush[AT_A_TIME];
    size_t total = 0, taken;
    if (!rh_session_is_mine(core) || room == 0) {
        return room == 0 ? rh_report_as(RAILHEAD_ARGUMENT, "no room for a completion")
                         : rh_report_as(RAILHEAD_ENDED, "the session is the parent process's");
    }
    pthread_mutex_lock(&core->lock);
    await_enough(core, &(struct rh_collector){.room = room, .last_id = last_id}, until);
    do {
        size_t left = room - total < AT_A_TIME ? room - total : AT_A_TIME;
        taken = take(core, completions + total, to_flush, left);
        pthread_mutex_unlock(&core->lock);
        flush_all(core, completions + total, to_flush, taken);
        total += taken;
        pthread_mutex_lock(&core->lock);
    } while (taken == AT_A_TIME && total < room && total < MOST_AT_ONCE - AT_A_TIME);
    bool over = total == 0 && core->state == RH_OVER;
    struct rh_error error;
    rh_session_ended(core, &error);
    pthread_mutex_unlock(&core->lock);
    return over ? rh_report(&error) : (int32_t)total;
}

RAILHEAD_PUBLIC int32_t railhead_poll(railhead_session *session, railhead_completion *completions, size_t room) {
    return collect(session, completions, room, 0, INT64_MIN);
}

RAILHEAD_PUBLIC int32_t railhead_wait(railhead_session *session, railhead_completion *completions, size_t room,
                                      int64_t timeout_millis) {
    return railhead_wait_all(session, completions, room, 0, timeout_millis);
}

RAILHEAD_PUBLIC int32_t railhead_wait_all(railhead_session *session, railhead_completion *completions, size_t room,
                                          uint64_t last_id, int64_t timeout_millis) {
    int64_t now = rh_now_millis();
    bool forever = timeout_millis < 0 || timeout_millis > INT64_MAX - 1 - now;
    return collect(session, completions, room, last_id, forever ? INT64_MAX : now + timeout_millis);
}

RAILHEAD_PUBLIC void railhead_completions_free(railhead_completion *completions, size_t count) {
    for (size_t i = 0; i < count; i++) {
        free(completions[i].owned);
        completions[i].owned = NULL;
        completions[i].etag = completions[i].version_id = completions[i].code = completions[i].message =
            completions[i].headers = "";
    }
}
