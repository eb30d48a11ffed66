#include "rdma.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "error.h"

static struct rh_rdma rdma;
static char missing[160]; /* empty where all is there */

static void *open_library(const char *name) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(missing, sizeof missing, "%s", dlerror());
    }
    return library;
}

static void find(void *library, const char *name, void *to) {
    void *found = dlsym(library, name);
    if (!found) {
        snprintf(missing, sizeof missing, "rdma-core has no %s", name);
    }
    memcpy(to, &found, sizeof found);
}

static void load(void) {
    void *cm = open_library("librdmacm.so.1"), *verbs = cm ? open_library("libibverbs.so.1") : NULL;
    if (!verbs) {
        return;
    }
    const struct {
        void *library;
        const char *name;
        void *to;
    } symbols[] = {
        {cm, "rdma_create_event_channel", &rdma.create_event_channel},
        {cm, "rdma_destroy_event_channel", &rdma.destroy_event_channel},
        {cm, "rdma_create_id", &rdma.create_id}, {cm, "rdma_destroy_id", &rdma.destroy_id},
        {cm, "rdma_resolve_addr", &rdma.resolve_addr}, {cm, "rdma_resolve_route", &rdma.resolve_route},
        {cm, "rdma_connect", &rdma.connect}, {cm, "rdma_establish", &rdma.establish},
        {cm, "rdma_disconnect", &rdma.disconnect}, {cm, "rdma_get_cm_event", &rdma.get_event},
        {cm, "rdma_ack_cm_event", &rdma.ack_event}, {cm, "rdma_init_qp_attr", &rdma.init_qp_attr},
        {verbs, "ibv_query_device", &rdma.query_device}, {verbs, "ibv_alloc_pd", &rdma.alloc_pd},
        {verbs, "ibv_dealloc_pd", &rdma.dealloc_pd}, {verbs, "ibv_create_comp_channel", &rdma.create_comp_channel},
        {verbs, "ibv_destroy_comp_channel", &rdma.destroy_comp_channel}, {verbs, "ibv_create_cq", &rdma.create_cq},
        {verbs, "ibv_destroy_cq", &rdma.destroy_cq}, {verbs, "ibv_get_cq_event", &rdma.get_cq_event},
        {verbs, "ibv_ack_cq_events", &rdma.ack_cq_events}, {verbs, "ibv_create_qp", &rdma.create_qp},
        {verbs, "ibv_modify_qp", &rdma.modify_qp}, {verbs, "ibv_destroy_qp", &rdma.destroy_qp},
        {verbs, "ibv_reg_mr", &rdma.reg}, {verbs, "ibv_dereg_mr", &rdma.dereg}};
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        find(symbols[i].library, symbols[i].name, symbols[i].to);
    }
    void *dmabuf = dlsym(verbs, "ibv_reg_dmabuf_mr");
    memcpy(&rdma.reg_dmabuf, &dmabuf, sizeof dmabuf);
}

const struct rh_rdma *rh_rdma_load(struct rh_error *error) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    if (*missing) {
        rh_fail(error, "no RDMA here: %s", missing);
        return NULL;
    }
    return &rdma;
}
