/*
 * librailhead: objects of a Railhead gateway, by RDMA or over shared memory of one host (docs/native-channel.md).
 *
 * A program opens a session, gives it buffers, submits requests in batches, and collects their completions in batches.
 *
 * Results. A function that can fail returns RAILHEAD_OK (0) or one of the negative codes below; railhead_last_error has a
 * line about it. Completions carry the same codes.
 *
 * Units. Lengths, offsets and ranges are bytes, times milliseconds. Texts are UTF-8 and end in NUL.
 *
 * Threads. Any thread may call any function with any handle, at the same time, with these exceptions: nobody may be in, or
 * come to, another call of a session that is being closed or of a buffer that is being released. A session has one thread
 * of its own, and another where it renews its credentials; neither runs any of the caller's code. The library reads the environment in
 * railhead_connect and railhead_renew alone, on the caller's thread; libc's resolver may look at its own variables (RES_OPTIONS and
 * its like) for a renewal, too. railhead_connect, railhead_register, railhead_release and railhead_close wait for the gateway, at most for the session's timeout; twice that railhead_connect, where the gateway has it ask again, and
 * railhead_release, where the gateway is silent. A second or so comes on top for railhead_close, where it breaks off a renewal; a
 * libcurl before 7.87, or one that resolves names on the same thread, also waits there for the resolver. An exchange of a web
 * identity's token has the timeout for itself. Of one session's registrations and releases each waits for those before it,
 * too. railhead_wait and railhead_wait_all wait as long as they are told; nothing else waits. No wait ends for a signal: its
 * handler runs, and the wait goes on.
 *
 * Time. What has no answer by its timeout is cancelled; where the gateway does not answer that within the session's timeout, the
 * session is given up, with all that others have under way; and where the gateway does not end it within that time again, it is
 * broken off. So a request has its completion after its own timeout and twice the session's at the latest: 80 seconds, unless
 * other timeouts are set.
 *
 * Forks. A child of fork has no session: railhead_close there gives back this process's part, railhead_is_open says 0, and every
 * other call fails, but for those that only tell: railhead_max_requests, railhead_event_fd, railhead_buffer_address and
 * railhead_buffer_bytes say what they say in the parent, which has the descriptor and what is shared with the gateway, too.
 *
 * Memory. From railhead_submit until its completion was collected, the window of a request is the gateway's. A completion says
 * that the gateway touches the window no more, whatever its result, unless it has the flag RAILHEAD_WINDOW_HELD.
 */
#ifndef RAILHEAD_RAILHEAD_H
#define RAILHEAD_RAILHEAD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised where a program compiled before cannot be used with the library any more: the library is librailhead.so.ABI. */
#define RAILHEAD_ABI 1

/* The ABI of the library that is loaded: a binding compares it with the one it was written for. */
uint32_t railhead_abi_version(void);
/* Its release, as "0.1". */
const char *railhead_version(void);
/* 1 where it was built with the verbs fabric, else 0: that takes rdma-core's headers. */
int32_t railhead_has_verbs(void);

enum {
    RAILHEAD_OK = 0,
    RAILHEAD_ARGUMENT = -1,    /* the caller's mistake; nothing was done */
    RAILHEAD_NO_MEMORY = -2,
    RAILHEAD_UNAVAILABLE = -3, /* no gateway, adapter or library that it takes; or the gateway has no such fabric now */
    RAILHEAD_REFUSED = -4,     /* the gateway said no: credentials, limits */
    RAILHEAD_TIMED_OUT = -5,   /* of a request: nothing was stored, and nothing will be */
    RAILHEAD_ENDED = -6,       /* the session is over; a request was not done, and may be asked again elsewhere */
    /*
     * The object may or may not be stored: ask with HEAD. The session ended without an answer to a PUT or UPLOAD_PART that was
     * sent; or, with `status`, a PUT was answered 5xx, but for 501, "SlowDown" and codes that begin with "RDMA", which say that
     * nothing was stored.
     */
    RAILHEAD_UNKNOWN = -7,
    RAILHEAD_CANCELLED = -8,   /* nothing was stored, and nothing will be */
    RAILHEAD_NOT_SERVED = -9,  /* not by this way (`code` says why): nothing was stored; ask over HTTP */
    RAILHEAD_STORE = -10,      /* S3's own error: `status`, `code`, `message` */
    RAILHEAD_BUSY = -11,       /* the buffer has requests under way, or completions that were not collected */
    RAILHEAD_HELD = -12,       /* the gateway could not be brought to let go of the memory */
    RAILHEAD_NOT_FLUSHED = -13 /* the bytes have come, but the GPU may not see them: the flush failed */
};

