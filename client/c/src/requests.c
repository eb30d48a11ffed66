#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "error.h"
#include "session.h"

enum { SLOT_BITS = 16 };

static void append(struct rh_list *list, struct rh_request *request) {
    request->next = NULL;
    *list->end = request;
    list->end = &request->next;
}

static struct rh_request *remove_first(struct rh_list *list) {
    struct rh_request *first = list->first;
    if (first) {
        list->first = first->next;
        if (!list->first) {
            list->end = &list->first;
        }
    }
    return first;
}

int rh_requests_init(struct rh_requests *requests, uint32_t max, size_t max_message, struct rh_error *error) {
    uint32_t used = max < RH_MOST_REQUESTS ? max : RH_MOST_REQUESTS;
    *requests = (struct rh_requests){.max = used, .max_message = max_message, .next_deadline = INT64_MAX};
    requests->waiting.end = &requests->waiting.first;
    requests->done.end = &requests->done.first;
    requests->slots = calloc(used ? used : 1, sizeof *requests->slots);
    requests->turns = calloc(used ? used : 1, sizeof *requests->turns);
    requests->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return requests->slots && requests->turns && requests->event_fd >= 0
               ? 0 : rh_fail_as(error, RAILHEAD_NO_MEMORY, "no memory or descriptor for requests: %s", strerror(errno));
}

void rh_requests_tell(struct rh_requests *requests) {
    const uint64_t one = 1;
    if (!requests->told) {
        requests->told = true;
        (void)!write(requests->event_fd, &one, sizeof one);
    }
}

void rh_requests_add(struct rh_requests *requests, struct rh_request *request) {
    append(&requests->waiting, request);
    if (request->deadline < requests->next_deadline) {
        requests->next_deadline = request->deadline;
    }
}

static void finish(struct rh_requests *requests, struct rh_request *request, int32_t result, const char *code) {
    request->completion.result = result;
    if (code) {
        request->completion.code = code;
    }
    append(&requests->done, request);
    requests->done_count++;
    requests->failed += result != RAILHEAD_OK;
    rh_requests_tell(requests);
}

void rh_requests_unsupported(struct rh_requests *requests, struct rh_request *request) {
    finish(requests, request, RAILHEAD_NOT_SERVED, "unsupported");
}

static size_t put_requests(struct rh_requests *requests, uint8_t *message) {
    size_t at = RH_HEADER_BYTES;
    uint32_t slot = 0;
    while (requests->waiting.first && requests->sent < requests->max
           && at + requests->waiting.first->record_bytes <= requests->max_message) {
        struct rh_request *request = remove_first(&requests->waiting);
        while (requests->slots[slot]) {
            slot++;
        }
        request->slot = slot | (uint32_t)++requests->turns[slot] << SLOT_BITS;
        requests->slots[slot] = request;
        requests->sent++;
        rh_request_number(request->record, request->slot);
        memcpy(message + at, request->record, request->record_bytes);
        at += request->record_bytes;
    }
    if (at == RH_HEADER_BYTES) {
        return 0;
    }
    rh_message_begin(message, RH_REQUESTS, at - RH_HEADER_BYTES);
    return at;
}

static size_t put_cancel(struct rh_requests *requests, uint8_t *message) {
    for (uint32_t i = 0; i < requests->max; i++) {
        struct rh_request *request = requests->slots[i];
        if (request && request->cancel_due) {
            request->cancel_due = false;
            requests->cancels_due--;
            memset(message, 0, RH_HEADER_BYTES + 8);
            rh_message_begin(message, RH_CANCEL, 8);
            rh_put32(message + RH_HEADER_BYTES, request->slot);
            return RH_HEADER_BYTES + 8;
        }
    }
    return 0;
}

size_t rh_requests_next(struct rh_requests *requests, uint8_t message[RH_MESSAGE_BYTES]) {
    return requests->cancels_due > 0 ? put_cancel(requests, message) : put_requests(requests, message);
}

