/*
 * librailhead, whole sessions of it, against a gateway that proves itself and then says what it likes: limits, registrations,
 * answers and ends with broken fields, twice, not at all, or out of order. `hostile_test SEED ROUNDS` draws the same lies.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "client.h"

enum { ROUNDS = 300, TIMEOUT_MILLIS = 20, BUFFER_BYTES = 8192, MOST = 20, MOST_BYTES = 2 * RH_MESSAGE_BYTES };

/* ---- The gateway ---- */

struct hostile {
    struct rh_grant grant;
    int listener;
    unsigned seed;
    int lies; /* of 256 messages; drawn for each connection */
};

static uint32_t draw(struct hostile *gateway, uint32_t below) {
    return (uint32_t)rand_r(&gateway->seed) % below;
}

static uint32_t edge(struct hostile *gateway) {
    static const uint32_t edges[] = {0, 1, 4, 8, 9, 10, 12, 56, 64, 72, 79, 80, 88, 4096, 4097, 0x10000, 0x10001, INT32_MAX,
                                     UINT32_MAX};
    return edges[draw(gateway, sizeof edges / sizeof edges[0])];
}

static bool lies(struct hostile *gateway) {
    return (int)draw(gateway, 256) < gateway->lies;
}

/* A field, or a byte, that is something else; headers mostly stay, or nothing behind them is ever looked at. */
static void corrupt(struct hostile *gateway, uint8_t *message, size_t bytes) {
    size_t from = bytes > RH_HEADER_BYTES && draw(gateway, 8) ? RH_HEADER_BYTES : 0;
    size_t at = from + draw(gateway, (uint32_t)(bytes - from));
    if (draw(gateway, 2) && (at & ~(size_t)3) + 4 <= bytes) {
        rh_put32(message + (at & ~(size_t)3), edge(gateway));
    } else {
        message[at] = (uint8_t)draw(gateway, 256);
    }
}

static bool say(struct hostile *gateway, int fd, uint8_t type, const uint8_t *payload, size_t bytes) {
    uint8_t message[RH_MESSAGE_BYTES];
    rh_message_begin(message, type, bytes);
    memcpy(message + RH_HEADER_BYTES, payload, bytes);
    bytes += RH_HEADER_BYTES;
    int times = 1;
    if (lies(gateway)) {
        switch (draw(gateway, 8)) {
            case 0: times = 0; break;
            case 1: times = 2; break;
            case 2: bytes = draw(gateway, (uint32_t)bytes); break;
            default: corrupt(gateway, message, bytes);
        }
    }
    for (int i = 0; i < times; i++) {
        if (bytes > 0 && send(fd, message, bytes, MSG_NOSIGNAL) != (ssize_t)bytes) {
            return false;
        }
    }
    return true;
}

static size_t put_answer(struct hostile *gateway, uint8_t *at, uint32_t id, uint64_t window, const char *code) {
    static const uint16_t statuses[] = {200, 206, 404, 0};
    size_t bytes = (RH_ANSWER_FIXED_BYTES + strlen(code) + 7) & ~(size_t)7;
    memset(at, 0, bytes);
    rh_put16(at, (uint16_t)bytes);
    rh_put16(at + 2, *code ? 0 : statuses[draw(gateway, 4)]);
    rh_put32(at + 4, id);
    rh_put64(at + 8, lies(gateway) ? window + 1 : window);
    rh_put64(at + 16, edge(gateway));
    rh_put16(at + 44, (uint16_t)strlen(code));
    memcpy(at + RH_ANSWER_FIXED_BYTES, code, strlen(code));
    return bytes;
}

/* Answers all of them, in one message, or ends with those answers. */
static bool answer(struct hostile *gateway, int fd, const struct rh_message *asked) {
    uint8_t out[RH_MESSAGE_BYTES] = {3};
    bool ends = lies(gateway);
    size_t bytes = ends ? 8 : 0;
    for (const uint8_t *at = asked->payload; at < asked->payload + asked->bytes; at += rh_get16(at)) {
        bytes += put_answer(gateway, out + bytes, rh_get32(at + 4), rh_get64(at + 24), "");
    }
    return say(gateway, fd, ends ? RH_ENDED : RH_ANSWERS, out, bytes);
}

