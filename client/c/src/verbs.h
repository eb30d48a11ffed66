/* The verbs fabric: rdma-core, loaded when it is first needed. Internal to the library. */
#ifndef RAILHEAD_VERBS_H
#define RAILHEAD_VERBS_H

#include "transport.h"

enum { RH_VERBS_PRIVATE_BYTES = 256 };

/* Whether what follows does anything. */
int32_t rh_has_verbs(void);

/*
 * Connects with HELLO as private data. `said` gets what the gateway said to that, accepting or refusing, zeros behind it;
 * where it refused, or there is no way to it, the answer is NULL.
 */
struct rh_transport *rh_verbs_connect(const struct rh_grant *grant, const uint8_t hello[56], int64_t timeout_millis,
                                      uint8_t said[RH_VERBS_PRIVATE_BYTES], struct rh_error *error);

/* Pins memory that the gateway reads and writes; a dma-buf's where `dma_buf` is a descriptor. NULL, with the reason. */
void *rh_verbs_register(struct rh_transport *transport, void *address, uint64_t bytes, int dma_buf, uint64_t offset,
                        uint32_t *rkey, struct rh_error *error);
/* After the gateway has let go, or cannot come any more. */
void rh_verbs_deregister(struct rh_transport *transport, void *region);

#endif