/* A few words on a code, never NULL. */
const char *railhead_result_text(int32_t result);
/* One line on the last call of this thread that failed; it stays until the next one that fails. Never NULL. */
const char *railhead_last_error(void);

/* ---- Sessions ---- */

typedef struct railhead_session railhead_session;
typedef struct railhead_buffer railhead_buffer;

enum {
    RAILHEAD_LOOPBACK = 1, /* shared memory with a gateway on this host */
    RAILHEAD_VERBS = 2     /* RDMA; needs libibverbs.so.1 and librdmacm.so.1 */
};

/* One HTTP request, for who brings an HTTP client of their own. All but the last three is the library's. */
typedef struct railhead_http {
    const char *method;
    const char *url;
    const char *const *headers; /* "Name: value" each, a NULL after the last; to be sent as they are, with no body */
    uint32_t timeout_millis;
    uint32_t status;            /* out: the HTTP status */
    char *answer;               /* out: the answer's body; not more than answer_room */
    size_t answer_room;
    size_t answer_bytes;        /* out */
} railhead_http;

/* Sends the request: 0, or anything else where there was no answer. Called on the thread that is in railhead_connect. */
typedef int (*railhead_http_function)(void *context, railhead_http *exchange);

/* How to connect; set by railhead_options_init, then changed. Nothing of it is kept after railhead_connect. */
typedef struct railhead_options {
    uint32_t struct_bytes;     /* set by railhead_options_init */
    uint32_t fabric;           /* RAILHEAD_LOOPBACK unless changed */
    /*
     * NULL: from the environment, then the files of AWS's tools. Endpoint: RAILHEAD_ENDPOINT, AWS_ENDPOINT_URL_S3,
     * AWS_ENDPOINT_URL, endpoint_url of S3 in the profile's services section, or of the profile.
     * Keys: AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; else those that the token of
     * AWS_WEB_IDENTITY_TOKEN_FILE is exchanged for, in the role AWS_ROLE_ARN, at AWS_ENDPOINT_URL_STS or the endpoint, by libcurl;
     * else the profile AWS_PROFILE (or "default") of AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE.
     * Region: AWS_REGION, AWS_DEFAULT_REGION, the profile's, us-east-1. CA: AWS_CA_BUNDLE, ca_bundle of the
     * profile, else the system's. No request goes by a proxy, whatever http_proxy and its like say.
     */
    const char *endpoint;      /* http://HOST[:PORT] or https://HOST[:PORT] */
    const char *region;
    const char *access_key;    /* with secret_key, or neither */
    const char *secret_key;
    const char *session_token; /* only with access_key */
    const char *ca_bundle;     /* a PEM file */
    uint32_t timeout_millis;   /* of each call that waits for the gateway; 10000 */
    uint32_t request_timeout_millis; /* of requests that name none; 60000 */
    railhead_http_function http; /* NULL: libcurl, loaded when it is needed */
    void *http_context;
    /*
     * 1: the session is for what all gateways of a cluster serve alike, as one with a run's owner is. Requests for objects that
     * the gateway alone holds (durability: none) are RAILHEAD_NOT_SERVED there, with the code "own". Else 0.
     */
    uint32_t shared_only;
    uint32_t reserved_too;
    uint64_t reserved[3];
} railhead_options;

/* `struct_bytes` is sizeof(railhead_options), so that a later library knows which members there are. */
void railhead_options_init(railhead_options *options, size_t struct_bytes);

/*
 * Opens a session: a signed HTTP request, then the proof on the fabric, which also proves the gateway. `*session` is the
 * caller's until railhead_close. One gateway, one principal; a program may have many. RAILHEAD_ARGUMENT: a mistake in the options,
 * the variables or the files, as a token's that cannot be read. A web identity's service that refuses, cannot be reached or does
 * not answer in time has the same codes as a gateway.
 */
int32_t railhead_connect(const railhead_options *options, railhead_session **session);

/*
 * Goes on with other credentials of the same principal: a gateway ends a session with the credentials that opened it. The
 * session, its buffers and its requests stay as they are. `options` are as for railhead_connect, with the newer keys; the fabric
 * does not matter. With an error the older credentials count on. A session whose keys railhead_connect found itself, in a file or
 * by a web identity, is renewed without this, unless it has an `http` of the program's.
 */
