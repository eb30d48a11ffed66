/* librailhead's sessions, as railhead.h describes them. */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "verbs.h"

enum { REQUEST_TIMEOUT_MILLIS = 60000, TIMEOUT_MILLIS = 10000, UNKNOWN_SESSION = 1 };

static _Thread_local char last_error[sizeof((struct rh_error *)0)->text];

int32_t rh_report_as(int32_t code, const char *text) {
    snprintf(last_error, sizeof last_error, "%s", text);
    return code;
}

int32_t rh_report(const struct rh_error *error) {
    return rh_report_as(error->code, error->text);
}

RAILHEAD_PUBLIC const char *railhead_last_error(void) {
    return last_error;
}

RAILHEAD_PUBLIC uint32_t railhead_abi_version(void) {
    return RAILHEAD_ABI;
}

RAILHEAD_PUBLIC const char *railhead_version(void) {
    return RAILHEAD_VERSION;
}

RAILHEAD_PUBLIC int32_t railhead_has_verbs(void) {
    return rh_has_verbs();
}

RAILHEAD_PUBLIC const char *railhead_result_text(int32_t result) {
    static const char *const texts[] = {
        "done", "a mistake of the caller's", "out of memory", "not available here", "refused by the gateway",
        "not done in time", "the session is over", "whether it was stored is unknown", "cancelled",
        "not served by this way", "an error of S3's", "the buffer is in use",
        "the gateway may still touch the memory", "written, but not flushed to the GPU"};
    return result <= 0 && result >= RAILHEAD_NOT_FLUSHED ? texts[-result] : "an unknown result";
}

RAILHEAD_PUBLIC void railhead_options_init(railhead_options *options, size_t struct_bytes) {
    railhead_options made = {.fabric = RAILHEAD_LOOPBACK, .timeout_millis = TIMEOUT_MILLIS,
                             .request_timeout_millis = REQUEST_TIMEOUT_MILLIS};
    size_t known = struct_bytes < sizeof made ? struct_bytes : sizeof made;
    made.struct_bytes = (uint32_t)struct_bytes;
    memset(options, 0, struct_bytes);
    memcpy(options, &made, known);
}

static int overwrite(char *out, size_t room, const char *value, const char *what, struct rh_error *error) {
    if (value && snprintf(out, room, "%s", value) >= (int)room) {
        return rh_fail_as(error, RAILHEAD_ARGUMENT, "%s is longer than %zu characters", what, room - 1);
    }
    return 0;
}

/* What the options say goes before the environment, and what is wrong there does not matter then. */
static int settle(const railhead_options *options, struct rh_settings *settings, struct rh_error *error) {
    const struct rh_named named = {.endpoint = options->endpoint, .ca_bundle = options->ca_bundle,
                                   .timeout_millis = options->timeout_millis, .has_keys = options->access_key != NULL};
    if (!options->access_key != !options->secret_key || (options->session_token && !options->access_key)) {
        return rh_fail_as(error, RAILHEAD_ARGUMENT, "access_key, secret_key and session_token belong together");
    }
    if (options->fabric != RAILHEAD_LOOPBACK && options->fabric != RAILHEAD_VERBS) {
        return rh_fail_as(error, RAILHEAD_ARGUMENT, "no such fabric: %u", options->fabric);
    }
    if (rh_settings_complete(settings, &named, error) != 0) {
        return -1;
    }
    settings->fabric = options->fabric;
    settings->http = options->http;
    settings->http_context = options->http_context;
    settings->shared_only = options->shared_only != 0;
    return overwrite(settings->region, sizeof settings->region, options->region, "region", error) != 0
                   || overwrite(settings->access_key, sizeof settings->access_key, options->access_key, "access_key", error)
                   || overwrite(settings->secret_key, sizeof settings->secret_key, options->secret_key, "secret_key", error)
                   || overwrite(settings->session_token, sizeof settings->session_token, options->session_token,
                                "session_token", error)
               ? -1 : 0;
}

/* A first connection, with all that it loads, may take longer than the gateway keeps a session for it: the second is quicker. */
static int open_session(const struct rh_settings *settings, struct rh_session **core, struct rh_error *error) {
    struct rh_grant grant = {0};
    int result = -1;
    for (int attempt = 0; attempt < 2 && result != 0; attempt++) {
        if (attempt > 0 && error->refusal != UNKNOWN_SESSION) {
            break;
        }
        int64_t deadline = rh_now_millis() + settings->timeout_millis;
        result = rh_grant_request(settings, &grant, error) != 0
                     ? -1 : rh_session_connect_by(&grant, deadline, settings->timeout_millis, core, error);
    }
    explicit_bzero(&grant, sizeof grant);
    return result;
}

