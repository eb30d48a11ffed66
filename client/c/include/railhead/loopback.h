/*
 * The client's end of a Railhead session on this host (docs/native-channel.md): settings, the signed open, the proven
 * UNIX socket, buffers of shared memory, and tokens that name them.
 *
 * A function that can fail returns 0, or -1 with one line in `error`. Unless it says otherwise a function blocks, at
 * most for the settings' timeout, and may be called from any thread.
 */
#ifndef RAILHEAD_LOOPBACK_H
#define RAILHEAD_LOOPBACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "railhead/railhead.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RH_TOKEN_CHARACTERS 81
#define RH_KEY_BYTES 32
#define RH_ID_BYTES 16
#define RH_ADDRESSES 8

struct rh_error {
    char text[320];
    int32_t code;     /* one of RAILHEAD_... */
    uint32_t refusal; /* the reason of the gateway's REFUSED; else 0 */
};

/*
 * Names what holds keys that may change. The environment is read for it once, by the thread that reads the settings: a renewal
 * reads these files alone, since a program may change its environment at any time.
 */
struct rh_key_source {
    char profile[256];
    char credentials[4096]; /* a file, as config and token_file are */
    char config[4096];
    char token_file[4096];  /* empty: there is no web identity, and the profile has the keys */
    char role[2049];
    char role_session[128];
    char service[512];      /* exchanges the token */
};

/* Whose session it is, and with which gateway. Texts end in NUL; an optional one may be empty. */
struct rh_settings {
    char endpoint[512];       /* http://HOST[:PORT] or https://HOST[:PORT], without a path */
    char region[64];
    char access_key[160];
    char secret_key[256];
    char session_token[4096]; /* optional */
    int64_t ends_at;          /* when the keys end, in seconds since 1970; 0: unknown, or never */
    bool may_change;          /* the keys are a file's or a role's: rh_keys_find may find newer ones */
    struct rh_key_source source;
    char ca_bundle[4096];     /* optional: a PEM file for https instead of the system's */
    long timeout_millis;      /* for one HTTP request, one connection, and one turn to ask on the socket */
    uint32_t fabric;          /* RAILHEAD_LOOPBACK or RAILHEAD_VERBS */
    railhead_http_function http; /* optional: in place of libcurl */
    void *http_context;
    bool shared_only;    /* the session is for what all gateways of a cluster serve alike */
    const void *is_over; /* optional, an atomic_bool of C: breaks off what libcurl sends */
};

/*
 * Reads the environment, then the files of AWS's tools. Endpoint: RAILHEAD_ENDPOINT, AWS_ENDPOINT_URL_S3,
 * AWS_ENDPOINT_URL, endpoint_url of S3 in the profile's services section, or of the profile.
 * Keys: AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; else those that the token of
 * AWS_WEB_IDENTITY_TOKEN_FILE is exchanged for, in the role AWS_ROLE_ARN, at AWS_ENDPOINT_URL_STS or the endpoint; else the
 * profile AWS_PROFILE (or "default") of AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE. An exchange waits for the service.
 * Region: AWS_REGION, AWS_DEFAULT_REGION, the profile's, us-east-1. CA: AWS_CA_BUNDLE, ca_bundle of the
 * profile. No request goes by a proxy, whatever http_proxy and its like say.
 */
int rh_settings_read(struct rh_settings *settings, struct rh_error *error);

/* Settings that the caller has, and are not read. */
struct rh_named {
    const char *endpoint;  /* may be NULL, as the CA */
    const char *ca_bundle;
    long timeout_millis;   /* 0: the library's own */
    bool has_keys;
};

/*
 * As rh_settings_read, but for what is named, which holds for the exchange of a token, too. A mistake in the variables or files is
 * RAILHEAD_ARGUMENT; an exchange that failed keeps its own code.
 */
int rh_settings_complete(struct rh_settings *settings, const struct rh_named *named, struct rh_error *error);

/*
 * Finds the keys of settings that may change anew, where they came from. Reads files, never the environment, and waits for an
 * exchange. With an error the settings have no keys.
 */
int rh_keys_find(struct rh_settings *settings, struct rh_error *error);

