/*
 * A gateway's end of the socket, on a thread of its own: proves itself, maps what is registered, and does what it is
 * told to do wrong. One connection at a time.
 */
#ifndef RAILHEAD_FAKE_GATEWAY_H
#define RAILHEAD_FAKE_GATEWAY_H

#include <pthread.h>
#include <stdatomic.h>

#include "railhead/loopback.h"

#define FAKE_ACCESS "FAKEACCESS"
#define FAKE_SECRET "fake/secret+key"
#define FAKE_REGION "eu-west-1"

enum fault {
    NO_FAULT,
    BAD_SERVER_PROOF,
    REFUSE_HELLO,
    REFUSE_REGISTRATION,
    END_AT_REGISTRATION,
    HANG_UP_AT_REGISTRATION,
    GARBAGE_AT_REGISTRATION,
    SILENT_AT_REGISTRATION,
    /* Of requests: */
    HOLD_REQUESTS,      /* no answer before they are cancelled */
    DIE_IN_TRANSFER,    /* half of the first window, then the end of the stream */
    END_IN_TRANSFER,    /* the same, but ENDED says of each read that it was not served */
    ANSWER_NOBODY,      /* an answer to an id that is not outstanding */
    ANSWER_THE_NEXT,    /* an answer to the id that this slot of the client's has next */
    ANSWER_TOO_MUCH,    /* one byte more moved than the window has */
    DECLINE_REQUESTS,
    REFUSE_REQUESTS,    /* with `refusal` */
    REFUSE_RENEWAL,     /* of a session's credentials */
};

enum { FAKE_MOST = 64, FAKE_OBJECT_BYTES = 100000 };

struct fake_request {
    uint32_t id;
    uint8_t operation;
};

struct fake_refusal {
    uint16_t status;
    const char *code;
};

struct fake_gateway {
    struct rh_grant grant;   /* what a client connects with */
    _Atomic enum fault fault;
    atomic_int registered;   /* buffers now */
    atomic_int pings;
    atomic_bool hangs;
    atomic_int connections;
    atomic_int byes;
    bool verbs;              /* its buffers are this process's own memory, as adapters reach it */
    uint32_t keep_alive_millis; /* 0: a minute */
    uint32_t max_requests;      /* 0: a few */
    uint32_t max_operation;     /* 0: does not say, as gateways of before */
    uint32_t lie_at;         /* where WELCOME has the lie in place of what is true; 0: nowhere */
    uint32_t lie;
    atomic_int seen;         /* requests */
    atomic_int most;         /* of them at a time */
    atomic_int messages;     /* that carried them */
    atomic_int cancels;
    uint32_t held_count;
    struct fake_request held[FAKE_MOST];
    uint8_t put[FAKE_OBJECT_BYTES]; /* what was put last */
    uint64_t put_bytes;
    uint8_t *mapped;         /* the last buffer registered, until it is deregistered */
    uint64_t mapped_bytes;
    uint64_t mapped_base;
    uint64_t handle;         /* the client's name for it, where it is a bounce buffer */
    atomic_uint syncs;       /* asked for */
    atomic_uint synced;      /* answered */
    atomic_bool copied;      /* as the last answer says */
    uint8_t *attached;       /* the last buffer attached to */
    struct fake_refusal refusal;
    int listener;
    atomic_int client;
    pthread_t thread;
    char endpoint[64];       /* of the HTTP end, if started */
    int http_listener;
    pthread_t http_thread;
    atomic_int grants;
    int session_seconds;     /* how long credentials live that a token is exchanged for */
    atomic_int exchanges;    /* of the token "a.b-c_d" in the role "pods" */
    atomic_int renewals;
    atomic_int refused_renewals;
    atomic_int renewed_with; /* the number of the exchange whose credentials came last */
};

/* The object "data/object", and the byte of it at `at`; all others are missing. */
#define FAKE_BUCKET "data"
#define FAKE_OBJECT "object"
uint8_t fake_byte(uint64_t at);

/*
 * Has the client copy a range of a bounce buffer, as a gateway does after a write (`to_own`) and before a read.
 * One caller at a time, and none while the client registers.
 */
void fake_gateway_ask(struct fake_gateway *gateway, bool to_own, uint64_t handle, uint64_t offset, uint64_t bytes);
/* The same, and waits: whether it has copied. */
bool fake_gateway_sync(struct fake_gateway *gateway, bool to_own, uint64_t handle, uint64_t offset, uint64_t bytes);
void fake_gateway_start(struct fake_gateway *gateway, const char *socket_path);
/* Ends the connection that there is, as a gateway that is killed. */
void fake_gateway_hang_up(struct fake_gateway *gateway);
/* From now on it reads nothing and holds on to everything, as one that is stopped; until it is resumed. */
void fake_gateway_hang(struct fake_gateway *gateway);
void fake_gateway_resume(struct fake_gateway *gateway);
/*
 * Answers each request for a session with the one that there is, under a key derived from the request's signature by
 * `FAKE_SECRET`; exchanges a token for credentials, and takes them for the session. Start it after the socket's end, and stop it with that.
 */
void fake_gateway_start_http(struct fake_gateway *gateway);
void fake_gateway_stop(struct fake_gateway *gateway);

#endif
