#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "error.h"
#include "web_identity.h"

enum { TIMEOUT_MILLIS = 10000 };

static const char *variable(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static int copy(char *out, size_t room, const char *value, const char *what, struct rh_error *error) {
    if (snprintf(out, room, "%s", value) >= (int)room) {
        return rh_fail_as(error, RAILHEAD_ARGUMENT, "%s is longer than %zu characters", what, room - 1);
    }
    return 0;
}

/* Where a key stands: in a section of that kind and name; below `subsection`, indented, where there is one. */
struct section {
    const char *kind, *name, *subsection;
};

static char *trimmed(char *text) {
    text += strspn(text, " \t");
    text[strcspn(text, "\r\n")] = 0;
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t", text[length - 1])) {
        text[--length] = 0;
    }
    return text;
}

/* Whether `line` heads the section: [name] or [profile name] of a profile, [services name] of services. */
static bool heads(char *line, const struct section *section) {
    char *end = strchr(line, ']');
    if (!end) {
        return false;
    }
    *end = 0;
    char *name = trimmed(line + 1);
    size_t kind = strlen(section->kind);
    bool is_of_kind = strncmp(name, section->kind, kind) == 0 && name[kind] && strchr(" \t", name[kind]);
    if (!is_of_kind && section->subsection) {
        return false;
    }
    return strcmp(is_of_kind ? trimmed(name + kind) : name, section->name) == 0;
}

/* The value of `key` in the section: 1; 0 where there is no such file or key, -1 where there is no room for it. */
static int find(const char *path, const struct section *section, const char *key, char *out, size_t room, struct rh_error *error) {
    FILE *file = fopen(path, "re");
    if (!file) {
        return 0;
    }
    char *line = NULL;
    size_t line_room = 0;
    bool inside = false, below = !section->subsection;
    int found = 0;
    while (found == 0 && getline(&line, &line_room, file) >= 0) {
        bool nested = line[0] == ' ' || line[0] == '\t';
        char *text = trimmed(line);
        char *equals = strchr(text, '=');
        if (*text == '[') {
            inside = heads(text, section);
        } else if (inside && equals && *text != '#' && *text != ';') {
            *equals = 0;
            if (!nested && section->subsection) {
                below = strcmp(trimmed(text), section->subsection) == 0;
            } else if (nested == !!section->subsection && below && strcasecmp(trimmed(text), key) == 0) {
                found = snprintf(out, room, "%s", trimmed(equals + 1)) < (int)room ? 1 : -1;
            }
        }
    }
    if (line) {
        explicit_bzero(line, line_room);
        free(line);
    }
    fclose(file);
    return found < 0 ? rh_fail_as(error, RAILHEAD_ARGUMENT, "%s in %.200s is longer than %zu characters", key, path, room - 1)
                     : found;
}

static void path_of(char *out, size_t room, const char *name, const char *rest) {
    const char *home = variable("HOME");
    if (variable(name)) {
        snprintf(out, room, "%s", variable(name));
    } else {
        snprintf(out, room, "%s/.aws/%s", home ? home : "", rest);
    }
}

static int find_in(const struct rh_key_source *source, const char *key, char *out, size_t room, struct rh_error *error) {
    const struct section section = {"profile", source->profile, NULL};
    int found = find(source->credentials, &section, key, out, room, error);
    return found != 0 ? found : find(source->config, &section, key, out, room, error);
}

static int read_profile(struct rh_key_source *source, struct rh_error *error) {
    const char *profile = variable("AWS_PROFILE");
    path_of(source->credentials, sizeof source->credentials, "AWS_SHARED_CREDENTIALS_FILE", "credentials");
    path_of(source->config, sizeof source->config, "AWS_CONFIG_FILE", "config");
    return copy(source->profile, sizeof source->profile, profile ? profile : "default", "AWS_PROFILE", error);
}

static int read_web_identity(struct rh_key_source *source, const char *endpoint, struct rh_error *error) {
    const char *file = variable("AWS_WEB_IDENTITY_TOKEN_FILE"), *role = variable("AWS_ROLE_ARN");
    const char *name = variable("AWS_ROLE_SESSION_NAME"), *service = variable("AWS_ENDPOINT_URL_STS");
    if (!file || !role) {
        return 0;
    }
    return copy(source->token_file, sizeof source->token_file, file, "AWS_WEB_IDENTITY_TOKEN_FILE", error) != 0
                   || copy(source->role, sizeof source->role, role, "AWS_ROLE_ARN", error) != 0
                   || copy(source->role_session, sizeof source->role_session, name ? name : "librailhead",
                           "AWS_ROLE_SESSION_NAME", error) != 0
                   || copy(source->service, sizeof source->service, service ? service : endpoint, "AWS_ENDPOINT_URL_STS", error) != 0
               ? -1 : 0;
}

static int find_keys_of_profile(struct rh_settings *settings, struct rh_error *error) {
    const struct rh_key_source *source = &settings->source;
    int found = find_in(source, "aws_access_key_id", settings->access_key, sizeof settings->access_key, error);
    if (found > 0) {
        found = find_in(source, "aws_secret_access_key", settings->secret_key, sizeof settings->secret_key, error);
    }
    if (found == 0) {
        return rh_fail_as(error, RAILHEAD_ARGUMENT,
                          "no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE");
    }
    return found < 0 || find_in(source, "aws_session_token", settings->session_token, sizeof settings->session_token,
                                error) < 0
               ? -1 : 0;
}

