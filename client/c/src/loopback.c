#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "error.h"
#include "session.h"

struct loopback {
    struct rh_transport transport;
    int waker;
    bool bye_due;
    struct rh_wire wire;
};

static struct loopback *of(struct rh_transport *transport) {
    return (struct loopback *)transport;
}

static int ready(struct rh_transport *transport, struct rh_error *error) {
    struct loopback *loopback = of(transport);
    int room = rh_wire_ready(&loopback->wire, error);
    if (room > 0 && loopback->bye_due) {
        uint8_t bye[RH_HEADER_BYTES];
        loopback->bye_due = false;
        rh_message_begin(bye, RH_BYE, 0);
        room = rh_wire_send(&loopback->wire, bye, sizeof bye, error) == 0 ? rh_wire_ready(&loopback->wire, error) : -1;
    }
    return room;
}

static int send_message(struct rh_transport *transport, const uint8_t *message, size_t bytes, struct rh_error *error) {
    return rh_wire_send(&of(transport)->wire, message, bytes, error);
}

static int receive(struct rh_transport *transport, struct rh_message *message, struct rh_error *error) {
    return rh_wire_receive(&of(transport)->wire, message, error);
}

static void sleep_on(struct rh_transport *transport, bool blocked, int64_t millis) {
    struct loopback *loopback = of(transport);
    struct pollfd waiting[] = {
        {.fd = loopback->wire.fd, .events = (short)(blocked ? POLLIN | POLLOUT : POLLIN)},
        {.fd = loopback->waker, .events = POLLIN}};
    if (poll(waiting, 2, millis > 0 ? (int)millis : 0) > 0 && waiting[1].revents) {
        uint64_t count;
        (void)!read(loopback->waker, &count, sizeof count);
    }
}

static void wake(struct rh_transport *transport) {
    const uint64_t one = 1;
    (void)!write(of(transport)->waker, &one, sizeof one);
}

static bool stands(struct rh_transport *transport) {
    char byte;
    ssize_t seen = recv(of(transport)->wire.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return seen > 0 || (seen < 0 && (errno == EAGAIN || errno == EINTR));
}

/* By a BYE: a client that closed first, if only one direction, would read an end that comes before the last copy's. */
static void hang_up(struct rh_transport *transport) {
    struct rh_error ignored;
    of(transport)->wire.deaf = true;
    of(transport)->bye_due = true;
    (void)ready(transport, &ignored);
}

/* Only the gateway's own end of the stream says that it has let go. */
static bool break_off(struct rh_transport *transport) {
    shutdown(of(transport)->wire.fd, SHUT_RDWR);
    return false;
}

static void close_all(struct rh_transport *transport) {
    close(of(transport)->wire.fd);
    close(of(transport)->waker);
    free(transport);
}

static const struct rh_fabric LOOPBACK = {ready, send_message, receive, sleep_on, wake,
                                          stands, hang_up, break_off, NULL, close_all, close_all};

/* A gateway whose backlog is full has the caller wait. */
static int connect_by(int fd, const struct sockaddr_un *address, int64_t deadline) {
    for (int64_t left; (left = deadline - rh_now_millis()) > 0;) {
        struct timeval patience = {.tv_sec = left / 1000, .tv_usec = left % 1000 * 1000};
        if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) != 0) {
            return -1;
        }
        if (connect(fd, (const struct sockaddr *)address, sizeof *address) == 0) {
            return 0;
        }
        if (errno != EAGAIN && errno != EINTR) {
            return -1;
        }
    }
    errno = ETIMEDOUT;
    return -1;
}

static int connect_socket(const char *path, int64_t deadline, struct rh_error *error) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        return rh_fail(error, "the gateway's socket has too long a path");
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return rh_fail(error, "no socket: %s", strerror(errno));
    }
    if (connect_by(fd, &address, deadline) != 0) {
        rh_fail_as(error, errno == ETIMEDOUT ? RAILHEAD_TIMED_OUT : RAILHEAD_UNAVAILABLE,
                   "cannot connect to %s: %s (is the gateway on this host?)", path, strerror(errno));
        close(fd);
        return -1;
    }
    return fd;
}

struct rh_transport *rh_loopback_connect(const char *socket_path, int64_t deadline, struct rh_error *error) {
    int fd = connect_socket(socket_path, deadline, error);
    if (fd < 0) {
        return NULL;
    }
    int waker = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct loopback *made = waker < 0 ? NULL : calloc(1, sizeof *made);
    if (!made) {
        rh_fail_as(error, RAILHEAD_NO_MEMORY, "no descriptor or memory for a session: %s", strerror(errno));
        close(fd);
        if (waker >= 0) {
            close(waker);
        }
        return NULL;
    }
    made->transport.fabric = &LOOPBACK;
    made->waker = waker;
    made->wire.fd = fd;
    return &made->transport;
}

int rh_loopback_send_descriptor(struct rh_transport *transport, int descriptor, struct rh_error *error) {
    return rh_wire_send_descriptor(&of(transport)->wire, descriptor, error);
}

/* Without Yama the call fails, and is not needed. */
void rh_loopback_let_in(struct rh_transport *transport) {
    struct ucred gateway;
    socklen_t length = sizeof gateway;
    if (getsockopt(of(transport)->wire.fd, SOL_SOCKET, SO_PEERCRED, &gateway, &length) == 0 && gateway.pid > 0) {
        (void)prctl(PR_SET_PTRACER, (unsigned long)gateway.pid, 0, 0, 0);
    }
}
