/* One registered range and its memfd. Internal to memory.c. */
#ifndef RAILHEAD_SHADOW_H
#define RAILHEAD_SHADOW_H

#include "memory.h"

/*
 * Counted: the range that it shadows holds it, and each token. It is attached until the program may take its memory
 * back; then nothing copies to or from that any more.
 */
struct rh_shadow;

struct rh_shadow *rh_shadow_new(void *origin, uint64_t bytes, struct rh_error *error);
/* Of memory that is reached itself: it has tokens, and copies nothing. */
struct rh_shadow *rh_shadow_none(struct rh_error *error);
int rh_shadow_descriptor(const struct rh_shadow *shadow);

/*
 * Copies the window in, after what transfers of other tokens brought into it was copied back, and answers the token's text,
 * not yet filled.
 */
char *rh_shadow_begin(struct rh_shadow *shadow, uint64_t offset, uint64_t bytes, enum rh_direction direction,
                      struct rh_error *error);

/* Copies back what transfers brought into those of the program's bytes. */
void rh_shadow_bring(struct rh_shadow *shadow, const uint8_t *address, uint64_t bytes);

/* Ends what rh_shadow_begin began, given the text that it answered. In a child of fork it only frees that. */
void rh_shadow_end(char *text);

/* Copies back what transfers changed, and detaches. */
void rh_shadow_settle(struct rh_shadow *shadow);

struct rh_shadow *rh_shadow_hold(struct rh_shadow *shadow);
/* Whether another than the range holds it, or is about to. */
bool rh_shadow_is_shared(struct rh_shadow *shadow);
void rh_shadow_drop(struct rh_shadow *shadow);

#endif
