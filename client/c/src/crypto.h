/* The hashes of SigV4 and of the session key. Internal to the library. */
#ifndef RAILHEAD_CRYPTO_H
#define RAILHEAD_CRYPTO_H

#include "railhead/loopback.h"

#define RH_HASH_BYTES 32
#define RH_NONCE_BYTES 32

struct rh_bytes {
    const void *at;
    size_t count;
};

void rh_hex(char *out, const uint8_t *bytes, size_t count); /* writes 2 * count + 1 characters */
int rh_unhex(uint8_t *out, const char *hex, size_t count);  /* -1 unless `hex` is 2 * count hex digits */

void rh_sha256(uint8_t out[RH_HASH_BYTES], const void *data, size_t bytes);
/* HMAC-SHA256 over the parts, 512 bytes at most, one after the other. `out` may be the key. */
void rh_hmac(uint8_t out[RH_HASH_BYTES], const void *key, size_t key_bytes, const struct rh_bytes *parts,
             size_t parts_count);
int rh_random(uint8_t *out, size_t bytes, struct rh_error *error);

/* HMAC(signing key, label | signature | id), as docs/native-channel.md has it. */
void rh_session_key(uint8_t out[RH_KEY_BYTES], const uint8_t signing_key[RH_HASH_BYTES],
                    const uint8_t signature[RH_HASH_BYTES], const uint8_t id[RH_ID_BYTES]);
void rh_session_proof(uint8_t out[RH_HASH_BYTES], const uint8_t key[RH_KEY_BYTES], const char *label,
                      const uint8_t id[RH_ID_BYTES], const uint8_t client_nonce[RH_NONCE_BYTES],
                      const uint8_t server_nonce[RH_NONCE_BYTES]);

#define RH_CLIENT_PROOF "railhead client proof"
#define RH_SERVER_PROOF "railhead server proof"

#endif
