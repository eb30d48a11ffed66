#include "memory.h"

#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "fake_gateway.h"

enum { BYTES = 10000, FROM = 1000, WINDOW = 5000 };
static struct rh_error error;
static struct fake_gateway gateway;

static struct rh_memory *open_memory(void) {
    struct rh_memory *memory = rh_memory_open(&error);
    CHECK(memory, "%s", error.text);
    return memory;
}

static uint8_t *new_buffer(struct rh_memory *memory) {
    uint8_t *buffer = malloc(BYTES);
    for (int i = 0; i < BYTES; i++) {
        buffer[i] = (uint8_t)(i * 7);
    }
    CHECK(rh_memory_register(memory, buffer, BYTES, &error) == 0, "%s", error.text);
    CHECK(gateway.mapped_base == (uintptr_t)buffer && gateway.mapped_bytes == BYTES, "registered otherwise");
    return buffer;
}

static char *mint(struct rh_memory *memory, uint8_t *buffer) {
    char *token = rh_memory_mint(memory, buffer, FROM, WINDOW, &error);
    CHECK(token, "%s", error.text);
    return token;
}

/* As a gateway that writes, and reads, at the token's address. */
static void write_bytes(uint64_t offset, uint8_t value, uint64_t bytes) {
    memset(gateway.mapped + offset, value, bytes);
    CHECK(fake_gateway_sync(&gateway, true, gateway.handle, offset, bytes), "not copied");
}

static uint8_t read_byte(uint64_t offset) {
    CHECK(fake_gateway_sync(&gateway, false, gateway.handle, offset, 1), "not copied");
    return gateway.mapped[offset];
}

static void a_token_names_the_programs_own_addresses(void) {
    struct rh_memory *memory = open_memory();
    uint8_t *buffer = new_buffer(memory);
    char *token = mint(memory, buffer), expected[RH_TOKEN_CHARACTERS + 1];
    CHECK(rh_token_format(expected, (uintptr_t)buffer + FROM, WINDOW, 0x51525354, 0x0a0b0c, &error) == 0, "%s",
          error.text);
    CHECK(strcmp(token, expected) == 0, "%s", token);
    rh_memory_release(token);
    CHECK(!rh_memory_mint(memory, buffer, FROM, BYTES - FROM + 1, &error), "beyond the end");
    CHECK(!rh_memory_mint(memory, buffer, BYTES, 1, &error), "at the end");
    CHECK(!rh_memory_mint(memory, buffer, UINT64_MAX, 2, &error), "an offset that wraps");
    CHECK(!rh_memory_mint(memory, buffer, 0, 0, &error), "nothing");
    CHECK(!rh_memory_mint(memory, &error, 0, 1, &error), "memory that is not registered");
    CHECK(rh_memory_registered(memory, buffer + 1) == BYTES - 1, "inside");
    CHECK(rh_memory_registered(memory, buffer + BYTES) == 0, "behind");
    rh_memory_close(memory);
    free(buffer);
}

static void what_is_written_is_in_the_programs_memory_at_once_and_nothing_else(void) {
    struct rh_memory *memory = open_memory();
    uint8_t *buffer = new_buffer(memory), before[BYTES];
    memcpy(before, buffer, BYTES);
    char *token = mint(memory, buffer);
    write_bytes(FROM, 0xee, 100); /* less than the window */
    memset(before + FROM, 0xee, 100);
    CHECK(memcmp(buffer, before, BYTES) == 0, "while the token lives");
    buffer[FROM] = 0x11; /* the program uses its memory meanwhile */
    rh_memory_release(token);
    CHECK(buffer[FROM] == 0x11, "the release wrote into the program's memory");
    write_bytes(FROM + 1, 0xdd, 1); /* a program that asked after its callback */
    CHECK(buffer[FROM + 1] == 0xdd, "after the release");
    rh_memory_close(memory);
    free(buffer);
}

static void what_is_read_is_what_stands_there_then(void) {
    struct rh_memory *memory = open_memory();
    uint8_t *buffer = new_buffer(memory);
    char *token = mint(memory, buffer);
    buffer[FROM] = 0xab;
    CHECK(read_byte(FROM) == 0xab, "%x", gateway.mapped[FROM]);
    buffer[FROM] = 0xcd;
    CHECK(read_byte(FROM) == 0xcd, "%x", gateway.mapped[FROM]);
    rh_memory_release(token);
    rh_memory_close(memory);
    free(buffer);
}

