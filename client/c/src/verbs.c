/*
 * One queue pair, made by hand, since both ends must use one path MTU (docs/native-channel.md, section 3).
 *
 * Receives and sends complete into queues of their own: only the first wakes the session's thread. A receive is posted again
 * before the lock is let go after its message, so before any of the credits that it gave back can be used.
 */
#include "verbs.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "error.h"
#include "rdma.h"
#include "session.h"

enum {
    OTHER_MESSAGES = 4, /* beside requests, their answers and cancellations */
    MOST_READS = 16,
    RETRIES = 6,        /* 7 is for ever on some adapters */
    RNR_RETRIES = 3,
    RNR_TIMER = 12,
    ACK_TIMEOUT = 14,   /* 4.096 us * 2^14 */
    NO_ROOM_MILLIS = 1, /* until it is looked again for a send that has completed */
    KNOWN_BITS = (IBV_QP_DEST_QPN << 1) - 1,
    ACCESS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ
};

/* The adapter's registration of a buffer; NULL once it has been given back. */
struct pin {
    struct pin *next;
    struct ibv_mr *region;
};

struct verbs {
    struct rh_transport transport;
    const struct rh_rdma *rdma;
    struct rdma_event_channel *events;
    struct rdma_cm_id *id;
    struct ibv_pd *pd;
    struct ibv_comp_channel *channel;
    struct ibv_cq *received;
    struct ibv_cq *sent;
    struct ibv_qp *qp;
    struct ibv_mr *region;
    uint8_t *messages; /* receives first, then sends */
    uint32_t receives;
    uint32_t sends;
    uint32_t *free_sends;
    uint32_t free_count;
    unsigned unacknowledged;
    int waker;
    int handed_out;    /* a receive to post again, or -1 */
    bool stashed;      /* a completion that `sleep` found */
    struct ibv_wc stash;
    atomic_bool in_error; /* the gateway can write nothing any more */
    bool cannot_end;      /* the queue pair cannot be brought there */
    atomic_bool disconnected;
    pthread_mutex_t pinning; /* guards `pins`, and `pd` once the session's thread runs */
    struct pin *pins;
};

static struct verbs *of(struct rh_transport *transport) {
    return (struct verbs *)transport;
}

static uint8_t *message_at(struct verbs *verbs, uint32_t index) {
    return verbs->messages + (size_t)index * RH_MESSAGE_BYTES;
}

static int failed(struct rh_error *error, const char *what) {
    return rh_fail(error, "%s: %s", what, strerror(errno));
}

/* ---- Messages ---- */

static int post_receive(struct verbs *verbs, uint32_t index, struct rh_error *error) {
    struct ibv_sge entry = {.addr = (uintptr_t)message_at(verbs, index), .length = RH_MESSAGE_BYTES,
                            .lkey = verbs->region->lkey};
    struct ibv_recv_wr request = {.wr_id = index, .sg_list = &entry, .num_sge = 1}, *bad;
    errno = ibv_post_recv(verbs->qp, &request, &bad);
    return errno == 0 ? 0 : failed(error, "a receive was refused");
}

static int ready(struct rh_transport *transport, struct rh_error *error) {
    struct verbs *verbs = of(transport);
    struct ibv_wc done;
    while (verbs->free_count == 0 && ibv_poll_cq(verbs->sent, 1, &done) > 0) {
        if (done.status != IBV_WC_SUCCESS) {
            return rh_fail_as(error, RAILHEAD_ENDED, "the gateway cannot be reached: status %d", (int)done.status);
        }
        verbs->free_sends[verbs->free_count++] = (uint32_t)done.wr_id;
    }
    return verbs->free_count > 0;
}

static int send_message(struct rh_transport *transport, const uint8_t *message, size_t bytes, struct rh_error *error) {
    struct verbs *verbs = of(transport);
    uint32_t index = verbs->free_sends[verbs->free_count - 1];
    struct ibv_sge entry = {.addr = (uintptr_t)message_at(verbs, index), .length = (uint32_t)bytes,
                            .lkey = verbs->region->lkey};
    struct ibv_send_wr request = {.wr_id = index, .sg_list = &entry, .num_sge = 1, .opcode = IBV_WR_SEND,
                                  .send_flags = IBV_SEND_SIGNALED}, *bad;
    memcpy(message_at(verbs, index), message, bytes);
    errno = ibv_post_send(verbs->qp, &request, &bad);
    if (errno != 0) {
        return failed(error, "a message was refused");
    }
    verbs->free_count--;
    return 0;
}

