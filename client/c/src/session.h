/*
 * A proven session and its requests. Internal to the library.
 *
 * `lock` guards everything but `owner` and what is set before the thread starts. The thread receives, sends what found no room,
 * keeps the session alive, and sees to deadlines; whoever has something to say sends it for itself. `changed` tells of
 * everything: an answer, a completion, the turn to ask, the end.
 *
 *   OPEN --- BYE, ENDED, a mistake, no answer in time ---> LEAVING --- end of the stream, or broken off ---> OVER
 *
 * In LEAVING nothing new is sent, and requests keep waiting: only in OVER it is known that nothing touches their windows, or that
 * this cannot be known (`held`).
 */
#ifndef RAILHEAD_SESSION_H
#define RAILHEAD_SESSION_H

#include <pthread.h>
#include <sys/types.h>

#include "crypto.h"
#include "record.h"
#include "transport.h"

enum { RH_MOST_REQUESTS = 4096 }; /* with the gateway at a time, whatever it allows */

/* What the gateway may touch. Under the session's lock but for what never changes. */
struct railhead_buffer {
    struct railhead_session *session;
    struct railhead_buffer *next;
    uint8_t *address;
    uint64_t bytes;
    uint32_t key;
    bool allocated;
    void *region; /* the adapter's registration, over verbs */
    railhead_flush_function flush;
    void *flush_context;
    uint64_t in_use; /* requests that are not collected */
};

/* From submission to collection. */
struct rh_request {
    struct rh_request *next;
    uint64_t id;
    railhead_buffer *buffer;
    int64_t deadline;
    uint64_t window;
    uint32_t slot; /* and the wire's id, once sent */
    uint32_t operation; /* RAILHEAD_GET, ... */
    uint32_t windows;   /* of the record's list; 0: there is none */
    bool cancelled;
    bool cancel_due;
    bool timed_out;
    railhead_completion completion;
    size_t record_bytes;
    uint8_t record[];
};

struct rh_list {
    struct rh_request *first;
    struct rh_request **end;
};

struct rh_requests {
    struct rh_request **slots; /* those with the gateway */
    uint16_t *turns;           /* counts the uses of each slot: no id comes twice soon */
    uint32_t max;
    uint32_t sent;
    uint32_t cancels_due;
    uint64_t last_id;
    int64_t next_deadline;
    size_t max_message;
    struct rh_list waiting;
    struct rh_list done;
    size_t done_count;
    size_t failed; /* of those that are done */
    int event_fd; /* readable while `done` is not empty, and in OVER */
    bool told;
    struct rh_collector *collectors; /* who waits for completions */
};

/* One thread's wait for completions: for one of them, or, until somebody submits more than `last_id`, for all. */
struct rh_collector {
    struct rh_collector *next;
    size_t room;
    uint64_t last_id;
};

/* What one asked, and waits for. */
struct rh_question {
    uint8_t wanted;
    uint16_t wanted_bytes;
    bool sent;
    bool done;
    int result;
    int64_t deadline;
    struct rh_error error;
    size_t message_bytes;
    uint8_t message[RH_HEADER_BYTES + 32];
    uint8_t answer[RH_NONCE_BYTES];
};

/* A copy that the gateway asked for, not yet answered. */
struct rh_synced {
    uint32_t id;
    bool copied;
};

struct rh_bounce;

/* Bounce buffers, and what is to be said of them. */
struct rh_bounces {
    struct rh_bounce *first;
    uint64_t last_handle;
    struct rh_synced *answers; /* a ring, made by the first of them */
    size_t answers_sent;
    size_t answers_end;
};

enum rh_state { RH_OPEN, RH_LEAVING, RH_OVER };

struct rh_session {
    pid_t owner;
    uint8_t id[RH_ID_BYTES]; /* as the grant has it */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct rh_transport *transport;
    pthread_t thread;
    long timeout_millis;
    uint32_t number;
    uint32_t keep_alive_millis;
    uint32_t max_operation; /* the highest that the gateway knows */
    uint32_t max_windows;   /* the most of a list that it knows */
    enum rh_state state;
    bool held;
    bool deaf;      /* what comes means nothing any more */
    bool bye_due;
    bool asking;    /* one asks at a time, through all of its questions */
    bool holding;   /* nothing else may be sent now */
    int64_t answered_by; /* all questions of the turn */
    int64_t said_at;
    int64_t leave_by;
    int64_t sleeps_until;
    char end[200];  /* why it is not OPEN */
    struct rh_question *question;
    struct rh_question ping;
    struct rh_requests requests;
    struct rh_bounces bounces;
    uint8_t proof[RH_NONCE_BYTES]; /* where the gateway looks for its nonce, to see whose memory it has */
};

