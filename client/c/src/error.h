#ifndef RAILHEAD_ERROR_H
#define RAILHEAD_ERROR_H

#include "railhead/loopback.h"

/* Writes the message and returns -1, for `return rh_fail(...)`: RAILHEAD_UNAVAILABLE, unless the code is named. */
int rh_fail(struct rh_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
int rh_fail_as(struct rh_error *error, int32_t code, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