/* From now on the adapter takes no write of the gateway's. */
static bool to_error(struct verbs *verbs) {
    struct ibv_qp_attr attributes = {.qp_state = IBV_QPS_ERR};
    if (!verbs->in_error) {
        verbs->in_error = verbs->rdma->modify_qp(verbs->qp, &attributes, IBV_QP_STATE) == 0;
        verbs->cannot_end = !verbs->in_error;
        (void)verbs->rdma->disconnect(verbs->id);
    }
    return verbs->in_error;
}

static int ended(struct verbs *verbs, struct rh_error *error, const char *why) {
    rh_fail_as(error, RAILHEAD_ENDED, "%s", why);
    return to_error(verbs) ? RH_AT_END : RH_NO_MESSAGE;
}

static int receive(struct rh_transport *transport, struct rh_message *message, struct rh_error *error) {
    struct verbs *verbs = of(transport);
    if (verbs->cannot_end) {
        return 0; /* the session's time to leave runs out */
    }
    if (verbs->in_error) {
        return ended(verbs, error, "the connection was ended");
    }
    struct rh_error refused;
    if (verbs->handed_out >= 0 && post_receive(verbs, (uint32_t)verbs->handed_out, &refused) != 0) {
        return ended(verbs, error, refused.text);
    }
    verbs->handed_out = -1;
    struct ibv_wc done = verbs->stash;
    if (!verbs->stashed && ibv_poll_cq(verbs->received, 1, &done) < 1) {
        return atomic_load(&verbs->disconnected) ? ended(verbs, error, "the gateway went away") : 0;
    }
    verbs->stashed = false;
    if (done.status != IBV_WC_SUCCESS) {
        return ended(verbs, error, "the gateway went away");
    }
    verbs->handed_out = (int)done.wr_id;
    if (rh_message_parse(message_at(verbs, (uint32_t)done.wr_id), done.byte_len, message) <= 0) {
        rh_fail_as(error, RAILHEAD_ENDED, "what the gateway said is no message");
        return RH_NO_MESSAGE;
    }
    return 1;
}

static void take_events(struct verbs *verbs) {
    struct rdma_cm_event *event;
    struct ibv_cq *cq;
    void *cookie;
    while (verbs->rdma->get_event(verbs->events, &event) == 0) {
        if (event->event == RDMA_CM_EVENT_DISCONNECTED || event->event == RDMA_CM_EVENT_DEVICE_REMOVAL) {
            atomic_store(&verbs->disconnected, true);
        }
        verbs->rdma->ack_event(event);
    }
    while (verbs->rdma->get_cq_event(verbs->channel, &cq, &cookie) == 0) {
        verbs->unacknowledged++;
    }
}

/* A message that came before the queue was armed rings no bell: it is looked for once more. */
static bool has_come(struct verbs *verbs) {
    return verbs->in_error || verbs->stashed || ibv_req_notify_cq(verbs->received, 0) != 0
           || (verbs->stashed = ibv_poll_cq(verbs->received, 1, &verbs->stash) > 0);
}

static void sleep_on(struct rh_transport *transport, bool blocked, int64_t millis) {
    struct verbs *verbs = of(transport);
    int64_t most = blocked && millis > NO_ROOM_MILLIS ? NO_ROOM_MILLIS : millis;
    struct pollfd waiting[] = {{.fd = verbs->channel->fd, .events = POLLIN}, {.fd = verbs->events->fd, .events = POLLIN},
                               {.fd = verbs->waker, .events = POLLIN}};
    if (has_come(verbs) || poll(waiting, 3, most > 0 ? (int)most : 0) <= 0) {
        return;
    }
    if (waiting[2].revents) {
        uint64_t count;
        (void)!read(verbs->waker, &count, sizeof count);
    }
    take_events(verbs);
}

static void wake(struct rh_transport *transport) {
    const uint64_t one = 1;
    (void)!write(of(transport)->waker, &one, sizeof one);
}

static bool stands(struct rh_transport *transport) {
    return !of(transport)->in_error && !atomic_load(&of(transport)->disconnected);
}