static void memory_that_cannot_be_written_can_be_sent(void) {
    struct rh_memory *memory = open_memory();
    void *constant = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(rh_memory_register(memory, constant, 4096, &error) == 0, "%s", error.text);
    char *token = rh_memory_mint(memory, constant, 0, 4096, &error);
    CHECK(token, "%s", error.text);
    CHECK(read_byte(4095) == 0, "%x", gateway.mapped[4095]);
    rh_memory_release(token);
    rh_memory_close(memory);
    munmap(constant, 4096);
}

static void nothing_is_copied_once_it_is_deregistered(void) {
    struct rh_memory *memory = open_memory();
    uint8_t *buffer = new_buffer(memory);
    char *token = mint(memory, buffer);
    uint64_t handle = gateway.handle;
    CHECK(rh_memory_deregister(memory, buffer) == 0, "deregistered");
    CHECK(rh_memory_deregister(memory, buffer) != 0, "twice");
    free(buffer);
    CHECK(!fake_gateway_sync(&gateway, true, handle, 0, BYTES), "memory that was freed");
    rh_memory_release(token);
    rh_memory_close(memory);
}

static void a_gateway_that_asks_beyond_the_buffer_is_left(void) {
    struct rh_memory *memory = open_memory();
    uint8_t *buffer = new_buffer(memory);
    struct rh_error why;
    CHECK(rh_memory_ready(memory, &why), "%s", why.text);
    int grants = gateway.grants, byes = gateway.byes;
    fake_gateway_ask(&gateway, true, gateway.handle, BYTES, 1);
    while (gateway.byes == byes) {
        sched_yield();
    }
    CHECK(rh_memory_ready(memory, &why) && gateway.grants == grants + 1, "a new session: %s", why.text);
    rh_memory_close(memory);
    free(buffer);
}

static void registrations_are_counted_and_grow(void) {
    struct rh_memory *memory = open_memory();
    uint8_t *buffer = calloc(1, BYTES);
    CHECK(rh_memory_register(memory, buffer, 100, &error) == 0, "%s", error.text);
    CHECK(rh_memory_register(memory, buffer, 50, &error) == 0, "%s", error.text);
    CHECK(gateway.registered == 1 && rh_memory_registered(memory, buffer) == 100, "the longer counts");
    CHECK(rh_memory_register(memory, buffer, BYTES, &error) == 0, "%s", error.text);
    CHECK(gateway.registered == 1 && rh_memory_registered(memory, buffer) == BYTES, "grown");
    for (int i = 0; i < 3; i++) {
        CHECK(rh_memory_registered(memory, buffer) == BYTES, "still %d", i);
        CHECK(rh_memory_deregister(memory, buffer) == 0, "%d", i);
    }
    CHECK(gateway.registered == 0 && rh_memory_registered(memory, buffer) == 0, "%d", gateway.registered);
    CHECK(rh_memory_register(memory, buffer, RH_MAX_REGISTRATION_BYTES + 1, &error) != 0, "too long");
    CHECK(rh_memory_register(memory, buffer, 0, &error) != 0, "empty");
    rh_memory_close(memory);
    free(buffer);
}

static void a_longer_registration_keeps_what_is_under_way(void) {
    struct rh_memory *memory = open_memory();
    uint8_t *buffer = calloc(1, BYTES);
    CHECK(rh_memory_register(memory, buffer, FROM + WINDOW, &error) == 0, "%s", error.text);
    uint64_t first = gateway.handle;
    char *one = mint(memory, buffer), *other = mint(memory, buffer);
    CHECK(rh_memory_register(memory, buffer, BYTES, &error) == 0, "%s", error.text);
    CHECK(gateway.registered == 2 && rh_memory_registered(memory, buffer) == BYTES, "%d", gateway.registered);
    rh_memory_release(one);
    CHECK(fake_gateway_sync(&gateway, true, first, FROM, 1), "the shorter one's token");
    rh_memory_release(other);
    rh_memory_release(mint(memory, buffer));
    CHECK(gateway.registered == 1, "the shorter one stays: %d", gateway.registered);
    CHECK(!fake_gateway_sync(&gateway, true, first, FROM, 1), "the shorter one is copied");
    CHECK(fake_gateway_sync(&gateway, true, gateway.handle, BYTES - 1, 1), "the longer one is not copied");
    rh_memory_close(memory);
    free(buffer);
}

