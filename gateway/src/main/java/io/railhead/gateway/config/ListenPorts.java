package io.railhead.gateway.config;

import io.railhead.gateway.config.GatewayConfig.Admin;
import io.railhead.gateway.config.GatewayConfig.Cluster;
import io.railhead.gateway.config.GatewayConfig.Gateway;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Requires that each listener has a port of its own. Vert.x lets two listeners of one process share
 * a port and hands each connection to either, so S3 clients would reach the admin port.
 */
final class ListenPorts {

    private ListenPorts() {}

    static void requireOwn(Section root, Gateway gateway, Admin admin, @Nullable Cluster cluster)
            throws ConfigException {
        Map<String, ListenAddress> earlier = new LinkedHashMap<>();
        require(root, earlier, "gateway.listen", gateway.listen());
        require(root, earlier, "gateway.health", gateway.health());
        if (admin.enabled()) {
            require(root, earlier, "admin.listen", admin.listen());
        }
        if (cluster != null) {
            require(root, earlier, "cluster.listen", cluster.listen());
            require(root, earlier, "cluster.fills", cluster.fills());
        }
    }

    private static void require(Section root, Map<String, ListenAddress> earlier, String key,
            @Nullable ListenAddress address) throws ConfigException {
        if (address == null) {
            return;
        }
        for (Map.Entry<String, ListenAddress> other : earlier.entrySet()) {
            if (address.overlaps(other.getValue())) {
                throw root.problem(key, "is the port of " + other.getKey() + ", too, "
                        + address.port() + "; it needs its own");
            }
        }
        earlier.put(key, address);
    }
}