static void hang_up(struct rh_transport *transport) {
    (void)to_error(of(transport));
}

static bool break_off(struct rh_transport *transport) {
    return to_error(of(transport));
}

/*
 * A device that is removed waits for whoever holds it: so all is given back at the session's end, and not at its close.
 * An object that cannot be given back keeps all that it may touch, until the process ends.
 */
static void let_go(struct rh_transport *transport) {
    struct verbs *verbs = of(transport);
    const struct rh_rdma *rdma = verbs->rdma;
    pthread_mutex_lock(&verbs->pinning);
    bool kept = verbs->qp && rdma->destroy_qp(verbs->qp) != 0;
    if (!kept) {
        for (struct pin *pin = verbs->pins; pin; pin = pin->next) {
            rdma->dereg(pin->region);
            pin->region = NULL;
        }
        if (verbs->region) {
            rdma->dereg(verbs->region);
        }
        if (verbs->received) {
            rdma->ack_cq_events(verbs->received, verbs->unacknowledged);
            rdma->destroy_cq(verbs->received);
        }
        if (verbs->sent) {
            rdma->destroy_cq(verbs->sent);
        }
        if (verbs->channel) {
            rdma->destroy_comp_channel(verbs->channel);
        }
        if (verbs->pd) {
            rdma->dealloc_pd(verbs->pd);
        }
        if (verbs->id) {
            rdma->destroy_id(verbs->id);
        }
        if (verbs->events) {
            rdma->destroy_event_channel(verbs->events);
        }
        free(verbs->messages);
        verbs->qp = NULL;
        verbs->region = NULL;
        verbs->received = NULL;
        verbs->sent = NULL;
        verbs->channel = NULL;
        verbs->pd = NULL;
        verbs->id = NULL;
        verbs->events = NULL;
        verbs->messages = NULL;
    }
    pthread_mutex_unlock(&verbs->pinning);
}

static void close_all(struct rh_transport *transport) {
    struct verbs *verbs = of(transport);
    let_go(transport);
    pthread_mutex_destroy(&verbs->pinning);
    if (verbs->waker >= 0) {
        close(verbs->waker);
    }
    free(verbs->free_sends);
    free(verbs);
}

/* The adapter's objects are the parent's: whatever is called here would end them there. */
static void abandon(struct rh_transport *transport) {
    for (struct pin *pin = of(transport)->pins, *next; pin; pin = next) {
        next = pin->next;
        free(pin);
    }
    close(of(transport)->waker);
    free(of(transport)->free_sends);
    free(transport);
}

static const struct rh_fabric VERBS = {ready, send_message, receive, sleep_on, wake,
                                       stands, hang_up, break_off, let_go, close_all, abandon};

/* ---- Connecting ---- */

static int await_event(struct verbs *verbs, enum rdma_cm_event_type wanted, int64_t deadline,
                       uint8_t said[RH_VERBS_PRIVATE_BYTES], struct rh_error *error) {
    struct rdma_cm_event *event;
    while (verbs->rdma->get_event(verbs->events, &event) != 0) {
        int64_t left = deadline - rh_now_millis();
        struct pollfd waiting = {.fd = verbs->events->fd, .events = POLLIN};
        if (errno != EAGAIN && errno != EINTR) {
            return failed(error, "rdma_cm");
        }
        if (left <= 0) {
            return rh_fail_as(error, RAILHEAD_TIMED_OUT, "the gateway did not answer in time");
        }
        (void)poll(&waiting, 1, (int)left);
    }
    int result = 0;
    const struct rdma_conn_param *parameters = &event->param.conn;
    if (event->event == RDMA_CM_EVENT_REJECTED || event->event == RDMA_CM_EVENT_CONNECT_RESPONSE) {
        memset(said, 0, RH_VERBS_PRIVATE_BYTES);
        if (parameters->private_data) {
            memcpy(said, parameters->private_data, parameters->private_data_len);
        }
    }
    if (event->event != wanted) {
        result = rh_fail_as(error, event->event == RDMA_CM_EVENT_REJECTED ? RAILHEAD_REFUSED : RAILHEAD_UNAVAILABLE,
                            "rdma_cm: event %d with status %d in place of %d", (int)event->event, event->status, (int)wanted);
    }
    verbs->rdma->ack_event(event);
    return result;
}

