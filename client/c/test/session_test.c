#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "fake_gateway.h"
#include "session.h"

enum { TIMEOUT_MILLIS = 10000, PAGE = 4096 };
static struct rh_error error;

static int sealed_memory(size_t bytes) {
    int fd = memfd_create("session-test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    CHECK(fd >= 0 && ftruncate(fd, (off_t)bytes) == 0, "no memfd");
    CHECK(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0, "no seal");
    return fd;
}

static struct rh_session *connect_to(struct fake_gateway *gateway) {
    struct rh_session *session;
    CHECK(rh_session_connect(&gateway->grant, TIMEOUT_MILLIS, &session, &error) == 0, "%s", error.text);
    return session;
}

static void await(atomic_int *count, int wanted) {
    for (int i = 0; i < 10000 && *count < wanted; i++) {
        usleep(1000);
    }
    CHECK(*count >= wanted, "%d of %d", *count, wanted);
}

static void registered_memory_is_shared_until_it_is_deregistered(void) {
    struct fake_gateway gateway = {.keep_alive_millis = 60000};
    fake_gateway_start(&gateway, "session_test.sock");
    struct rh_session *session = connect_to(&gateway);
    CHECK(rh_session_number(session) == 0x0a0b0c, "%x", rh_session_number(session));
    int fd = sealed_memory(PAGE);
    uint8_t *mine = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    uint32_t key = 0;
    CHECK(rh_session_register(session, fd, 0x10000, 100, &key, &error) == 0, "%s", error.text);
    CHECK(key == 0x51525354 && gateway.mapped_base == 0x10000 && gateway.mapped_bytes == 100, "%x", key);
    gateway.mapped[99] = 7;
    CHECK(mine[99] == 7, "%d", mine[99]);
    CHECK(rh_session_is_open(session), "it has not ended");
    CHECK(rh_session_deregister(session, key, &error) == 0, "%s", error.text);
    CHECK(gateway.registered == 0, "%d", gateway.registered);
    rh_session_close(session);
    CHECK(gateway.byes == 1, "%d", gateway.byes);
    munmap(mine, PAGE);
    close(fd);
    fake_gateway_stop(&gateway);
}

static void a_session_that_says_nothing_is_kept_alive(void) {
    struct fake_gateway gateway = {.keep_alive_millis = 10};
    fake_gateway_start(&gateway, "session_test.sock");
    struct rh_session *session = connect_to(&gateway);
    await(&gateway.pings, 3);
    CHECK(rh_session_is_open(session), "it has not ended");
    rh_session_close(session);
    fake_gateway_stop(&gateway);
}

static void who_cannot_prove_to_be_the_gateway_gets_nothing(void) {
    struct fake_gateway gateway = {.fault = BAD_SERVER_PROOF, .keep_alive_millis = 60000};
    fake_gateway_start(&gateway, "session_test.sock");
    struct rh_session *session = NULL;
    CHECK(rh_session_connect(&gateway.grant, TIMEOUT_MILLIS, &session, &error) != 0 && !session, "connected");
    CHECK(strstr(error.text, "not the gateway"), "%s", error.text);
    fake_gateway_stop(&gateway);
}

static void a_session_that_could_carry_nothing_is_none(void) {
    static const struct {
        uint32_t at;
        uint32_t lie;
        bool taken;
    } cases[] = {{44, 4, false}, {44, 0, false}, {44, 79, false}, {44, 80, true}, {44, UINT32_MAX, true},
                 {40, 0, false}, {40, 1, true},  {40, UINT32_MAX, true},
                 {48, 0, false}, {48, 9, false}, {48, UINT32_MAX, true},
                 {52, 1, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fake_gateway gateway = {.lie_at = cases[i].at, .lie = cases[i].lie};
        struct rh_session *session = NULL;
        fake_gateway_start(&gateway, "session_test.sock");
        bool taken = rh_session_connect(&gateway.grant, TIMEOUT_MILLIS, &session, &error) == 0;
        CHECK(taken == cases[i].taken, "%u at %u", cases[i].lie, cases[i].at);
        if (taken) {
            rh_session_close(session);
        } else {
            CHECK(error.code == RAILHEAD_UNAVAILABLE && strstr(error.text, "limits"), "%s", error.text);
        }
        fake_gateway_stop(&gateway);
    }
}

static void a_fault_at_registration(enum fault fault, const char *message, bool open_afterwards) {
    struct fake_gateway gateway = {.fault = fault, .keep_alive_millis = 60000};
    fake_gateway_start(&gateway, "session_test.sock");
    struct rh_session *session;
    long patience = fault == SILENT_AT_REGISTRATION ? 50 : TIMEOUT_MILLIS;
    CHECK(rh_session_connect(&gateway.grant, patience, &session, &error) == 0, "%s", error.text);
    int fd = sealed_memory(PAGE);
    uint32_t key = 0;
    CHECK(rh_session_register(session, fd, 0, PAGE, &key, &error) != 0, "fault %d", fault);
    CHECK(strstr(error.text, message), "%s", error.text);
    CHECK(rh_session_is_open(session) == open_afterwards, "fault %d", fault);
    gateway.fault = NO_FAULT;
    CHECK((rh_session_register(session, fd, 0, PAGE, &key, &error) == 0) == open_afterwards, "fault %d", fault);
    rh_session_close(session);
    close(fd);
    fake_gateway_stop(&gateway);
}

static void a_gateway_that_went_away_is_noticed(void) {
    struct fake_gateway gateway = {.keep_alive_millis = 60000};
    fake_gateway_start(&gateway, "session_test.sock");
    struct rh_session *session = connect_to(&gateway);
    fake_gateway_hang_up(&gateway);
    for (int i = 0; i < 10000 && rh_session_is_open(session); i++) {
        usleep(1000);
    }
    CHECK(!rh_session_is_open(session), "it has ended");
    rh_session_close(session);
    fake_gateway_stop(&gateway);
}

static void a_forked_child_leaves_the_session_to_its_parent(void) {
    struct fake_gateway gateway = {.keep_alive_millis = 20};
    fake_gateway_start(&gateway, "session_test.sock");
    struct rh_session *session = connect_to(&gateway);
    pid_t child = fork();
    if (child == 0) {
        uint32_t key;
        struct rh_error why;
        bool wrong = rh_session_is_open(session) || rh_session_register(session, 0, 0, 1, &key, &why) == 0;
        rh_session_close(session);
        _exit(wrong);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0, "%x", (unsigned)status);
    await(&gateway.pings, gateway.pings + 2);
    CHECK(rh_session_is_open(session), "it is the parent's");
    rh_session_close(session);
    CHECK(gateway.byes == 1, "%d", gateway.byes);
    fake_gateway_stop(&gateway);
}

static void a_socket_that_is_not_there_is_named(void) {
    struct rh_grant grant = {.socket = "no-such.sock"};
    struct rh_session *session;
    CHECK(rh_session_connect(&grant, TIMEOUT_MILLIS, &session, &error) != 0, "connected");
    CHECK(strstr(error.text, "no-such.sock"), "%s", error.text);
}

static int always_ready(struct rh_transport *transport, struct rh_error *why) {
    (void)transport, (void)why;
    return 1;
}

static int end_again(struct rh_transport *transport, struct rh_message *message, struct rh_error *why) {
    static const uint8_t shutting_down[8] = {3};
    (void)transport, (void)why;
    *message = (struct rh_message){.type = RH_ENDED, .bytes = sizeof shutting_down, .payload = shutting_down};
    return 1;
}

static void do_not_sleep(struct rh_transport *transport, bool blocked, int64_t millis) {
    (void)transport, (void)blocked, (void)millis;
}

static void do_not_wake(struct rh_transport *transport) {
    (void)transport;
}

static bool break_off(struct rh_transport *transport) {
    (void)transport;
    return true;
}

static void a_gateway_that_never_stops_talking_is_left(void) {
    static const struct rh_fabric flood = {.ready = always_ready, .receive = end_again, .sleep = do_not_sleep,
                                           .wake = do_not_wake, .break_off = break_off};
    struct rh_transport transport = {.fabric = &flood};
    struct rh_session session = {.transport = &transport, .timeout_millis = 20, .keep_alive_millis = 60000,
                                 .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    CHECK(rh_requests_init(&session.requests, 1, RH_MESSAGE_BYTES, &error) == 0, "%s", error.text);
    rh_session_run(&session);
    CHECK(session.state == RH_OVER && strstr(session.end, "shutting down"), "%s", session.end);
    rh_requests_destroy(&session.requests);
}

/* Its backlog is full, and it accepts nobody. */
static void a_gateway_that_does_not_accept_is_waited_for_no_longer_than_said(void) {
    enum { CONNECTIONS = 64 };
    struct rh_grant grant = {.socket = "full.sock"};
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "full.sock"};
    struct rh_session *session;
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), waiting[CONNECTIONS], count = 0;
    unlink(grant.socket);
    CHECK(bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 0) == 0, "errno %d", errno);
    do {
        CHECK(count < CONNECTIONS, "the backlog has no end");
        waiting[count] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    } while (connect(waiting[count++], (struct sockaddr *)&address, sizeof address) == 0);
    CHECK(rh_session_connect(&grant, 500, &session, &error) != 0 && error.code == RAILHEAD_TIMED_OUT, "%s", error.text);
    while (count > 0) {
        close(waiting[--count]);
    }
    close(listener);
    unlink(grant.socket);
}

int main(void) {
    registered_memory_is_shared_until_it_is_deregistered();
    a_session_that_says_nothing_is_kept_alive();
    who_cannot_prove_to_be_the_gateway_gets_nothing();
    a_session_that_could_carry_nothing_is_none();
    a_fault_at_registration(REFUSE_REGISTRATION, "too many bytes", true);
    a_fault_at_registration(END_AT_REGISTRATION, "shutting down", false);
    a_fault_at_registration(HANG_UP_AT_REGISTRATION, "went away", false);
    a_fault_at_registration(GARBAGE_AT_REGISTRATION, "no message", false);
    a_fault_at_registration(SILENT_AT_REGISTRATION, "in time", false);
    a_gateway_that_went_away_is_noticed();
    a_forked_child_leaves_the_session_to_its_parent();
    a_socket_that_is_not_there_is_named();
    a_gateway_that_never_stops_talking_is_left();
    a_gateway_that_does_not_accept_is_waited_for_no_longer_than_said();
    return 0;
}
