#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "crypto.h"
#include "error.h"
#include "wire.h"

/*
 * `lock` is held over each question and its answer, since the protocol takes one at a time; it guards the wire. `open`
 * only ever goes from true to false. In a child of fork nothing but `owner` is looked at, and the descriptor closed.
 */
struct rh_session {
    pid_t owner;
    pthread_mutex_t lock;
    pthread_cond_t leaving;
    bool left;
    atomic_bool open;
    struct rh_wire wire;
    long timeout_millis;
    uint32_t number;
    uint32_t keep_alive_millis;
    pthread_t keeper;
    uint8_t proof[RH_NONCE_BYTES]; /* where the gateway looks for its nonce, to see whose memory it has */
};

static int reject(const struct rh_message *message, struct rh_error *error) {
    static const char *const refusals[] = {
        "none", "unknown session", "bad proof", "too slow", "busy", "too many buffers", "bad length", "not sealed",
        "cannot map", "unknown key", "protocol", "too many bytes registered", "wrong gid",
        "may not, or cannot, attach to this process's memory (rdma.loopback.cross_memory)"};
    static const char *const ends[] = {"none", "peer gone", "revoked", "shutting down", "silent", "protocol",
                                       "access", "fenced", "unavailable"};
    uint32_t reason = message->bytes >= 4 ? rh_get32(message->payload) : 0;
    if (message->type == RH_REFUSED) {
        return rh_fail(error, "refused by the gateway: %s", reason < 14 ? refusals[reason] : "unknown reason");
    }
    if (message->type == RH_ENDED) {
        return rh_fail(error, "the gateway ended the session: %s", reason < 9 ? ends[reason] : "unknown reason");
    }
    return rh_fail(error, "unexpected message %d of %d bytes", message->type, message->bytes);
}

/* Under the lock. */
static int give_up(struct rh_session *session) {
    atomic_store(&session->open, false);
    return -1;
}

/* Under the lock. What is neither the wanted answer nor a refusal breaks the session. */
static int await(struct rh_session *session, uint8_t type, uint16_t bytes, struct rh_message *message,
                 struct rh_error *error) {
    if (rh_wire_receive(&session->wire, session->timeout_millis, message, error) != 0) {
        return give_up(session);
    }
    if (message->type == type && message->bytes == bytes) {
        return 0;
    }
    reject(message, error);
    return message->type == RH_REFUSED && message->bytes == 4 ? -1 : give_up(session);
}

static int say(struct rh_session *session, uint8_t type, const uint8_t *payload, uint16_t bytes,
               struct rh_error *error) {
    return rh_wire_send(&session->wire, type, payload, bytes, error) == 0 ? 0 : give_up(session);
}

static int handshake(struct rh_session *session, const struct rh_grant *grant, struct rh_error *error) {
    uint8_t hello[RH_ID_BYTES + RH_NONCE_BYTES], *nonce = hello + RH_ID_BYTES, server_nonce[RH_NONCE_BYTES];
    uint8_t proof[RH_HASH_BYTES];
    struct rh_message answer;
    memcpy(hello, grant->id, RH_ID_BYTES);
    if (rh_random(nonce, RH_NONCE_BYTES, error) != 0 || say(session, RH_HELLO, hello, sizeof hello, error) != 0
        || await(session, RH_CHALLENGE, RH_NONCE_BYTES, &answer, error) != 0) {
        return -1;
    }
    memcpy(server_nonce, answer.payload, RH_NONCE_BYTES);
    rh_session_proof(proof, grant->key, RH_CLIENT_PROOF, grant->id, nonce, server_nonce);
    if (say(session, RH_PROOF, proof, sizeof proof, error) != 0
        || await(session, RH_WELCOME, 56, &answer, error) != 0) {
        return -1;
    }
    rh_session_proof(proof, grant->key, RH_SERVER_PROOF, grant->id, nonce, server_nonce);
    uint8_t different = 0;
    for (size_t i = 0; i < sizeof proof; i++) {
        different |= proof[i] ^ answer.payload[i];
    }
    if (different) {
        return rh_fail(error, "who listens on %s is not the gateway", grant->socket);
    }
    session->number = rh_get32(answer.payload + 32);
    session->keep_alive_millis = rh_get32(answer.payload + 48);
    return 0;
}