/* With the settings that the options come to, which are wiped behind it. */
static int with_settings(const railhead_options *options, railhead_session *session,
                         int (*work)(const struct rh_settings *, railhead_session *, struct rh_error *), struct rh_error *error) {
    struct rh_settings *settings = calloc(1, sizeof *settings);
    if (!settings) {
        return rh_fail_as(error, RAILHEAD_NO_MEMORY, "out of memory");
    }
    int result = settle(options, settings, error);
    if (result == 0) {
        result = work(settings, session, error);
    }
    explicit_bzero(settings, sizeof *settings);
    free(settings);
    return result;
}

/* A program's HTTP function is called by railhead_connect and railhead_renew alone, so that no thread of the library's may use it. */
static int open_core(const struct rh_settings *settings, railhead_session *session, struct rh_error *error) {
    if (open_session(settings, &session->core, error) != 0) {
        return -1;
    }
    session->renewal = settings->http ? NULL : rh_renewal_start(session->core, settings);
    return 0;
}

static int renew_core(const struct rh_settings *settings, railhead_session *session, struct rh_error *error) {
    return rh_grant_renew(settings, session->core->id, error);
}

/* The options as far as the caller's struct has them. */
static int known_options(const railhead_options *options, railhead_options *known) {
    railhead_options_init(known, sizeof *known);
    if (!options || options->struct_bytes < offsetof(railhead_options, shared_only)) {
        return rh_report_as(RAILHEAD_ARGUMENT, "options are made by railhead_options_init");
    }
    memcpy(known, options, options->struct_bytes < sizeof *known ? options->struct_bytes : sizeof *known);
    return RAILHEAD_OK;
}

RAILHEAD_PUBLIC int32_t railhead_connect(const railhead_options *options, railhead_session **session) {
    railhead_options known;
    struct rh_error error;
    if (!session) {
        return rh_report_as(RAILHEAD_ARGUMENT, "nowhere to put the session");
    }
    if (known_options(options, &known) != RAILHEAD_OK) {
        return RAILHEAD_ARGUMENT;
    }
    railhead_session *made = calloc(1, sizeof *made);
    if (!made) {
        return rh_report_as(RAILHEAD_NO_MEMORY, "out of memory");
    }
    made->fabric = known.fabric;
    made->request_timeout_millis = known.request_timeout_millis ? known.request_timeout_millis : REQUEST_TIMEOUT_MILLIS;
    if (with_settings(&known, made, open_core, &error) != 0) {
        free(made);
        return rh_report(&error);
    }
    *session = made;
    return RAILHEAD_OK;
}

RAILHEAD_PUBLIC int32_t railhead_renew(railhead_session *session, const railhead_options *options) {
    railhead_options known;
    struct rh_error error;
    if (!session) {
        return rh_report_as(RAILHEAD_ARGUMENT, "NULL");
    }
    if (known_options(options, &known) != RAILHEAD_OK) {
        return RAILHEAD_ARGUMENT;
    }
    if (!rh_session_is_mine(session->core)) {
        return rh_report_as(RAILHEAD_ENDED, "the session is the parent process's");
    }
    return with_settings(&known, session, renew_core, &error) == 0 ? RAILHEAD_OK : rh_report(&error);
}

RAILHEAD_PUBLIC int32_t railhead_is_open(const railhead_session *session) {
    return rh_session_is_open(session->core);
}

RAILHEAD_PUBLIC uint32_t railhead_max_requests(const railhead_session *session) {
    return session->core->requests.max;
}

RAILHEAD_PUBLIC int32_t railhead_event_fd(const railhead_session *session) {
    return session->core->requests.event_fd;
}

/* An adapter's regions end before their device does: the buffers go between the end and what it leaves. */
RAILHEAD_PUBLIC int32_t railhead_close(railhead_session *session) {
    rh_renewal_stop(session->renewal);
    bool let_go = rh_session_finish(session->core);
    for (railhead_buffer *buffer = session->buffers, *next; buffer; buffer = next) {
        next = buffer->next;
        rh_buffer_free(buffer, !let_go);
    }
    rh_session_discard(session->core);
    free(session);
    return let_go ? RAILHEAD_OK : rh_report_as(RAILHEAD_HELD, "the gateway did not let go of the memory in time");
}
