package io.railhead.gateway.pairing;

import io.railhead.gateway.authorization.AccessControl;
import io.railhead.gateway.operation.ReadServices;
import io.railhead.gateway.request.Routes;

/**
 * The services that hipobj's transfers use.
 *
 * @param reads with the deadlines of clients that wait a minute
 */
public record HipobjSite(ReadServices reads, Routes routes, AccessControl access) {}
