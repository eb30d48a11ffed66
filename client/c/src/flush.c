#include "flush.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "error.h"

/* CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX, and ..._TO_ALL_DEVICES: whoever reads next, wherever. */
enum { CURRENT_CONTEXT = 0, TO_ALL_DEVICES = 200 };

static int (*flush_writes)(int target, int scope);

static void load(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void *found = library ? dlsym(library, "cuFlushGPUDirectRDMAWrites") : NULL;
    memcpy(&flush_writes, &found, sizeof found);
}

static int flush_by_cuda(void *context) {
    (void)context;
    return flush_writes(CURRENT_CONTEXT, TO_ALL_DEVICES);
}

int rh_flush_choose(const railhead_memory *memory, railhead_flush_function *flush, void **context, struct rh_error *error) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    *flush = memory->flush;
    *context = memory->flush_context;
    if (memory->flush) {
        return 0;
    }
    pthread_once(&once, load);
    if (!flush_writes) {
        return rh_fail(error, "no flush for GPU memory: libcuda.so.1 has no cuFlushGPUDirectRDMAWrites, and none is given");
    }
    *flush = flush_by_cuda;
    return 0;
}