int32_t railhead_renew(railhead_session *session, const railhead_options *options);

/* Whether the session stood when this looked: 1 or 0. */
int32_t railhead_is_open(const railhead_session *session);

/* How many requests are with the gateway at a time; more wait their turn in the library. */
uint32_t railhead_max_requests(const railhead_session *session);

/*
 * Ends the session, whatever happens, and frees it, its buffers, and completions that were not collected. Memory that the
 * library allocated is unmapped. RAILHEAD_HELD: the gateway did not let go in time; such memory stays mapped, and the
 * caller's own must stay until this process ends.
 */
int32_t railhead_close(railhead_session *session);

/* ---- Buffers ---- */

enum {
    RAILHEAD_ALLOCATED = 1, /* memory that the library maps, zeroed: fits every fabric */
    RAILHEAD_HOST = 2,      /* the caller's own. Over loopback only where the gateway has rdma.loopback.cross_memory */
    RAILHEAD_MEMFD = 3,     /* the caller's mapping of the first bytes of `descriptor`, a memfd with F_SEAL_SHRINK; loopback */
    RAILHEAD_DEVICE = 4     /* GPU memory; verbs only */
};

/*
 * Makes what was written to a GPU's memory visible to it: 0, or anything else where it could not. Called on the thread that
 * collects completions, once for each batch with reads into the buffer.
 */
typedef int (*railhead_flush_function)(void *context);

typedef struct railhead_memory {
    uint32_t kind;
    int32_t descriptor;  /* MEMFD: the memfd. DEVICE: a dma-buf, or -1 for memory that a peer memory module registers by
                            address. It stays the caller's and may be closed afterwards. Else -1 */
    void *address;       /* NULL for ALLOCATED. DEVICE: the device's address */
    uint64_t bytes;
    uint64_t offset;     /* DEVICE: where in the dma-buf the memory begins */
    /*
     * DEVICE: NULL for CUDA's own flush, cuFlushGPUDirectRDMAWrites, which takes a current context on the thread that
     * collects completions. Registration fails where libcuda.so.1 has none.
     */
    railhead_flush_function flush;
    void *flush_context;
    uint64_t reserved[4];
} railhead_memory;

/*
 * Lets the gateway read and write the memory. `*buffer` is the caller's until railhead_release, or the session's end. After an
 * error the memory is the caller's at once, but for RAILHEAD_TIMED_OUT over loopback: the session is over then, and the gateway
 * may have taken the memory on, which stays until railhead_close has returned RAILHEAD_OK.
 */
int32_t railhead_register(railhead_session *session, const railhead_memory *memory, railhead_buffer **buffer);

/* Where it lies; for what was ALLOCATED, the library's mapping. */
void *railhead_buffer_address(const railhead_buffer *buffer);
uint64_t railhead_buffer_bytes(const railhead_buffer *buffer);

/*
 * Returns when the gateway touches the memory no more, and frees the buffer. RAILHEAD_BUSY: it is not freed. RAILHEAD_HELD: it
 * is freed, but the gateway may still touch the memory; what the library allocated stays mapped.
 */
int32_t railhead_release(railhead_buffer *buffer);

/* ---- Requests ---- */

enum {
    RAILHEAD_GET = 1,
    RAILHEAD_HEAD = 2,
    RAILHEAD_PUT = 3,
    RAILHEAD_UPLOAD_PART = 4,
    /*
     * Of many cache-only objects, whose keys all begin with `key`. A gateway that knows none of these is RAILHEAD_NOT_SERVED, with
     * the code "unsupported", as is a bucket that a store holds.
     */
    RAILHEAD_EXISTS = 5,        /* which of `keys` are held: bits in the completion's headers, their number in object_bytes */
    RAILHEAD_PREFIX = 6,        /* how many of `keys` are held before the first that is not: in object_bytes */
    RAILHEAD_DELETE = 7,        /* removes `keys`; bits for those that are gone, the number in object_bytes */
    RAILHEAD_DELETE_PREFIX = 8, /* removes what begins with `key`, some at a time: their number in object_bytes, 0 at the end */
    RAILHEAD_LEASE = 9,         /* keeps `keys` from being evicted for `part_number` milliseconds: bits for those
                                   that are leased. 10 minutes at most. What is not held, or is beyond the tenant's share of
                                   leases, has no bit */
    RAILHEAD_TOUCH = 10,        /* counts a use of `keys`, so that others are evicted first: bits for those that are held */
    RAILHEAD_USAGE = 11,        /* what begins with `key` and may be read: its number in object_bytes, and in the headers, in
                                   decimal digits, x-railhead-bytes, x-railhead-leased-bytes, and x-railhead-limit-bytes, the
                                   most that the tenant may have */
    RAILHEAD_REMOVALS = 12      /* waits until objects that begin with `key` and may be read are removed, `part_number` milliseconds
                                   at most (60000 at most): their number in object_bytes, their keys in the headers as
                                   docs/native-channel.md says. The session's first begins a subscription, and is done at once with
                                   "x-railhead-anew: 1": from then on none is missed. The same line later says that some were: ask
                                   for all again. timeout_millis must be longer. railhead_cancel ends the subscription */
};

