package io.railhead.gateway.frontdoor;

import io.vertx.core.net.ServerSSLOptions;

/** A port that can speak TLS, and take another certificate while it listens. */
@FunctionalInterface
public interface TlsPort {

    /**
     * Uses the certificate: before the port listens, for TLS in place of cleartext; afterwards for
     * new connections. Blocks while it listens.
     *
     * @throws IllegalArgumentException with one line if the port does not accept it
     */
    void use(ServerSSLOptions tls);
}