/* The request that this may be the answer to: what moved more than the window is none's. */
static struct rh_request *take_slot(struct rh_requests *requests, const struct rh_answer *answer) {
    uint32_t slot = answer->id & ((1u << SLOT_BITS) - 1);
    struct rh_request *request = slot < requests->max ? requests->slots[slot] : NULL;
    if (!request || request->slot != answer->id || answer->bytes_moved > request->window) {
        return NULL;
    }
    requests->slots[slot] = NULL;
    requests->sent--;
    requests->cancels_due -= request->cancel_due;
    return request;
}

static const char *keep(char **at, const char *text, size_t bytes) {
    char *kept = *at;
    memcpy(kept, text, bytes);
    kept[bytes] = 0;
    *at += bytes + 1;
    return kept;
}

static bool keep_texts(railhead_completion *completion, const struct rh_answer *answer) {
    size_t total = RH_ANSWER_TEXTS;
    for (int i = 0; i < RH_ANSWER_TEXTS; i++) {
        total += answer->text_bytes[i];
    }
    char *at = total == RH_ANSWER_TEXTS ? NULL : malloc(total);
    completion->owned = at;
    const char **const to[] = {&completion->etag, &completion->version_id, &completion->code, &completion->message,
                               &completion->headers};
    for (int i = 0; at && i < RH_ANSWER_TEXTS; i++) {
        *to[i] = keep(&at, answer->text[i], answer->text_bytes[i]);
    }
    return completion->owned || total == RH_ANSWER_TEXTS;
}

static bool code_begins(const struct rh_answer *answer, const char *with) {
    return answer->text_bytes[2] >= strlen(with) && memcmp(answer->text[2], with, strlen(with)) == 0;
}

static bool code_is(const struct rh_answer *answer, const char *code) {
    return answer->text_bytes[2] == strlen(code) && code_begins(answer, code);
}

/* Whether the object may be stored all the same: but for these, 5xx also tells of a store that fell silent after the last byte. */
static bool is_doubtful(const struct rh_answer *answer) {
    return answer->status >= 500 && answer->status != 501 && !code_is(answer, "SlowDown") && !code_begins(answer, "RDMA");
}

static int32_t result_of(const struct rh_request *request, const struct rh_answer *answer, bool ended) {
    if (answer->status == 200 || answer->status == 206) {
        return RAILHEAD_OK;
    }
    if (answer->status != 0) {
        return request->operation == RAILHEAD_PUT && is_doubtful(answer) ? RAILHEAD_UNKNOWN : RAILHEAD_STORE;
    }
    if (request->cancelled && code_is(answer, "cancelled")) {
        return request->timed_out ? RAILHEAD_TIMED_OUT : RAILHEAD_CANCELLED;
    }
    return ended ? RAILHEAD_ENDED : RAILHEAD_NOT_SERVED;
}

int rh_requests_answered(struct rh_requests *requests, const uint8_t *records, size_t bytes, bool ended) {
    while (bytes > 0) {
        struct rh_answer answer;
        int length = rh_answer_decode(records, bytes, &answer);
        struct rh_request *request = length > 0 ? take_slot(requests, &answer) : NULL;
        if (!request) {
            return -1;
        }
        railhead_completion *completion = &request->completion;
        completion->status = answer.status;
        completion->bytes = answer.bytes_moved;
        completion->object_bytes = answer.object_bytes;
        completion->first_byte = answer.first_byte;
        completion->last_modified_millis = answer.last_modified_millis;
        completion->cache = answer.cache;
        completion->flags = answer.flags;
        if (!keep_texts(completion, &answer)) {
            completion->flags |= RAILHEAD_TEXTS_LEFT_OUT;
        }
        finish(requests, request, result_of(request, &answer, ended), NULL);
        records += length;
        bytes -= (size_t)length;
    }
    return 0;
}

static void cancel_sent(struct rh_requests *requests, struct rh_request *request) {
    if (!request->cancelled) {
        request->cancelled = true;
        request->cancel_due = true;
        requests->cancels_due++;
    }
}

/* The waiting request that `link` leads to is done. */
static void finish_waiting(struct rh_requests *requests, struct rh_request **link, int32_t result, const char *code) {
    struct rh_request *request = *link;
    *link = request->next;
    if (!request->next) {
        requests->waiting.end = link;
    }
    finish(requests, request, result, code);
}

