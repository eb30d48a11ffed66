/* The fake gateway's side of the wire: it waits. */
#ifndef RAILHEAD_FAKE_WIRE_H
#define RAILHEAD_FAKE_WIRE_H

#include "fake_gateway.h"
#include "wire.h"

int fake_send(struct rh_wire *wire, uint8_t type, const uint8_t *payload, size_t bytes, struct rh_error *error);
int fake_receive(struct rh_wire *wire, struct rh_message *message, struct rh_error *error);

/* Whether the connection goes on. */
bool fake_requests(struct fake_gateway *gateway, struct rh_wire *wire, const struct rh_message *message);
bool fake_cancel(struct fake_gateway *gateway, struct rh_wire *wire, const struct rh_message *message);

#endif
