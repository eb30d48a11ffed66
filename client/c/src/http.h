/* HTTP by libcurl, which is loaded when it is first needed. Internal to the library. */
#ifndef RAILHEAD_HTTP_H
#define RAILHEAD_HTTP_H

#include "railhead/loopback.h"

/* What the exchange of a program without an HTTP client of its own is sent with: its context. */
struct rh_http {
    const char *ca_bundle; /* may be empty */
    struct rh_error *error; /* says why, where there was no answer */
};

int rh_http_send(void *context, railhead_http *exchange);

#endif
