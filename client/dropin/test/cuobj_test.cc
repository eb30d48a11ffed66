#include <arpa/inet.h>
#include <cuobjclient.h>
#include <dlfcn.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <sstream>
#include <string>
#include <thread>

#include "check.h"
#include "one_gateway.h"

namespace {

constexpr size_t kBytes = 4096;

/* What a program's callbacks do: ask the gateway, which moves the bytes, here at once. */
struct Program {
    char *buffer;
    ssize_t answer = 0;
    bool declined = false;
    int calls = 0;
};

void check_token(const cufileRDMAInfo_t *info, const void *from, size_t bytes) {
    char expected[32];
    snprintf(expected, sizeof expected, "%016lx:%08lx:", reinterpret_cast<unsigned long>(from), bytes);
    CHECK(info && info->desc_len == 82 && strlen(info->desc_str) == 81, "%p", static_cast<const void *>(info));
    CHECK(strncmp(info->desc_str, expected, 26) == 0, "%s", info->desc_str);
}

ssize_t get(const void *handle, char *ptr, size_t size, loff_t offset, const cufileRDMAInfo_t *info) {
    auto *program = static_cast<Program *>(cuObjClient::getCtx(handle));
    CHECK(offset == 0, "%ld", offset);
    check_token(info, ptr, size);
    program->calls++;
    if (program->declined) {
        memset(ptr, 'h', size); /* the body of the answer */
    } else {
        one_gateway_write(ptr, 'r', size);
    }
    return program->answer;
}

ssize_t put(const void *handle, const char *ptr, size_t size, loff_t, const cufileRDMAInfo_t *info) {
    auto *program = static_cast<Program *>(cuObjClient::getCtx(handle));
    check_token(info, ptr, size);
    program->calls++;
    CHECK(memcmp(one_gateway_read(ptr, size), ptr, size) == 0, "what the gateway reads");
    return program->answer;
}

void callbacks_move_bytes() {
    CUObjOps_t operations = {get, put};
    cuObjClient client(operations);
    CHECK(client.isConnected(), "connected");
    auto *buffer = new char[kBytes]();
    Program program{buffer};
    CHECK(client.cuObjGet(&program, buffer, 10) < 0, "memory that is not registered");
    CHECK(client.cuMemObjGetMaxRequestCallbackSize(buffer) == -1, "memory that is not registered");
    CHECK(client.cuMemObjGetDescriptor(buffer, kBytes) == CU_OBJ_SUCCESS, "registered");
    CHECK(client.cuMemObjGetMaxRequestCallbackSize(buffer) == static_cast<ssize_t>(kBytes), "its size");

    program.answer = 100;
    CHECK(client.cuObjGet(&program, buffer, 100) == 100, "GET");
    CHECK(buffer[0] == 'r' && buffer[99] == 'r' && buffer[100] == 0, "%d", buffer[0]);
    CHECK(client.cuObjGet(&program, buffer, 100, 0, 200) == 100 && buffer[200] == 'r' && buffer[199] == 0, "offset");
    CHECK(client.cuObjGet(&program, buffer + 1000, 100) == 100 && buffer[1000] == 'r', "inside");
    program.declined = true;
    CHECK(client.cuObjGet(&program, buffer, 50) == 100 && buffer[0] == 'h' && buffer[50] == 'r', "a declined GET");
    CHECK(client.cuObjPut(&program, buffer, kBytes) == 100, "PUT");
    program.answer = -5;
    CHECK(client.cuObjPut(&program, buffer, kBytes) == -5, "a callback's failure");
    CHECK(program.calls == 6, "%d", program.calls);

    CHECK(client.cuObjGet(nullptr, buffer, 1) == CU_OBJ_FAIL, "no context");
    CHECK(client.cuObjGet(&program, nullptr, 1) == CU_OBJ_FAIL, "no memory");
    CHECK(client.cuObjGet(&program, buffer, 0) == CU_OBJ_FAIL, "no bytes");
    CHECK(client.cuObjPut(&program, buffer, 1, -1) == CU_OBJ_FAIL, "negative offset");
    CHECK(client.cuObjPut(&program, buffer, kBytes + 1) < 0, "beyond the end");
    CHECK(client.cuMemObjPutDescriptor(buffer) == CU_OBJ_SUCCESS && one_gateway_registered() == 0, "deregistered");
    CHECK(client.cuMemObjPutDescriptor(nullptr) == CU_OBJ_SUCCESS, "nothing");
    delete[] buffer;
}

/* As NIXL's engine for ObjectScale: it takes the token along, returns 0, and asks the gateway afterwards. */
ssize_t take_token(const void *handle, char *, size_t, loff_t, const cufileRDMAInfo_t *info) {
    *static_cast<std::string *>(cuObjClient::getCtx(handle)) = info->desc_str;
    return 0;
}

ssize_t take_token_of_put(const void *handle, const char *, size_t, loff_t, const cufileRDMAInfo_t *info) {
    *static_cast<std::string *>(cuObjClient::getCtx(handle)) = info->desc_str;
    return 0;
}

void a_token_is_good_after_its_callback() {
    CUObjOps_t operations = {take_token, take_token_of_put};
    cuObjClient client(operations);
    auto *buffer = new char[kBytes]();
    std::string token;
    CHECK(client.cuMemObjGetDescriptor(buffer, kBytes) == CU_OBJ_SUCCESS, "registered");
    for (char value = 'a'; value < 'd'; value++) {
        CHECK(client.cuObjGet(&token, buffer, 100) == 0 && token.size() == 81, "%s", token.c_str());
        one_gateway_write(buffer, static_cast<uint8_t>(value), 100);
        CHECK(buffer[0] == value && buffer[99] == value && buffer[100] == 0, "%d", buffer[0]);
    }
    CHECK(client.cuObjPut(&token, buffer, 100) == 0, "PUT");
    memset(buffer, 's', 100);
    CHECK(memcmp(one_gateway_read(buffer, 100), buffer, 100) == 0, "what the gateway reads");
    CHECK(client.cuMemObjPutDescriptor(buffer) == CU_OBJ_SUCCESS && one_gateway_registered() == 0, "deregistered");
    delete[] buffer;
}

void tokens_move_bytes() {
    CUObjOps_t operations = {};
    cuObjClient client(operations);
    auto *buffer = new char[kBytes]();
    char *token = nullptr;
    CHECK(client.cuMemObjGetRDMAToken(buffer, 10, 0, CUOBJ_GET, &token) == CU_OBJ_FAIL, "not registered");
    CHECK(client.cuMemObjGetDescriptor(buffer, kBytes) == CU_OBJ_SUCCESS, "registered");
    CHECK(client.cuMemObjGetRDMAToken(buffer, 10, 0, CUOBJ_INVALID, &token) == CU_OBJ_FAIL, "operation");
    CHECK(client.cuMemObjGetRDMAToken(buffer, 10, 0, CUOBJ_GET, nullptr) == CU_OBJ_FAIL, "nowhere");
    CHECK(client.cuMemObjGetRDMAToken(buffer, 10, kBytes - 5, CUOBJ_GET, &token) == CU_OBJ_FAIL, "beyond the end");
    CHECK(client.cuMemObjGetRDMAToken(buffer, 10, 20, CUOBJ_GET, &token) == CU_OBJ_SUCCESS, "token");
    one_gateway_write(buffer + 20, 'r', 10);
    CHECK(client.cuMemObjPutRDMAToken(token) == CU_OBJ_SUCCESS, "released");
    CHECK(buffer[19] == 0 && buffer[20] == 'r' && buffer[29] == 'r' && buffer[30] == 0, "%d", buffer[20]);
    CHECK(client.cuMemObjPutRDMAToken(nullptr) == CU_OBJ_FAIL, "no token");
    Program program{buffer};
    CHECK(client.cuObjGet(&program, buffer, 10) < 0, "no callback");
    CHECK(client.cuMemObjPutDescriptor(buffer) == CU_OBJ_SUCCESS, "deregistered");
    delete[] buffer;
}

void errors_are_told_to_the_programs_stream() {
    std::ostringstream log;
    cuObjClient::setupTelemetry(false, &log);
    setenv("RAILHEAD_ENDPOINT", "http://127.0.0.1:1", 1);
    CUObjOps_t operations = {get, put};
    cuObjClient client(operations);
    CHECK(!client.isConnected(), "nobody listens there");
    CHECK(log.str().find("http://127.0.0.1:1") != std::string::npos, "%s", log.str().c_str());
    char byte = 0;
    Program program{&byte};
    CHECK(client.cuMemObjGetDescriptor(&byte, 1) == CU_OBJ_FAIL, "registered");
    CHECK(client.cuObjGet(&program, &byte, 1) < 0, "GET");
    CHECK(client.cuMemObjGetMaxRequestCallbackSize(&byte) == -1, "size");
    cuObjClient::shutdownTelemetry();
}

/* A gateway that takes connections and says nothing. */
int listen_in_silence() {
    sockaddr_in address = {};
    socklen_t length = sizeof address;
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(listener, reinterpret_cast<sockaddr *>(&address), length) == 0 && listen(listener, 4) == 0, "listening");
    CHECK(getsockname(listener, reinterpret_cast<sockaddr *>(&address), &length) == 0, "its port");
    setenv("RAILHEAD_ENDPOINT", ("http://127.0.0.1:" + std::to_string(ntohs(address.sin_port))).c_str(), 1);
    return listener;
}

