#include "fake_gateway.h"

#include <errno.h>
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "crypto.h"
#include "fake_wire.h"

enum { NUMBER = 0x0a0b0c, KEY = 0x51525354, KEEP_ALIVE_MILLIS = 60000, MAX_REQUESTS = 8 };

static int receive_descriptor(int fd) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    char byte;
    struct iovec vector = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1, .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    CHECK(recvmsg(fd, &message, MSG_CMSG_CLOEXEC) == 1, "errno %d", errno);
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    CHECK(rights && rights->cmsg_type == SCM_RIGHTS, "no descriptor came");
    int descriptor;
    memcpy(&descriptor, CMSG_DATA(rights), sizeof descriptor);
    return descriptor;
}

static void forget(struct fake_gateway *gateway) {
    if (gateway->mapped && !gateway->verbs) {
        munmap(gateway->mapped, gateway->mapped_bytes);
    }
    gateway->mapped = NULL;
}

static void map(struct fake_gateway *gateway, int descriptor, const struct rh_message *request) {
    CHECK(fcntl(descriptor, F_GET_SEALS) & F_SEAL_SHRINK, "the memory is not sealed");
    forget(gateway);
    gateway->mapped_base = rh_get64(request->payload);
    gateway->mapped_bytes = rh_get64(request->payload + 8);
    void *at = mmap(NULL, gateway->mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    CHECK(at != MAP_FAILED, "errno %d", errno);
    gateway->mapped = at;
    close(descriptor);
}

/* Whether the connection goes on. */
static bool take_registration(struct fake_gateway *gateway, struct rh_wire *wire, const struct rh_message *request) {
    struct rh_error error;
    struct rh_message copy = *request;
    uint8_t payload[24], answer[8];
    memcpy(payload, request->payload, sizeof payload);
    copy.payload = payload;
    switch (gateway->fault) {
        case REFUSE_REGISTRATION:
            rh_put32(answer, 11);
            return fake_send(wire, RH_REFUSED, answer, 4, &error) == 0;
        case END_AT_REGISTRATION:
            rh_put32(answer, 3);
            rh_put32(answer + 4, 0);
            fake_send(wire, RH_ENDED, answer, 8, &error);
            return false;
        case GARBAGE_AT_REGISTRATION: return send(wire->fd, "GET / HTTP/1.1\r\n\r\n", 18, MSG_NOSIGNAL) == 18;
        case SILENT_AT_REGISTRATION: return true;
        case HANG_UP_AT_REGISTRATION: return false;
        default: break;
    }
    if (gateway->verbs) {
        CHECK(rh_get32(payload + 16) != 0, "no rkey");
        gateway->mapped_base = rh_get64(payload);
        gateway->mapped_bytes = rh_get64(payload + 8);
        gateway->mapped = (uint8_t *)(uintptr_t)gateway->mapped_base;
        gateway->registered++;
        rh_put32(answer, KEY);
        return fake_send(wire, RH_REGISTERED, answer, 4, &error) == 0;
    }
    if (fake_send(wire, RH_SEND_DESCRIPTOR, NULL, 0, &error) != 0) {
        return false;
    }
    map(gateway, receive_descriptor(wire->fd), &copy);
    gateway->handle = request->type == RH_BOUNCE ? rh_get64(payload + 16) : 0;
    rh_put32(answer, KEY + (uint32_t)gateway->registered++);
    return fake_send(wire, RH_REGISTERED, answer, 4, &error) == 0;
}

/* The client is this very process: its memory needs no attaching to. */
static bool take_attachment(struct fake_gateway *gateway, struct rh_wire *wire, const struct rh_message *request) {
    struct rh_error error;
    struct rh_message proof;
    uint8_t nonce[RH_NONCE_BYTES], answer[4];
    uintptr_t base = rh_get64(request->payload), at = rh_get64(request->payload + 16);
    if (gateway->fault == REFUSE_REGISTRATION) {
        rh_put32(answer, 13);
        return fake_send(wire, RH_REFUSED, answer, 4, &error) == 0;
    }
    CHECK(rh_random(nonce, sizeof nonce, &error) == 0, "%s", error.text);
    fake_send(wire, RH_CHALLENGE, nonce, sizeof nonce, &error);
    CHECK(fake_receive(wire, &proof, &error) == 0 && proof.type == RH_PROOF, "%s", error.text);
    CHECK(memcmp((const void *)at, nonce, sizeof nonce) == 0, "the nonce is not in the client's memory");
    gateway->attached = (uint8_t *)base;
    gateway->registered++;
    rh_put32(answer, KEY);
    return fake_send(wire, RH_REGISTERED, answer, 4, &error) == 0;
}

static bool answer(struct fake_gateway *gateway, struct rh_wire *wire, const struct rh_message *message) {
    struct rh_error error;
    uint8_t payload[8];
    switch (message->type) {
        case RH_REGISTER:
        case RH_BOUNCE: return take_registration(gateway, wire, message);
        case RH_SYNCED:
            gateway->copied = rh_get32(message->payload + 4) == 1;
            gateway->synced = rh_get32(message->payload);
            return true;
        case RH_ATTACH: return take_attachment(gateway, wire, message);
        case RH_DEREGISTER:
            memcpy(payload, message->payload, 4);
            gateway->registered--;
            forget(gateway);
            return fake_send(wire, RH_DEREGISTERED, payload, 4, &error) == 0;
        case RH_PING:
            memcpy(payload, message->payload, 8);
            gateway->pings++;
            return fake_send(wire, RH_PONG, payload, 8, &error) == 0;
        case RH_REQUESTS: return fake_requests(gateway, wire, message);
        case RH_CANCEL: return fake_cancel(gateway, wire, message);
        default:
            CHECK(message->type == RH_BYE, "type %d", message->type);
            gateway->byes++;
            return false;
    }
}

static bool prove(struct fake_gateway *gateway, struct rh_wire *wire) {
    struct rh_error error;
    struct rh_message message;
    uint8_t nonce[RH_NONCE_BYTES], own[RH_NONCE_BYTES], proof[RH_HASH_BYTES], welcome[56] = {0};
    CHECK(fake_receive(wire, &message, &error) == 0, "%s", error.text);
    CHECK(message.type == RH_HELLO && message.bytes == 48, "type %d", message.type);
    CHECK(memcmp(message.payload, gateway->grant.id, RH_ID_BYTES) == 0, "another session");
    memcpy(nonce, message.payload + RH_ID_BYTES, sizeof nonce);
    CHECK(rh_random(own, sizeof own, &error) == 0, "%s", error.text);
    if (gateway->fault == REFUSE_HELLO) {
        rh_put32(welcome, 1);
        fake_send(wire, RH_REFUSED, welcome, 4, &error);
        return false;
    }
    fake_send(wire, RH_CHALLENGE, own, sizeof own, &error);
    CHECK(fake_receive(wire, &message, &error) == 0, "%s", error.text);
    rh_session_proof(proof, gateway->grant.key, RH_CLIENT_PROOF, gateway->grant.id, nonce, own);
    CHECK(message.type == RH_PROOF && memcmp(message.payload, proof, sizeof proof) == 0, "the client's proof");
    rh_session_proof(welcome, gateway->grant.key, RH_SERVER_PROOF, gateway->grant.id, nonce, own);
    welcome[31] ^= gateway->fault == BAD_SERVER_PROOF;
    rh_put32(welcome + 32, NUMBER);
    rh_put32(welcome + 40, gateway->max_requests ? gateway->max_requests : MAX_REQUESTS);
    rh_put32(welcome + 44, RH_MESSAGE_BYTES);
    rh_put32(welcome + 48, gateway->keep_alive_millis ? gateway->keep_alive_millis : KEEP_ALIVE_MILLIS);
    if (gateway->lie_at) {
        rh_put32(welcome + gateway->lie_at, gateway->lie);
    }
    return fake_send(wire, RH_WELCOME, welcome, sizeof welcome, &error) == 0;
}

static void serve(struct fake_gateway *gateway, int fd) {
    struct rh_wire wire = {.fd = fd};
    struct rh_error error;
    struct rh_message message;
    bool proven = prove(gateway, &wire);
    while (proven && fake_receive(&wire, &message, &error) == 0) {
        bool hung = gateway->hangs;
        while (gateway->hangs) {
            sched_yield();
        }
        if (hung || !answer(gateway, &wire, &message)) { /* what it missed is over: an adapter would not let it write */
            break;
        }
    }
    forget(gateway);
    gateway->held_count = 0;
    gateway->registered = 0;
}

void fake_gateway_ask(struct fake_gateway *gateway, bool to_own, uint64_t handle, uint64_t offset, uint64_t bytes) {
    struct rh_wire wire = {.fd = gateway->client};
    struct rh_error error;
    uint8_t payload[32];
    rh_put32(payload, ++gateway->syncs);
    rh_put32(payload + 4, to_own);
    rh_put64(payload + 8, handle);
    rh_put64(payload + 16, offset);
    rh_put64(payload + 24, bytes);
    CHECK(fake_send(&wire, RH_SYNC, payload, sizeof payload, &error) == 0, "%s", error.text);
}

bool fake_gateway_sync(struct fake_gateway *gateway, bool to_own, uint64_t handle, uint64_t offset, uint64_t bytes) {
    fake_gateway_ask(gateway, to_own, handle, offset, bytes);
    while (gateway->synced != gateway->syncs) {
        sched_yield();
    }
    return gateway->copied;
}

void fake_gateway_hang(struct fake_gateway *gateway) {
    gateway->hangs = true;
}

void fake_gateway_resume(struct fake_gateway *gateway) {
    gateway->hangs = false;
}

static void *run(void *of) {
    struct fake_gateway *gateway = of;
    int fd;
    while ((fd = accept4(gateway->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        gateway->client = fd;
        gateway->connections++;
        serve(gateway, fd);
        close(fd);
    }
    return NULL;
}

void fake_gateway_start(struct fake_gateway *gateway, const char *socket_path) {
    struct rh_error error;
    CHECK(rh_random(gateway->grant.id, RH_ID_BYTES, &error) == 0, "%s", error.text);
    CHECK(rh_random(gateway->grant.key, RH_KEY_BYTES, &error) == 0, "%s", error.text);
    snprintf(gateway->grant.socket, sizeof gateway->grant.socket, "%s", socket_path);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", socket_path);
    unlink(socket_path);
    gateway->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(gateway->listener, (struct sockaddr *)&address, sizeof address) == 0, "errno %d", errno);
    CHECK(listen(gateway->listener, 4) == 0, "errno %d", errno);
    CHECK(pthread_create(&gateway->thread, NULL, run, gateway) == 0, "no thread");
}

void fake_gateway_hang_up(struct fake_gateway *gateway) {
    while (!gateway->client) { /* it has connected, but may not have been accepted */
        sched_yield();
    }
    shutdown(gateway->client, SHUT_RDWR);
}

static void hmac(uint8_t key[RH_HASH_BYTES], const void *with, size_t bytes, const char *text, size_t length) {
    const struct rh_bytes part = {text, length};
    rh_hmac(key, with, bytes, &part, 1);
}

/* The request's signature, and the key that it was made with by the day that it names. */
static void derive_key(struct fake_gateway *gateway, const char *request) {
    static const char seed[] = "AWS4" FAKE_SECRET;
    char hex[65];
    uint8_t key[RH_HASH_BYTES], signature[RH_HASH_BYTES];
    const char *scope = strstr(request, "Credential=" FAKE_ACCESS "/"), *at = strstr(request, "Signature=");
    CHECK(scope && at, "not signed: %s", request);
    const char *day = scope + strlen("Credential=" FAKE_ACCESS "/");
    hmac(key, seed, strlen(seed), day, 8);
    hmac(key, key, sizeof key, FAKE_REGION, strlen(FAKE_REGION));
    hmac(key, key, sizeof key, "s3", 2);
    hmac(key, key, sizeof key, "aws4_request", 12);
    snprintf(hex, sizeof hex, "%.64s", at + strlen("Signature="));
    CHECK(rh_unhex(signature, hex, RH_HASH_BYTES) == 0, "%s", hex);
    rh_session_key(gateway->grant.key, key, signature, gateway->grant.id);
}

static void respond(int fd, const char *status, const char *body) {
    char answer[2048];
    int length = snprintf(answer, sizeof answer, "HTTP/1.1 %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s", status,
                          strlen(body), body);
    CHECK(send(fd, answer, (size_t)length, MSG_NOSIGNAL) == length, "errno %d", errno);
}

/* Credentials for a token: their session token counts the exchanges. */
static void exchange(struct fake_gateway *gateway, int fd, const char *request) {
    char body[1024], end[40];
    time_t at = time(NULL) + gateway->session_seconds;
    CHECK(strstr(request, "\r\nContent-Type: application/x-www-form-urlencoded\r\n"), "%s", request);
    if (!strstr(request, "Action=AssumeRoleWithWebIdentity&") || !strstr(request, "&RoleArn=arn%3Aaws%3Aiam%3A%3A0%3Arole%2Fpods&")
        || !strstr(request, "&WebIdentityToken=a.b-c_d")) {
        respond(fd, "400 Bad Request", "<ErrorResponse><Error><Code>InvalidIdentityToken</Code></Error></ErrorResponse>");
        return;
    }
    strftime(end, sizeof end, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&at, &(struct tm){0}));
    snprintf(body, sizeof body, "<R><Credentials><AccessKeyId>%s</AccessKeyId><SecretAccessKey>%s</SecretAccessKey>"
             "<SessionToken>token-%d</SessionToken><Expiration>%s</Expiration></Credentials></R>", FAKE_ACCESS, FAKE_SECRET,
             ++gateway->exchanges, end);
    respond(fd, "200 OK", body);
}

/* Takes newer credentials for the session that there is. */
static void renew(struct fake_gateway *gateway, int fd, const char *request) {
    char line[120], id[2 * RH_ID_BYTES + 1];
    const char *token = strstr(request, "\r\nx-amz-security-token: ");
    rh_hex(id, gateway->grant.id, RH_ID_BYTES);
    snprintf(line, sizeof line, "POST /.railhead/sessions?renew=%s HTTP/1.1\r\n", id);
    CHECK(strncmp(request, line, strlen(line)) == 0 && strstr(request, "Credential=" FAKE_ACCESS "/"), "%s", request);
    CHECK(token, "%s", request);
    gateway->renewed_with = atoi(token + strlen("\r\nx-amz-security-token: token-"));
    if (gateway->fault == REFUSE_RENEWAL) {
        gateway->refused_renewals++;
        respond(fd, "403 Forbidden", "<Error><Code>RDMAUnknownSession</Code></Error>");
        return;
    }
    gateway->renewals++;
    respond(fd, "200 OK", "{}");
}

/* The length that the head names, behind its end. */
static size_t request_bytes(const char *request) {
    const char *length = strstr(request, "\r\nContent-Length: "), *end = strstr(request, "\r\n\r\n");
    return !end ? SIZE_MAX : (size_t)(end + 4 - request) + (length && length < end ? (size_t)atoi(length + 18) : 0);
}

static void grant(struct fake_gateway *gateway, int fd) {
    char request[8192], id[2 * RH_ID_BYTES + 1], body[512], operations[64] = "";
    size_t held = 0;
    request[0] = 0;
    while (held < request_bytes(request)) {
        ssize_t got = recv(fd, request + held, sizeof request - 1 - held, 0);
        CHECK(got > 0, "the request ended early: %s", request);
        held += (size_t)got;
        request[held] = 0;
    }
    if (strncmp(request, "POST / ", 7) == 0) {
        exchange(gateway, fd, request);
        return;
    }
    if (strncmp(request, "POST /.railhead/sessions?renew=", 31) == 0) {
        renew(gateway, fd, request);
        return;
    }
    const char *line = gateway->verbs ? "POST /.railhead/sessions?fabric=verbs HTTP/1.1\r\n"
                                      : "POST /.railhead/sessions?fabric=loopback HTTP/1.1\r\n";
    CHECK(strncmp(request, line, strlen(line)) == 0, "%s", request);
    derive_key(gateway, request);
    rh_hex(id, gateway->grant.id, RH_ID_BYTES);
    if (gateway->max_operation) {
        snprintf(operations, sizeof operations, ",\"max_operation\":%u,\"max_windows\":64", gateway->max_operation);
    }
    snprintf(body, sizeof body,
             gateway->verbs ? "{\"session\":\"%s\",\"fabric\":\"verbs\",\"addresses\":[\"192.0.2.1\",\"127.0.0.1\"],"
                              "\"port\":7471,\"path_mtu\":1024,\"max_requests\":%u,\"version\":1}"
                            : "{\"session\":\"%s\",\"max_requests\":%u,\"fabric\":\"loopback\",\"socket\":\"%s\"%s}",
             id, gateway->max_requests, gateway->grant.socket, operations);
    gateway->grants++;
    respond(fd, "200 OK", body);
}

static void *run_http(void *of) {
    struct fake_gateway *gateway = of;
    int fd;
    while ((fd = accept4(gateway->http_listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        grant(gateway, fd);
        close(fd);
    }
    return NULL;
}

void fake_gateway_start_http(struct fake_gateway *gateway) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    gateway->http_listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(gateway->http_listener, (struct sockaddr *)&address, sizeof address) == 0, "errno %d", errno);
    CHECK(listen(gateway->http_listener, 4) == 0, "errno %d", errno);
    CHECK(getsockname(gateway->http_listener, (struct sockaddr *)&address, &length) == 0, "errno %d", errno);
    snprintf(gateway->endpoint, sizeof gateway->endpoint, "http://127.0.0.1:%d", ntohs(address.sin_port));
    CHECK(pthread_create(&gateway->http_thread, NULL, run_http, gateway) == 0, "no thread");
}

void fake_gateway_stop(struct fake_gateway *gateway) {
    if (*gateway->endpoint) {
        shutdown(gateway->http_listener, SHUT_RDWR);
        pthread_join(gateway->http_thread, NULL);
        close(gateway->http_listener);
    }
    shutdown(gateway->listener, SHUT_RDWR);
    pthread_join(gateway->thread, NULL);
    close(gateway->listener);
    unlink(gateway->grant.socket);
}