static bool reply(struct hostile *gateway, int fd, const struct rh_message *asked) {
    uint8_t out[RH_MESSAGE_BYTES] = {0};
    switch (asked->type) {
        case RH_REGISTER: return say(gateway, fd, RH_SEND_DESCRIPTOR, out, 0);
        case RH_ATTACH: return say(gateway, fd, RH_CHALLENGE, out, RH_NONCE_BYTES);
        case RH_PROOF: return say(gateway, fd, lies(gateway) ? RH_REFUSED : RH_REGISTERED, out, 4);
        case RH_DEREGISTER: return say(gateway, fd, RH_DEREGISTERED, asked->payload, 4);
        case RH_PING: return say(gateway, fd, RH_PONG, asked->payload, 8);
        case RH_REQUESTS: return answer(gateway, fd, asked);
        case RH_CANCEL:
            return say(gateway, fd, RH_ANSWERS, out, put_answer(gateway, out, rh_get32(asked->payload), 0, "cancelled"));
        default: return false;
    }
}

static bool welcome(struct hostile *gateway, int fd, const uint8_t *nonce, const uint8_t *own) {
    uint8_t out[56] = {0};
    rh_session_proof(out, gateway->grant.key, RH_SERVER_PROOF, gateway->grant.id, nonce, own);
    rh_put32(out + 40, lies(gateway) ? edge(gateway) : 1 + draw(gateway, 8));
    rh_put32(out + 44, lies(gateway) ? edge(gateway) : RH_MESSAGE_BYTES);
    rh_put32(out + 48, lies(gateway) ? edge(gateway) : 10000);
    return say(gateway, fd, RH_WELCOME, out, sizeof out);
}

/* What comes is the client's, and right: a message, or the one byte that a descriptor came with. */
static void serve(struct hostile *gateway, int fd) {
    static const uint8_t own[RH_NONCE_BYTES] = {1};
    uint8_t held[MOST_BYTES], nonce[RH_NONCE_BYTES], key[4];
    size_t count = 0;
    bool goes_on = true, proven = false;
    for (ssize_t got; goes_on && (got = recv(fd, held + count, sizeof held - count, 0)) > 0;) {
        struct rh_message asked;
        size_t at = 0;
        count += (size_t)got;
        for (int length; goes_on && at < count; at += (size_t)length) {
            length = held[at] == 0 ? 1 : rh_message_parse(held + at, count - at, &asked);
            CHECK(length >= 0, "what the client said is no message");
            if (length == 0) {
                break;
            }
            if (held[at] == 0) {
                rh_put32(key, edge(gateway));
                goes_on = say(gateway, fd, RH_REGISTERED, key, sizeof key);
            } else if (asked.type == RH_HELLO) {
                memcpy(nonce, asked.payload + RH_ID_BYTES, sizeof nonce);
                goes_on = say(gateway, fd, RH_CHALLENGE, own, sizeof own);
            } else if (!proven) {
                proven = true;
                goes_on = welcome(gateway, fd, nonce, own);
            } else {
                goes_on = reply(gateway, fd, &asked);
            }
        }
        count -= at;
        memmove(held, held + at, count);
    }
}

