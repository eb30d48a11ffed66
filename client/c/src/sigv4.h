/* SigV4 of one request with an empty body. Internal to the library. */
#ifndef RAILHEAD_SIGV4_H
#define RAILHEAD_SIGV4_H

#include <time.h>

#include "crypto.h"

struct rh_signed {
    char date[17];          /* x-amz-date */
    char payload_hash[65];  /* x-amz-content-sha256 */
    char authorization[768];
    uint8_t signing_key[RH_HASH_BYTES]; /* a secret */
    uint8_t signature[RH_HASH_BYTES];
};

/*
 * Signs METHOD path?query for service s3, with the headers host, x-amz-content-sha256, x-amz-date and, where there is
 * one, x-amz-security-token. `path` and `query` are encoded and in canonical order already.
 */
int rh_sign(const struct rh_settings *settings, const char *method, const char *host, const char *path,
            const char *query, time_t now, struct rh_signed *out, struct rh_error *error);

#endif
