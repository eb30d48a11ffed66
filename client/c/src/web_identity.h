/* Credentials for a web identity's token, as pods have one. Internal to the library. */
#ifndef RAILHEAD_WEB_IDENTITY_H
#define RAILHEAD_WEB_IDENTITY_H

#include "railhead/loopback.h"

/*
 * Exchanges the token of AWS_WEB_IDENTITY_TOKEN_FILE for credentials of the role AWS_ROLE_ARN, which go into the settings with
 * their end; the endpoint and the CA are settled before. Waits for the service, AWS_ENDPOINT_URL_STS or the endpoint. 1 where
 * there are credentials, 0 where the environment names no web identity, -1 with the reason.
 */
int rh_web_identity(struct rh_settings *settings, struct rh_error *error);

#endif
