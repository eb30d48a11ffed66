/*
 * rdma-core for a test: librdmacm.so.1 and libibverbs.so.1 whose "adapter" is the fake gateway's UNIX socket, named by
 * RAILHEAD_FAKE_ADAPTER. It holds the library to the rules that an adapter has: a queue pair's states, a receive for each
 * message, everything given back in its order. 192.0.2.1 cannot be reached; addresses below a page are no memory. It
 * takes RAILHEAD_FAKE_RECEIVES receives, and none more.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "check.h"
#include "wire.h"

#define PUBLIC __attribute__((visibility("default")))

enum { MOST = 4096, MOST_EVENTS = 8, PRIVATE_BYTES = 196 };

struct fake {
    struct rdma_cm_id id;
    struct ibv_context context;
    struct rdma_event_channel channel;
    struct ibv_comp_channel completions;
    struct ibv_pd pd;
    struct ibv_cq cq[2];
    struct ibv_qp qp;
    struct ibv_cq *received;
    enum rdma_cm_event_type events[MOST_EVENTS];
    int events_count;
    uint8_t private_data[PRIVATE_BYTES];
    struct rh_wire wire;
    bool gone;
    bool reached;
    int alive; /* pd, channel, queues, pair, regions */
    struct ibv_sge receives[MOST];
    uint64_t receive_ids[MOST];
    int receives_count;
    long receives_taken;
    uint64_t sent[MOST];
    int sent_count;
};

static struct fake *current;

static void ring(struct fake *fake, enum rdma_cm_event_type event) {
    uint64_t one = 1;
    CHECK(fake->events_count < MOST_EVENTS, "events");
    fake->events[fake->events_count++] = event;
    CHECK(write(fake->channel.fd, &one, sizeof one) == sizeof one, "errno %d", errno);
}

/* ---- libibverbs: what is called by the context ---- */

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *request, struct ibv_send_wr **bad) {
    struct fake *fake = current;
    struct rh_error error;
    (void)bad;
    CHECK(qp->state == IBV_QPS_RTS || qp->state == IBV_QPS_ERR, "sent in state %d", qp->state);
    CHECK(fake->sent_count < MOST, "the send queue is full");
    if (qp->state == IBV_QPS_RTS) {
        while (rh_wire_ready(&fake->wire, &error) == 0) {
        }
        rh_wire_send(&fake->wire, (const uint8_t *)request->sg_list->addr, request->sg_list->length, &error);
        while (rh_wire_ready(&fake->wire, &error) == 0) {
        }
    }
    fake->sent[fake->sent_count++] = request->wr_id;
    return 0;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *request, struct ibv_recv_wr **bad) {
    struct fake *fake = current;
    (void)bad;
    CHECK(qp->state != IBV_QPS_RESET && fake->receives_count < MOST, "a receive in state %d", qp->state);
    const char *most = getenv("RAILHEAD_FAKE_RECEIVES");
    if (most && fake->receives_taken++ >= strtol(most, NULL, 10)) {
        return ENOMEM;
    }
    fake->receive_ids[fake->receives_count] = request->wr_id;
    fake->receives[fake->receives_count++] = *request->sg_list;
    return 0;
}

static int complete_receive(struct fake *fake, struct ibv_wc *done, enum ibv_wc_status status, const uint8_t *message,
                            size_t bytes) {
    CHECK(fake->receives_count > 0, "receiver not ready");
    CHECK(bytes <= fake->receives[0].length, "%zu bytes", bytes);
    memcpy((void *)fake->receives[0].addr, message, bytes);
    *done = (struct ibv_wc){.wr_id = fake->receive_ids[0], .status = status, .byte_len = (uint32_t)bytes};
    fake->receives_count--;
    memmove(fake->receives, fake->receives + 1, (size_t)fake->receives_count * sizeof fake->receives[0]);
    memmove(fake->receive_ids, fake->receive_ids + 1, (size_t)fake->receives_count * sizeof fake->receive_ids[0]);
    return 1;
}

static int poll_cq(struct ibv_cq *cq, int entries, struct ibv_wc *done) {
    struct fake *fake = current;
    struct rh_message message;
    struct rh_error error;
    CHECK(entries == 1, "%d", entries);
    if (cq != fake->received) {
        if (fake->sent_count == 0) {
            return 0;
        }
        *done = (struct ibv_wc){.wr_id = fake->sent[--fake->sent_count], .status = IBV_WC_SUCCESS};
        return 1;
    }
    if (fake->qp.state == IBV_QPS_ERR) {
        return fake->receives_count ? complete_receive(fake, done, IBV_WC_WR_FLUSH_ERR, NULL, 0) : 0;
    }
    int got = fake->gone ? 0 : rh_wire_receive(&fake->wire, &message, &error);
    if (got < 0) {
        fake->gone = true;
        ring(fake, RDMA_CM_EVENT_DISCONNECTED);
    }
    return got <= 0 ? 0 : complete_receive(fake, done, IBV_WC_SUCCESS, message.payload - RH_HEADER_BYTES,
                                           (size_t)RH_HEADER_BYTES + message.bytes);
}