static int connect_socket(const char *path, struct rh_error *error) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        return rh_fail(error, "the gateway's socket has too long a path");
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return rh_fail(error, "no socket: %s", strerror(errno));
    }
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        rh_fail(error, "cannot connect to %s: %s (is the gateway on this host?)", path, strerror(errno));
        close(fd);
        return -1;
    }
    return fd;
}

static bool wait_for_next_ping(struct rh_session *session) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    long millis = session->keep_alive_millis / 2 + 1;
    until.tv_sec += millis / 1000;
    until.tv_nsec += millis % 1000 * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    int waited = 0;
    while (!session->left && waited != ETIMEDOUT) {
        waited = pthread_cond_timedwait(&session->leaving, &session->lock, &until);
    }
    return !session->left && atomic_load(&session->open);
}

static void *keep_alive(void *of) {
    struct rh_session *session = of;
    pthread_mutex_lock(&session->lock);
    while (wait_for_next_ping(session)) {
        static const uint8_t value[8];
        struct rh_message pong;
        struct rh_error ignored; /* who uses the session next is told */
        if (say(session, RH_PING, value, sizeof value, &ignored) == 0) {
            (void)await(session, RH_PONG, sizeof value, &pong, &ignored);
        }
    }
    pthread_mutex_unlock(&session->lock);
    return NULL;
}

/* The program's signal handlers are not run on a thread that it does not know. */
static int start_keeper(struct rh_session *session, struct rh_error *error) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = pthread_create(&session->keeper, NULL, keep_alive, session);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure == 0 ? 0 : rh_fail(error, "no thread: %s", strerror(failure));
}

static void discard(struct rh_session *session) {
    close(session->wire.fd);
    pthread_mutex_destroy(&session->lock);
    pthread_cond_destroy(&session->leaving);
    free(session);
}