static int resolve(struct verbs *verbs, const char *address, uint32_t port, int64_t deadline, uint8_t *said,
                   struct rh_error *error) {
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM}, *found;
    char service[8];
    snprintf(service, sizeof service, "%u", port & 0xffff);
    if (getaddrinfo(address, service, &hints, &found) != 0) {
        return rh_fail(error, "not an address");
    }
    int64_t left = deadline - rh_now_millis();
    int millis = left > 1 ? (int)left : 1;
    int result = verbs->rdma->resolve_addr(verbs->id, NULL, found->ai_addr, millis) != 0
                     ? failed(error, "no adapter leads there")
                     : await_event(verbs, RDMA_CM_EVENT_ADDR_RESOLVED, deadline, said, error);
    freeaddrinfo(found);
    if (result != 0) {
        return result;
    }
    return verbs->rdma->resolve_route(verbs->id, millis) != 0
               ? failed(error, "no route leads there")
               : await_event(verbs, RDMA_CM_EVENT_ROUTE_RESOLVED, deadline, said, error);
}

static int no_block(int fd, struct rh_error *error) {
    return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0 ? 0 : failed(error, "a descriptor blocks");
}

static int make_queues(struct verbs *verbs, struct rh_error *error) {
    const struct rh_rdma *rdma = verbs->rdma;
    const size_t count = (size_t)verbs->receives + verbs->sends;
    if (!(verbs->pd = rdma->alloc_pd(verbs->id->verbs))
        || !(verbs->channel = rdma->create_comp_channel(verbs->id->verbs))
        || !(verbs->received = rdma->create_cq(verbs->id->verbs, (int)verbs->receives, NULL, verbs->channel, 0))
        || !(verbs->sent = rdma->create_cq(verbs->id->verbs, (int)verbs->sends, NULL, NULL, 0))) {
        return failed(error, "the adapter has no queue");
    }
    if (posix_memalign((void **)&verbs->messages, RH_MESSAGE_BYTES, count * RH_MESSAGE_BYTES) != 0) {
        verbs->messages = NULL;
        return rh_fail_as(error, RAILHEAD_NO_MEMORY, "out of memory");
    }
    memset(verbs->messages, 0, count * RH_MESSAGE_BYTES);
    verbs->region = rdma->reg(verbs->pd, verbs->messages, count * RH_MESSAGE_BYTES, IBV_ACCESS_LOCAL_WRITE);
    struct ibv_qp_init_attr wanted = {
        .send_cq = verbs->sent, .recv_cq = verbs->received, .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = verbs->sends, .max_recv_wr = verbs->receives, .max_send_sge = 1, .max_recv_sge = 1}};
    if (!verbs->region || !(verbs->qp = rdma->create_qp(verbs->pd, &wanted))) {
        return failed(error, "the adapter has no queue pair (is the limit of locked memory too low?)");
    }
    return no_block(verbs->channel->fd, error);
}

static int modify(struct verbs *verbs, struct ibv_qp_attr *attributes, int mask, struct rh_error *error) {
    errno = verbs->rdma->modify_qp(verbs->qp, attributes, mask & KNOWN_BITS);
    return errno == 0 ? 0 : failed(error, "the queue pair was not taken on");
}

static int attributes_of(struct verbs *verbs, enum ibv_qp_state state, struct ibv_qp_attr *attributes, int *mask,
                         struct rh_error *error) {
    *attributes = (struct ibv_qp_attr){.qp_state = state};
    return verbs->rdma->init_qp_attr(verbs->id, attributes, mask) == 0 ? 0 : failed(error, "rdma_init_qp_attr");
}

static int to_init(struct verbs *verbs, struct rh_error *error) {
    struct ibv_qp_attr attributes;
    int mask;
    if (attributes_of(verbs, IBV_QPS_INIT, &attributes, &mask, error) != 0) {
        return -1;
    }
    attributes.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    if (modify(verbs, &attributes, mask | IBV_QP_ACCESS_FLAGS, error) != 0) {
        return -1;
    }
    for (uint32_t i = 0; i < verbs->receives; i++) {
        if (post_receive(verbs, i, error) != 0) {
            return -1;
        }
    }
    return 0;
}

