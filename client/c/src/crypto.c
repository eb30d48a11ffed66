#include "crypto.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "error.h"

void rh_hex(char *out, const uint8_t *bytes, size_t count) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[2 * count] = 0;
}

static int digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int rh_unhex(uint8_t *out, const char *hex, size_t count) {
    if (strlen(hex) != 2 * count) {
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        int high = digit(hex[2 * i]);
        int low = digit(hex[2 * i + 1]);
        if (high < 0 || low < 0) {
            return -1;
        }
        out[i] = (uint8_t)(high << 4 | low);
    }
    return 0;
}

enum { HMAC_BLOCK = 64 };

void rh_hmac(uint8_t out[RH_HASH_BYTES], const void *key, size_t key_bytes, const struct rh_bytes *parts,
             size_t parts_count) {
    uint8_t inner[HMAC_BLOCK + 512] = {0}, outer[HMAC_BLOCK + RH_HASH_BYTES] = {0};
    if (key_bytes > HMAC_BLOCK) {
        rh_sha256(inner, key, key_bytes);
    } else {
        memcpy(inner, key, key_bytes);
    }
    for (size_t i = 0; i < HMAC_BLOCK; i++) {
        outer[i] = inner[i] ^ 0x5c;
        inner[i] ^= 0x36;
    }
    size_t at = HMAC_BLOCK;
    for (size_t i = 0; i < parts_count; i++) {
        if (parts[i].count > sizeof inner - at) {
            abort(); /* nothing that is hashed here is so long */
        }
        memcpy(inner + at, parts[i].at, parts[i].count);
        at += parts[i].count;
    }
    rh_sha256(outer + HMAC_BLOCK, inner, at);
    rh_sha256(out, outer, sizeof outer);
    explicit_bzero(inner, sizeof inner);
    explicit_bzero(outer, sizeof outer);
}

int rh_random(uint8_t *out, size_t bytes, struct rh_error *error) {
    while (bytes > 0) {
        ssize_t got = getrandom(out, bytes, 0);
        if (got < 0 && errno != EINTR) {
            return rh_fail(error, "no random numbers: %s", strerror(errno));
        }
        if (got > 0) {
            out += got;
            bytes -= (size_t)got;
        }
    }
    return 0;
}

#define LABEL "railhead session key"

void rh_session_key(uint8_t out[RH_KEY_BYTES], const uint8_t signing_key[RH_HASH_BYTES],
                    const uint8_t signature[RH_HASH_BYTES], const uint8_t id[RH_ID_BYTES]) {
    const struct rh_bytes parts[] = {{LABEL, strlen(LABEL)}, {signature, RH_HASH_BYTES}, {id, RH_ID_BYTES}};
    rh_hmac(out, signing_key, RH_HASH_BYTES, parts, 3);
}

void rh_session_proof(uint8_t out[RH_HASH_BYTES], const uint8_t key[RH_KEY_BYTES], const char *label,
                      const uint8_t id[RH_ID_BYTES], const uint8_t client_nonce[RH_NONCE_BYTES],
                      const uint8_t server_nonce[RH_NONCE_BYTES]) {
    const struct rh_bytes parts[] = {
        {label, strlen(label)}, {id, RH_ID_BYTES}, {client_nonce, RH_NONCE_BYTES}, {server_nonce, RH_NONCE_BYTES}};
    rh_hmac(out, key, RH_KEY_BYTES, parts, 4);
}