static void forget_keys(struct rh_settings *settings) {
    explicit_bzero(settings->access_key, sizeof settings->access_key);
    explicit_bzero(settings->secret_key, sizeof settings->secret_key);
    explicit_bzero(settings->session_token, sizeof settings->session_token);
    settings->ends_at = 0;
}

int rh_keys_find(struct rh_settings *settings, struct rh_error *error) {
    forget_keys(settings);
    int result = *settings->source.token_file ? rh_web_identity(settings, error) : find_keys_of_profile(settings, error);
    if (result != 0) {
        forget_keys(settings);
    }
    return result;
}

static int read_keys(struct rh_settings *settings, struct rh_error *error) {
    const char *access = variable("AWS_ACCESS_KEY_ID"), *secret = variable("AWS_SECRET_ACCESS_KEY");
    if (access && secret) {
        const char *token = variable("AWS_SESSION_TOKEN");
        if (copy(settings->access_key, sizeof settings->access_key, access, "AWS_ACCESS_KEY_ID", error) != 0
            || copy(settings->secret_key, sizeof settings->secret_key, secret, "AWS_SECRET_ACCESS_KEY", error) != 0) {
            return -1;
        }
        return copy(settings->session_token, sizeof settings->session_token, token ? token : "", "AWS_SESSION_TOKEN",
                    error);
    }
    settings->may_change = true;
    return read_web_identity(&settings->source, settings->endpoint, error) != 0 ? -1 : rh_keys_find(settings, error);
}

/* The endpoint that the files have: that of S3 in the profile's services section goes before the profile's own. */
static int find_endpoint(const struct rh_key_source *source, char *out, size_t room, struct rh_error *error) {
    char services[128];
    int found = find_in(source, "services", services, sizeof services, error);
    if (found > 0) {
        found = find(source->config, &(struct section){"services", services, "s3"}, "endpoint_url", out, room, error);
    }
    return found != 0 ? found : find_in(source, "endpoint_url", out, room, error);
}

static int check_endpoint(char *endpoint, const char *source, struct rh_error *error) {
    size_t scheme = strncmp(endpoint, "http://", 7) == 0 ? 7 : strncmp(endpoint, "https://", 8) == 0 ? 8 : 0;
    size_t length = strlen(endpoint);
    while (length > scheme && endpoint[length - 1] == '/') {
        endpoint[--length] = 0;
    }
    if (!scheme && length > 0 && !strstr(endpoint, "://") && !strpbrk(endpoint, "/?#@ ")) {
        return rh_fail_as(error, RAILHEAD_ARGUMENT, "%s has no scheme: %.100s; write http://%.100s", source,
                          endpoint, endpoint);
    }
    if (!scheme || length == scheme || strpbrk(endpoint + scheme, "/?#@ ")) {
        return rh_fail_as(error, RAILHEAD_ARGUMENT,
                          "%s is not an endpoint (http://HOST[:PORT] or https://HOST[:PORT]): %.100s", source, endpoint);
    }
    return 0;
}

static int read_endpoint(struct rh_settings *settings, const char *named, struct rh_error *error) {
    static const char *const names[] = {"RAILHEAD_ENDPOINT", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"};
    const char *from = "the endpoint", *value = named && *named ? named : NULL;
    for (size_t i = 0; i < 3 && !value; i++) {
        from = names[i];
        value = variable(names[i]);
    }
    if (value) {
        return copy(settings->endpoint, sizeof settings->endpoint, value, from, error) != 0
                   ? -1 : check_endpoint(settings->endpoint, from, error);
    }
    int found = find_endpoint(&settings->source, settings->endpoint, sizeof settings->endpoint, error);
    if (found == 0) {
        return rh_fail_as(error, RAILHEAD_ARGUMENT,
                          "no gateway: set RAILHEAD_ENDPOINT (or AWS_ENDPOINT_URL) to its S3 endpoint");
    }
    return found < 0 ? -1 : check_endpoint(settings->endpoint, "endpoint_url", error);
}

static int read_ca(struct rh_settings *settings, const char *named, struct rh_error *error) {
    const char *bundle = named ? named : variable("AWS_CA_BUNDLE");
    if (bundle) {
        return copy(settings->ca_bundle, sizeof settings->ca_bundle, bundle, named ? "ca_bundle" : "AWS_CA_BUNDLE", error);
    }
    return find_in(&settings->source, "ca_bundle", settings->ca_bundle, sizeof settings->ca_bundle, error) < 0 ? -1 : 0;
}

static int read_region(struct rh_settings *settings, struct rh_error *error) {
    const char *region = variable("AWS_REGION") ? variable("AWS_REGION") : variable("AWS_DEFAULT_REGION");
    if (region) {
        return copy(settings->region, sizeof settings->region, region, "AWS_REGION", error);
    }
    snprintf(settings->region, sizeof settings->region, "us-east-1");
    return find_in(&settings->source, "region", settings->region, sizeof settings->region, error) < 0 ? -1 : 0;
}

int rh_settings_read(struct rh_settings *settings, struct rh_error *error) {
    return rh_settings_complete(settings, &(struct rh_named){0}, error);
}

int rh_settings_complete(struct rh_settings *settings, const struct rh_named *named, struct rh_error *error) {
    memset(settings, 0, sizeof *settings);
    settings->timeout_millis = named->timeout_millis ? named->timeout_millis : TIMEOUT_MILLIS;
    settings->fabric = RAILHEAD_LOOPBACK;
    if (read_profile(&settings->source, error) != 0 || read_region(settings, error) != 0
        || read_ca(settings, named->ca_bundle, error) != 0 || read_endpoint(settings, named->endpoint, error) != 0) {
        return -1;
    }
    return named->has_keys ? 0 : read_keys(settings, error);
}
