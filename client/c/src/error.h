#ifndef RAILHEAD_ERROR_H
#define RAILHEAD_ERROR_H

#include "railhead/loopback.h"

/* Writes the message and returns -1, for `return rh_fail(...)`. */
int rh_fail(struct rh_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
