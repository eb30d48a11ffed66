/* In place of verbs.c where rdma-core's headers were missing. */
#include "verbs.h"

#include <string.h>

#include "error.h"

int32_t rh_has_verbs(void) {
    return 0;
}

struct rh_transport *rh_verbs_connect(const struct rh_grant *grant, const uint8_t hello[56], int64_t timeout_millis,
                                      uint8_t said[RH_VERBS_PRIVATE_BYTES], struct rh_error *error) {
    (void)grant, (void)hello, (void)timeout_millis;
    memset(said, 0, RH_VERBS_PRIVATE_BYTES);
    rh_fail(error, "this librailhead was built without verbs");
    return NULL;
}

void *rh_verbs_register(struct rh_transport *transport, void *address, uint64_t bytes, int dma_buf, uint64_t offset,
                        uint32_t *rkey, struct rh_error *error) {
    (void)transport, (void)address, (void)bytes, (void)dma_buf, (void)offset, (void)rkey;
    rh_fail(error, "this librailhead was built without verbs");
    return NULL;
}

void rh_verbs_deregister(struct rh_transport *transport, void *region) {
    (void)transport, (void)region;
}
