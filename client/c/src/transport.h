/* How a session's messages travel: what differs between the fabrics. Internal to the library. */
#ifndef RAILHEAD_TRANSPORT_H
#define RAILHEAD_TRANSPORT_H

#include "wire.h"

struct rh_transport;

enum {
    RH_AT_END = -1,    /* nothing comes any more, and the gateway touches no memory */
    RH_NO_MESSAGE = -2 /* what came makes no sense; the end is still to come, after `hang_up` */
};

/* All under the session's lock, and without waiting, but for `sleep`, `wake` and `close`. */
struct rh_fabric {
    /* Whether there is room for a message: 1, 0, or -1 where the connection is gone. */
    int (*ready)(struct rh_transport *transport, struct rh_error *error);
    /* Sends a message, when it is ready. */
    int (*send)(struct rh_transport *transport, const uint8_t *message, size_t bytes, struct rh_error *error);
    /* The next message, which stays until the next call: 1; 0 where none has come; else one of the two below. */
    int (*receive)(struct rh_transport *transport, struct rh_message *message, struct rh_error *error);
    /* Without the lock, one thread: until something may have come, there is room if `blocked`, `wake`, or the time is over. */
    void (*sleep)(struct rh_transport *transport, bool blocked, int64_t millis);
    /* Any thread. */
    void (*wake)(struct rh_transport *transport);
    /* Whether the connection seems to stand. */
    bool (*stands)(struct rh_transport *transport);
    /* Says and hears nothing more but the end; the gateway is told, and `receive` comes to the end if it lives. */
    void (*hang_up)(struct rh_transport *transport);
    /* Ends it without the gateway: whether it can touch no memory any more. */
    bool (*break_off)(struct rh_transport *transport);
    /* After the end, when nothing is sent or heard any more: gives back what others wait for, such as an adapter. NULL for nothing. */
    void (*let_go)(struct rh_transport *transport);
    void (*close)(struct rh_transport *transport);
    /* In a child of fork: gives back the child's part; the connection is the parent's. */
    void (*abandon)(struct rh_transport *transport);
};

/* The first member of each fabric's own. */
struct rh_transport {
    const struct rh_fabric *fabric;
};

/* Connects to the gateway's socket; waits until `deadline`. */
struct rh_transport *rh_loopback_connect(const char *socket_path, int64_t deadline, struct rh_error *error);
int rh_loopback_send_descriptor(struct rh_transport *transport, int descriptor, struct rh_error *error);
/* Under Yama only an ancestor may look into a process, or who it names: names the gateway. */
void rh_loopback_let_in(struct rh_transport *transport);

#endif
