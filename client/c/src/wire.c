#include "wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "error.h"

enum { VERSION = 1 };
static const uint8_t MAGIC[4] = {'R', 'H', 'L', 'B'};

void rh_put16(uint8_t *at, uint16_t value) {
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
}

void rh_put32(uint8_t *at, uint32_t value) {
    rh_put16(at, (uint16_t)value);
    rh_put16(at + 2, (uint16_t)(value >> 16));
}

void rh_put64(uint8_t *at, uint64_t value) {
    rh_put32(at, (uint32_t)value);
    rh_put32(at + 4, (uint32_t)(value >> 32));
}

uint16_t rh_get16(const uint8_t *at) {
    return (uint16_t)(at[0] | at[1] << 8);
}

uint32_t rh_get32(const uint8_t *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

uint64_t rh_get64(const uint8_t *at) {
    return (uint64_t)rh_get32(at) | (uint64_t)rh_get32(at + 4) << 32;
}

void rh_message_begin(uint8_t *at, uint8_t type, size_t payload_bytes) {
    memcpy(at, MAGIC, sizeof MAGIC);
    at[4] = VERSION;
    at[5] = type;
    rh_put16(at + 6, (uint16_t)payload_bytes);
}

int rh_message_parse(const uint8_t *bytes, size_t held, struct rh_message *message) {
    if (held < RH_HEADER_BYTES) {
        return 0;
    }
    uint16_t payload = rh_get16(bytes + 6);
    if (memcmp(bytes, MAGIC, sizeof MAGIC) != 0 || bytes[4] != VERSION
        || payload > RH_MESSAGE_BYTES - RH_HEADER_BYTES) {
        return -1;
    }
    if (held < (size_t)RH_HEADER_BYTES + payload) {
        return 0;
    }
    *message = (struct rh_message){.type = bytes[5], .bytes = payload, .payload = bytes + RH_HEADER_BYTES};
    return RH_HEADER_BYTES + payload;
}

int rh_wire_ready(struct rh_wire *wire, struct rh_error *error) {
    if (wire->unsent == 0) {
        return 1;
    }
    ssize_t sent = send(wire->fd, wire->rest, wire->unsent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EINTR && errno != EAGAIN) {
        return rh_fail(error, "the gateway went away: %s", strerror(errno));
    }
    if (sent > 0) {
        wire->unsent -= (size_t)sent;
        memmove(wire->rest, wire->rest + sent, wire->unsent);
    }
    return wire->unsent == 0;
}

int rh_wire_send(struct rh_wire *wire, const uint8_t *message, size_t bytes, struct rh_error *error) {
    memcpy(wire->rest, message, bytes);
    wire->unsent = bytes;
    return rh_wire_ready(wire, error) < 0 ? -1 : 0;
}

int rh_wire_send_descriptor(struct rh_wire *wire, int descriptor, struct rh_error *error) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.bytes = {0}};
    char byte = 0;
    struct iovec vector = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1, .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(rights), &descriptor, sizeof(int));
    ssize_t sent;
    do {
        sent = sendmsg(wire->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (sent < 0 && errno == EINTR);
    return sent == 1 ? 0 : rh_fail(error, "the descriptor could not be sent: %s", strerror(errno));
}

int rh_wire_receive(struct rh_wire *wire, struct rh_message *message, struct rh_error *error) {
    if (wire->deaf) {
        wire->held = wire->taken = 0;
    }
    int length = rh_message_parse(wire->bytes + wire->taken, wire->held - wire->taken, message);
    if (length == 0) {
        memmove(wire->bytes, wire->bytes + wire->taken, wire->held - wire->taken);
        wire->held -= wire->taken;
        wire->taken = 0;
        ssize_t got = recv(wire->fd, wire->bytes + wire->held, sizeof wire->bytes - wire->held, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) {
            return rh_fail(error, "the gateway went away");
        }
        wire->held += got > 0 ? (size_t)got : 0;
        length = wire->deaf ? 0 : rh_message_parse(wire->bytes, wire->held, message);
    }
    if (length < 0) {
        rh_fail_as(error, RAILHEAD_ENDED, "what the gateway said is no message");
        return -2;
    }
    wire->taken += (size_t)length;
    return length > 0;
}
