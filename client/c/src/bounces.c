/* Memory of the program's own behind bounce buffers: the session's thread copies whenever the gateway asks (SYNC). */
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "session.h"

/* More than a gateway has workers that may ask at a time. */
enum { MOST_ANSWERS = 1024 };

struct rh_bounce {
    struct rh_bounce *next;
    uint64_t handle;
    uint8_t *own;
    uint8_t *buffer;
    uint64_t length;
    uint32_t key; /* 0 until it is registered */
};

static struct rh_bounce *find(const struct rh_bounces *bounces, uint64_t handle) {
    struct rh_bounce *bounce = bounces->first;
    while (bounce && bounce->handle != handle) {
        bounce = bounce->next;
    }
    return bounce;
}

struct rh_bounce *rh_bounces_add(struct rh_bounces *bounces, uint8_t *buffer, uint8_t *own, uint64_t length) {
    struct rh_bounce *bounce = calloc(1, sizeof *bounce);
    if (bounce) {
        *bounce = (struct rh_bounce){.next = bounces->first, .handle = ++bounces->last_handle, .own = own,
                                     .buffer = buffer, .length = length};
        bounces->first = bounce;
    }
    return bounce;
}

uint64_t rh_bounce_handle(const struct rh_bounce *bounce) {
    return bounce->handle;
}

void rh_bounce_registered(struct rh_bounce *bounce, uint32_t key) {
    bounce->key = key;
}

void rh_bounces_remove(struct rh_bounces *bounces, uint32_t key) {
    struct rh_bounce **at = &bounces->first;
    while (*at && (*at)->key != key) {
        at = &(*at)->next;
    }
    if (*at) {
        struct rh_bounce *bounce = *at;
        *at = bounce->next;
        free(bounce);
    }
}

static bool copy(const struct rh_bounce *bounce, bool to_own, uint64_t offset, uint64_t length) {
    if (!bounce) {
        return false;
    }
    if (to_own) {
        memcpy(bounce->own + offset, bounce->buffer + offset, length);
    } else {
        memcpy(bounce->buffer + offset, bounce->own + offset, length);
    }
    return true;
}

int rh_bounces_asked(struct rh_bounces *bounces, const struct rh_message *message) {
    if (message->bytes != 32) {
        return -1;
    }
    const uint8_t *at = message->payload;
    uint32_t to_own = rh_get32(at + 4);
    uint64_t offset = rh_get64(at + 16), length = rh_get64(at + 24);
    struct rh_bounce *bounce = find(bounces, rh_get64(at + 8));
    bool outside = bounce && (offset > bounce->length || length > bounce->length - offset);
    if (to_own > 1 || outside || bounces->answers_end - bounces->answers_sent == MOST_ANSWERS) {
        return -1;
    }
    if (!bounces->answers && !(bounces->answers = calloc(MOST_ANSWERS, sizeof *bounces->answers))) {
        return -1;
    }
    bounces->answers[bounces->answers_end++ % MOST_ANSWERS] =
        (struct rh_synced){.id = rh_get32(at), .copied = copy(bounce, to_own == 1, offset, length)};
    return 0;
}

size_t rh_bounces_next(struct rh_bounces *bounces, uint8_t *message) {
    if (bounces->answers_sent == bounces->answers_end) {
        return 0;
    }
    struct rh_synced answer = bounces->answers[bounces->answers_sent++ % MOST_ANSWERS];
    rh_message_begin(message, RH_SYNCED, 8);
    rh_put32(message + RH_HEADER_BYTES, answer.id);
    rh_put32(message + RH_HEADER_BYTES + 4, answer.copied);
    return RH_HEADER_BYTES + 8;
}

void rh_bounces_destroy(struct rh_bounces *bounces) {
    while (bounces->first) {
        struct rh_bounce *bounce = bounces->first;
        bounces->first = bounce->next;
        free(bounce);
    }
    free(bounces->answers);
    bounces->answers = NULL;
}
