package io.railhead.gateway.rdma.session;

import io.railhead.protocol.message.SessionLimits;
import io.railhead.rdma.Fabric;
import io.railhead.rdma.Health;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.List;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/** One fabric as its peers find it: where, what of it can be used, within what limits. */
public record FabricAddress(Fabric fabric, Reach reach, SessionLimits limits) {
    static final int VERSION = 1;
    /** A token's window has 32 bits. */
    private static final long MAX_WINDOW = 0xffff_ffffL;

    /** How a peer connects. */
    public sealed interface Reach {
        /** To a UNIX socket of the same host. */
        record Socket(Path path) implements Reach {}

        /**
         * With rdma_cm; addresses and port are asked each time, since they come and go.
         *
         * @param maxPathMtu payload bytes of a packet, at most: both ends must have the same
         */
        record Network(Supplier<List<String>> addresses, IntSupplier port,
                int maxPathMtu) implements Reach {}
    }

    /** Where it is reached, or why it is not, for an operator. */
    public String inWords() {
        Health health = fabric.health();
        if (!health.usable()) {
            return fabric.name() + " not available: " + health.reason();
        }
        return fabric.name() + " at " + switch (reach) {
            case Reach.Socket(Path path) -> path.toString();
            case Reach.Network(var addresses, var port, _) -> String
                    .join(", ", addresses.get()) + " port " + port.getAsInt();
        };
    }

    JsonObject toJson() {
        Health health = fabric.health();
        JsonObject json = new JsonObject().put("fabric", fabric.name())
                .put("usable", health.usable());
        if (!health.usable()) {
            json.put("reason", health.reason());
        }
        switch (reach) {
            case Reach.Socket(Path path) -> json.put("socket", path.toString());
            case Reach.Network(var addresses, var port, int maxPathMtu) -> json
                    .put("addresses", new JsonArray(addresses.get()))
                    .put("port", port.getAsInt())
                    .put("path_mtu", maxPathMtu);
        }
        return json.put("max_window", MAX_WINDOW)
                .put("max_requests", limits.maxRequests())
                .put("max_message_bytes", limits.maxMessageBytes())
                .put("max_buffers", limits.maxBuffers())
                .put("keep_alive_millis", limits.keepAliveMillis())
                .put("version", VERSION);
    }
}
