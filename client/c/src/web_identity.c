#include "web_identity.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "error.h"
#include "http.h"

enum { TOKEN_CHARACTERS = 20000, FORM_BYTES = 3 * TOKEN_CHARACTERS + 8192, ANSWER_BYTES = 16384 };
_Static_assert(FORM_BYTES >= 3 * (TOKEN_CHARACTERS + sizeof((struct rh_key_source *)0)->role
                                  + sizeof((struct rh_key_source *)0)->role_session) + 256, "the longest form fits");

/* One exchange, on the heap since a token is long. */
struct exchange {
    char token[TOKEN_CHARACTERS + 2];
    char form[FORM_BYTES];
    char answer[ANSWER_BYTES + 1];
};

/* Read anew for each exchange: whoever writes the file replaces it before the token ends. */
static int read_token(const char *path, struct exchange *exchange, struct rh_error *error) {
    FILE *file = fopen(path, "re");
    if (!file) {
        return rh_fail_as(error, RAILHEAD_ARGUMENT, "AWS_WEB_IDENTITY_TOKEN_FILE: %.200s: %s", path, strerror(errno));
    }
    size_t length = fread(exchange->token, 1, TOKEN_CHARACTERS + 1, file);
    bool failed = ferror(file);
    fclose(file);
    while (length > 0 && isspace((unsigned char)exchange->token[length - 1])) {
        length--;
    }
    exchange->token[length] = 0;
    if (failed || length == 0 || length > TOKEN_CHARACTERS) {
        return rh_fail_as(error, RAILHEAD_ARGUMENT,
                          "AWS_WEB_IDENTITY_TOKEN_FILE: %.200s holds no token of 1 to %d characters", path, TOKEN_CHARACTERS);
    }
    return 0;
}

/* Appends name=value, percent-encoded. */
static void add_field(char *form, const char *name, const char *value) {
    size_t at = strlen(form);
    int written = snprintf(form + at, FORM_BYTES - at, "%s%s=", at > 0 ? "&" : "", name);
    at += (size_t)written;
    for (; *value; value++) {
        bool plain = isalnum((unsigned char)*value) || strchr("-_.~", *value);
        at += (size_t)snprintf(form + at, FORM_BYTES - at, plain ? "%c" : "%%%02X", (unsigned char)*value);
    }
}

/* The text of an element, which no credential needs an entity for. */
static int element(const char *document, const char *name, char *out, size_t room) {
    char tag[40];
    snprintf(tag, sizeof tag, "<%s>", name);
    const char *at = strstr(document, tag);
    size_t length = at ? strcspn(at + strlen(tag), "<&") : 0;
    if (length == 0 || length >= room || at[strlen(tag) + length] != '<') {
        return -1;
    }
    memcpy(out, at + strlen(tag), length);
    out[length] = 0;
    return 0;
}

static int parse(const char *document, struct rh_settings *settings, struct rh_error *error) {
    char end[40];
    struct tm utc = {0};
    if (element(document, "AccessKeyId", settings->access_key, sizeof settings->access_key) != 0
        || element(document, "SecretAccessKey", settings->secret_key, sizeof settings->secret_key) != 0
        || element(document, "SessionToken", settings->session_token, sizeof settings->session_token) != 0
        || element(document, "Expiration", end, sizeof end) != 0
        || sscanf(end, "%d-%d-%dT%d:%d:%d", &utc.tm_year, &utc.tm_mon, &utc.tm_mday, &utc.tm_hour, &utc.tm_min, &utc.tm_sec) != 6) {
        return rh_fail(error, "the service for web identities answered without credentials, or with longer ones than fit");
    }
    utc.tm_year -= 1900;
    utc.tm_mon -= 1;
    settings->ends_at = timegm(&utc);
    return 0;
}

static int ask(struct exchange *exchange, struct rh_settings *settings, struct rh_error *error) {
    const char *service = settings->source.service;
    static const char *const headers[] = {"Content-Type: application/x-www-form-urlencoded", NULL};
    char url[600], code[64];
    struct rh_error why = {.code = RAILHEAD_UNAVAILABLE};
    const struct rh_http http = {.ca_bundle = settings->ca_bundle, .body = exchange->form, .is_over = settings->is_over,
                                 .error = &why};
    railhead_http sent = {.method = "POST", .url = url, .headers = headers, .timeout_millis = (uint32_t)settings->timeout_millis,
                          .answer = exchange->answer, .answer_room = ANSWER_BYTES};
    snprintf(url, sizeof url, "%s/", service);
    if (rh_http_send((void *)&http, &sent) != 0) {
        return rh_fail_as(error, why.code, "no credentials from %.100s: %.150s", service, why.text);
    }
    exchange->answer[sent.answer_bytes] = 0;
    if (sent.status != 200) {
        rh_http_error_code(exchange->answer, code);
        return rh_fail_as(error, sent.status < 500 ? RAILHEAD_REFUSED : RAILHEAD_UNAVAILABLE,
                          "no credentials from %.100s: HTTP %u%s%s", service, sent.status, *code ? ": " : "", code);
    }
    return parse(exchange->answer, settings, error);
}

int rh_web_identity(struct rh_settings *settings, struct rh_error *error) {
    const struct rh_key_source *source = &settings->source;
    struct exchange *exchange = calloc(1, sizeof *exchange);
    if (!exchange) {
        return rh_fail_as(error, RAILHEAD_NO_MEMORY, "out of memory");
    }
    int result = read_token(source->token_file, exchange, error);
    if (result == 0) {
        add_field(exchange->form, "Action", "AssumeRoleWithWebIdentity");
        add_field(exchange->form, "Version", "2011-06-15");
        add_field(exchange->form, "RoleArn", source->role);
        add_field(exchange->form, "RoleSessionName", source->role_session);
        add_field(exchange->form, "WebIdentityToken", exchange->token);
        result = ask(exchange, settings, error);
    }
    explicit_bzero(exchange, sizeof *exchange);
    free(exchange);
    return result;
}