/* A stream whose reader does not read. */
struct Stuck : std::stringbuf {
    std::atomic<bool> waits{false}, ends{false};

    int sync() override {
        waits = true;
        while (!ends) {
            std::this_thread::yield();
        }
        return 0;
    }
};

/* Runs while another thread waits, for a gateway or for the log. */
int status_of_a_child_that_asks(cuObjClient &client) {
    pid_t child = fork();
    if (child == 0) {
        alarm(30);
        cuObjClient::shutdownTelemetry();
        setenv("RAILHEAD_ENDPOINT", "http://127.0.0.1:1", 1);
        _exit(client.isConnected());
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

void a_child_of_fork_waits_for_no_thread_of_its_parents() {
    Stuck buffer;
    std::ostream log(&buffer);
    setenv("RAILHEAD_ENDPOINT", "http://127.0.0.1:1", 1);
    CUObjOps_t operations = {get, put};
    cuObjClient client(operations);
    cuObjClient::setupTelemetry(false, &log);
    int listener = listen_in_silence();
    std::thread other([&] { CHECK(!client.isConnected(), "silence"); });
    pollfd connection = {listener, POLLIN, 0};
    CHECK(poll(&connection, 1, -1) == 1, "the other thread's connection");
    int status = status_of_a_child_that_asks(client);
    CHECK(status == 0, "%x of a child, over the gateway", static_cast<unsigned>(status));
    close(listener);
    while (!buffer.waits) {
        std::this_thread::yield();
    }
    status = status_of_a_child_that_asks(client);
    CHECK(status == 0, "%x of a child, over the log", static_cast<unsigned>(status));
    buffer.ends = true;
    other.join();
    cuObjClient::shutdownTelemetry();
}

/* The names by which public programs find the API where they open the library at run time. */
void symbols_are_those_that_programs_look_for() {
    for (const char *name :
         {"_ZN11cuObjClientC1ER10CUObjIOOps15cuObjProto_enum", "_ZN11cuObjClientC2ER10CUObjIOOps15cuObjProto_enum",
          "_ZN11cuObjClientD1Ev", "_ZN11cuObjClientD2Ev", "_ZN11cuObjClient11isConnectedEv",
          "_ZN11cuObjClient21cuMemObjGetDescriptorEPvm", "_ZN11cuObjClient21cuMemObjPutDescriptorEPv",
          "_ZN11cuObjClient33cuMemObjGetMaxRequestCallbackSizeEPv",
          "_ZN11cuObjClient20cuMemObjGetRDMATokenEPvmm16cuObjOpType_enumPPc",
          "_ZN11cuObjClient20cuMemObjPutRDMATokenEPc", "_ZN11cuObjClient8cuObjGetEPvS0_mll",
          "_ZN11cuObjClient8cuObjPutEPvS0_mll", "_ZN11cuObjClient6getCtxEPKv", "_ZN11cuObjClient13getMemoryTypeEPKv",
          "_ZN11cuObjClient14setupTelemetryEbPSo", "_ZN11cuObjClient17shutdownTelemetryEv",
          "_ZN11cuObjClient13setTelemFlagsEj"}) {
        CHECK(dlsym(RTLD_DEFAULT, name), "%s", name);
    }
    CHECK(!dlsym(RTLD_DEFAULT, "rh_memory_open"), "an inner symbol is visible");
}

}  // namespace

int main() {
    one_gateway_start("cuobj_test.sock");
    symbols_are_those_that_programs_look_for();
    callbacks_move_bytes();
    a_token_is_good_after_its_callback();
    tokens_move_bytes();
    errors_are_told_to_the_programs_stream();
    a_child_of_fork_waits_for_no_thread_of_its_parents();
    CHECK(cuObjClient::getMemoryType(nullptr) == CUOBJ_MEMORY_INVALID, "no memory");
    one_gateway_stop();
    return 0;
}