static enum ibv_mtu mtu_of(uint32_t bytes) {
    return bytes >= 4096 ? IBV_MTU_4096 : bytes >= 2048 ? IBV_MTU_2048 : bytes >= 1024 ? IBV_MTU_1024
           : bytes >= 512  ? IBV_MTU_512 : IBV_MTU_256;
}

static int to_ready(struct verbs *verbs, uint32_t path_mtu, uint8_t reads, struct rh_error *error) {
    struct ibv_qp_attr attributes;
    int mask;
    if (attributes_of(verbs, IBV_QPS_RTR, &attributes, &mask, error) != 0) {
        return -1;
    }
    attributes.path_mtu = attributes.path_mtu < mtu_of(path_mtu) ? attributes.path_mtu : mtu_of(path_mtu);
    attributes.max_dest_rd_atomic = reads;
    attributes.min_rnr_timer = RNR_TIMER;
    if (modify(verbs, &attributes, mask, error) != 0 || attributes_of(verbs, IBV_QPS_RTS, &attributes, &mask, error) != 0) {
        return -1;
    }
    attributes.timeout = ACK_TIMEOUT;
    attributes.retry_cnt = RETRIES;
    attributes.rnr_retry = RNR_RETRIES;
    attributes.max_rd_atomic = 0;
    return modify(verbs, &attributes, mask, error);
}

static int connect_queues(struct verbs *verbs, const uint8_t hello[56], uint32_t path_mtu, int64_t deadline, uint8_t *said,
                          struct rh_error *error) {
    struct ibv_device_attr device;
    if (verbs->rdma->query_device(verbs->id->verbs, &device) != 0) {
        return failed(error, "the adapter does not say what it can");
    }
    uint8_t reads = (uint8_t)(device.max_qp_rd_atom < MOST_READS ? device.max_qp_rd_atom : MOST_READS);
    struct rdma_conn_param parameters = {.private_data = hello, .private_data_len = 56, .responder_resources = reads,
                                         .retry_count = RETRIES, .rnr_retry_count = RNR_RETRIES,
                                         .qp_num = verbs->qp->qp_num};
    if (verbs->rdma->connect(verbs->id, &parameters) != 0) {
        return failed(error, "rdma_connect");
    }
    if (await_event(verbs, RDMA_CM_EVENT_CONNECT_RESPONSE, deadline, said, error) != 0
        || to_ready(verbs, path_mtu, reads, error) != 0) {
        return -1;
    }
    return verbs->rdma->establish(verbs->id) == 0 ? 0 : failed(error, "rdma_establish");
}

static struct verbs *new_verbs(const struct rh_rdma *rdma, uint32_t max_requests) {
    struct verbs *made = calloc(1, sizeof *made);
    if (!made) {
        return NULL;
    }
    made->transport.fabric = &VERBS;
    made->rdma = rdma;
    pthread_mutex_init(&made->pinning, NULL);
    made->handed_out = -1;
    made->receives = max_requests + OTHER_MESSAGES;
    made->sends = 2 * max_requests + OTHER_MESSAGES;
    made->waker = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    made->free_sends = calloc(made->sends, sizeof *made->free_sends);
    for (uint32_t i = 0; made->free_sends && i < made->sends; i++) {
        made->free_sends[made->free_count++] = made->receives + i;
    }
    return made;
}

static struct rh_transport *connect_to(const struct rh_rdma *rdma, const struct rh_grant *grant, const char *address,
                                       const uint8_t hello[56], int64_t deadline, uint8_t *said, struct rh_error *error) {
    struct verbs *made = new_verbs(rdma, grant->max_requests < RH_MOST_REQUESTS ? grant->max_requests : RH_MOST_REQUESTS);
    if (!made) {
        rh_fail_as(error, RAILHEAD_NO_MEMORY, "out of memory");
        return NULL;
    }
    int result = -1;
    if (made->waker < 0 || !made->free_sends) {
        rh_fail_as(error, RAILHEAD_NO_MEMORY, "no memory or descriptor for a session");
    } else if (!(made->events = rdma->create_event_channel())) {
        failed(error, "rdma_cm cannot be used");
    } else if (no_block(made->events->fd, error) == 0) {
        result = rdma->create_id(made->events, &made->id, NULL, RDMA_PS_TCP) != 0 ? failed(error, "rdma_create_id") : 0;
    }
    if (result != 0 || resolve(made, address, grant->port, deadline, said, error) != 0 || make_queues(made, error) != 0
        || to_init(made, error) != 0 || connect_queues(made, hello, grant->path_mtu, deadline, said, error) != 0) {
        close_all(&made->transport);
        return NULL;
    }
    return &made->transport;
}