static void *run(void *of) {
    struct hostile *gateway = of;
    int fd;
    while ((fd = accept4(gateway->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        static const int rates[] = {0, 8, 32, 96};
        gateway->lies = rates[draw(gateway, 4)];
        serve(gateway, fd);
        close(fd);
    }
    return NULL;
}

/* ---- The client ---- */

static railhead_session *connect_to(const struct hostile *gateway) {
    struct rh_error error;
    railhead_session *session = calloc(1, sizeof *session);
    session->fabric = RAILHEAD_LOOPBACK;
    session->request_timeout_millis = TIMEOUT_MILLIS;
    if (rh_session_connect(&gateway->grant, TIMEOUT_MILLIS, &session->core, &error) != 0) {
        free(session);
        return NULL;
    }
    return session;
}

/* Each request has its one completion, which says no more than was asked, whatever the gateway says. */
static void transfer(railhead_session *session, railhead_buffer *buffer) {
    static char name[5000];
    memset(name, 'k', sizeof name - 1);
    const long longest = random() % 16 ? 80 : (long)sizeof name - 1;
    railhead_request requests[MOST];
    railhead_completion done[MOST];
    uint64_t ids[MOST];
    bool seen[MOST] = {false};
    size_t count = 1 + (size_t)random() % MOST, got = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t operation = RAILHEAD_GET + (uint32_t)random() % 3;
        bool head = operation == RAILHEAD_HEAD;
        requests[i] = (railhead_request){.operation = operation, .bucket = "b", .buffer = head ? NULL : buffer, .user = i,
                                         .key = name + sizeof name - 2 - random() % longest,
                                         .window = head ? 0 : (uint64_t)random() % BUFFER_BYTES};
    }
    if (railhead_submit(session, requests, count, ids) != RAILHEAD_OK) {
        return;
    }
    if (random() % 2) {
        railhead_cancel(session, ids, 1 + (size_t)random() % count);
    }
    while (got < count) {
        int32_t more = railhead_wait(session, done, MOST, -1);
        CHECK(more > 0, "%zu of %zu: %s", got, count, railhead_last_error());
        for (int32_t i = 0; i < more; i++, got++) {
            CHECK(done[i].user < count && !seen[done[i].user], "twice, or never asked for");
            CHECK(done[i].bytes <= requests[done[i].user].window, "more than the window");
            CHECK(strlen(done[i].etag) + strlen(done[i].code) + strlen(done[i].headers) < RH_MESSAGE_BYTES, "the texts");
            seen[done[i].user] = true;
        }
        railhead_completions_free(done, (size_t)more);
    }
    CHECK(railhead_poll(session, done, MOST) <= 0, "one too many");
}

/* Whether a buffer was registered: requests went out then. */
static bool use(const struct hostile *gateway) {
    static uint8_t own[BUFFER_BYTES];
    railhead_session *session = connect_to(gateway);
    if (!session) {
        return false;
    }
    railhead_memory memory = {.kind = RAILHEAD_ALLOCATED, .descriptor = -1, .bytes = BUFFER_BYTES};
    if (random() % 2) {
        memory = (railhead_memory){.kind = RAILHEAD_HOST, .descriptor = -1, .bytes = BUFFER_BYTES, .address = own};
    }
    railhead_buffer *buffer;
    bool registered = railhead_register(session, &memory, &buffer) == RAILHEAD_OK;
    if (registered) {
        transfer(session, buffer);
        int32_t released = random() % 2 ? railhead_release(buffer) : RAILHEAD_OK;
        CHECK(released == RAILHEAD_OK || released == RAILHEAD_HELD, "%d: %s", released, railhead_last_error());
    }
    int32_t closed = railhead_close(session);
    CHECK(closed == RAILHEAD_OK || closed == RAILHEAD_HELD, "%d: %s", closed, railhead_last_error());
    return registered;
}

int main(int count, char **arguments) {
    struct hostile gateway = {.grant = {.socket = "hostile_test.sock"}};
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "hostile_test.sock"};
    long rounds = count > 2 ? strtol(arguments[2], NULL, 10) : ROUNDS, served = 0;
    pthread_t thread;
    gateway.seed = count > 1 ? (unsigned)strtoul(arguments[1], NULL, 10) : (unsigned)time(NULL);
    printf("seed %u\n", gateway.seed);
    fflush(stdout);
    srandom(gateway.seed);
    unlink(gateway.grant.socket);
    gateway.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(gateway.listener, (struct sockaddr *)&address, sizeof address) == 0, "errno %d", errno);
    CHECK(listen(gateway.listener, 4) == 0, "errno %d", errno);
    CHECK(pthread_create(&thread, NULL, run, &gateway) == 0, "no thread");
    for (long i = 0; i < rounds; i++) {
        served += use(&gateway);
    }
    printf("%ld of %ld sessions had a buffer\n", served, rounds);
    shutdown(gateway.listener, SHUT_RDWR);
    pthread_join(thread, NULL);
    close(gateway.listener);
    unlink(gateway.grant.socket);
    return 0;
}
