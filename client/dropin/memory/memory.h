/*
 * A program's memory behind a bounce buffer: what it registers is shadowed by a memfd that the gateway maps, and copied
 * around each transfer. Both drop-ins stand on this.
 *
 * A transfer is a token: while it lives the gateway reads and writes the shadow, not the program's memory. Minting
 * copies the window into the shadow, so that a PUT finds it there and a GET that fills less than the window leaves the
 * rest as it was. Releasing copies back each block of RH_BLOCK_BYTES, from the window's start on, that a transfer changed in
 * the shadow, and no other: what the program itself wrote meanwhile (the body of a declined GET, or its next PUT) is not
 * overwritten with what stood there before.
 *
 * Tokens may overlap. What a transfer brought is also copied back when another token is minted over it. Only bytes that a
 * transfer is just then writing must not be minted over: they may be lost.
 *
 * With RAILHEAD_DROPIN_MEMORY=attach there is no shadow: the gateway reads and writes the program's own memory through the
 * kernel, where its rdma.loopback.cross_memory allows that, and a transfer is there when the program is told of it.
 *
 * Any thread; calls may wait for the gateway. A session that ended is opened anew by the next call that needs it. A
 * child of fork gets a session of its own by its next call; tokens of its parent mean nothing to it.
 */
#ifndef RAILHEAD_MEMORY_H
#define RAILHEAD_MEMORY_H

#include "railhead/loopback.h"

#ifdef __cplusplus
extern "C" {
#endif

/* 4 GiB - 64 KiB, cuObject's limit. */
#define RH_MAX_REGISTRATION_BYTES (((uint64_t)4 << 30) - (64 << 10))

enum { RH_BLOCK_BYTES = 64 << 10 };

struct rh_memory;

enum rh_direction { RH_GET, RH_PUT, RH_EITHER };

/* NULL, with the reason, where no gateway answers. */
struct rh_memory *rh_memory_open(struct rh_error *error);

/* Ends all transfers and frees it. Tokens that are left are still to be released; they no longer copy. */
void rh_memory_close(struct rh_memory *memory);

/* Whether there is a session, now or again. */
bool rh_memory_ready(struct rh_memory *memory, struct rh_error *error);

/*
 * Registrations of one address are counted; the longest counts, and a shorter one's tokens stay good. The memory must stay
 * until the last deregistration.
 */
int rh_memory_register(struct rh_memory *memory, void *address, uint64_t bytes, struct rh_error *error);

/*
 * Has the gateway refuse the tokens of what the address lies in, from now on: the next one registers it anew. False where the
 * gateway reaches the program's own memory, which no token can outlive, and where nothing is registered.
 */
bool rh_memory_revoke(struct rh_memory *memory, const void *address);

/* Returns when the gateway touches the shadow no more; -1 where nothing is registered at the address. */
int rh_memory_deregister(struct rh_memory *memory, void *address);

/* Bytes registered from `address` on: of the range that starts there, else of one that it lies in; 0 for none. */
uint64_t rh_memory_registered(struct rh_memory *memory, const void *address);

/*
 * A token for [address + offset, + bytes), which must lie in a registered range; NULL, with the reason, if there is
 * none to be had. The text is the caller's until rh_memory_release.
 */
char *rh_memory_mint(struct rh_memory *memory, void *address, uint64_t offset, uint64_t bytes,
                     enum rh_direction direction, struct rh_error *error);

/* What was transferred is in the program's memory when this returns. */
void rh_memory_release(char *token);

#ifdef __cplusplus
}
#endif
#endif
