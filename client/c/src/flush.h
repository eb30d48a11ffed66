/* The GPU flush duty (docs/native-channel.md, section 6). Internal to the library. */
#ifndef RAILHEAD_FLUSH_H
#define RAILHEAD_FLUSH_H

#include "railhead/loopback.h"

/* The program's own flush, else CUDA's; -1, with the reason, where there is neither. */
int rh_flush_choose(const railhead_memory *memory, railhead_flush_function *flush, void **context, struct rh_error *error);

#endif
