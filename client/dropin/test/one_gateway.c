#include "one_gateway.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fake_gateway.h"

static struct fake_gateway gateway = {.keep_alive_millis = 60000};

void one_gateway_start(const char *socket_path) {
    fake_gateway_start(&gateway, socket_path);
    fake_gateway_start_http(&gateway);
    setenv("AWS_ACCESS_KEY_ID", FAKE_ACCESS, 1);
    setenv("AWS_SECRET_ACCESS_KEY", FAKE_SECRET, 1);
    unsetenv("AWS_SESSION_TOKEN");
    setenv("AWS_REGION", FAKE_REGION, 1);
    setenv("RAILHEAD_ENDPOINT", gateway.endpoint, 1);
    setenv("NO_PROXY", "*", 1);
}

static uint64_t offset_of(const void *address) {
    return (uintptr_t)address - gateway.mapped_base;
}

void one_gateway_write(const void *address, uint8_t value, size_t bytes) {
    memset(gateway.mapped + offset_of(address), value, bytes);
    CHECK(fake_gateway_sync(&gateway, true, gateway.handle, offset_of(address), bytes), "not copied");
}

const uint8_t *one_gateway_read(const void *address, size_t bytes) {
    CHECK(fake_gateway_sync(&gateway, false, gateway.handle, offset_of(address), bytes), "not copied");
    return gateway.mapped + offset_of(address);
}

int one_gateway_registered(void) {
    return gateway.registered;
}

void one_gateway_stop(void) {
    fake_gateway_stop(&gateway);
}
