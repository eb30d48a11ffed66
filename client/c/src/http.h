/* HTTP by libcurl, which is loaded when it is first needed. Internal to the library. */
#ifndef RAILHEAD_HTTP_H
#define RAILHEAD_HTTP_H

#include <stdatomic.h>

#include "railhead/loopback.h"

/* What the exchange of a program without an HTTP client of its own is sent with: its context. */
struct rh_http {
    const char *ca_bundle; /* may be empty */
    const char *body;      /* NULL: none */
    const atomic_bool *is_over; /* breaks the exchange off within a second or so; NULL: nothing does */
    struct rh_error *error; /* says why, where there was no answer */
};

int rh_http_send(void *context, railhead_http *exchange);

/* The code of an S3 or STS error document, or nothing. */
void rh_http_error_code(const char *document, char code[64]);

#endif
