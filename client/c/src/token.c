#include <inttypes.h>
#include <stdio.h>

#include "error.h"

#define LOOPBACK_GID "00000000000000000000ffff7f000001"

int rh_token_format(char token[RH_TOKEN_CHARACTERS + 1], uint64_t address, uint64_t length, uint32_t key,
                    uint32_t session_number, struct rh_error *error) {
    if (length < 1 || length > UINT32_MAX || address + length - 1 < address || session_number > 0xffffff) {
        return rh_fail(error, "no token can name %" PRIu64 " bytes of session %" PRIu32, length, session_number);
    }
    int written = snprintf(token, RH_TOKEN_CHARACTERS + 1,
                           "%016" PRIx64 ":%08" PRIx64 ":%08" PRIx32 ":0000:%06" PRIx32 ":1:" LOOPBACK_GID, address,
                           length, key, session_number);
    return written == RH_TOKEN_CHARACTERS ? 0 : rh_fail(error, "a token of %d characters", written);
}