void rh_requests_cancel(struct rh_requests *requests, uint64_t id) {
    for (uint32_t i = 0; i < requests->max; i++) {
        if (requests->slots[i] && requests->slots[i]->id == id) {
            cancel_sent(requests, requests->slots[i]);
            return;
        }
    }
    for (struct rh_request **link = &requests->waiting.first; *link; link = &(*link)->next) {
        if ((*link)->id == id) {
            finish_waiting(requests, link, RAILHEAD_CANCELLED, "cancelled");
            return;
        }
    }
}

static bool is_late(struct rh_requests *requests, struct rh_request *request, int64_t now, int64_t patience) {
    if (request->deadline <= now) {
        if (request->timed_out) {
            return true;
        }
        request->timed_out = true;
        request->deadline = now + patience;
        cancel_sent(requests, request);
    }
    if (request->deadline < requests->next_deadline) {
        requests->next_deadline = request->deadline;
    }
    return false;
}

bool rh_requests_late(struct rh_requests *requests, int64_t now, int64_t patience) {
    bool too_late = false;
    if (now < requests->next_deadline) {
        return false;
    }
    requests->next_deadline = INT64_MAX;
    for (uint32_t i = 0; i < requests->max; i++) {
        if (requests->slots[i]) {
            too_late |= is_late(requests, requests->slots[i], now, patience);
        }
    }
    for (struct rh_request **link = &requests->waiting.first; *link;) {
        struct rh_request *request = *link;
        if (request->deadline <= now) {
            finish_waiting(requests, link, RAILHEAD_TIMED_OUT, "");
            continue;
        }
        if (request->deadline < requests->next_deadline) {
            requests->next_deadline = request->deadline;
        }
        link = &request->next;
    }
    return too_late;
}

void rh_requests_end(struct rh_requests *requests, bool held) {
    for (uint32_t i = 0; i < requests->max; i++) {
        struct rh_request *request = requests->slots[i];
        if (request) {
            requests->slots[i] = NULL;
            request->completion.flags |= held && request->buffer ? RAILHEAD_WINDOW_HELD : 0;
            bool writes = request->operation == RAILHEAD_PUT || request->operation == RAILHEAD_UPLOAD_PART;
            finish(requests, request, writes ? RAILHEAD_UNKNOWN : RAILHEAD_ENDED, NULL);
        }
    }
    while (requests->waiting.first) {
        finish_waiting(requests, &requests->waiting.first, RAILHEAD_ENDED, NULL);
    }
    requests->sent = requests->cancels_due = 0;
    requests->next_deadline = INT64_MAX;
    rh_requests_tell(requests);
}

bool rh_requests_enough(const struct rh_requests *requests, const struct rh_collector *collector) {
    return requests->done.first
           && (requests->last_id > collector->last_id || requests->failed > 0 || requests->done_count >= collector->room
               || (requests->sent == 0 && !requests->waiting.first));
}

bool rh_requests_wanted(const struct rh_requests *requests) {
    const struct rh_collector *collector = requests->collectors;
    while (collector && !rh_requests_enough(requests, collector)) {
        collector = collector->next;
    }
    return collector != NULL;
}

struct rh_request *rh_requests_take(struct rh_requests *requests, bool over) {
    struct rh_request *request = remove_first(&requests->done);
    if (request) {
        requests->done_count--;
        requests->failed -= request->completion.result != RAILHEAD_OK;
    }
    if (!requests->done.first && requests->told && !over) {
        uint64_t count;
        requests->told = false;
        (void)!read(requests->event_fd, &count, sizeof count);
    }
    return request;
}

static void free_list(struct rh_list *list) {
    for (struct rh_request *request; (request = remove_first(list)) != NULL;) {
        free(request->completion.owned);
        free(request);
    }
}

void rh_requests_destroy(struct rh_requests *requests) {
    for (uint32_t i = 0; requests->slots && i < requests->max; i++) {
        free(requests->slots[i]);
    }
    free_list(&requests->waiting);
    free_list(&requests->done);
    free(requests->slots);
    free(requests->turns);
    if (requests->event_fd >= 0) {
        close(requests->event_fd);
    }
}