static int req_notify_cq(struct ibv_cq *cq, int solicited) {
    (void)cq, (void)solicited;
    return 0;
}

/* ---- libibverbs ---- */

PUBLIC int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attributes) {
    (void)context;
    *attributes = (struct ibv_device_attr){.max_qp_rd_atom = 8};
    return 0;
}

PUBLIC struct ibv_pd *ibv_alloc_pd(struct ibv_context *context) {
    current->pd.context = context;
    current->alive++;
    return &current->pd;
}

PUBLIC int ibv_dealloc_pd(struct ibv_pd *pd) {
    (void)pd;
    CHECK(--current->alive == 0, "%d are left in the protection domain", current->alive);
    return 0;
}

PUBLIC struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context) {
    current->completions = (struct ibv_comp_channel){.context = context, .fd = current->wire.fd};
    current->alive++;
    return &current->completions;
}

PUBLIC int ibv_destroy_comp_channel(struct ibv_comp_channel *channel) {
    (void)channel;
    current->alive--;
    return 0;
}

PUBLIC struct ibv_cq *ibv_create_cq(struct ibv_context *context, int entries, void *cookie, struct ibv_comp_channel *channel,
                                    int vector) {
    struct ibv_cq *cq = &current->cq[channel ? 0 : 1];
    (void)entries, (void)cookie, (void)vector;
    cq->context = context;
    current->received = channel ? cq : current->received;
    current->alive++;
    return cq;
}

PUBLIC int ibv_destroy_cq(struct ibv_cq *cq) {
    (void)cq;
    current->alive--;
    return 0;
}

PUBLIC int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cookie) {
    (void)channel, (void)cq, (void)cookie;
    errno = EAGAIN; /* the channel's descriptor is the socket: readable while there is something */
    return -1;
}

PUBLIC void ibv_ack_cq_events(struct ibv_cq *cq, unsigned events) {
    (void)cq, (void)events;
}

PUBLIC struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attributes) {
    CHECK(attributes->qp_type == IBV_QPT_RC && attributes->cap.max_recv_wr >= 5, "%u", attributes->cap.max_recv_wr);
    current->qp = (struct ibv_qp){.context = pd->context, .pd = pd, .qp_num = 0x77, .state = IBV_QPS_RESET};
    current->alive++;
    return &current->qp;
}

PUBLIC int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attributes, int mask) {
    static const enum ibv_qp_state after[] = {[IBV_QPS_RESET] = IBV_QPS_INIT, [IBV_QPS_INIT] = IBV_QPS_RTR,
                                              [IBV_QPS_RTR] = IBV_QPS_RTS};
    CHECK(mask & IBV_QP_STATE && !(mask & ~((IBV_QP_DEST_QPN << 1) - 1)), "%x", (unsigned)mask);
    if (attributes->qp_state == IBV_QPS_ERR) {
        shutdown(current->wire.fd, SHUT_RDWR);
    } else {
        CHECK(qp->state <= IBV_QPS_RTR && after[qp->state] == attributes->qp_state, "%d", attributes->qp_state);
        CHECK(qp->state != IBV_QPS_RESET || (attributes->qp_access_flags & IBV_ACCESS_REMOTE_WRITE), "rights");
        CHECK(qp->state != IBV_QPS_INIT || current->receives_count == (int)(4 + strtol(getenv("RAILHEAD_FAKE_CREDITS"), NULL, 10)),
              "%d receives before the connection is made", current->receives_count);
        CHECK(qp->state != IBV_QPS_INIT || attributes->path_mtu == IBV_MTU_1024, "%d", attributes->path_mtu);
    }
    qp->state = attributes->qp_state;
    return 0;
}

PUBLIC int ibv_destroy_qp(struct ibv_qp *qp) {
    (void)qp;
    current->alive--;
    return 0;
}

static struct ibv_mr *new_region(struct ibv_pd *pd, void *address, size_t bytes) {
    struct ibv_mr *region = calloc(1, sizeof *region);
    *region = (struct ibv_mr){.context = pd->context, .pd = pd, .addr = address, .length = bytes, .lkey = 5, .rkey = 6};
    current->alive++;
    return region;
}

#undef ibv_reg_mr
PUBLIC struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *address, size_t bytes, int access) {
    (void)access;
    if ((uintptr_t)address < 4096 && !getenv("RAILHEAD_FAKE_PEER_MEMORY")) {
        errno = EFAULT;
        return NULL;
    }
    return new_region(pd, address, bytes);
}

PUBLIC struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t bytes, uint64_t iova, int fd, int access) {
    CHECK(offset == 64 && (access & IBV_ACCESS_REMOTE_WRITE), "offset %llu", (unsigned long long)offset);
    if (fcntl(fd, F_GETFD) < 0) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    return new_region(pd, (void *)(uintptr_t)iova, bytes);
}