/* What the gateway granted: a session that waits for its proof, for half a minute or so. */
struct rh_grant {
    uint8_t id[RH_ID_BYTES];
    uint8_t key[RH_KEY_BYTES]; /* a secret */
    uint32_t fabric;           /* RAILHEAD_LOOPBACK, or what follows the socket */
    char socket[108];
    char addresses[RH_ADDRESSES][48];
    uint32_t addresses_count;
    uint32_t port;
    uint32_t path_mtu;         /* the gateway's longest packet, in bytes */
    uint32_t max_requests;
    uint32_t max_operation;    /* the highest code of a request that the gateway knows */
    uint32_t max_windows;      /* the most windows of a list; 0: no list is known */
};

/* Asks for a session with a request signed by SigV4. */
int rh_grant_request(const struct rh_settings *settings, struct rh_grant *grant, struct rh_error *error);

/* Puts credentials of the same principal in place of those that the session of this id was opened or last renewed with. */
int rh_grant_renew(const struct rh_settings *settings, const uint8_t id[RH_ID_BYTES], struct rh_error *error);

/* A proven session. A thread of its own keeps it alive. */
struct rh_session;

/* Connects and proves the key; checks the gateway's own proof. `*session` is the caller's until rh_session_close. */
int rh_session_connect(const struct rh_grant *grant, long timeout_millis, struct rh_session **session,
                       struct rh_error *error);

/*
 * Renews a session's credentials before they end, as long as they are found anew where they came from. A thread of its own
 * sends the requests, and runs none of the caller's code.
 */
struct rh_renewal;

/* Copies the settings. NULL where there is nothing to renew, or no memory or thread: the session then ends with its credentials. */
struct rh_renewal *rh_renewal_start(struct rh_session *session, const struct rh_settings *settings);

/* Breaks off what is under way, and frees it: before the session is closed. NULL is nothing. */
void rh_renewal_stop(struct rh_renewal *renewal);

/* The session's number, which tokens carry: 24 bits. Never blocks. */
uint32_t rh_session_number(const struct rh_session *session);

/* Whether the connection stood when this looked. Never waits for the gateway. */
bool rh_session_is_open(struct rh_session *session);

/*
 * Lets the gateway read and write the first `length` bytes of the shared memory `descriptor`, a memfd with the seal
 * F_SEAL_SHRINK, under the addresses from `base` on, which are mere names to it. The descriptor stays the caller's.
 * An error leaves the session open only if it is the gateway's refusal, or the descriptor is none of these; see
 * rh_session_is_open.
 */
int rh_session_register(struct rh_session *session, int descriptor, uint64_t base, uint64_t length, uint32_t *key,
                        struct rh_error *error);

/*
 * Lets the gateway read and write `length` bytes of the caller's own memory through a bounce buffer: `descriptor`, as for
 * rh_session_register, which the caller has mapped at `buffer`. The session's thread copies between the two: what the
 * gateway wrote is in the caller's memory before anybody is told that it was written, and what it reads is what stands
 * there then. Memory that is written must be writable: else the process ends. Needs no right of the gateway's over this process. Both stay the caller's; no copy touches either once
 * rh_session_deregister, with whatever result, or rh_session_close returned.
 */
int rh_session_bounce(struct rh_session *session, int descriptor, void *buffer, void *own, uint64_t length,
                      uint32_t *key, struct rh_error *error);

/*
 * Lets the gateway read and write `length` bytes of this process's own memory, unshared, through the kernel: where it is
 * configured to (rdma.loopback.cross_memory). Allows the gateway's process, and it alone, to look into this one as a
 * debugger may (PR_SET_PTRACER), which a program can take back. The memory must not be freed before the deregistration,
 * or the session's close, was answered.
 */
int rh_session_attach(struct rh_session *session, void *base, uint64_t length, uint32_t *key, struct rh_error *error);

/* When this returned 0 the gateway touches the buffer no more. */
int rh_session_deregister(struct rh_session *session, uint32_t key, struct rh_error *error);

/*
 * Says BYE, waits for the gateway to let go of all buffers, and frees the session, whatever happens. In a process that
 * forked from the session's own it says nothing: the session stays the parent's.
 */
void rh_session_close(struct rh_session *session);

/*
 * Writes the descriptor of [address, address + length) of a registered buffer (81 characters and a NUL) to `token`:
 * cuObject's DC_V1 form, with the session's number for the DCT's and 127.0.0.1 for the GID. Length: 1 to 2^32 - 1.
 */
int rh_token_format(char token[RH_TOKEN_CHARACTERS + 1], uint64_t address, uint64_t length, uint32_t key,
                    uint32_t session_number, struct rh_error *error);

#ifdef __cplusplus
}
#endif
#endif
