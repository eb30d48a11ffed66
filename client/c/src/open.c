/* From a grant to a proven session with its thread (docs/native-channel.md, section 3). */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "session.h"
#include "verbs.h"

enum {
    WELCOME_BYTES = 56,
    HELLO_BYTES = RH_ID_BYTES + RH_NONCE_BYTES,
    LEAST_MESSAGE_BYTES = RH_HEADER_BYTES + RH_REQUEST_FIXED_BYTES + 8, /* a request with the shortest names */
    LEAST_KEEP_ALIVE_MILLIS = 10
};

/* The program's signal handlers are not run on a thread that it does not know. */
static int start(struct rh_session *session, struct rh_error *error) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = pthread_create(&session->thread, NULL, rh_session_run, session);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure == 0 ? 0 : rh_fail(error, "no thread: %s", strerror(failure));
}

/* Before there is a thread. */
static int say(struct rh_transport *transport, uint8_t type, const uint8_t *payload, size_t bytes,
               struct rh_error *error) {
    uint8_t message[RH_HEADER_BYTES + HELLO_BYTES];
    rh_message_begin(message, type, bytes);
    memcpy(message + RH_HEADER_BYTES, payload, bytes);
    return transport->fabric->ready(transport, error) < 0
               ? -1 : transport->fabric->send(transport, message, RH_HEADER_BYTES + bytes, error);
}

static int await(struct rh_transport *transport, int64_t deadline, uint8_t type, uint16_t bytes,
                 struct rh_message *message, struct rh_error *error) {
    int got;
    while ((got = transport->fabric->receive(transport, message, error)) == 0) {
        int64_t left = deadline - rh_now_millis();
        if (left <= 0) {
            return rh_fail_as(error, RAILHEAD_TIMED_OUT, "the gateway did not answer in time");
        }
        transport->fabric->sleep(transport, transport->fabric->ready(transport, error) == 0, left);
    }
    if (got < 0) {
        return -1;
    }
    return message->type == type && message->bytes == bytes ? 0 : rh_session_reject(message, error);
}

/* Connects, and exchanges HELLO for CHALLENGE: over verbs one comes with the other. */
static struct rh_transport *greet(const struct rh_grant *grant, const uint8_t hello[HELLO_BYTES], int64_t deadline,
                                  uint8_t challenge[RH_NONCE_BYTES], struct rh_error *error) {
    struct rh_message answer = {0};
    if (grant->fabric == RAILHEAD_VERBS) {
        uint8_t message[RH_HEADER_BYTES + HELLO_BYTES], said[RH_VERBS_PRIVATE_BYTES];
        rh_message_begin(message, RH_HELLO, HELLO_BYTES);
        memcpy(message + RH_HEADER_BYTES, hello, HELLO_BYTES);
        struct rh_transport *transport = rh_verbs_connect(grant, message, deadline - rh_now_millis(), said, error);
        if (!transport) {
            if (rh_message_parse(said, sizeof said, &answer) > 0 && answer.type == RH_REFUSED) {
                rh_session_reject(&answer, error);
            }
            return NULL;
        }
        if (rh_message_parse(said, sizeof said, &answer) <= 0 || answer.type != RH_CHALLENGE
            || answer.bytes != RH_NONCE_BYTES) {
            rh_fail(error, "who accepts the connection is no gateway");
            transport->fabric->close(transport);
            return NULL;
        }
        memcpy(challenge, answer.payload, RH_NONCE_BYTES);
        return transport;
    }
    struct rh_transport *transport = rh_loopback_connect(grant->socket, deadline, error);
    if (transport
        && (say(transport, RH_HELLO, hello, HELLO_BYTES, error) != 0
            || await(transport, deadline, RH_CHALLENGE, RH_NONCE_BYTES, &answer, error) != 0)) {
        transport->fabric->close(transport);
        return NULL;
    }
    if (transport) {
        memcpy(challenge, answer.payload, RH_NONCE_BYTES);
    }
    return transport;
}

static bool differs(const uint8_t *one, const uint8_t *other, size_t bytes) {
    uint8_t different = 0;
    for (size_t i = 0; i < bytes; i++) {
        different |= one[i] ^ other[i];
    }
    return different != 0;
}

