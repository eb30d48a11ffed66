/* rdma-core's functions, by dlopen: a program without an adapter does not need its libraries. Internal to the library. */
#ifndef RAILHEAD_RDMA_H
#define RAILHEAD_RDMA_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "railhead/loopback.h"

/* What librdmacm and libibverbs declare under the same names. */
struct rh_rdma {
    struct rdma_event_channel *(*create_event_channel)(void);
    void (*destroy_event_channel)(struct rdma_event_channel *channel);
    int (*create_id)(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context, enum rdma_port_space space);
    int (*destroy_id)(struct rdma_cm_id *id);
    int (*resolve_addr)(struct rdma_cm_id *id, struct sockaddr *from, struct sockaddr *to, int millis);
    int (*resolve_route)(struct rdma_cm_id *id, int millis);
    int (*connect)(struct rdma_cm_id *id, struct rdma_conn_param *parameters);
    int (*establish)(struct rdma_cm_id *id);
    int (*disconnect)(struct rdma_cm_id *id);
    int (*get_event)(struct rdma_event_channel *channel, struct rdma_cm_event **event);
    int (*ack_event)(struct rdma_cm_event *event);
    int (*init_qp_attr)(struct rdma_cm_id *id, struct ibv_qp_attr *attributes, int *mask);
    int (*query_device)(struct ibv_context *context, struct ibv_device_attr *attributes);
    struct ibv_pd *(*alloc_pd)(struct ibv_context *context);
    int (*dealloc_pd)(struct ibv_pd *pd);
    struct ibv_comp_channel *(*create_comp_channel)(struct ibv_context *context);
    int (*destroy_comp_channel)(struct ibv_comp_channel *channel);
    struct ibv_cq *(*create_cq)(struct ibv_context *context, int entries, void *cookie, struct ibv_comp_channel *channel,
                                int vector);
    int (*destroy_cq)(struct ibv_cq *cq);
    int (*get_cq_event)(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cookie);
    void (*ack_cq_events)(struct ibv_cq *cq, unsigned events);
    struct ibv_qp *(*create_qp)(struct ibv_pd *pd, struct ibv_qp_init_attr *attributes);
    int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attributes, int mask);
    int (*destroy_qp)(struct ibv_qp *qp);
    struct ibv_mr *(*reg)(struct ibv_pd *pd, void *address, size_t bytes, int access);
    int (*dereg)(struct ibv_mr *region);
    /* NULL where libibverbs is older than rdma-core 34. */
    struct ibv_mr *(*reg_dmabuf)(struct ibv_pd *pd, uint64_t offset, size_t bytes, uint64_t iova, int fd, int access);
};

/* Loaded once and for all; NULL, with the reason. */
const struct rh_rdma *rh_rdma_load(struct rh_error *error);

#endif
