#include "http.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "error.h"

/* libcurl's own functions, once loaded; never unloaded, since others may use it too. */
static struct {
    bool loaded;
    CURLcode (*global_init)(long flags);
    CURL *(*init)(void);
    CURLcode (*setopt)(CURL *curl, CURLoption option, ...);
    CURLcode (*perform)(CURL *curl);
    CURLcode (*getinfo)(CURL *curl, CURLINFO info, ...);
    void (*cleanup)(CURL *curl);
    const char *(*text)(CURLcode code);
    struct curl_slist *(*append)(struct curl_slist *list, const char *line);
    void (*free_all)(struct curl_slist *list);
} curl_;

static void load(void) {
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
    void *library = NULL;
    for (size_t i = 0; i < 2 && !library; i++) {
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    }
    if (!library) {
        return;
    }
    const struct {
        const char *name;
        void *to;
    } symbols[] = {
        {"curl_global_init", &curl_.global_init}, {"curl_easy_init", &curl_.init},
        {"curl_easy_setopt", &curl_.setopt},      {"curl_easy_perform", &curl_.perform},
        {"curl_easy_getinfo", &curl_.getinfo},    {"curl_easy_cleanup", &curl_.cleanup},
        {"curl_easy_strerror", &curl_.text},      {"curl_slist_append", &curl_.append},
        {"curl_slist_free_all", &curl_.free_all}};
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *found = dlsym(library, symbols[i].name);
        if (!found) {
            return;
        }
        memcpy(symbols[i].to, &found, sizeof found);
    }
    curl_.loaded = curl_.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

static size_t take(char *bytes, size_t size, size_t count, void *to) {
    railhead_http *exchange = to;
    size_t length = size * count;
    if (length > exchange->answer_room - exchange->answer_bytes) {
        return 0;
    }
    memcpy(exchange->answer + exchange->answer_bytes, bytes, length);
    exchange->answer_bytes += length;
    return length;
}

static struct curl_slist *lines(const char *const *headers) {
    struct curl_slist *list = NULL;
    for (; *headers; headers++) {
        struct curl_slist *longer = curl_.append(list, *headers);
        if (!longer) {
            curl_.free_all(list);
            return NULL;
        }
        list = longer;
    }
    return list;
}

/* Called once a second at least: anything but 0 breaks the exchange off. */
static int look(void *is_over, curl_off_t down, curl_off_t downloaded, curl_off_t up, curl_off_t uploaded) {
    (void)down, (void)downloaded, (void)up, (void)uploaded;
    return atomic_load((const atomic_bool *)is_over);
}

static CURLcode perform(CURL *curl, const struct rh_http *http, railhead_http *exchange, struct curl_slist *headers,
                        char *why) {
    curl_.setopt(curl, CURLOPT_URL, exchange->url);
    curl_.setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_.setopt(curl, CURLOPT_CUSTOMREQUEST, exchange->method);
    curl_.setopt(curl, CURLOPT_POST, 1L);
    curl_.setopt(curl, CURLOPT_POSTFIELDS, http->body ? http->body : "");
    curl_.setopt(curl, CURLOPT_POSTFIELDSIZE, http->body ? (long)strlen(http->body) : 0L);
    curl_.setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_.setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_.setopt(curl, CURLOPT_PROXY, ""); /* none, whatever the environment says: a gateway stands beside its clients */
    curl_.setopt(curl, CURLOPT_NOPROXY, "*"); /* keeps libcurl from reading no_proxy, on a thread of the library's at times */
    curl_.setopt(curl, CURLOPT_TIMEOUT_MS, (long)exchange->timeout_millis);
    curl_.setopt(curl, CURLOPT_QUICK_EXIT, 1L); /* leaves a resolver that hangs to end by itself, on libcurl's own thread */
    curl_.setopt(curl, CURLOPT_WRITEFUNCTION, take);
    curl_.setopt(curl, CURLOPT_WRITEDATA, exchange);
    curl_.setopt(curl, CURLOPT_ERRORBUFFER, why);
    if (*http->ca_bundle) {
        curl_.setopt(curl, CURLOPT_CAINFO, http->ca_bundle);
    }
    if (http->is_over) {
        curl_.setopt(curl, CURLOPT_NOPROGRESS, 0L);
        curl_.setopt(curl, CURLOPT_XFERINFOFUNCTION, look);
        curl_.setopt(curl, CURLOPT_XFERINFODATA, http->is_over);
    }
    CURLcode code = curl_.perform(curl);
    long status = 0;
    curl_.getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    exchange->status = (uint32_t)status;
    return code;
}

/* libcurl names a file that it cannot use in some of its versions only. */
static int check_ca(const struct rh_http *http, const char *url) {
    FILE *file = *http->ca_bundle && strncmp(url, "https://", 8) == 0 ? fopen(http->ca_bundle, "re") : NULL;
    if (file) {
        fclose(file);
    } else if (*http->ca_bundle && strncmp(url, "https://", 8) == 0) {
        return rh_fail(http->error, "the file of authorities %.200s: %s", http->ca_bundle, strerror(errno));
    }
    return 0;
}

int rh_http_send(void *context, railhead_http *exchange) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const struct rh_http *http = context;
    pthread_once(&once, load);
    if (check_ca(http, exchange->url) != 0) {
        return -1;
    }
    CURL *curl = curl_.loaded ? curl_.init() : NULL;
    if (!curl) {
        return rh_fail(http->error, "libcurl.so.4 cannot be used");
    }
    char why[CURL_ERROR_SIZE] = "";
    struct curl_slist *headers = lines(exchange->headers);
    CURLcode code = headers ? perform(curl, http, exchange, headers, why) : CURLE_OUT_OF_MEMORY;
    curl_.cleanup(curl);
    curl_.free_all(headers);
    return code == CURLE_OK ? 0
                            : rh_fail_as(http->error, code == CURLE_OPERATION_TIMEDOUT ? RAILHEAD_TIMED_OUT
                                                                                     : RAILHEAD_UNAVAILABLE,
                                         "%.150s", *why ? why : curl_.text(code));
}

void rh_http_error_code(const char *document, char code[64]) {
    const char *at = strstr(document, "<Code>");
    code[0] = 0;
    if (at) {
        size_t length = strcspn(at + 6, "<");
        snprintf(code, 64, "%.*s", (int)(length < 50 ? length : 50), at + 6);
    }
}
