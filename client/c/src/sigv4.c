#include "sigv4.h"

#include <stdio.h>
#include <string.h>

#include "error.h"

static void hmac_text(uint8_t out[RH_HASH_BYTES], const void *key, size_t key_bytes, const char *text) {
    const struct rh_bytes part = {text, strlen(text)};
    rh_hmac(out, key, key_bytes, &part, 1);
}

static void derive_signing_key(uint8_t out[RH_HASH_BYTES], const struct rh_settings *settings, const char *day) {
    char seed[sizeof settings->secret_key + 4];
    int seed_bytes = snprintf(seed, sizeof seed, "AWS4%s", settings->secret_key);
    hmac_text(out, seed, (size_t)seed_bytes, day);
    hmac_text(out, out, RH_HASH_BYTES, settings->region);
    hmac_text(out, out, RH_HASH_BYTES, "s3");
    hmac_text(out, out, RH_HASH_BYTES, "aws4_request");
    explicit_bzero(seed, sizeof seed);
}

static void hash_hex(char out[65], const char *text) {
    uint8_t hash[RH_HASH_BYTES];
    rh_sha256(hash, text, strlen(text));
    rh_hex(out, hash, sizeof hash);
}

int rh_sign(const struct rh_settings *settings, const char *method, const char *host, const char *path,
            const char *query, time_t now, struct rh_signed *out, struct rh_error *error) {
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(out->date, sizeof out->date, "%Y%m%dT%H%M%SZ", &utc);
    hash_hex(out->payload_hash, "");

    char day[9], scope[128], hash[65];
    snprintf(day, sizeof day, "%.8s", out->date);
    snprintf(scope, sizeof scope, "%s/%s/s3/aws4_request", day, settings->region);
    const bool token = settings->session_token[0] != 0;
    const char *names =
        token ? "host;x-amz-content-sha256;x-amz-date;x-amz-security-token" : "host;x-amz-content-sha256;x-amz-date";

    char canonical[8192], to_sign[512];
    int length = snprintf(canonical, sizeof canonical,
                          "%s\n%s\n%s\nhost:%s\nx-amz-content-sha256:%s\nx-amz-date:%s\n%s%s%s\n%s\n%s", method, path,
                          query, host, out->payload_hash, out->date, token ? "x-amz-security-token:" : "",
                          settings->session_token, token ? "\n" : "", names, out->payload_hash);
    if (length >= (int)sizeof canonical) {
        return rh_fail(error, "the request is too long to be signed: %d characters", length);
    }
    hash_hex(hash, canonical);
    snprintf(to_sign, sizeof to_sign, "AWS4-HMAC-SHA256\n%s\n%s\n%s", out->date, scope, hash);
    derive_signing_key(out->signing_key, settings, day);
    hmac_text(out->signature, out->signing_key, RH_HASH_BYTES, to_sign);

    char signature[2 * RH_HASH_BYTES + 1];
    rh_hex(signature, out->signature, RH_HASH_BYTES);
    snprintf(out->authorization, sizeof out->authorization,
             "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s", settings->access_key, scope, names,
             signature);
    return 0;
}
