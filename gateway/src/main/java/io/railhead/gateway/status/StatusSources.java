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

/** What the status page is about; read, never changed. */
public record StatusSources(GatewayConfig config, Readiness readiness, Metrics metrics,
        PageMemory memory, ObjectCache cache, Collection<Backend> backends,
        Collection<Fabric> fabrics) {

    public StatusSources {
        backends = List.copyOf(backends);
        fabrics = List.copyOf(fabrics);
    }
}
