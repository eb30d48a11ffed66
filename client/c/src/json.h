/* Reads one JSON object of strings, numbers, literals, and what is nested in it. Internal to the library. */
#ifndef RAILHEAD_JSON_H
#define RAILHEAD_JSON_H

#include <stddef.h>

/*
 * Copies the text of the top-level member `name`, a string, to `out`. 0; 1 where there is no such member; -1 where
 * `json` is no object, the member no string, or `out` too small.
 */
int rh_json_string(const char *json, const char *name, char *out, size_t out_bytes);

#endif
