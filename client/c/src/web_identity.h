/* Credentials for a web identity's token, as pods have one. Internal to the library. */
#ifndef RAILHEAD_WEB_IDENTITY_H
#define RAILHEAD_WEB_IDENTITY_H

#include "railhead/loopback.h"

/*
 * Exchanges the source's token for credentials of its role, which go into the settings with their end. Reads the token's file, and
 * waits for the service under the settings' CA and timeout. Never reads the environment. 0, or -1 with the reason: RAILHEAD_ARGUMENT
 * for the file's, RAILHEAD_REFUSED where the service said no, RAILHEAD_UNAVAILABLE or RAILHEAD_TIMED_OUT where it did not say.
 */
int rh_web_identity(struct rh_settings *settings, struct rh_error *error);

#endif