PUBLIC int ibv_dereg_mr(struct ibv_mr *region) {
    free(region);
    current->alive--;
    return 0;
}

/* ---- librdmacm ---- */

PUBLIC struct rdma_event_channel *rdma_create_event_channel(void) {
    struct fake *fake = calloc(1, sizeof *fake);
    fake->channel.fd = eventfd(0, EFD_CLOEXEC);
    fake->wire.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    current = fake;
    return &fake->channel;
}

PUBLIC void rdma_destroy_event_channel(struct rdma_event_channel *channel) {
    (void)channel;
    CHECK(!current->id.verbs && current->alive == 0, "%d are left", current->alive);
    close(current->channel.fd);
    close(current->wire.fd);
    free(current);
    current = NULL;
}

/* Whether anything of the adapter is held: its removal would wait. For tests. */
PUBLIC bool fake_is_held(void) {
    return __atomic_load_n(&current, __ATOMIC_ACQUIRE) != NULL;
}

/* The kernel says that the adapter goes away. For tests. */
PUBLIC void fake_remove(void) {
    ring(current, RDMA_CM_EVENT_DEVICE_REMOVAL);
}

PUBLIC int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
                          enum rdma_port_space space) {
    (void)context;
    CHECK(space == RDMA_PS_TCP, "%d", space);
    current->context.ops = (struct ibv_context_ops){.poll_cq = poll_cq, .req_notify_cq = req_notify_cq,
                                                    .post_send = post_send, .post_recv = post_recv};
    current->id = (struct rdma_cm_id){.channel = channel, .verbs = &current->context};
    *id = &current->id;
    return 0;
}

PUBLIC int rdma_destroy_id(struct rdma_cm_id *id) {
    CHECK(current->alive == 0, "%d are left", current->alive);
    id->verbs = NULL;
    return 0;
}

PUBLIC int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *from, struct sockaddr *to, int millis) {
    (void)id, (void)from, (void)millis;
    current->reached = ((struct sockaddr_in *)to)->sin_addr.s_addr == htonl(INADDR_LOOPBACK);
    CHECK(ntohs(((struct sockaddr_in *)to)->sin_port) == 7471, "the port");
    ring(current, current->reached ? RDMA_CM_EVENT_ADDR_RESOLVED : RDMA_CM_EVENT_ADDR_ERROR);
    return 0;
}

PUBLIC int rdma_resolve_route(struct rdma_cm_id *id, int millis) {
    (void)id, (void)millis;
    ring(current, RDMA_CM_EVENT_ROUTE_RESOLVED);
    return 0;
}

PUBLIC int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attributes, int *mask) {
    (void)id;
    attributes->path_mtu = IBV_MTU_4096;
    *mask = IBV_QP_STATE | IBV_QP_RATE_LIMIT; /* what ibv_modify_qp does not know */
    return 0;
}

/* HELLO goes into the stream, and its answer is the private data. */
PUBLIC int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *parameters) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct rh_message answer;
    struct rh_error error;
    int got;
    (void)id;
    CHECK(parameters->private_data_len == 56 && parameters->qp_num == 0x77, "%d", parameters->private_data_len);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", getenv("RAILHEAD_FAKE_ADAPTER"));
    CHECK(connect(current->wire.fd, (struct sockaddr *)&address, sizeof address) == 0, "errno %d", errno);
    rh_wire_send(&current->wire, parameters->private_data, 56, &error);
    while ((got = rh_wire_receive(&current->wire, &answer, &error)) == 0) {
    }
    CHECK(got > 0, "%s", error.text);
    memcpy(current->private_data, answer.payload - RH_HEADER_BYTES, (size_t)RH_HEADER_BYTES + answer.bytes);
    ring(current, answer.type == RH_REFUSED ? RDMA_CM_EVENT_REJECTED : RDMA_CM_EVENT_CONNECT_RESPONSE);
    return 0;
}

PUBLIC int rdma_establish(struct rdma_cm_id *id) {
    (void)id;
    CHECK(current->qp.state == IBV_QPS_RTS, "%d", current->qp.state);
    return 0;
}

PUBLIC int rdma_disconnect(struct rdma_cm_id *id) {
    (void)id;
    return 0;
}

PUBLIC int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event) {
    uint64_t count;
    struct fake *fake = current;
    if (fake->events_count == 0) {
        errno = EAGAIN;
        return -1;
    }
    *event = calloc(1, sizeof **event);
    (*event)->event = fake->events[0];
    (*event)->param.conn.private_data = fake->private_data;
    (*event)->param.conn.private_data_len = sizeof fake->private_data;
    memmove(fake->events, fake->events + 1, (size_t)--fake->events_count * sizeof fake->events[0]);
    if (fake->events_count == 0) {
        CHECK(read(channel->fd, &count, sizeof count) == sizeof count, "errno %d", errno);
    }
    return 0;
}

PUBLIC int rdma_ack_cm_event(struct rdma_cm_event *event) {
    free(event);
    return 0;
}
