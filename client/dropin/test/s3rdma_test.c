#include <s3rdma.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "one_gateway.h"

enum { BYTES = 4096 };

static void tokens_move_bytes(void) {
    char why[128] = "", *buffer = calloc(1, BYTES), *token = NULL;
    S3RdmaClientHandle rdma = s3rdma_client_init("mlx5_0", why, sizeof why);
    CHECK(rdma && s3rdma_client_ready(rdma), "%s", why);
    CHECK(s3rdma_client_nic_count(rdma) == 1 && s3rdma_client_healthy_nic_count(rdma) == 1, "one way");
    CHECK(s3rdma_client_get_token(rdma, buffer, 10, 0, &token) == -1 && !token, "memory that is not registered");
    CHECK(s3rdma_last_error(why, sizeof why) > 0 && strstr(why, "not registered"), "%s", why);
    CHECK(s3rdma_client_register(rdma, buffer, BYTES) == 0, "registered");
    CHECK(s3rdma_client_register(rdma, buffer, 100) == 0, "registered again, as a part");
    CHECK(s3rdma_client_get_token(rdma, buffer, 10, 20, &token) == 0 && strlen(token) == 81, "token");
    one_gateway_write(buffer + 20, 'r', 10);
    CHECK(s3rdma_client_report_token_failure(rdma, token) == 0, "its own token");
    CHECK(s3rdma_client_report_token_failure(rdma, "none") == -1, "no token");
    s3rdma_client_free_token(token);
    CHECK(buffer[19] == 0 && buffer[20] == 'r' && buffer[29] == 'r' && buffer[30] == 0, "%d", buffer[20]);
    CHECK(s3rdma_client_deregister(rdma, buffer) == 0, "once");
    CHECK(s3rdma_client_deregister(rdma, buffer) == 0 && one_gateway_registered() == 0, "twice");
    CHECK(s3rdma_client_deregister(rdma, buffer) == -1, "thrice");
    s3rdma_client_free(rdma);
    free(buffer);
}

static void unknown_handles_are_refused(void) {
    char byte, *token;
    S3RdmaClientHandle freed = s3rdma_client_init(NULL, NULL, 0), handles[] = {NULL, &byte, freed};
    s3rdma_client_free(freed);
    for (size_t i = 0; i < sizeof handles / sizeof handles[0]; i++) {
        CHECK(!s3rdma_client_ready(handles[i]) && !s3rdma_client_nic_count(handles[i]), "%zu", i);
        CHECK(s3rdma_client_register(handles[i], &byte, 1) == -1, "%zu", i);
        CHECK(s3rdma_client_deregister(handles[i], &byte) == -1, "%zu", i);
        CHECK(s3rdma_client_get_token(handles[i], &byte, 1, 0, &token) == -1, "%zu", i);
        s3rdma_client_free(handles[i]);
    }
    s3rdma_client_free_token(NULL);
}

static atomic_int enough;

static void *use_all_the_time(void *rdma) {
    while (!enough) {
        s3rdma_client_nic_count(rdma);
    }
    return NULL;
}

static void a_child_of_fork_finds_no_lock_held(void) {
    pthread_t other;
    S3RdmaClientHandle rdma = s3rdma_client_init(NULL, NULL, 0);
    CHECK(pthread_create(&other, NULL, use_all_the_time, rdma) == 0, "no thread");
    for (int i = 0; i < 100; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(30);
            _exit(s3rdma_client_nic_count(rdma) != 1);
        }
        int status = -1;
        waitpid(child, &status, 0);
        CHECK(status == 0, "%x of child %d", (unsigned)status, i);
    }
    enough = 1;
    pthread_join(other, NULL);
    s3rdma_client_free(rdma);
}

static void what_is_missing_is_said(void) {
    char why[128] = "";
    CHECK(s3rdma_check_rdma(why, sizeof why) == 1 && *why, "%s", why);
    setenv("RAILHEAD_ENDPOINT", "http://127.0.0.1:1", 1);
    CHECK(s3rdma_check_rdma(why, sizeof why) == 0 && strstr(why, "127.0.0.1:1"), "%s", why);
    CHECK(!s3rdma_client_init(NULL, why, 10) && strlen(why) == 9, "%s", why);
}

int main(void) {
    one_gateway_start("s3rdma_test.sock");
    tokens_move_bytes();
    unknown_handles_are_refused();
    a_child_of_fork_finds_no_lock_held();
    what_is_missing_is_said();
    one_gateway_stop();
    return 0;
}
