#include "json.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { DEEPEST = 32 };

static const char *blanks(const char *at) {
    return at + strspn(at, " \t\r\n");
}

static int hex_digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static size_t utf8(uint32_t code, char out[3]) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    out[0] = (char)(0xe0 | code >> 12);
    out[1] = (char)(0x80 | (code >> 6 & 0x3f));
    out[2] = (char)(0x80 | (code & 0x3f));
    return 3;
}

/* One escape after its backslash; 0 and surrogates are refused, since no text that is read here has any. */
static const char *escape(const char *at, char out[3], size_t *count) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    *count = 1;
    if (*at == 'u') {
        uint32_t code = 0;
        for (int i = 1; i <= 4; i++) {
            int digit = hex_digit(at[i]);
            if (digit < 0) {
                return NULL;
            }
            code = code << 4 | (uint32_t)digit;
        }
        if (code == 0 || (code >= 0xd800 && code < 0xe000)) {
            return NULL;
        }
        *count = utf8(code, out);
        return at + 5;
    }
    const char *found = *at ? strchr(from, *at) : NULL;
    if (!found) {
        return NULL;
    }
    out[0] = to[found - from];
    return at + 1;
}

/* Past the string that starts at `at`; unescaped to `out` unless that is NULL. */
static const char *string(const char *at, char *out, size_t room) {
    if (*at++ != '"') {
        return NULL;
    }
    size_t used = 0;
    while (*at != '"') {
        char bytes[3] = {*at};
        size_t count = 1;
        if ((unsigned char)*at < 0x20) {
            return NULL; /* the end of the text, too */
        }
        at = *at == '\\' ? escape(at + 1, bytes, &count) : at + 1;
        if (!at || (out && used + count >= room)) {
            return NULL;
        }
        if (out) {
            memcpy(out + used, bytes, count);
        }
        used += count;
    }
    if (out) {
        out[used] = 0;
    }
    return at + 1;
}

static const char *skip(const char *at, int depth);

static const char *skip_members(const char *at, char end, int depth) {
    at = blanks(at + 1);
    if (*at == end) {
        return at + 1;
    }
    for (;;) {
        if (end == '}') {
            at = string(at, NULL, 0);
            at = at ? blanks(at) : NULL;
            if (!at || *at != ':') {
                return NULL;
            }
            at = blanks(at + 1);
        }
        at = skip(at, depth);
        if (!at) {
            return NULL;
        }
        at = blanks(at);
        if (*at == end) {
            return at + 1;
        }
        if (*at != ',') {
            return NULL;
        }
        at = blanks(at + 1);
    }
}

static const char *skip(const char *at, int depth) {
    if (depth > DEEPEST) {
        return NULL;
    }
    switch (*at) {
        case '"': return string(at, NULL, 0);
        case '{': return skip_members(at, '}', depth + 1);
        case '[': return skip_members(at, ']', depth + 1);
        default: {
            size_t length = strspn(at, "+-.0123456789eEaflnrstu");
            return length ? at + length : NULL;
        }
    }
}

/* Where the value of the top-level member begins: 0; 1 where there is none; -1 where `json` is no object up to there. */
static int find(const char *json, const char *name, const char **value) {
    const char *at = blanks(json);
    if (*at != '{') {
        return -1;
    }
    at = blanks(at + 1);
    if (*at == '}') {
        return 1;
    }
    for (;;) {
        char member[64];
        const char *after = string(at, member, sizeof member);
        bool wanted = after && strcmp(member, name) == 0;
        if (!after) {
            after = string(at, NULL, 0); /* a longer name than any that is wanted */
        }
        at = after ? blanks(after) : NULL;
        if (!at || *at != ':') {
            return -1;
        }
        at = blanks(at + 1);
        if (wanted) {
            *value = at;
            return 0;
        }
        at = skip(at, 0);
        at = at ? blanks(at) : NULL;
        if (!at || (*at != ',' && *at != '}')) {
            return -1;
        }
        if (*at == '}') {
            return 1;
        }
        at = blanks(at + 1);
    }
}

int rh_json_string(const char *json, const char *name, char *out, size_t out_bytes) {
    const char *value;
    int found = find(json, name, &value);
    return found != 0 ? found : string(value, out, out_bytes) ? 0 : -1;
}

int rh_json_number(const char *json, const char *name, uint32_t *out) {
    const char *value;
    int found = find(json, name, &value);
    if (found != 0) {
        return found;
    }
    uint64_t number = 0;
    size_t digits = strspn(value, "0123456789");
    for (size_t i = 0; i < digits && number <= UINT32_MAX; i++) {
        number = number * 10 + (uint64_t)(value[i] - '0');
    }
    *out = (uint32_t)number;
    return digits == 0 || number > UINT32_MAX || (value[digits] && strchr(".eE", value[digits])) ? -1 : 0;
}

int rh_json_strings(const char *json, const char *name, char *out, size_t each, uint32_t room, uint32_t *count) {
    const char *at;
    int found = find(json, name, &at);
    *count = 0;
    if (found != 0) {
        return found;
    }
    if (*at != '[') {
        return -1;
    }
    at = blanks(at + 1);
    while (*at != ']') {
        if (*count == room) {
            return 0;
        }
        at = string(at, out + *count * each, each);
        at = at ? blanks(at) : NULL;
        if (!at || (*at != ',' && *at != ']')) {
            return -1;
        }
        at = *at == ',' ? blanks(at + 1) : at;
        ++*count;
    }
    return 0;
}
