/* Request and answer records (docs/native-channel.md, sections 5 and 6). Internal to the library. */
#ifndef RAILHEAD_RECORD_H
#define RAILHEAD_RECORD_H

#include "railhead/loopback.h"
#include "railhead/railhead.h"

enum { RH_KEYS_FIXED_BYTES = 4, RH_REQUEST_FIXED_BYTES = 64, RH_ANSWER_FIXED_BYTES = 56, RH_ANSWER_TEXTS = 5, RH_WINDOW_BYTES = 24,
       RH_MOST_WINDOWS = 64 };

/*
 * Writes the request's record, all but its id, to the `room` bytes at `out`, and never more than a message carries: its length.
 * -1 where the gateway would end the session for it, or it does not fit; a malformed record is the end of all the others too.
 */
int rh_request_encode(const railhead_request *request, uint32_t buffer_key, uint8_t *out, size_t room,
                      struct rh_error *error);
void rh_request_number(uint8_t *record, uint32_t id);

/* What an answer says. Its texts lie in the message: ETag, version id, code, message, headers; without a NUL. */
struct rh_answer {
    uint32_t id;
    uint16_t status;
    uint8_t cache;
    uint8_t flags;
    uint64_t bytes_moved;
    uint64_t object_bytes;
    uint64_t first_byte;
    uint64_t last_modified_millis;
    const char *text[RH_ANSWER_TEXTS];
    uint16_t text_bytes[RH_ANSWER_TEXTS];
};

/* Reads the record that begins at `at`: its length, -1 if it is none. */
int rh_answer_decode(const uint8_t *at, size_t left, struct rh_answer *answer);

#endif