static void the_last_deregistration_ends_a_shorter_one_too(void) {
    struct rh_memory *memory = open_memory();
    uint8_t *buffer = calloc(1, BYTES);
    CHECK(rh_memory_register(memory, buffer, FROM + WINDOW, &error) == 0, "%s", error.text);
    uint64_t first = gateway.handle;
    char *token = mint(memory, buffer);
    CHECK(rh_memory_register(memory, buffer, BYTES, &error) == 0, "%s", error.text);
    CHECK(rh_memory_deregister(memory, buffer) == 0 && gateway.registered == 2, "%d", gateway.registered);
    CHECK(rh_memory_deregister(memory, buffer) == 0 && gateway.registered == 0, "%d", gateway.registered);
    free(buffer);
    CHECK(!fake_gateway_sync(&gateway, true, first, FROM, 1), "memory that was freed");
    rh_memory_release(token);
    rh_memory_close(memory);
}

static void a_gateway_that_comes_back_is_found(void) {
    struct rh_memory *memory = open_memory();
    uint8_t *buffer = new_buffer(memory);
    char *old = mint(memory, buffer);
    int grants = gateway.grants;
    fake_gateway_hang_up(&gateway);
    char *token = NULL;
    for (int i = 0; i < 10000 && gateway.grants == grants; i++) {
        if (token) {
            rh_memory_release(token);
        }
        token = mint(memory, buffer);
        usleep(1000);
    }
    CHECK(gateway.grants > grants && gateway.registered == 1, "%d", gateway.grants);
    rh_memory_release(old);
    write_bytes(FROM, 0x55, WINDOW);
    CHECK(buffer[FROM] == 0x55, "%x", buffer[FROM]);
    rh_memory_release(token);
    rh_memory_close(memory);
    free(buffer);
}

static void a_child_of_fork_has_a_session_of_its_own(void) {
    struct rh_memory *memory = open_memory();
    uint8_t *buffer = new_buffer(memory);
    char *token = mint(memory, buffer);
    pid_t child = fork();
    if (child == 0) {
        rh_memory_release(token);
        setenv("RAILHEAD_ENDPOINT", "http://127.0.0.1:1", 1);
        struct rh_error why;
        _exit(rh_memory_ready(memory, &why));
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0, "%x", (unsigned)status);
    write_bytes(FROM, 0x33, WINDOW);
    CHECK(buffer[FROM] == 0x33, "%x", buffer[FROM]);
    rh_memory_release(token);
    rh_memory_close(memory);
    free(buffer);
}

/* In a child of fork, which first uses what its parent opened from many threads at once. */
static struct {
    atomic_int waiting;
    struct rh_memory *memory;
    uint8_t *buffer;
    atomic_bool runs;
    atomic_bool enough;
} crowd;

static void *use_all_the_time(void *unused) {
    crowd.runs = true;
    while (!crowd.enough) {
        rh_memory_registered(crowd.memory, crowd.buffer);
    }
    return unused;
}

static void *use_at_once(void *unused) {
    struct rh_error why;
    crowd.waiting--;
    while (crowd.waiting > 0) {
        sched_yield(); /* and not a barrier: all are to come within a microsecond or so */
    }
    CHECK(rh_memory_ready(crowd.memory, &why), "%s", why.text);
    char *token = rh_memory_mint(crowd.memory, crowd.buffer, FROM, WINDOW, &why);
    CHECK(token, "%s", why.text);
    rh_memory_release(token);
    return unused;
}

static void be_a_crowd(void) {
    static struct fake_gateway own = {.keep_alive_millis = 60000};
    pthread_t threads[8];
    alarm(30);
    fake_gateway_start(&own, "memory_test_child.sock");
    fake_gateway_start_http(&own);
    setenv("RAILHEAD_ENDPOINT", own.endpoint, 1);
    crowd.waiting = 8;
    for (int i = 0; i < 8; i++) {
        CHECK(pthread_create(&threads[i], NULL, use_at_once, NULL) == 0, "no thread");
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
    }
    CHECK(own.grants == 1, "%d sessions", own.grants);
    rh_memory_close(crowd.memory);
    fake_gateway_stop(&own);
}

static void threads_of_a_child_of_fork_share_its_session(void) {
    crowd.memory = open_memory();
    crowd.buffer = new_buffer(crowd.memory);
    pthread_t other;
    CHECK(pthread_create(&other, NULL, use_all_the_time, NULL) == 0, "no thread");
    while (!crowd.runs) {
        sched_yield(); /* the sanitizer's own locks, which it holds to start a thread, are no matter here */
    }
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (child == 0) {
            be_a_crowd();
            _exit(0);
        }
        int status = -1;
        waitpid(child, &status, 0);
        CHECK(status == 0, "%x of child %d", (unsigned)status, i);
    }
    crowd.enough = true;
    pthread_join(other, NULL);
    rh_memory_close(crowd.memory);
    free(crowd.buffer);
}

