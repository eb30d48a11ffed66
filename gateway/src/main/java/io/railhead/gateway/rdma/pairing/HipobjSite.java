package io.railhead.gateway.rdma.pairing;

import io.railhead.gateway.authorization.AccessControl;
import io.railhead.gateway.object.read.ReadServices;
import io.railhead.gateway.request.Routes;

/**
 * The services that hipobj transfers use.
 *
 * @param reads with the deadlines of clients that wait a minute
 */
public record HipobjSite(ReadServices reads, Routes routes, AccessControl access) {}
