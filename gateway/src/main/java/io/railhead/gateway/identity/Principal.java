package io.railhead.gateway.identity;

import io.railhead.backend.Caller;
import java.net.InetAddress;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One entry of {@code credentials.yaml}: a principal and its permissions at this gateway.
 *
 * @param gids RDMA addresses that the principal may name besides its TCP address
 */
public record Principal(String name, String tenant, List<AccessKey> keys,
        @Nullable BackendCredential backend, Set<InetAddress> gids, boolean rdmaGet,
        boolean rdmaPut,
        boolean admin) {

    public Principal {
        keys = List.copyOf(keys);
        gids = Set.copyOf(gids);
        if (keys.isEmpty()) {
            throw new IllegalArgumentException("keys must not be empty");
        }
    }

    /** Returns whether the principals belong to more than one tenant. */
    public static boolean areOfSeveralTenants(List<Principal> principals) {
        return principals.stream().map(Principal::tenant).distinct().count() > 1;
    }

    /**
     * Returns the identity that signs requests to the store. With its own key pair a principal
     * keeps its identity there.
     */
    public Caller backendCredential(AccessKey used) {
        AccessKey key = backend == null ? used : backend.key();
        if (key == null) {
            return new Caller.DefaultChain();
        }
        Secret token = key.sessionToken();
        return new Caller.Credential(key.id(), key.secret().reveal(),
                token == null ? null : token.reveal());
    }

    /**
     * Returns the namespace of the principal's bucket names: equal names in two namespaces never
     * meet.
     */
    public String namespace(AccessKey used) {
        return backend == null ? used.id() : backend.namespace();
    }
}
