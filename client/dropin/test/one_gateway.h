/* The one fake gateway of a test, for C++ too. */
#ifndef RAILHEAD_ONE_GATEWAY_H
#define RAILHEAD_ONE_GATEWAY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Starts it and points the environment at it. */
void one_gateway_start(const char *socket_path);
/* What was registered last, by the addresses of whoever did: where the gateway would write `address`. */
uint8_t *one_gateway_memory(const void *address);
int one_gateway_registered(void);
void one_gateway_stop(void);

#ifdef __cplusplus
}
#endif
#endif
