package io.railhead.gateway.identity;

import io.railhead.backend.Caller;
import java.net.InetAddress;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A principal and its permissions at this gateway: an entry of {@code credentials.yaml}, or what a
 * role's session acts as.
 *
 * @param keys of an entry, never empty; a session has its own
 * @param backend never null for a session, whose key no store knows
 * @param gids RDMA addresses that the principal may name besides its TCP address
 */
public record Principal(String name, String tenant, List<AccessKey> keys,
        @Nullable BackendCredential backend, Set<InetAddress> gids, boolean rdmaGet,
        boolean rdmaPut,
        boolean admin) {

    public Principal {
        keys = List.copyOf(keys);
        gids = Set.copyOf(gids);
    }

    /**
     * Returns the identity that signs requests to the store. With its own key pair a principal
     * keeps its identity there.
     */
    public Caller backendCredential(AccessKey used) {
        return backend == null ? BackendCredential.caller(used) : backend.caller();
    }

    /**
     * Returns the namespace of the principal's bucket names: equal names in two namespaces never
     * meet.
     */
    public String namespace(AccessKey used) {
        return backend == null ? used.id() : backend.namespace();
    }
}