enum {
    /* Of a GET alone. */
    RAILHEAD_RANGE = 1, /* only bytes range_first to range_last, both inclusive; UINT64_MAX: to the end */
    RAILHEAD_LAST = 2   /* only the last range_first bytes */
};

/* A range of a request's buffer, of 1 byte at least. */
typedef struct railhead_window {
    uint64_t offset;
    uint64_t bytes;
} railhead_window;

/* One request. What is not used is 0 or NULL. Everything is copied by railhead_submit. */
typedef struct railhead_request {
    uint32_t operation;
    uint32_t flags;
    const char *bucket;       /* bucket and key: not percent-encoded */
    const char *key;          /* of EXISTS and those after it the keys' common beginning, which may be empty */
    const char *version_id;   /* GET and HEAD */
    const char *if_match;     /* an ETag with its quotes */
    const char *upload_id;    /* UPLOAD_PART */
    const char *headers;      /* PUT and UPLOAD_PART: "name: value\n" each, in lower case */
    railhead_buffer *buffer;  /* GET, PUT and UPLOAD_PART */
    uint64_t offset;          /* the window: where in the buffer, and how long. A GET fills at most the window; a PUT sends */
    uint64_t window;          /* all of it. A PUT's of 0 bytes is RAILHEAD_NOT_SERVED, "empty"; a GET's has 1 at least */
    uint64_t range_first;
    uint64_t range_last;
    uint32_t part_number;     /* UPLOAD_PART, from 1; of LEASE and REMOVALS the milliseconds, from 1 */
    uint32_t timeout_millis;  /* from railhead_submit on; 0: the session's request_timeout_millis */
    uint64_t user;            /* comes back in the completion */
    /*
     * EXISTS, PREFIX, DELETE, LEASE and TOUCH: `keys_count` keys, 1024 at most, one behind the other, without `key` before them.
     * With `hash_bytes` each is a hash of so many bytes (64 at most), and the object's key ends in its lower-case hexadecimal digits.
     * With 0 each is a text behind its length, two bytes, the lower first.
     */
    const void *keys;
    uint32_t keys_bytes;      /* of all of them: no more than a message holds */
    uint32_t keys_count;
    uint32_t hash_bytes;
    /*
     * GET and PUT: several windows of `buffer` in place of `offset` and `window`, which are 0 then. A GET fills them in this order,
     * a PUT sends their bytes. 64 at most; those of a GET do not overlap. A gateway that knows of none is RAILHEAD_NOT_SERVED,
     * with the code "unsupported".
     */
    uint32_t windows_count;
    const railhead_window *windows;
} railhead_request;

/*
 * Takes `count` requests, or, with an error, none of them. Never waits: what the gateway has no room for waits its turn.
 * `ids`, where it is not NULL, gets each request's number for railhead_cancel.
 */
int32_t railhead_submit(railhead_session *session, const railhead_request *requests, size_t count, uint64_t *ids);

/*
 * Says that these answers are not wanted. Each request has its completion all the same, as it would have had or with
 * RAILHEAD_CANCELLED, at once where it was not sent yet; else when the gateway says so, and no sooner than without where it does
 * not. Numbers of requests that are done already are passed over.
 */
int32_t railhead_cancel(railhead_session *session, const uint64_t *ids, size_t count);

enum {
    RAILHEAD_CACHE_NONE = 0,
    RAILHEAD_CACHE_HIT = 1,
    RAILHEAD_CACHE_MISS = 2,
    RAILHEAD_CACHE_REVALIDATED = 3,
    RAILHEAD_CACHE_STALE = 4
};

