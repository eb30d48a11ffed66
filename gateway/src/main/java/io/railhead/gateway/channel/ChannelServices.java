package io.railhead.gateway.channel;

import io.railhead.gateway.admission.Admission;
import io.railhead.gateway.authorization.AccessControl;
import io.railhead.gateway.identity.CredentialStore;
import io.railhead.gateway.object.read.ReadServices;
import io.railhead.gateway.request.Routes;

/**
 * The services that native requests use.
 *
 * @param reads with the deadlines of native requests
 * @param windowBytes the most bytes that one request may hold leased
 */
public record ChannelServices(ReadServices reads, Routes routes, CredentialStore credentials,
        SessionCallers callers, AccessControl access, Admission admission, long windowBytes) {}
