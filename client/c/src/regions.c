/* What the gateway may touch: registered, and let go of again (docs/native-channel.md, section 4). */
#include <fcntl.h>
#include <string.h>

#include "error.h"
#include "session.h"

static int enter(struct rh_session *session, struct rh_error *error) {
    if (!rh_session_is_mine(session)) {
        return rh_fail_as(error, RAILHEAD_ENDED, "the session is the parent process's");
    }
    pthread_mutex_lock(&session->lock);
    if (rh_session_begin_turn(session, error) != 0) {
        pthread_mutex_unlock(&session->lock);
        return -1;
    }
    return 0;
}

static void leave_turn(struct rh_session *session) {
    rh_session_end_turn(session);
    pthread_mutex_unlock(&session->lock);
}

static void put_region(uint8_t payload[24], uint64_t base, uint64_t length, uint64_t last) {
    rh_put64(payload, base);
    rh_put64(payload + 8, length);
    rh_put64(payload + 16, last);
}

/* Before anything is said: once REGISTER was, a descriptor that cannot be sent is the end of all that is under way. */
static int require_sealed(int descriptor, struct rh_error *error) {
    int seals = fcntl(descriptor, F_GET_SEALS);
    return seals >= 0 && seals & F_SEAL_SHRINK
               ? 0 : rh_fail_as(error, RAILHEAD_ARGUMENT, "the descriptor is not that of a memfd with F_SEAL_SHRINK");
}

/* The descriptor's byte goes between two messages; it is answered like one. */
static int send_descriptor(struct rh_session *session, int descriptor, uint8_t answer[4], struct rh_error *error) {
    struct rh_question question = {.wanted = RH_REGISTERED, .wanted_bytes = 4, .sent = true};
    if (session->state != RH_OPEN) {
        return rh_session_ended(session, error);
    }
    if (rh_loopback_send_descriptor(session->transport, descriptor, error) != 0) {
        rh_session_give_up(session, error->text);
        return -1;
    }
    session->holding = false;
    question.deadline = session->answered_by;
    session->question = &question;
    rh_session_flush(session);
    rh_session_hurry(session, question.deadline);
    while (!question.done) {
        rh_session_wait(session, INT64_MAX);
    }
    session->question = NULL;
    memcpy(answer, question.answer, 4);
    if (question.result != 0) {
        *error = question.error;
    }
    return question.result;
}

/* Within a turn. */
static int offer(struct rh_session *session, uint8_t type, const uint8_t payload[24], int descriptor, uint32_t *key,
                 struct rh_error *error) {
    uint8_t answer[4];
    int result = rh_session_ask(session, type, payload, 24, RH_SEND_DESCRIPTOR, 0, NULL, error);
    if (result == 0) {
        result = send_descriptor(session, descriptor, answer, error);
    }
    if (result == 0) {
        *key = rh_get32(answer);
    }
    return result;
}

int rh_session_register(struct rh_session *session, int descriptor, uint64_t base, uint64_t length, uint32_t *key,
                        struct rh_error *error) {
    uint8_t payload[24];
    put_region(payload, base, length, 0);
    if (require_sealed(descriptor, error) != 0 || enter(session, error) != 0) {
        return -1;
    }
    int result = offer(session, RH_REGISTER, payload, descriptor, key, error);
    leave_turn(session);
    return result;
}

int rh_session_bounce(struct rh_session *session, int descriptor, void *buffer, void *own, uint64_t length,
                      uint32_t *key, struct rh_error *error) {
    uint8_t payload[24];
    if (require_sealed(descriptor, error) != 0 || enter(session, error) != 0) {
        return -1;
    }
    struct rh_bounce *bounce = rh_bounces_add(&session->bounces, buffer, own, length);
    int result = bounce ? 0 : rh_fail_as(error, RAILHEAD_NO_MEMORY, "no memory for a bounce buffer");
    if (result == 0) {
        put_region(payload, (uintptr_t)own, length, rh_bounce_handle(bounce));
        result = offer(session, RH_BOUNCE, payload, descriptor, key, error);
        if (result == 0) {
            rh_bounce_registered(bounce, *key);
        } else {
            rh_bounces_remove(&session->bounces, 0);
        }
    }
    leave_turn(session);
    return result;
}

int rh_session_attach(struct rh_session *session, void *base, uint64_t length, uint32_t *key, struct rh_error *error) {
    uint8_t payload[24], nonce[RH_NONCE_BYTES], answer[4];
    put_region(payload, (uintptr_t)base, length, (uintptr_t)session->proof);
    if (enter(session, error) != 0) {
        return -1;
    }
    rh_loopback_let_in(session->transport);
    int result = rh_session_ask(session, RH_ATTACH, payload, sizeof payload, RH_CHALLENGE, sizeof nonce, nonce, error);
    if (result == 0) {
        memcpy(session->proof, nonce, sizeof nonce);
        result = rh_session_ask(session, RH_PROOF, nonce, sizeof nonce, RH_REGISTERED, 4, answer, error);
    }
    if (result == 0) {
        *key = rh_get32(answer);
    }
    leave_turn(session);
    return result;
}

int rh_session_register_region(struct rh_session *session, uint64_t base, uint64_t length, uint32_t rkey, uint32_t *key,
                               struct rh_error *error) {
    uint8_t payload[24], answer[4];
    put_region(payload, base, length, rkey);
    if (enter(session, error) != 0) {
        return -1;
    }
    int result = rh_session_ask(session, RH_REGISTER, payload, sizeof payload, RH_REGISTERED, 4, answer, error);
    if (result == 0) {
        *key = rh_get32(answer);
    }
    leave_turn(session);
    return result;
}

/* Also of a session that is ending: its thread may still be asked. */
static void stop_copying(struct rh_session *session, uint32_t key) {
    if (rh_session_is_mine(session)) {
        pthread_mutex_lock(&session->lock);
        rh_bounces_remove(&session->bounces, key);
        pthread_mutex_unlock(&session->lock);
    }
}

int rh_session_deregister(struct rh_session *session, uint32_t key, struct rh_error *error) {
    uint8_t payload[4], answer[4];
    rh_put32(payload, key);
    stop_copying(session, key);
    if (enter(session, error) != 0) {
        return -1;
    }
    int result = rh_session_ask(session, RH_DEREGISTER, payload, sizeof payload, RH_DEREGISTERED, 4, answer, error);
    if (result == 0 && rh_get32(answer) != key) {
        result = rh_fail_as(error, RAILHEAD_ENDED, "the gateway let go of another buffer");
        rh_session_give_up(session, error->text);
    }
    leave_turn(session);
    return result;
}
