#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "json.h"
#include "sigv4.h"

#define PATH "/.railhead/sessions"
#define QUERY "fabric=loopback"

enum { ANSWER_BYTES = 16384 };

struct answer {
    char text[ANSWER_BYTES + 1];
    size_t length;
};

static size_t take(char *data, size_t size, size_t count, void *to) {
    struct answer *answer = to;
    size_t bytes = size * count;
    if (bytes > ANSWER_BYTES - answer->length) {
        return 0;
    }
    memcpy(answer->text + answer->length, data, bytes);
    answer->length += bytes;
    answer->text[answer->length] = 0;
    return bytes;
}

static void init_curl(void) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

static bool add(struct curl_slist **headers, const char *name, const char *value) {
    char line[4200];
    snprintf(line, sizeof line, "%s: %s", name, value);
    struct curl_slist *longer = curl_slist_append(*headers, line);
    *headers = longer ? longer : *headers;
    return longer != NULL;
}

static bool add_all(struct curl_slist **headers, const struct rh_settings *settings, const char *host,
                    const struct rh_signed *signed_) {
    const char *token = settings->session_token;
    return add(headers, "Host", host) && add(headers, "x-amz-date", signed_->date)
           && add(headers, "x-amz-content-sha256", signed_->payload_hash)
           && add(headers, "Authorization", signed_->authorization)
           && (!*token || add(headers, "x-amz-security-token", token));
}

/* The code of an S3 error document, or nothing. */
static void error_code(const char *text, char out[64]) {
    const char *code = strstr(text, "<Code>");
    out[0] = 0;
    if (code) {
        size_t length = strcspn(code + 6, "<");
        snprintf(out, 64, ": %.*s", (int)(length < 50 ? length : 50), code + 6);
    }
}

static int post(const struct rh_settings *settings, struct curl_slist *headers, struct answer *answer,
                struct rh_error *error) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, init_curl);
    CURL *curl = curl_easy_init();
    if (!curl) {
        return rh_fail(error, "libcurl cannot be used");
    }
    char url[sizeof settings->endpoint + sizeof PATH + sizeof QUERY + 1], why[CURL_ERROR_SIZE] = "";
    snprintf(url, sizeof url, "%s" PATH "?" QUERY, settings->endpoint);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_POST, 1L);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, "");
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, 0L);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, settings->timeout_millis);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why);
    if (*settings->ca_bundle) {
        curl_easy_setopt(curl, CURLOPT_CAINFO, settings->ca_bundle);
    }
    CURLcode code = curl_easy_perform(curl);
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_cleanup(curl);
    if (code != CURLE_OK) {
        return rh_fail(error, "no session from %.150s: %.100s", settings->endpoint,
                       *why ? why : curl_easy_strerror(code));
    }
    if (status != 200 && status != 201) {
        char s3[64];
        error_code(answer->text, s3);
        return rh_fail(error, "no session from %.150s: HTTP %ld%s", settings->endpoint, status, s3);
    }
    return 0;
}

static int parse(const char *json, struct rh_grant *grant, struct rh_error *error) {
    char id[2 * RH_ID_BYTES + 1];
    if (rh_json_string(json, "session", id, sizeof id) != 0 || rh_unhex(grant->id, id, RH_ID_BYTES) != 0) {
        return rh_fail(error, "the gateway's session has no id");
    }
    if (rh_json_string(json, "socket", grant->socket, sizeof grant->socket) != 0) {
        return rh_fail(error, "the gateway's session has no socket");
    }
    return 0;
}

int rh_grant_request(const struct rh_settings *settings, struct rh_grant *grant, struct rh_error *error) {
    const char *host = strstr(settings->endpoint, "://");
    struct rh_signed signed_;
    if (!host) {
        return rh_fail(error, "not an endpoint: %.100s", settings->endpoint);
    }
    if (rh_sign(settings, "POST", host + 3, PATH, QUERY, time(NULL), &signed_, error) != 0) {
        return -1;
    }
    struct curl_slist *headers = NULL;
    struct answer *answer = calloc(1, sizeof *answer);
    int result = answer && add_all(&headers, settings, host + 3, &signed_) ? post(settings, headers, answer, error)
                                                                         : rh_fail(error, "out of memory");
    if (result == 0) {
        result = parse(answer->text, grant, error);
    }
    if (result == 0) {
        rh_session_key(grant->key, signed_.signing_key, signed_.signature, grant->id);
    }
    explicit_bzero(&signed_, sizeof signed_);
    curl_slist_free_all(headers);
    free(answer);
    return result;
}
