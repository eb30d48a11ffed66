/*
 * A program's memory, for tokens that name it. Both drop-ins stand on this.
 *
 * The gateway reaches what the program registers by a bounce buffer: a memfd that it maps. The session's thread copies
 * between the two when the gateway asks, before each read and after each write of its own. So a transfer is in the
 * program's memory when the program is told of it, a PUT sends what stands there when the gateway reads it, and nothing
 * but the bytes of transfers is ever written. Tokens may overlap, and may be used as often as the gateway takes them.
 *
 * With RAILHEAD_DROPIN_MEMORY=attach there is no buffer: the gateway reads and writes the program's own memory through the
 * kernel, where its rdma.loopback.cross_memory allows that.
 *
 * Any thread; calls may wait for the gateway. A session's credentials are renewed before they end, so that its tokens stay
 * good. A session that ended is opened anew by the next call that needs it. A
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

struct rh_memory;

/* NULL, with the reason, where no gateway answers. */
struct rh_memory *rh_memory_open(struct rh_error *error);

/* Ends all transfers and frees it. Tokens that are left are still to be released. */
void rh_memory_close(struct rh_memory *memory);

/* Whether there is a session, now or again. */
bool rh_memory_ready(struct rh_memory *memory, struct rh_error *error);

/*
 * Registrations of one address are counted; the longest counts, and a shorter one's tokens stay good. The memory must stay
 * until the last deregistration.
 */
int rh_memory_register(struct rh_memory *memory, void *address, uint64_t bytes, struct rh_error *error);

/* Nothing touches the memory when this returns; -1 where nothing is registered at the address. */
int rh_memory_deregister(struct rh_memory *memory, void *address);

/* Bytes registered from `address` on: of the range that starts there, else of one that it lies in; 0 for none. */
uint64_t rh_memory_registered(struct rh_memory *memory, const void *address);

/*
 * A token for [address + offset, + bytes), which must lie in a registered range; NULL, with the reason, if there is
 * none to be had. The text is the caller's until rh_memory_release.
 */
char *rh_memory_mint(struct rh_memory *memory, void *address, uint64_t offset, uint64_t bytes, struct rh_error *error);

/* Frees it. A registration that a longer one took the place of ends with the last of its tokens. */
void rh_memory_release(char *token);

#ifdef __cplusplus
}
#endif
#endif