static int take_limits(struct rh_session *session, const struct rh_grant *grant, const uint8_t *welcome,
                       struct rh_error *error) {
    uint32_t max_requests = rh_get32(welcome + 40), max_message = rh_get32(welcome + 44);
    session->number = rh_get32(welcome + 32);
    session->keep_alive_millis = rh_get32(welcome + 48);
    if (max_requests == 0 || max_message < LEAST_MESSAGE_BYTES || session->keep_alive_millis < LEAST_KEEP_ALIVE_MILLIS
        || rh_get32(welcome + 52) != 0) {
        return rh_fail(error, "the gateway's limits are none: %u requests, messages of %u bytes, keep-alive of %u ms",
                       max_requests, max_message, session->keep_alive_millis);
    }
    if (grant->fabric == RAILHEAD_VERBS && max_requests > grant->max_requests) {
        max_requests = grant->max_requests; /* for so many receives were posted */
    }
    return rh_requests_init(&session->requests, max_requests,
                            max_message < RH_MESSAGE_BYTES ? max_message : RH_MESSAGE_BYTES, error);
}

static int prove(struct rh_session *session, const struct rh_grant *grant, const uint8_t *nonce, const uint8_t *challenge,
                 int64_t deadline, struct rh_error *error) {
    uint8_t proof[RH_HASH_BYTES];
    struct rh_message welcome;
    rh_session_proof(proof, grant->key, RH_CLIENT_PROOF, grant->id, nonce, challenge);
    if (say(session->transport, RH_PROOF, proof, sizeof proof, error) != 0
        || await(session->transport, deadline, RH_WELCOME, WELCOME_BYTES, &welcome, error) != 0) {
        return -1;
    }
    rh_session_proof(proof, grant->key, RH_SERVER_PROOF, grant->id, nonce, challenge);
    if (differs(proof, welcome.payload, sizeof proof)) {
        return rh_fail_as(error, RAILHEAD_REFUSED, "who listens there is not the gateway");
    }
    return take_limits(session, grant, welcome.payload, error);
}

void rh_session_discard(struct rh_session *session) {
    if (rh_session_is_mine(session)) {
        session->transport->fabric->close(session->transport);
        pthread_mutex_destroy(&session->lock);
        pthread_cond_destroy(&session->changed);
    } else {
        session->transport->fabric->abandon(session->transport);
    }
    rh_requests_destroy(&session->requests);
    rh_bounces_destroy(&session->bounces);
    free(session);
}

static struct rh_session *new_session(struct rh_transport *owned_transport, long timeout_millis) {
    struct rh_session *made = calloc(1, sizeof *made);
    if (!made) {
        owned_transport->fabric->close(owned_transport);
        return NULL;
    }
    made->owner = getpid();
    made->transport = owned_transport;
    made->timeout_millis = timeout_millis;
    made->requests.event_fd = -1;
    made->said_at = rh_now_millis();
    pthread_mutex_init(&made->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&made->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return made;
}

int rh_session_connect(const struct rh_grant *grant, long timeout_millis, struct rh_session **session,
                       struct rh_error *error) {
    return rh_session_connect_by(grant, rh_now_millis() + timeout_millis, timeout_millis, session, error);
}

int rh_session_connect_by(const struct rh_grant *grant, int64_t deadline, long timeout_millis, struct rh_session **session,
                          struct rh_error *error) {
    uint8_t hello[HELLO_BYTES], challenge[RH_NONCE_BYTES];
    memcpy(hello, grant->id, RH_ID_BYTES);
    if (rh_random(hello + RH_ID_BYTES, RH_NONCE_BYTES, error) != 0) {
        return -1;
    }
    struct rh_transport *transport = greet(grant, hello, deadline, challenge, error);
    if (!transport) {
        return -1;
    }
    struct rh_session *made = new_session(transport, timeout_millis);
    if (!made) {
        return rh_fail_as(error, RAILHEAD_NO_MEMORY, "out of memory");
    }
    memcpy(made->id, grant->id, RH_ID_BYTES);
    made->max_windows = grant->max_windows;
    made->max_operation = grant->max_operation > RAILHEAD_UPLOAD_PART ? grant->max_operation : RAILHEAD_UPLOAD_PART;
    if (prove(made, grant, hello + RH_ID_BYTES, challenge, deadline, error) != 0 || start(made, error) != 0) {
        rh_session_discard(made);
        return -1;
    }
    *session = made;
    return 0;
}
