/* cuObjClient over a loopback session: see ../README.md. */
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <mutex>
#include <new>
#include <ostream>

#include <cuobjclient.h>
#include <pthread.h>

#include "memory.h"

namespace {

/* What one cuObjGet or cuObjPut hands to its callback as the handle. */
struct Call {
    void *context;
};

struct State {
    CUObjOps_t operations;
    std::atomic<rh_memory *> memory{nullptr}; /* once it is there it stays */

    explicit State(const CUObjOps_t &ops) : operations(ops) {}
    ~State() {
        if (memory) {
            rh_memory_close(memory);
        }
    }
};

/* Where errors are said, since the API has no text for them: to the program's stream, else to stderr. */
class Log {
  public:
    void redirect(std::ostream *to) {
        std::lock_guard<std::mutex> guard(lock_);
        stream_ = to;
    }

    void mute(bool muted) {
        std::lock_guard<std::mutex> guard(lock_);
        muted_ = muted;
    }

    void say(const rh_error &error) {
        std::lock_guard<std::mutex> guard(lock_);
        if (muted_) {
            return;
        }
        if (stream_) {
            *stream_ << "libcuobjclient (Railhead): " << error.text << std::endl;
        } else {
            fprintf(stderr, "libcuobjclient (Railhead): %s\n", error.text);
        }
    }

    /* In a child of fork, where whoever held it is not. */
    void renew_lock() { new (&lock_) std::mutex(); }

  private:
    std::mutex lock_;
    std::ostream *stream_ = nullptr;
    bool muted_ = false;
};

/* The API configures telemetry before the first object and for all of them. Never destroyed: clients may outlive it. */
Log &log_of_process() {
    static Log *log = new Log();
    return *log;
}

[[gnu::constructor]] void watch_forks() {
    log_of_process();
    pthread_atfork(nullptr, nullptr, [] { log_of_process().renew_lock(); });
}

int refuse(const rh_error &error) {
    log_of_process().say(error);
    return -1;
}

/* Opens it where the constructor could not: without a lock, which a child of fork would find held. The first is kept. */
rh_memory *memory_of(void *state) {
    auto *mine = static_cast<State *>(state);
    if (!mine) {
        return nullptr;
    }
    rh_memory *memory = mine->memory;
    if (memory) {
        return memory;
    }
    rh_error error;
    rh_memory *made = rh_memory_open(&error);
    if (!made) {
        refuse(error);
    } else if (!mine->memory.compare_exchange_strong(memory, made)) {
        rh_memory_close(made);
        return memory;
    }
    return made;
}

bool is_operation(cuObjOpType_t operation) { return operation == CUOBJ_GET || operation == CUOBJ_PUT; }

bool are_arguments(const void *context, const void *memory, size_t size, loff_t offset, loff_t buffer_offset) {
    return context && memory && size > 0 && offset >= 0 && buffer_offset >= 0;
}

/*
 * Runs `callback` with a token for the window. The token's text ends with this, and not what it names: a program may keep a copy,
 * return 0, and ask the gateway afterwards, as long as the memory is registered.
 */
template <typename Callback>
ssize_t transfer(void *state, void *memory, size_t size, loff_t buffer_offset, Callback callback) {
    rh_memory *mine = memory_of(state);
    if (!mine) {
        return -ENOTCONN;
    }
    rh_error error;
    char *token = rh_memory_mint(mine, memory, static_cast<uint64_t>(buffer_offset), size, &error);
    if (!token) {
        refuse(error);
        return -EIO;
    }
    const cufileRDMAInfo_t info = {1, RH_TOKEN_CHARACTERS + 1, token};
    ssize_t moved = callback(&info);
    rh_memory_release(token);
    return moved;
}

}  // namespace

cuObjClient::cuObjClient(CUObjOps_t &ops, cuObjProto_t) : state_(new (std::nothrow) State(ops)) { memory_of(state_); }

cuObjClient::~cuObjClient() { delete static_cast<State *>(state_); }

