package io.railhead.gateway.frontdoor;

import io.railhead.gateway.config.GatewayConfig;
import org.jspecify.annotations.Nullable;

/** Decides whether RDMA sessions may be opened, and tokens sent, over HTTP without TLS. */
public final class CleartextPolicy {

    private CleartextPolicy() {}

    /**
     * Returns why RDMA is not allowed without TLS, or null if RDMA is allowed. A listener in the
     * network could otherwise take over a tenant's session or token, and name the tenant's memory.
     *
     * @param severalTenants whether the credentials in force now are of several tenants
     */
    public static @Nullable String reasonAgainst(GatewayConfig config, boolean severalTenants) {
        GatewayConfig.Gateway gateway = config.gateway();
        boolean hasSessions = config.rdma().loopback().enabled()
                || config.rdma().usesAdapters();
        boolean isHeard = gateway.tls() == null && !gateway.listen().isOfThisHost();
        return hasSessions && isHeard && severalTenants
                && !gateway.allowCleartext()
                        ? "gateway.tls: is missing, so that several tenants' RDMA tokens would pass in cleartext;"
                                + " set gateway.tls.certificate and .key, or gateway.allow_cleartext: true"
                        : null;
    }

    /** Throws the reason of {@link #reasonAgainst} where there is one. */
    public static void require(GatewayConfig config, boolean severalTenants) {
        String reason = reasonAgainst(config, severalTenants);
        if (reason != null) {
            throw new IllegalArgumentException(reason);
        }
    }
}
