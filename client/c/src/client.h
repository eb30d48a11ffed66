/* What stands behind the public handles. Internal to the library. */
#ifndef RAILHEAD_CLIENT_H
#define RAILHEAD_CLIENT_H

#include "session.h"

#define RAILHEAD_PUBLIC __attribute__((visibility("default")))

struct railhead_session {
    struct rh_session *core;
    struct rh_renewal *renewal; /* NULL: nothing is renewed */
    uint32_t fabric;
    uint32_t request_timeout_millis;
    struct railhead_buffer *buffers; /* under the core's lock */
};

/* Remembers the error for railhead_last_error, and answers its code. */
int32_t rh_report(const struct rh_error *error);
int32_t rh_report_as(int32_t code, const char *text);

/* Frees the buffer; its memory is unmapped unless the gateway may still touch it. */
void rh_buffer_free(railhead_buffer *buffer, bool held);

#endif
