/*
 * The client's functions of MinIO's libs3rdma, by their published names and signatures, with what they do over
 * Railhead's loopback fabric. Written anew; a program built against MinIO's own header finds the same symbols in
 * libs3rdma.so.0. The server's functions are not here.
 */
#ifndef RAILHEAD_S3RDMA_H
#define RAILHEAD_S3RDMA_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A number, never issued twice; each function refuses one that it does not know. */
typedef void *S3RdmaClientHandle;

#define S3RDMA_MEM_SYSTEM 0
#define S3RDMA_MEM_CUDA_MANAGED 1
#define S3RDMA_MEM_CUDA_DEVICE 2
#define S3RDMA_MEM_UNKNOWN 3

const char *s3rdma_version(void);

/* 1 where a gateway gives a session now, else 0 with the reason. */
int s3rdma_check_rdma(char *errbuf, size_t errbuf_len);

/* This thread's last error; bytes written without the NUL. */
size_t s3rdma_last_error(char *buf, size_t len);

/* Opens a session. `device` is not looked at. NULL with the reason, also in `err_buf` unless that is NULL. */
S3RdmaClientHandle s3rdma_client_init(const char *device, char *err_buf, size_t err_buf_len);
void s3rdma_client_free(S3RdmaClientHandle h);

int s3rdma_client_ready(S3RdmaClientHandle h);
int s3rdma_client_nic_count(S3RdmaClientHandle h);
int s3rdma_client_healthy_nic_count(S3RdmaClientHandle h);
int s3rdma_client_report_token_failure(S3RdmaClientHandle h, const char *token);

/* Counted by address. 0, or -1. */
int s3rdma_client_register(S3RdmaClientHandle h, void *ptr, size_t size);
int s3rdma_client_deregister(S3RdmaClientHandle h, void *ptr);

/* What was transferred is in the program's memory once the token is freed. */
int s3rdma_client_get_token(S3RdmaClientHandle h, void *ptr, size_t size, size_t offset, char **token_out);
void s3rdma_client_free_token(char *token);

int s3rdma_client_memory_type(const void *ptr);

#ifdef __cplusplus
}
#endif
#endif
