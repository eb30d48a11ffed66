package io.railhead.gateway.rdma.session;

import io.railhead.protocol.channel.RequestOperation;
import io.railhead.protocol.channel.RequestWindow;
import io.railhead.protocol.message.SessionLimits;
import io.railhead.rdma.Fabric;
import io.railhead.rdma.Health;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.List;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/** One fabric as its peers see it: its address, its state and its limits. */
public record FabricAddress(Fabric fabric, Reach reach, SessionLimits limits) {
    static final int VERSION = 1;
    /** A token's window length has 32 bits. */
    private static final long MAX_WINDOW = 0xffff_ffffL;

    /** The way that a peer connects. */
    public sealed interface Reach {
        /** A UNIX socket on the same host. */
        record Socket(Path path) implements Reach {}

        /**
         * Addresses for rdma_cm. Addresses and port are read at each request, since adapters come
         * and go.
         *
         * @param maxPathMtu the largest payload of a packet, which both ends must agree on
         */
        record Network(Supplier<List<String>> addresses, IntSupplier port,
                int maxPathMtu) implements Reach {}
    }

    /** Describes for an operator where the fabric is reached, or why it is not. */
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
                .put("version", VERSION)
                .put("max_operation", RequestOperation.HIGHEST_CODE)
                .put("max_windows", RequestWindow.MAX_WINDOWS);
    }
}
