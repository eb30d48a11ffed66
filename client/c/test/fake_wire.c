#include "fake_wire.h"

#include <poll.h>
#include <string.h>

enum { PATIENCE_MILLIS = 30000 };

static bool await(struct rh_wire *wire, short events) {
    struct pollfd waiting = {.fd = wire->fd, .events = events};
    return poll(&waiting, 1, PATIENCE_MILLIS) > 0;
}

int fake_send(struct rh_wire *wire, uint8_t type, const uint8_t *payload, size_t bytes, struct rh_error *error) {
    uint8_t message[RH_MESSAGE_BYTES];
    rh_message_begin(message, type, bytes);
    if (bytes) {
        memcpy(message + RH_HEADER_BYTES, payload, bytes);
    }
    int ready = rh_wire_send(wire, message, RH_HEADER_BYTES + bytes, error);
    while (ready == 0 && rh_wire_ready(wire, error) == 0 && await(wire, POLLOUT)) {
    }
    return ready;
}

int fake_receive(struct rh_wire *wire, struct rh_message *message, struct rh_error *error) {
    int got;
    while ((got = rh_wire_receive(wire, message, error)) == 0 && await(wire, POLLIN)) {
    }
    return got > 0 ? 0 : -1;
}