int32_t rh_has_verbs(void) {
    return 1;
}

struct rh_transport *rh_verbs_connect(const struct rh_grant *grant, const uint8_t hello[56], int64_t timeout_millis,
                                      uint8_t said[RH_VERBS_PRIVATE_BYTES], struct rh_error *error) {
    const struct rh_rdma *rdma = rh_rdma_load(error);
    const int64_t deadline = rh_now_millis() + timeout_millis;
    struct rh_transport *made = NULL;
    memset(said, 0, RH_VERBS_PRIVATE_BYTES);
    for (uint32_t i = 0; rdma && !made && i < grant->addresses_count && !*said; i++) {
        struct rh_error why;
        made = connect_to(rdma, grant, grant->addresses[i], hello, deadline, said, &why);
        if (!made) {
            rh_fail_as(error, why.code, "cannot connect to %s port %u: %.200s", grant->addresses[i], grant->port, why.text);
        }
    }
    return made;
}

/* ---- Memory ---- */

static struct ibv_mr *pin_dma_buf(struct verbs *verbs, void *address, uint64_t bytes, int fd, uint64_t offset,
                                  struct rh_error *error) {
    if (!verbs->rdma->reg_dmabuf) {
        rh_fail(error, "libibverbs has no ibv_reg_dmabuf_mr (rdma-core 34)");
        return NULL;
    }
    struct ibv_mr *region = verbs->rdma->reg_dmabuf(verbs->pd, offset, bytes, (uintptr_t)address, fd, ACCESS);
    if (!region) {
        failed(error, "ibv_reg_dmabuf_mr");
    }
    return region;
}

static struct ibv_mr *pinned(struct verbs *verbs, void *address, uint64_t bytes, int dma_buf, uint64_t offset,
                             struct rh_error *error) {
    struct rh_error why = {.text = ""};
    struct ibv_mr *region = dma_buf >= 0 ? pin_dma_buf(verbs, address, bytes, dma_buf, offset, &why) : NULL;
    if (!region) {
        /* A GPU's memory by its address: a peer memory module knows it, or nobody does. */
        region = verbs->rdma->reg(verbs->pd, address, bytes, ACCESS);
    }
    if (!region) {
        rh_fail(error, "memory cannot be registered: %s%s%.150s", strerror(errno), *why.text ? "; " : "", why.text);
    }
    return region;
}

void *rh_verbs_register(struct rh_transport *transport, void *address, uint64_t bytes, int dma_buf, uint64_t offset,
                        uint32_t *rkey, struct rh_error *error) {
    struct verbs *verbs = of(transport);
    struct pin *pin = malloc(sizeof *pin);
    if (!pin) {
        rh_fail_as(error, RAILHEAD_NO_MEMORY, "out of memory");
        return NULL;
    }
    pthread_mutex_lock(&verbs->pinning);
    pin->region = verbs->pd ? pinned(verbs, address, bytes, dma_buf, offset, error) : NULL;
    if (!verbs->pd) {
        rh_fail_as(error, RAILHEAD_ENDED, "the session has ended");
    }
    struct ibv_mr *region = pin->region;
    if (region) {
        pin->next = verbs->pins;
        verbs->pins = pin;
        *rkey = region->rkey;
    }
    pthread_mutex_unlock(&verbs->pinning);
    if (!region) {
        free(pin);
        return NULL;
    }
    return pin;
}

void rh_verbs_deregister(struct rh_transport *transport, void *region) {
    struct verbs *verbs = of(transport);
    struct pin *pin = region, **at = &verbs->pins;
    pthread_mutex_lock(&verbs->pinning);
    while (*at != pin) {
        at = &(*at)->next;
    }
    *at = pin->next;
    if (pin->region) {
        (void)verbs->rdma->dereg(pin->region);
    }
    pthread_mutex_unlock(&verbs->pinning);
    free(pin);
}