cuObjErr_t cuObjClient::cuMemObjGetDescriptor(void *ptr, size_t size) {
    rh_memory *memory = memory_of(state_);
    rh_error error;
    if (!memory) {
        return CU_OBJ_FAIL;
    }
    return rh_memory_register(memory, ptr, size, &error) == 0 ? CU_OBJ_SUCCESS
                                                              : (refuse(error), CU_OBJ_FAIL);
}

cuObjErr_t cuObjClient::cuMemObjPutDescriptor(void *ptr) {
    rh_memory *memory = ptr ? memory_of(state_) : nullptr;
    if (memory) {
        rh_memory_deregister(memory, ptr);
    }
    return CU_OBJ_SUCCESS;
}

ssize_t cuObjClient::cuMemObjGetMaxRequestCallbackSize(void *ptr) {
    rh_memory *memory = ptr ? memory_of(state_) : nullptr;
    uint64_t bytes = memory ? rh_memory_registered(memory, ptr) : 0;
    return bytes ? static_cast<ssize_t>(bytes) : -1;
}

cuObjErr_t cuObjClient::cuMemObjGetRDMAToken(void *ptr, size_t size, size_t buffer_offset, cuObjOpType_t operation,
                                             char **desc_str_out) {
    rh_memory *memory = ptr && desc_str_out && is_operation(operation) ? memory_of(state_) : nullptr;
    if (!memory) {
        return CU_OBJ_FAIL;
    }
    rh_error error;
    char *token = rh_memory_mint(memory, ptr, buffer_offset, size, &error);
    if (!token) {
        refuse(error);
        return CU_OBJ_FAIL;
    }
    *desc_str_out = token;
    return CU_OBJ_SUCCESS;
}

cuObjErr_t cuObjClient::cuMemObjPutRDMAToken(char *desc_str) {
    if (!desc_str) {
        return CU_OBJ_FAIL;
    }
    rh_memory_release(desc_str);
    return CU_OBJ_SUCCESS;
}

ssize_t cuObjClient::cuObjGet(void *ctx, void *ptr, size_t size, loff_t offset, loff_t buf_offset) {
    if (!are_arguments(ctx, ptr, size, offset, buf_offset)) {
        return CU_OBJ_FAIL;
    }
    auto *get = state_ ? static_cast<State *>(state_)->operations.get : nullptr;
    if (!get) {
        return -EINVAL;
    }
    const Call call = {ctx};
    return transfer(state_, ptr, size, buf_offset, [&](const cufileRDMAInfo_t *info) {
        return get(&call, static_cast<char *>(ptr) + buf_offset, size, offset, info);
    });
}

ssize_t cuObjClient::cuObjPut(void *ctx, void *ptr, size_t size, loff_t offset, loff_t buf_offset) {
    if (!are_arguments(ctx, ptr, size, offset, buf_offset)) {
        return CU_OBJ_FAIL;
    }
    auto *put = state_ ? static_cast<State *>(state_)->operations.put : nullptr;
    if (!put) {
        return -EINVAL;
    }
    const Call call = {ctx};
    return transfer(state_, ptr, size, buf_offset, [&](const cufileRDMAInfo_t *info) {
        return put(&call, static_cast<char *>(ptr) + buf_offset, size, offset, info);
    });
}

bool cuObjClient::isConnected(void) {
    rh_memory *memory = memory_of(state_);
    rh_error error;
    return memory && (rh_memory_ready(memory, &error) || refuse(error) == 0);
}

void *cuObjClient::getCtx(const void *handle) {
    return handle ? static_cast<const Call *>(handle)->context : nullptr;
}

cuObjMemoryType_t cuObjClient::getMemoryType(const void *ptr) {
    return ptr ? CUOBJ_MEMORY_SYSTEM : CUOBJ_MEMORY_INVALID;
}

void cuObjClient::setupTelemetry(bool, std::ostream *os) { log_of_process().redirect(os); }

void cuObjClient::shutdownTelemetry() { log_of_process().redirect(nullptr); }

void cuObjClient::setTelemFlags(unsigned flags) { log_of_process().mute(flags == 0); }