int rh_session_connect(const struct rh_grant *grant, long timeout_millis, struct rh_session **session,
                       struct rh_error *error) {
    int fd = connect_socket(grant->socket, error);
    if (fd < 0) {
        return -1;
    }
    struct rh_session *made = calloc(1, sizeof *made);
    if (!made) {
        close(fd);
        return rh_fail(error, "out of memory");
    }
    *made = (struct rh_session){.owner = getpid(), .wire.fd = fd, .timeout_millis = timeout_millis};
    atomic_init(&made->open, true);
    pthread_mutex_init(&made->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&made->leaving, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (handshake(made, grant, error) != 0 || start_keeper(made, error) != 0) {
        discard(made);
        return -1;
    }
    *session = made;
    return 0;
}

uint32_t rh_session_number(const struct rh_session *session) {
    return session->number;
}

static bool is_mine(const struct rh_session *session) {
    return session->owner == getpid();
}

bool rh_session_is_open(struct rh_session *session) {
    if (!is_mine(session) || !atomic_load(&session->open)) {
        return false;
    }
    /* Where another thread talks to the gateway, that one finds out. */
    if (pthread_mutex_trylock(&session->lock) == 0) {
        char byte;
        ssize_t seen = recv(session->wire.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
        /* Between questions the gateway says nothing but ENDED. */
        if (seen >= 0 || (errno != EAGAIN && errno != EINTR)) {
            give_up(session);
        }
        pthread_mutex_unlock(&session->lock);
    }
    return atomic_load(&session->open);
}

static int require_open(struct rh_session *session, struct rh_error *error) {
    return atomic_load(&session->open) ? 0 : rh_fail(error, "the session has ended");
}

static int register_locked(struct rh_session *session, int descriptor, uint64_t base, uint64_t length, uint32_t *key,
                           struct rh_error *error) {
    uint8_t payload[24] = {0};
    struct rh_message answer;
    rh_put64(payload, base);
    rh_put64(payload + 8, length);
    if (require_open(session, error) != 0 || say(session, RH_REGISTER, payload, sizeof payload, error) != 0
        || await(session, RH_SEND_DESCRIPTOR, 0, &answer, error) != 0) {
        return -1;
    }
    if (rh_wire_send_descriptor(&session->wire, descriptor, error) != 0) {
        return give_up(session);
    }
    if (await(session, RH_REGISTERED, 4, &answer, error) != 0) {
        return -1;
    }
    *key = rh_get32(answer.payload);
    return 0;
}

int rh_session_register(struct rh_session *session, int descriptor, uint64_t base, uint64_t length, uint32_t *key,
                        struct rh_error *error) {
    if (!is_mine(session)) {
        return rh_fail(error, "the session is the parent process's");
    }
    pthread_mutex_lock(&session->lock);
    int result = register_locked(session, descriptor, base, length, key, error);
    pthread_mutex_unlock(&session->lock);
    return result;
}

/* Under Yama only an ancestor may look into a process, or who it names. Elsewhere the call fails, and is not needed. */
static void let_gateway_in(const struct rh_session *session) {
    struct ucred gateway;
    socklen_t length = sizeof gateway;
    if (getsockopt(session->wire.fd, SOL_SOCKET, SO_PEERCRED, &gateway, &length) == 0 && gateway.pid > 0) {
        (void)prctl(PR_SET_PTRACER, (unsigned long)gateway.pid, 0, 0, 0);
    }
}

static int attach_locked(struct rh_session *session, const void *base, uint64_t length, uint32_t *key,
                         struct rh_error *error) {
    uint8_t payload[24], nonce[RH_NONCE_BYTES];
    struct rh_message answer;
    rh_put64(payload, (uintptr_t)base);
    rh_put64(payload + 8, length);
    rh_put64(payload + 16, (uintptr_t)session->proof);
    let_gateway_in(session);
    if (require_open(session, error) != 0 || say(session, RH_ATTACH, payload, sizeof payload, error) != 0
        || await(session, RH_CHALLENGE, sizeof nonce, &answer, error) != 0) {
        return -1;
    }
    memcpy(nonce, answer.payload, sizeof nonce);
    memcpy(session->proof, nonce, sizeof nonce);
    if (say(session, RH_PROOF, nonce, sizeof nonce, error) != 0
        || await(session, RH_REGISTERED, 4, &answer, error) != 0) {
        return -1;
    }
    *key = rh_get32(answer.payload);
    return 0;
}

int rh_session_attach(struct rh_session *session, void *base, uint64_t length, uint32_t *key, struct rh_error *error) {
    if (!is_mine(session)) {
        return rh_fail(error, "the session is the parent process's");
    }
    pthread_mutex_lock(&session->lock);
    int result = attach_locked(session, base, length, key, error);
    pthread_mutex_unlock(&session->lock);
    return result;
}

static int deregister_locked(struct rh_session *session, uint32_t key, struct rh_error *error) {
    uint8_t payload[4];
    struct rh_message answer;
    rh_put32(payload, key);
    if (require_open(session, error) != 0 || say(session, RH_DEREGISTER, payload, sizeof payload, error) != 0
        || await(session, RH_DEREGISTERED, 4, &answer, error) != 0) {
        return -1;
    }
    if (rh_get32(answer.payload) != key) {
        rh_fail(error, "the gateway let go of another buffer");
        return give_up(session);
    }
    return 0;
}

int rh_session_deregister(struct rh_session *session, uint32_t key, struct rh_error *error) {
    if (!is_mine(session)) {
        return rh_fail(error, "the session is the parent process's");
    }
    pthread_mutex_lock(&session->lock);
    int result = deregister_locked(session, key, error);
    pthread_mutex_unlock(&session->lock);
    return result;
}

/* The gateway closes last, after its last copy. */
static void say_bye(struct rh_session *session) {
    struct rh_error ignored;
    struct rh_message message;
    if (say(session, RH_BYE, NULL, 0, &ignored) == 0) {
        while (rh_wire_receive(&session->wire, session->timeout_millis, &message, &ignored) == 0) {
        }
    }
}

void rh_session_close(struct rh_session *session) {
    if (!is_mine(session)) {
        close(session->wire.fd);
        free(session);
        return;
    }
    pthread_mutex_lock(&session->lock);
    session->left = true;
    pthread_cond_signal(&session->leaving);
    if (atomic_load(&session->open)) {
        say_bye(session);
        give_up(session);
    }
    pthread_mutex_unlock(&session->lock);
    pthread_join(session->keeper, NULL);
    discard(session);
}
