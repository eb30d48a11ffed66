package io.railhead.gateway.status;

import io.railhead.backend.Backend;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.memory.PageMemory;
import io.railhead.gateway.admin.Metrics;
import io.railhead.gateway.admin.Readiness;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.rdma.Fabric;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;

/** What the status page is about; read, never changed. */
public record StatusSources(Supplier<GatewayConfig> configured, Readiness readiness,
        Metrics metrics, PageMemory memory, ObjectCache cache, Supplier<List<Backend>> stores,
        Collection<Fabric> fabrics) {

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