static void attached_memory_is_the_programs_own(void) {
    setenv("RAILHEAD_DROPIN_MEMORY", "attach", 1);
    struct rh_memory *memory = open_memory();
    uint8_t *buffer = calloc(1, BYTES + 1);
    CHECK(rh_memory_register(memory, buffer, BYTES, &error) == 0, "%s", error.text);
    CHECK(gateway.attached == buffer && gateway.registered == 1, "%p", (void *)gateway.attached);
    char *token = mint(memory, buffer), expected[RH_TOKEN_CHARACTERS + 1];
    CHECK(rh_token_format(expected, (uintptr_t)buffer + FROM, WINDOW, 0x51525354, 0x0a0b0c, &error) == 0
              && strcmp(token, expected) == 0, "%s", token);
    buffer[FROM] = 0x44; /* as the gateway does, through the kernel */
    CHECK(rh_memory_register(memory, buffer, BYTES + 1, &error) == 0 && gateway.registered == 2, "%s", error.text);
    rh_memory_release(token);
    CHECK(buffer[FROM] == 0x44, "%x", buffer[FROM]);
    CHECK(rh_memory_deregister(memory, buffer) == 0 && gateway.registered == 1, "%d", gateway.registered);
    CHECK(rh_memory_deregister(memory, buffer) == 0 && gateway.registered == 0, "%d", gateway.registered);
    gateway.fault = REFUSE_REGISTRATION;
    CHECK(rh_memory_register(memory, buffer, BYTES, &error) != 0 && strstr(error.text, "cross_memory"), "%s",
          error.text);
    gateway.fault = NO_FAULT;
    rh_memory_close(memory);
    free(buffer);
    setenv("RAILHEAD_DROPIN_MEMORY", "other", 1);
    CHECK(!rh_memory_open(&error) && strstr(error.text, "RAILHEAD_DROPIN_MEMORY"), "%s", error.text);
    unsetenv("RAILHEAD_DROPIN_MEMORY");
}

static void what_is_missing_is_said(void) {
    setenv("RAILHEAD_ENDPOINT", "http://127.0.0.1:1", 1);
    CHECK(!rh_memory_open(&error) && strstr(error.text, "http://127.0.0.1:1"), "%s", error.text);
    setenv("RAILHEAD_ENDPOINT", gateway.endpoint, 1);
    gateway.fault = REFUSE_REGISTRATION;
    struct rh_memory *memory = open_memory();
    CHECK(rh_memory_register(memory, &error, sizeof error, &error) != 0 && strstr(error.text, "too many bytes"), "%s",
          error.text);
    gateway.fault = NO_FAULT;
    rh_memory_close(memory);
}

int main(void) {
    gateway.keep_alive_millis = 60000;
    fake_gateway_start(&gateway, "memory_test.sock");
    fake_gateway_start_http(&gateway);
    setenv("AWS_ACCESS_KEY_ID", FAKE_ACCESS, 1);
    setenv("AWS_SECRET_ACCESS_KEY", FAKE_SECRET, 1);
    unsetenv("AWS_SESSION_TOKEN");
    setenv("AWS_REGION", FAKE_REGION, 1);
    setenv("RAILHEAD_ENDPOINT", gateway.endpoint, 1);
    setenv("NO_PROXY", "*", 1);
    a_token_names_the_programs_own_addresses();
    what_is_written_is_in_the_programs_memory_at_once_and_nothing_else();
    what_is_read_is_what_stands_there_then();
    memory_that_cannot_be_written_can_be_sent();
    nothing_is_copied_once_it_is_deregistered();
    a_gateway_that_asks_beyond_the_buffer_is_left();
    registrations_are_counted_and_grow();
    a_longer_registration_keeps_what_is_under_way();
    the_last_deregistration_ends_a_shorter_one_too();
    a_gateway_that_comes_back_is_found();
    a_child_of_fork_has_a_session_of_its_own();
    threads_of_a_child_of_fork_share_its_session();
    attached_memory_is_the_programs_own();
    what_is_missing_is_said();
    fake_gateway_stop(&gateway);
    return 0;
}
