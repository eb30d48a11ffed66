/* libs3rdma's client functions over a loopback session: see ../README.md. */
#include "s3rdma.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

#define PUBLIC __attribute__((visibility("default")))

/* The client of one handle; freed by the last who uses it. */
struct client {
    struct client *next;
    uintptr_t id;
    int users; /* the handle itself is one */
    struct rh_memory *memory;
};

/* `lock` guards the list and the counts; it is never held while the gateway is asked. */
static struct {
    pthread_mutex_t lock;
    struct client *clients;
    uintptr_t last_id;
} handles = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void hold_handles(void) {
    pthread_mutex_lock(&handles.lock);
}

static void let_handles_go(void) {
    pthread_mutex_unlock(&handles.lock);
}

/* So that in a child of fork no thread that it lacks holds the lock. */
__attribute__((constructor)) static void watch_forks(void) {
    pthread_atfork(hold_handles, let_handles_go, let_handles_go);
}

static _Thread_local struct rh_error last_error;

static size_t copy_text(char *out, size_t room, const char *text) {
    if (!out || room == 0) {
        return 0;
    }
    snprintf(out, room, "%s", text);
    return strlen(out);
}

static struct client *find(S3RdmaClientHandle h) {
    struct client *client = handles.clients;
    while (client && client->id != (uintptr_t)h) {
        client = client->next;
    }
    return client;
}

/* The client of the handle, the caller's until `let_go`; NULL for a handle that names none. */
static struct client *use(S3RdmaClientHandle h) {
    pthread_mutex_lock(&handles.lock);
    struct client *client = find(h);
    if (client) {
        client->users++;
    }
    pthread_mutex_unlock(&handles.lock);
    if (!client) {
        snprintf(last_error.text, sizeof last_error.text, "no such client");
    }
    return client;
}

static void let_go(struct client *client) {
    pthread_mutex_lock(&handles.lock);
    int left = --client->users;
    pthread_mutex_unlock(&handles.lock);
    if (left == 0) {
        rh_memory_close(client->memory);
        free(client);
    }
}

PUBLIC const char *s3rdma_version(void) {
    return "0.1.0-railhead-loopback";
}

PUBLIC size_t s3rdma_last_error(char *buf, size_t len) {
    return copy_text(buf, len, last_error.text);
}

PUBLIC int s3rdma_check_rdma(char *errbuf, size_t errbuf_len) {
    struct rh_memory *memory = rh_memory_open(&last_error);
    if (memory) {
        rh_memory_close(memory);
    }
    copy_text(errbuf, errbuf_len, memory ? "Railhead, over shared memory of this host" : last_error.text);
    return memory != NULL;
}

PUBLIC S3RdmaClientHandle s3rdma_client_init(const char *device, char *err_buf, size_t err_buf_len) {
    (void)device;
    struct client *client = calloc(1, sizeof *client);
    if (!client) {
        snprintf(last_error.text, sizeof last_error.text, "no memory");
    } else if ((client->memory = rh_memory_open(&last_error)) != NULL) {
        pthread_mutex_lock(&handles.lock);
        client->users = 1;
        client->id = ++handles.last_id;
        client->next = handles.clients;
        handles.clients = client;
        pthread_mutex_unlock(&handles.lock);
        return (S3RdmaClientHandle)client->id;
    }
    free(client);
    copy_text(err_buf, err_buf_len, last_error.text);
    return NULL;
}

PUBLIC void s3rdma_client_free(S3RdmaClientHandle h) {
    pthread_mutex_lock(&handles.lock);
    struct client *client = find(h);
    if (client) {
        struct client **at = &handles.clients;
        while (*at != client) {
            at = &(*at)->next;
        }
        *at = client->next;
    }
    pthread_mutex_unlock(&handles.lock);
    if (client) {
        let_go(client);
    }
}

PUBLIC int s3rdma_client_ready(S3RdmaClientHandle h) {
    struct client *client = use(h);
    if (!client) {
        return 0;
    }
    int ready = rh_memory_ready(client->memory, &last_error);
    let_go(client);
    return ready;
}

PUBLIC int s3rdma_client_nic_count(S3RdmaClientHandle h) {
    struct client *client = use(h);
    if (client) {
        let_go(client);
    }
    return client != NULL;
}

PUBLIC int s3rdma_client_healthy_nic_count(S3RdmaClientHandle h) {
    return s3rdma_client_ready(h);
}

/* There is one way to the gateway; the next token finds out whether it must be opened anew. */
PUBLIC int s3rdma_client_report_token_failure(S3RdmaClientHandle h, const char *token) {
    return token && strlen(token) == RH_TOKEN_CHARACTERS && s3rdma_client_nic_count(h) ? 0 : -1;
}

PUBLIC int s3rdma_client_register(S3RdmaClientHandle h, void *ptr, size_t size) {
    struct client *client = use(h);
    if (!client) {
        return -1;
    }
    int result = rh_memory_register(client->memory, ptr, size, &last_error);
    let_go(client);
    return result;
}

PUBLIC int s3rdma_client_deregister(S3RdmaClientHandle h, void *ptr) {
    struct client *client = use(h);
    if (!client) {
        return -1;
    }
    int result = rh_memory_deregister(client->memory, ptr);
    if (result != 0) {
        snprintf(last_error.text, sizeof last_error.text, "nothing is registered at %p", ptr);
    }
    let_go(client);
    return result;
}

PUBLIC int s3rdma_client_get_token(S3RdmaClientHandle h, void *ptr, size_t size, size_t offset, char **token_out) {
    struct client *client = token_out ? use(h) : NULL;
    if (!client) {
        return -1;
    }
    *token_out = rh_memory_mint(client->memory, ptr, offset, size, &last_error);
    let_go(client);
    return *token_out ? 0 : -1;
}

PUBLIC void s3rdma_client_free_token(char *token) {
    if (token) {
        rh_memory_release(token);
    }
}

PUBLIC int s3rdma_client_memory_type(const void *ptr) {
    (void)ptr;
    return S3RDMA_MEM_SYSTEM;
}
