/*
 * The cuObject client API as its public documentation has it (docs.nvidia.com, GPUDirect Storage, "cuObjClient API
 * Specification" 1.0 to 1.17), written anew for programs that are built without NVIDIA's SDK, the tests here among
 * them. A program built against NVIDIA's own header finds the same symbols in libcuobjclient.so.1.
 */
#ifndef RAILHEAD_CUOBJCLIENT_H
#define RAILHEAD_CUOBJCLIENT_H

#include <sys/types.h>

#include <cstddef>
#include <iosfwd>

#define OBJ_RDMA_V1 "CUOBJ"
#define CUOBJ_MAX_MEMORY_REG_SIZE (4ULL * 1024 * 1024 * 1024 - 64 * 1024)

typedef enum cuObjErr_enum { CU_OBJ_SUCCESS = 0, CU_OBJ_FAIL = 1 } cuObjErr_t;

typedef enum cuObjProto_enum { CUOBJ_PROTO_RDMA_DC_V1 = 1001, CUOBJ_PROTO_MAX } cuObjProto_t;

typedef enum cuObjOpType_enum { CUOBJ_GET = 0, CUOBJ_PUT = 1, CUOBJ_INVALID = 9999 } cuObjOpType_t;

typedef enum cuObjMemoryType_enum {
    CUOBJ_MEMORY_SYSTEM = 0,
    CUOBJ_MEMORY_CUDA_MANAGED = 1,
    CUOBJ_MEMORY_CUDA_DEVICE = 2,
    CUOBJ_MEMORY_UNKNOWN = 3,
    CUOBJ_MEMORY_INVALID = 4
} cuObjMemoryType_t;

/* desc_len counts the NUL at the end of desc_str. Both are valid during the callback only. */
typedef struct cufileRDMAInfo {
    int version;
    int desc_len;
    const char *desc_str;
} cufileRDMAInfo_t;

typedef struct CUObjIOOps {
    ssize_t (*get)(const void *handle, char *ptr, size_t size, loff_t offset, const cufileRDMAInfo_t *rdma_info);
    ssize_t (*put)(const void *handle, const char *ptr, size_t size, loff_t offset, const cufileRDMAInfo_t *rdma_info);
} CUObjOps_t;

class __attribute__((visibility("default"))) cuObjClient {
  public:
    cuObjClient(CUObjOps_t &ops, cuObjProto_t proto = CUOBJ_PROTO_RDMA_DC_V1);
    cuObjClient(const cuObjClient &) = delete;
    cuObjClient &operator=(const cuObjClient &) = delete;
    ~cuObjClient();

    cuObjErr_t cuMemObjGetDescriptor(void *ptr, size_t size);
    cuObjErr_t cuMemObjPutDescriptor(void *ptr);
    ssize_t cuMemObjGetMaxRequestCallbackSize(void *ptr);
    cuObjErr_t cuMemObjGetRDMAToken(void *ptr, size_t size, size_t buffer_offset, cuObjOpType_t operation,
                                    char **desc_str_out);
    cuObjErr_t cuMemObjPutRDMAToken(char *desc_str);

    ssize_t cuObjGet(void *ctx, void *ptr, size_t size, loff_t offset = 0, loff_t buf_offset = 0);
    ssize_t cuObjPut(void *ctx, void *ptr, size_t size, loff_t offset = 0, loff_t buf_offset = 0);

    bool isConnected(void);

    static void *getCtx(const void *handle);
    static cuObjMemoryType_t getMemoryType(const void *ptr);

    static void setupTelemetry(bool use_OTEL, std::ostream *os);
    static void shutdownTelemetry();
    static void setTelemFlags(unsigned flags);

  private:
    /* The library touches this pointer only, so that it fits into any layout of the class. */
    void *state_;
    void *reserved_[8];
};

#endif
