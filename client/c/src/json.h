/* Reads one JSON object of strings, numbers, literals, and what is nested in it. Internal to the library. */
#ifndef RAILHEAD_JSON_H
#define RAILHEAD_JSON_H

#include <stddef.h>
#include <stdint.h>

/*
 * Copies the text of the top-level member `name`, a string, to `out`. 0; 1 where there is no such member; -1 where
 * `json` is no object, the member no string, or `out` too small.
 */
int rh_json_string(const char *json, const char *name, char *out, size_t out_bytes);

/* The same of a member that is a whole number below 2^32. */
int rh_json_number(const char *json, const char *name, uint32_t *out);

/* The same of a list of strings; at most `room`, of `each` bytes, to `out`. */
int rh_json_strings(const char *json, const char *name, char *out, size_t each, uint32_t room, uint32_t *count);

#endif
