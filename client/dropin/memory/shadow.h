/* The bounce buffer of one registered range, and its tokens. Internal to memory.c. */
#ifndef RAILHEAD_SHADOW_H
#define RAILHEAD_SHADOW_H

#include "memory.h"

/* Counted: the range holds it, and each token. Any thread. */
struct rh_shadow;

struct rh_shadow *rh_shadow_new(uint64_t bytes, struct rh_error *error);
/* Of memory that the gateway reaches itself: without a buffer. */
struct rh_shadow *rh_shadow_none(struct rh_error *error);
int rh_shadow_descriptor(const struct rh_shadow *shadow);
uint8_t *rh_shadow_bytes(const struct rh_shadow *shadow);

/* A token with this text, and a hold of its own; NULL: no memory. */
char *rh_shadow_token(struct rh_shadow *shadow, const char text[RH_TOKEN_CHARACTERS + 1]);
void rh_shadow_free_token(char *token);

/* Whether another than the range holds it. */
bool rh_shadow_is_shared(struct rh_shadow *shadow);
void rh_shadow_drop(struct rh_shadow *shadow);

#endif
