#include "error.h"

#include <stdarg.h>
#include <stdio.h>

int rh_fail(struct rh_error *error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    error->code = RAILHEAD_UNAVAILABLE;
    error->refusal = 0;
    return -1;
}

int rh_fail_as(struct rh_error *error, int32_t code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    error->code = code;
    error->refusal = 0;
    return -1;
}