int64_t rh_now_millis(void);
/* On `changed`: until something changed, or the time has come; INT64_MAX is never. */
void rh_session_wait(struct rh_session *session, int64_t until);
/* Has the thread look again where it would sleep past `due`. */
void rh_session_hurry(struct rh_session *session, int64_t due);
/* Sends what may be sent. Under the lock. */
void rh_session_flush(struct rh_session *session);
/* Begins the end, after a mistake of the gateway's or its silence. Under the lock. */
void rh_session_give_up(struct rh_session *session, const char *why);
bool rh_session_is_mine(const struct rh_session *session);

/* As rh_session_connect, until `deadline`; the timeout is that of what comes after. */
int rh_session_connect_by(const struct rh_grant *grant, int64_t deadline, long timeout_millis, struct rh_session **session,
                          struct rh_error *error);
/* Begins the end, where the gateway said so; the first reason counts. Under the lock. */
void rh_session_leave(struct rh_session *session, const char *why);
/* The error of who comes after the end. */
int rh_session_ended(const struct rh_session *session, struct rh_error *error);
/* What REFUSED, ENDED, or a message that nobody expected means. */
int rh_session_reject(const struct rh_message *message, struct rh_error *error);
/* The life of the session's thread. */
void *rh_session_run(void *session);
/* Frees it, after that; in a child of fork, the child's part. */
void rh_session_discard(struct rh_session *session);

/* Asks, and waits for the answer, whose payload goes to `answer` (NULL: to nobody). Within one turn. Under the lock. */
int rh_session_begin_turn(struct rh_session *session, struct rh_error *error);
int rh_session_ask(struct rh_session *session, uint8_t type, const void *payload, size_t bytes, uint8_t wanted,
                   uint16_t wanted_bytes, uint8_t *answer, struct rh_error *error);
void rh_session_end_turn(struct rh_session *session);
/* Verbs: tells the gateway of a region of the adapter's. */
int rh_session_register_region(struct rh_session *session, uint64_t base, uint64_t length, uint32_t rkey, uint32_t *key,
                               struct rh_error *error);

/* The first half of rh_session_close, before rh_session_discard: whether the gateway has let go of all memory. */
bool rh_session_finish(struct rh_session *session);
/* Waits for an end that has begun: whether it has come, and the gateway has let go. Not under the lock. */
bool rh_session_await_end(struct rh_session *session);

/*
 * All under the lock, which keeps a copy and a removal apart: the memory may be freed once its bounce buffer was removed.
 * NULL: no memory.
 */
struct rh_bounce *rh_bounces_add(struct rh_bounces *bounces, uint8_t *buffer, uint8_t *own, uint64_t length);
uint64_t rh_bounce_handle(const struct rh_bounce *bounce);
void rh_bounce_registered(struct rh_bounce *bounce, uint32_t key);
/* Nothing where the key is no bounce buffer's; with key 0 the one whose registration failed. */
void rh_bounces_remove(struct rh_bounces *bounces, uint32_t key);
/* Copies as a SYNC says, and keeps the answer: -1 where no gateway would ask so. */
int rh_bounces_asked(struct rh_bounces *bounces, const struct rh_message *message);
/* The next SYNCED there is to send: its bytes, 0 for none. */
size_t rh_bounces_next(struct rh_bounces *bounces, uint8_t *message);
void rh_bounces_destroy(struct rh_bounces *bounces);

/* All under the lock. */
int rh_requests_init(struct rh_requests *requests, uint32_t max, size_t max_message, struct rh_error *error);
void rh_requests_add(struct rh_requests *requests, struct rh_request *request);
/* Completes what the gateway does not know, without sending it. */
void rh_requests_unsupported(struct rh_requests *requests, struct rh_request *request);
/* The next message there is to send, into `message`: its bytes, 0 for none. What it carries counts as sent. */
size_t rh_requests_next(struct rh_requests *requests, uint8_t message[RH_MESSAGE_BYTES]);
/* Takes answer records in: -1 where they are none, or answer nothing. */
int rh_requests_answered(struct rh_requests *requests, const uint8_t *records, size_t bytes, bool ended);
void rh_requests_cancel(struct rh_requests *requests, uint64_t id);
/* Sees to what is late: whether a request is so late that the session is to be given up. */
bool rh_requests_late(struct rh_requests *requests, int64_t now, int64_t patience);
/* All that is left is done, without an answer. */
void rh_requests_end(struct rh_requests *requests, bool held);
/* Whether the collector has to wait no longer; and whether any has not. */
bool rh_requests_enough(const struct rh_requests *requests, const struct rh_collector *collector);
bool rh_requests_wanted(const struct rh_requests *requests);
struct rh_request *rh_requests_take(struct rh_requests *requests, bool over);
/* Makes the event descriptor readable. */
void rh_requests_tell(struct rh_requests *requests);
/* Frees all, sent ones too, and closes the descriptor. */
void rh_requests_destroy(struct rh_requests *requests);

#endif
