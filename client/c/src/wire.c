#include "wire.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

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

uint32_t rh_get32(const uint8_t *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

int rh_message_parse(const uint8_t *bytes, size_t held, struct rh_message *message) {
    if (held < RH_HEADER_BYTES) {
        return 0;
    }
    uint16_t payload = (uint16_t)(bytes[6] | bytes[7] << 8);
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

static int send_all(int fd, const uint8_t *bytes, size_t count, struct rh_error *error) {
    while (count > 0) {
        ssize_t sent = send(fd, bytes, count, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR) {
            return rh_fail(error, "the gateway went away: %s", strerror(errno));
        }
        if (sent > 0) {
            bytes += sent;
            count -= (size_t)sent;
        }
    }
    return 0;
}

int rh_wire_send(struct rh_wire *wire, uint8_t type, const uint8_t *payload, uint16_t bytes, struct rh_error *error) {
    uint8_t message[RH_HEADER_BYTES + 64] = {0};
    if (bytes > sizeof message - RH_HEADER_BYTES) {
        return rh_fail(error, "a message of %d bytes", bytes);
    }
    memcpy(message, MAGIC, sizeof MAGIC);
    message[4] = VERSION;
    message[5] = type;
    rh_put16(message + 6, bytes);
    if (bytes) {
        memcpy(message + RH_HEADER_BYTES, payload, bytes);
    }
    return send_all(wire->fd, message, (size_t)RH_HEADER_BYTES + bytes, error);
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
        sent = sendmsg(wire->fd, &message, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent == 1 ? 0 : rh_fail(error, "the descriptor could not be sent: %s", strerror(errno));
}

static long now_millis(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int await_bytes(int fd, long deadline, struct rh_error *error) {
    for (;;) {
        long left = deadline - now_millis();
        struct pollfd waiting = {.fd = fd, .events = POLLIN};
        int ready = poll(&waiting, 1, left > 0 ? (int)left : 0);
        if (ready > 0) {
            return 0;
        }
        if (ready == 0) {
            return rh_fail(error, "the gateway did not answer in time");
        }
        if (errno != EINTR) {
            return rh_fail(error, "cannot wait for the gateway: %s", strerror(errno));
        }
    }
}

int rh_wire_receive(struct rh_wire *wire, long timeout_millis, struct rh_message *message, struct rh_error *error) {
    long deadline = now_millis() + timeout_millis;
    memmove(wire->bytes, wire->bytes + wire->taken, wire->held - wire->taken);
    wire->held -= wire->taken;
    wire->taken = 0;
    for (;;) {
        int length = rh_message_parse(wire->bytes, wire->held, message);
        if (length < 0) {
            return rh_fail(error, "what the gateway said is no message");
        }
        if (length > 0) {
            wire->taken = (size_t)length;
            return 0;
        }
        if (await_bytes(wire->fd, deadline, error) != 0) {
            return -1;
        }
        ssize_t got = recv(wire->fd, wire->bytes + wire->held, sizeof wire->bytes - wire->held, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) {
            return rh_fail(error, "the gateway went away");
        }
        wire->held += got > 0 ? (size_t)got : 0;
    }
}