enum {
    RAILHEAD_TEXTS_LEFT_OUT = 1, /* texts did not fit into the gateway's message */
    /*
     * The gateway hangs, and may touch the window for as long as it lives, of which this process hears no more: use the window
     * for nothing else before this process ends.
     */
    RAILHEAD_WINDOW_HELD = 2
};

/*
 * Bytes, time, cache, etag and version_id mean something with RAILHEAD_OK and RAILHEAD_NOT_FLUSHED alone. After any other result
 * of a GET its window holds anything.
 */
typedef struct railhead_completion {
    uint64_t user;
    uint64_t id;
    int32_t result;
    uint32_t status;              /* the HTTP status; 0 where there was none */
    uint64_t bytes;               /* moved into or out of the window, at most its length */
    uint64_t object_bytes;        /* the whole object's; after UPLOAD_PART the part's; after EXISTS and those behind it a number */
    uint64_t first_byte;          /* of GET: where in the object the window's first byte lies */
    uint64_t last_modified_millis; /* of GET and HEAD: since 1970; 0 if unknown */
    uint32_t cache;
    uint32_t flags;
    const char *etag;             /* the texts are never NULL, and stay until railhead_completions_free */
    const char *version_id;
    const char *code;             /* of an error: S3's, or the word for RAILHEAD_NOT_SERVED and RAILHEAD_ENDED */
    const char *message;
    const char *headers;          /* of HEAD, PUT and UPLOAD_PART: "name: value\n" each; of what has bits
                                     "x-railhead-keys: DIGITS\n", hexadecimal: the first key is the lowest bit of the first
                                     byte; of an error the gateway's
                                     "x-railhead-request-id: NAME\n", by which its logs know the request */
    void *owned;                  /* the library's */
} railhead_completion;

/*
 * Collects at most `room` completions, without waiting: their number, 0 for none, RAILHEAD_ENDED where the session is over and
 * all were collected. They are the caller's until railhead_completions_free. Any thread gets those of all.
 */
int32_t railhead_poll(railhead_session *session, railhead_completion *completions, size_t room);

/*
 * As railhead_poll, after waiting for one: at most so long, and without end for a negative timeout. 0: none in time. It waits
 * also while nothing is under way, for what others will submit; so who waits without end has something under way that nobody else
 * collects, or others who submit.
 */
int32_t railhead_wait(railhead_session *session, railhead_completion *completions, size_t room, int64_t timeout_millis);

/*
 * As railhead_wait, but after waiting for all requests that are under way: for who has no use for the first alone, and is waken
 * once. It waits no longer when `room` of them are done, when one is done that is not RAILHEAD_OK, or when one is done and a
 * request with a higher number than `last_id` was submitted, so that others who share the session have theirs. When the time
 * is over: what is done by then. Where others had the last completion it waits on, as railhead_wait does.
 */
int32_t railhead_wait_all(railhead_session *session, railhead_completion *completions, size_t room, uint64_t last_id,
                          int64_t timeout_millis);

/* Gives back what completions point to. Also after the session was closed. */
void railhead_completions_free(railhead_completion *completions, size_t count);

/*
 * A descriptor that is readable while completions wait to be collected, and when the session is over; for poll and epoll,
 * never to be read or closed. It goes with the session.
 */
int32_t railhead_event_fd(const railhead_session *session);

/* ---- Owners ---- */

/*
 * Gateways that share objects out have one owner for each run of an object (docs/http-api.md, placement). A program that has a
 * session with each of them, opened with `shared_only`, asks the owner of a range's first byte, and any other gateway while it
 * cannot. The rule is the text `placement.rule` of GET /.railhead/endpoints: of another one these functions know nothing. They
 * are pure, and fail in nothing. A byte that is not UTF-8 counts as U+FFFD, which is nobody's.
 */
#define RAILHEAD_PLACEMENT_RULE "2"

/* The hash of a member's name, as `placement.members` has it. */
uint64_t railhead_member(const char *name);

/* The hash of a run; `index` is its first byte's offset in the object, in units of `placement.run`. */
uint64_t railhead_run(const char *bucket, const char *key, uint64_t index);

/* A member's score for a run, both as their hashes: the highest owns it. */
uint64_t railhead_score(uint64_t member, uint64_t run);

/* Which of `count` members owns the run: its place among them, of equal ones the first. 0 where there is none. */
size_t railhead_owner(const uint64_t *members, size_t count, const char *bucket, const char *key, uint64_t index);

#ifdef __cplusplus
}
#endif
#endif
