#include "session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "error.h"

enum { MESSAGES_AT_A_TIME = 64 };

int64_t rh_now_millis(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void rh_session_wait(struct rh_session *session, int64_t until) {
    if (until == INT64_MAX) {
        pthread_cond_wait(&session->changed, &session->lock);
    } else {
        struct timespec at = {.tv_sec = until / 1000, .tv_nsec = until % 1000 * 1000000};
        pthread_cond_timedwait(&session->changed, &session->lock, &at);
    }
}

bool rh_session_is_mine(const struct rh_session *session) {
    return session->owner == getpid();
}

void rh_session_hurry(struct rh_session *session, int64_t due) {
    if (due < session->sleeps_until) {
        session->sleeps_until = due;
        session->transport->fabric->wake(session->transport);
    }
}

int rh_session_reject(const struct rh_message *message, struct rh_error *error) {
    static const char *const refusals[] = {
        "none", "unknown session", "bad proof", "too slow", "busy", "too many buffers", "bad length", "not sealed",
        "cannot map", "unknown key", "protocol", "too many bytes registered", "wrong gid",
        "may not, or cannot, attach to this process's memory (rdma.loopback.cross_memory)"};
    static const char *const ends[] = {"none", "peer gone", "revoked", "shutting down", "silent", "protocol",
                                       "access", "fenced", "unavailable"};
    uint32_t reason = message->bytes >= 4 ? rh_get32(message->payload) : 0;
    if (message->type == RH_REFUSED) {
        rh_fail_as(error, RAILHEAD_REFUSED, "refused by the gateway: %s", reason < 14 ? refusals[reason] : "unknown reason");
        error->refusal = reason;
        return -1;
    }
    if (message->type == RH_ENDED) {
        return rh_fail_as(error, RAILHEAD_ENDED, "the gateway ended the session: %s",
                          reason < 9 ? ends[reason] : "unknown reason");
    }
    return rh_fail_as(error, RAILHEAD_ENDED, "unexpected message %d of %d bytes", message->type, message->bytes);
}

/* ---- The end ---- */

void rh_session_leave(struct rh_session *session, const char *why) {
    if (session->state == RH_OPEN) {
        session->state = RH_LEAVING;
        session->leave_by = rh_now_millis() + session->timeout_millis;
        snprintf(session->end, sizeof session->end, "%s", why);
        rh_session_hurry(session, session->leave_by);
        pthread_cond_broadcast(&session->changed);
    }
}

void rh_session_give_up(struct rh_session *session, const char *why) {
    rh_session_leave(session, why);
    if (!session->deaf) {
        session->deaf = true;
        session->transport->fabric->hang_up(session->transport);
        rh_session_hurry(session, 0);
    }
}

int rh_session_ended(const struct rh_session *session, struct rh_error *error) {
    return rh_fail_as(error, RAILHEAD_ENDED, "%s", session->end);
}

static void finish_question(struct rh_session *session, int result) {
    session->question->result = result;
    session->question->done = true;
    if (session->question == &session->ping) {
        session->question = NULL;
        session->asking = false;
    }
    pthread_cond_broadcast(&session->changed);
}

static void over(struct rh_session *session, const char *why) {
    rh_session_leave(session, why);
    session->state = RH_OVER;
    rh_requests_end(&session->requests, session->held);
    if (session->question && !session->question->done) {
        rh_session_ended(session, &session->question->error);
        finish_question(session, -1);
    }
    pthread_cond_broadcast(&session->changed);
}

/* ---- Saying ---- */

static size_t next_message(struct rh_session *session, uint8_t *message) {
    struct rh_question *question = session->question;
    if (question && !question->sent) {
        question->sent = true;
        session->holding |= question->wanted == RH_SEND_DESCRIPTOR;
        memcpy(message, question->message, question->message_bytes);
        return question->message_bytes;
    }
    if (session->holding || session->state != RH_OPEN) {
        return 0;
    }
    size_t bytes = rh_bounces_next(&session->bounces, message);
    if (bytes == 0) {
        bytes = rh_requests_next(&session->requests, message);
    }
    if (bytes == 0 && session->bye_due) {
        session->bye_due = false;
        rh_message_begin(message, RH_BYE, 0);
        bytes = RH_HEADER_BYTES;
        rh_session_leave(session, "the session was closed");
    }
    return bytes;
}

void rh_session_flush(struct rh_session *session) {
    const struct rh_fabric *fabric = session->transport->fabric;
    uint8_t message[RH_MESSAGE_BYTES];
    struct rh_error error;
    while (session->state == RH_OPEN) {
        int ready = fabric->ready(session->transport, &error);
        size_t bytes = ready > 0 ? next_message(session, message) : 0;
        if (ready < 0 || (bytes > 0 && fabric->send(session->transport, message, bytes, &error) != 0)) {
            rh_session_leave(session, error.text); /* what the gateway said before may still be read */
            return;
        }
        if (bytes == 0) {
            if (ready == 0) {
                rh_session_hurry(session, 0); /* the thread waits for room */
            }
            return;
        }
        session->said_at = rh_now_millis();
    }
}

/* ---- Asking ---- */

static void take_turn(struct rh_session *session) {
    session->asking = true;
    session->answered_by = rh_now_millis() + session->timeout_millis;
}

int rh_session_begin_turn(struct rh_session *session, struct rh_error *error) {
    while (session->asking && session->state == RH_OPEN) {
        rh_session_wait(session, INT64_MAX); /* each turn has an end */
    }
    if (session->state != RH_OPEN) {
        return rh_session_ended(session, error);
    }
    take_turn(session);
    return 0;
}

void rh_session_end_turn(struct rh_session *session) {
    session->asking = false;
    session->holding = false;
    pthread_cond_broadcast(&session->changed);
    rh_session_flush(session);
}

static void pose(struct rh_session *session, struct rh_question *question, uint8_t type, const void *payload,
                 size_t bytes) {
    rh_message_begin(question->message, type, bytes);
    if (bytes) {
        memcpy(question->message + RH_HEADER_BYTES, payload, bytes);
    }
    question->message_bytes = RH_HEADER_BYTES + bytes;
    question->deadline = session->answered_by;
    session->question = question;
    rh_session_flush(session);
    rh_session_hurry(session, question->deadline);
}

int rh_session_ask(struct rh_session *session, uint8_t type, const void *payload, size_t bytes, uint8_t wanted,
                   uint16_t wanted_bytes, uint8_t *answer, struct rh_error *error) {
    struct rh_question question = {.wanted = wanted, .wanted_bytes = wanted_bytes};
    if (session->state != RH_OPEN) {
        return rh_session_ended(session, error);
    }
    pose(session, &question, type, payload, bytes);
    while (!question.done) {
        rh_session_wait(session, INT64_MAX); /* the thread sees to the deadline */
    }
    session->question = NULL;
    if (question.result != 0) {
        *error = question.error;
        return -1;
    }
    if (answer) {
        memcpy(answer, question.answer, wanted_bytes);
    }
    return 0;
}

/* ---- The thread ---- */

static void heard_answer(struct rh_session *session, const struct rh_message *message) {
    struct rh_question *question = session->question;
    struct rh_error error;
    bool awaited = question && question->sent && !question->done;
    if (awaited && message->type == question->wanted && message->bytes == question->wanted_bytes) {
        memcpy(question->answer, message->payload, message->bytes);
        finish_question(session, 0);
        return;
    }
    rh_session_reject(message, &error);
    if (awaited && message->type == RH_REFUSED && message->bytes == 4) {
        question->error = error;
        finish_question(session, -1);
        return;
    }
    rh_session_give_up(session, error.text);
}

static void heard(struct rh_session *session, const struct rh_message *message) {
    int taken = 0;
    switch (message->type) {
        case RH_ANSWERS:
            taken = message->bytes == 0
                        ? -1 : rh_requests_answered(&session->requests, message->payload, message->bytes, false);
            if (taken == 0 && !rh_requests_wanted(&session->requests)) {
                return; /* nobody is waken for nothing */
            }
            break;
        case RH_SYNC:
            if (rh_bounces_asked(&session->bounces, message) != 0) {
                rh_session_give_up(session, "the gateway asked for a copy that cannot be");
            }
            return; /* the thread sends the answer before it sleeps; nobody else waits for it */
        case RH_ENDED: {
            struct rh_error why;
            rh_session_reject(message, &why);
            rh_session_leave(session, why.text);
            taken = message->bytes < 8
                        ? -1 : rh_requests_answered(&session->requests, message->payload + 8, message->bytes - 8u, true);
            break;
        }
        default: heard_answer(session, message); return;
    }
    if (taken != 0) {
        rh_session_give_up(session, "what the gateway answered was not asked");
    }
    pthread_cond_broadcast(&session->changed);
}

/* Some of what has come, so that others get the lock and deadlines are seen to: whether there may be more. */
static bool hear(struct rh_session *session) {
    struct rh_message message;
    struct rh_error error;
    for (int i = 0; i < MESSAGES_AT_A_TIME; i++) {
        int got = session->transport->fabric->receive(session->transport, &message, &error);
        if (got == 0) {
            return false;
        }
        if (got == RH_AT_END) {
            over(session, error.text);
            return false;
        }
        if (got == RH_NO_MESSAGE) {
            rh_session_give_up(session, error.text);
        } else if (!session->deaf) {
            heard(session, &message);
        }
    }
    return true;
}

static int64_t soonest(int64_t one, int64_t other) {
    return one < other ? one : other;
}

static int64_t ping_at(const struct rh_session *session) {
    return session->said_at + session->keep_alive_millis / 2 + 1;
}

static int64_t next_due(const struct rh_session *session) {
    int64_t due = session->question && !session->question->done ? session->question->deadline : INT64_MAX;
    if (session->state != RH_OPEN) {
        return soonest(due, session->leave_by);
    }
    due = soonest(due, session->requests.next_deadline);
    return session->asking ? due : soonest(due, ping_at(session));
}

static void see_to_deadlines(struct rh_session *session) {
    int64_t now = rh_now_millis();
    if (session->question && !session->question->done && session->question->deadline <= now) {
        rh_fail_as(&session->question->error, RAILHEAD_TIMED_OUT, "the gateway did not answer in time");
        rh_session_give_up(session, session->question->error.text);
        finish_question(session, -1);
    }
    if (session->state == RH_OPEN && rh_requests_late(&session->requests, now, session->timeout_millis)) {
        rh_session_give_up(session, "the gateway did not answer a request in time");
    }
    if (session->state == RH_LEAVING && session->leave_by <= now) {
        session->held = !session->transport->fabric->break_off(session->transport);
        over(session, session->end);
    }
    if (session->state == RH_OPEN && !session->asking && ping_at(session) <= now) {
        static const uint8_t value[8];
        take_turn(session);
        session->ping = (struct rh_question){.wanted = RH_PONG, .wanted_bytes = sizeof value};
        pose(session, &session->ping, RH_PING, value, sizeof value);
    }
    pthread_cond_broadcast(&session->changed);
}

void *rh_session_run(void *of) {
    struct rh_session *session = of;
    struct rh_error error;
    bool more = false;
    pthread_mutex_lock(&session->lock);
    while (session->state != RH_OVER) {
        const struct rh_fabric *fabric = session->transport->fabric;
        rh_session_flush(session);
        bool blocked = session->state != RH_OVER && fabric->ready(session->transport, &error) == 0;
        int64_t due = next_due(session);
        session->sleeps_until = due;
        pthread_mutex_unlock(&session->lock);
        int64_t millis = more ? 0 : due - rh_now_millis();
        fabric->sleep(session->transport, blocked, millis < 60000 ? millis : 60000);
        pthread_mutex_lock(&session->lock);
        session->sleeps_until = 0;
        more = hear(session);
        if (session->state != RH_OVER && rh_now_millis() >= next_due(session)) {
            see_to_deadlines(session);
        }
    }
    if (!session->held && session->transport->fabric->let_go) {
        session->transport->fabric->let_go(session->transport);
    }
    pthread_mutex_unlock(&session->lock);
    return NULL;
}

uint32_t rh_session_number(const struct rh_session *session) {
    return session->number;
}

bool rh_session_is_open(struct rh_session *session) {
    if (!rh_session_is_mine(session)) {
        return false;
    }
    pthread_mutex_lock(&session->lock);
    bool open = session->state == RH_OPEN && session->transport->fabric->stands(session->transport);
    pthread_mutex_unlock(&session->lock);
    return open;
}

/* The gateway closes last, after its last copy; after BYE it touches nothing more for requests that are under way. */
bool rh_session_finish(struct rh_session *session) {
    if (!rh_session_is_mine(session)) {
        return true;
    }
    pthread_mutex_lock(&session->lock);
    if (session->state == RH_OPEN) {
        session->bye_due = true;
        while (session->requests.waiting.first) {
            rh_requests_cancel(&session->requests, session->requests.waiting.first->id);
        }
        rh_session_flush(session);
        if (session->state == RH_OPEN) {
            rh_session_give_up(session, "the session was closed"); /* there is no room for a BYE */
        }
    }
    pthread_mutex_unlock(&session->lock);
    pthread_join(session->thread, NULL);
    return !session->held;
}

bool rh_session_await_end(struct rh_session *session) {
    pthread_mutex_lock(&session->lock);
    bool open = session->state == RH_OPEN;
    while (session->state == RH_LEAVING) {
        rh_session_wait(session, INT64_MAX);
    }
    bool held = session->held;
    pthread_mutex_unlock(&session->lock);
    return !open && !held;
}

void rh_session_close(struct rh_session *session) {
    (void)rh_session_finish(session);
    rh_session_discard(session);
}
