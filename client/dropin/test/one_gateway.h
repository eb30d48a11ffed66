/* The one fake gateway of a test, for C++ too. */
#ifndef RAILHEAD_ONE_GATEWAY_H
#define RAILHEAD_ONE_GATEWAY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Starts it and points the environment at it. */
void one_gateway_start(const char *socket_path);
/* As a gateway that writes such bytes at an address of what was registered last. */
void one_gateway_write(const void *address, uint8_t value, size_t bytes);
/* What it reads there, until the next call. */
const uint8_t *one_gateway_read(const void *address, size_t bytes);
int one_gateway_registered(void);
void one_gateway_stop(void);

#ifdef __cplusplus
}
#endif
#endif
