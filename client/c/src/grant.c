#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "http.h"
#include "json.h"
#include "sigv4.h"

#define PATH "/.railhead/sessions"

enum { ANSWER_BYTES = 16384, HEADERS = 5, LONGEST_PATH_MTU = 4096 };

/* One request: its lines live as long as it is sent, on the heap since a token is long. */
struct opening {
    char answer[ANSWER_BYTES + 1];
    char url[640];
    char line[HEADERS][4200];
    const char *headers[HEADERS + 1];
};

static void add(struct opening *opening, const char *name, const char *value) {
    size_t at = 0;
    while (opening->headers[at]) {
        at++;
    }
    snprintf(opening->line[at], sizeof opening->line[at], "%s: %s", name, value);
    opening->headers[at] = opening->line[at];
}

static int refused(const struct rh_settings *settings, const struct opening *opening, uint32_t status,
                   struct rh_error *error) {
    char s3[64];
    rh_http_error_code(opening->answer, s3);
    return rh_fail_as(error, strcmp(s3, "RDMAUnavailable") == 0 ? RAILHEAD_UNAVAILABLE : RAILHEAD_REFUSED,
                      "no session from %.150s: HTTP %u%s%s", settings->endpoint, status, *s3 ? ": " : "", s3);
}

static int send_it(const struct rh_settings *settings, struct opening *opening, struct rh_error *error) {
    struct rh_error why = {.text = "its HTTP function failed", .code = RAILHEAD_UNAVAILABLE};
    struct rh_http own = {.ca_bundle = settings->ca_bundle, .is_over = settings->is_over, .error = &why};
    railhead_http exchange = {.method = "POST", .url = opening->url, .headers = opening->headers,
                              .timeout_millis = (uint32_t)settings->timeout_millis, .answer = opening->answer,
                              .answer_room = ANSWER_BYTES};
    int failed = settings->http ? settings->http(settings->http_context, &exchange) : rh_http_send(&own, &exchange);
    if (failed) {
        return rh_fail_as(error, why.code, "no session from %.150s: %.100s", settings->endpoint, why.text);
    }
    if (exchange.answer_bytes > ANSWER_BYTES) {
        return rh_fail(error, "the HTTP function says that it wrote %zu bytes", exchange.answer_bytes);
    }
    opening->answer[exchange.answer_bytes] = 0;
    if (exchange.status != 200 && exchange.status != 201) {
        return refused(settings, opening, exchange.status, error);
    }
    return 0;
}

static bool is_path_mtu(uint32_t bytes) {
    return bytes >= 256 && bytes <= LONGEST_PATH_MTU && (bytes & (bytes - 1)) == 0;
}

static int parse_verbs(const char *json, struct rh_grant *grant, struct rh_error *error) {
    grant->path_mtu = LONGEST_PATH_MTU;
    if (rh_json_strings(json, "addresses", grant->addresses[0], sizeof grant->addresses[0], RH_ADDRESSES,
                        &grant->addresses_count) != 0
        || grant->addresses_count == 0 || rh_json_number(json, "port", &grant->port) != 0 || grant->port > UINT16_MAX) {
        return rh_fail(error, "the gateway's session names no address of an adapter");
    }
    if (rh_json_number(json, "max_requests", &grant->max_requests) != 0 || grant->max_requests < 1) {
        return rh_fail(error, "the gateway's session has no max_requests");
    }
    if (rh_json_number(json, "path_mtu", &grant->path_mtu) < 0 || !is_path_mtu(grant->path_mtu)) {
        return rh_fail(error, "the gateway's path_mtu is none");
    }
    return 0;
}

static int parse(const char *json, struct rh_grant *grant, struct rh_error *error) {
    char id[2 * RH_ID_BYTES + 1];
    if (rh_json_string(json, "session", id, sizeof id) != 0 || rh_unhex(grant->id, id, RH_ID_BYTES) != 0) {
        return rh_fail(error, "the gateway's session has no id");
    }
    grant->max_operation = RAILHEAD_UPLOAD_PART; /* of gateways that do not say */
    if (rh_json_number(json, "max_operation", &grant->max_operation) < 0) {
        return rh_fail(error, "the gateway's max_operation is none");
    }
    grant->max_windows = 0;
    if (rh_json_number(json, "max_windows", &grant->max_windows) < 0) {
        return rh_fail(error, "the gateway's max_windows are none");
    }
    if (grant->fabric == RAILHEAD_VERBS) {
        return parse_verbs(json, grant, error);
    }
    if (rh_json_string(json, "socket", grant->socket, sizeof grant->socket) != 0) {
        return rh_fail(error, "the gateway's session has no socket");
    }
    return 0;
}

/* One signed request, whose answer is in `opening`. */
static int post(const struct rh_settings *settings, const char *query, struct opening *opening, struct rh_signed *signed_,
                struct rh_error *error) {
    const char *host = strstr(settings->endpoint, "://");
    if (!host) {
        return rh_fail_as(error, RAILHEAD_ARGUMENT, "not an endpoint: %.100s", settings->endpoint);
    }
    if (rh_sign(settings, "POST", host + 3, PATH, query, time(NULL), signed_, error) != 0) {
        return -1;
    }
    snprintf(opening->url, sizeof opening->url, "%s" PATH "?%s", settings->endpoint, query);
    add(opening, "Host", host + 3);
    add(opening, "x-amz-date", signed_->date);
    add(opening, "x-amz-content-sha256", signed_->payload_hash);
    add(opening, "Authorization", signed_->authorization);
    if (*settings->session_token) {
        add(opening, "x-amz-security-token", settings->session_token);
    }
    return send_it(settings, opening, error);
}

static void forget(struct opening *opening, struct rh_signed *signed_) {
    explicit_bzero(signed_, sizeof *signed_);
    explicit_bzero(opening, sizeof *opening);
    free(opening);
}

int rh_grant_request(const struct rh_settings *settings, struct rh_grant *grant, struct rh_error *error) {
    char query[32];
    snprintf(query, sizeof query, "fabric=%s%s", settings->fabric == RAILHEAD_VERBS ? "verbs" : "loopback",
             settings->shared_only ? "&shared=true" : "");
    struct rh_signed signed_;
    struct opening *opening = calloc(1, sizeof *opening);
    if (!opening) {
        return rh_fail_as(error, RAILHEAD_NO_MEMORY, "out of memory");
    }
    grant->fabric = settings->fabric;
    int result = post(settings, query, opening, &signed_, error);
    if (result == 0) {
        result = parse(opening->answer, grant, error);
    }
    if (result == 0) {
        rh_session_key(grant->key, signed_.signing_key, signed_.signature, grant->id);
    }
    forget(opening, &signed_);
    return result;
}

int rh_grant_renew(const struct rh_settings *settings, const uint8_t id[RH_ID_BYTES], struct rh_error *error) {
    char query[sizeof "renew=" + 2 * RH_ID_BYTES] = "renew=";
    struct rh_signed signed_;
    struct opening *opening = calloc(1, sizeof *opening);
    if (!opening) {
        return rh_fail_as(error, RAILHEAD_NO_MEMORY, "out of memory");
    }
    rh_hex(query + strlen(query), id, RH_ID_BYTES);
    int result = post(settings, query, opening, &signed_, error);
    forget(opening, &signed_);
    return result;
}
