package io.railhead.gateway.status;

import io.railhead.backend.Backend;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.disk.DiskTier;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cluster.ClusterState;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.frontdoor.Readiness;
import io.railhead.gateway.metrics.Metrics;
import io.railhead.rdma.Fabric;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The sources of the status page, which are only read.
 *
 * @param disks null without a disk tier
 * @param cluster null for a gateway whose cache is its own
 */
public record StatusSources(Supplier<GatewayConfig> configured, Readiness readiness,
        Metrics metrics, PageMemory memory, ObjectCache cache, Supplier<List<Backend>> stores,
        Collection<Fabric> fabrics, @Nullable DiskTier disks,
        @Nullable Supplier<ClusterState> cluster, OwnFacts own) {

    /**
     * Facts that only the gateway's own parts know.
     *
     * @param certificateUntil null without TLS
     * @param refusals by setting, why its files' current content is not in force
     */
    public record OwnFacts(IntSupplier connections, IntSupplier connectionLimit,
            IntSupplier principals, Supplier<@Nullable Instant> certificateUntil,
            Supplier<Map<String, String>> refusals) {}

    public StatusSources {
        fabrics = List.copyOf(fabrics);
    }

    GatewayConfig config() {
        return configured.get();
    }

    List<Backend> backends() {
        return stores.get();
    }
}
