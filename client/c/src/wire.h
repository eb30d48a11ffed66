/* Messages of the native channel (docs/native-channel.md, section 2), and the UNIX socket that they travel on. Internal. */
#ifndef RAILHEAD_WIRE_H
#define RAILHEAD_WIRE_H

#include "railhead/loopback.h"

enum {
    RH_HELLO = 1,
    RH_CHALLENGE = 2,
    RH_PROOF = 3,
    RH_WELCOME = 4,
    RH_REFUSED = 5,
    RH_REGISTER = 6,
    RH_SEND_DESCRIPTOR = 7,
    RH_REGISTERED = 8,
    RH_DEREGISTER = 9,
    RH_DEREGISTERED = 10,
    RH_PING = 11,
    RH_PONG = 12,
    RH_BYE = 13,
    RH_ATTACH = 14,
    RH_BOUNCE = 15,
    RH_REQUESTS = 16,
    RH_ANSWERS = 17,
    RH_CANCEL = 18,
    RH_ENDED = 19,
    RH_SYNC = 20,
    RH_SYNCED = 21
};

enum { RH_HEADER_BYTES = 8, RH_MESSAGE_BYTES = 4096 };

/*
 * A socket, what came on it and is not handed out, and what of the last message it had no room for. A message handed out
 * stays until the next call. One thread at a time; nothing here waits.
 */
struct rh_wire {
    int fd;
    size_t held;
    size_t taken;
    size_t unsent;
    bool deaf; /* what comes is thrown away, up to the end */
    uint8_t bytes[RH_MESSAGE_BYTES];
    uint8_t rest[RH_MESSAGE_BYTES];
};

struct rh_message {
    uint8_t type;
    uint16_t bytes;
    const uint8_t *payload;
};

void rh_put16(uint8_t *at, uint16_t value);
void rh_put32(uint8_t *at, uint32_t value);
void rh_put64(uint8_t *at, uint64_t value);
uint16_t rh_get16(const uint8_t *at);
uint32_t rh_get32(const uint8_t *at);
uint64_t rh_get64(const uint8_t *at);

/* Reads the message that begins at `bytes`: its length, 0 where that is not all there yet, -1 if it is none. */
int rh_message_parse(const uint8_t *bytes, size_t held, struct rh_message *message);

/* Writes a header. */
void rh_message_begin(uint8_t *at, uint8_t type, size_t payload_bytes);

/* Whether a message may be sent: 1; 0 while the rest of the last one has no room; -1 where the gateway is gone. */
int rh_wire_ready(struct rh_wire *wire, struct rh_error *error);
/* Sends one message, when the wire is ready. */
int rh_wire_send(struct rh_wire *wire, const uint8_t *message, size_t bytes, struct rh_error *error);
int rh_wire_send_descriptor(struct rh_wire *wire, int descriptor, struct rh_error *error);

/* The next message: 1; 0 where none has come; -1 at the end of the stream; -2 where it is none. */
int rh_wire_receive(struct rh_wire *wire, struct rh_message *message, struct rh_error *error);

#endif
