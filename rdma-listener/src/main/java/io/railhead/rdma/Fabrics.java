package io.railhead.rdma;

import io.railhead.cache.memory.Slab;
import io.railhead.rdma.session.ClientSession;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A gateway's fabrics as one: each transfer uses the fabric that its session was opened for. Any
 * thread.
 */
public final class Fabrics implements Fabric {
    private final Map<String, Fabric> byName;

    /** Takes the fabrics, and closes them in the reverse order; no two may have the same name. */
    public Fabrics(List<Fabric> ownedFabrics) {
        Map<String, Fabric> fabrics = new LinkedHashMap<>();
        for (Fabric fabric : ownedFabrics) {
            if (fabrics.putIfAbsent(fabric.name(), fabric) != null) {
                throw new IllegalArgumentException("two fabrics are named " + fabric.name());
            }
        }
        byName = Collections.unmodifiableMap(fabrics);
    }

    public @Nullable Fabric find(@Nullable String name) {
        return name == null ? null : byName.get(name);
    }

    public Collection<Fabric> all() {
        return byName.values();
    }

    @Override
    public String name() {
        return String.join("+", byName.keySet());
    }

    /** Returns usable if any fabric is. */
    @Override
    public Health health() {
        if (byName.values().stream().anyMatch(fabric -> fabric.health().usable())) {
            return Health.USABLE;
        }
        return Health.down(byName.values()
                .stream()
                .map(fabric -> fabric.name() + ": " + fabric.health().reason())
                .collect(Collectors.joining("; ")));
    }

    @Override
    public Health health(ClientSession clientSession) {
        Fabric fabric = find(clientSession.fabric());
        return fabric == null
                ? Health.down("there is no fabric " + clientSession.fabric())
                : fabric.health(clientSession);
    }

    /** Returns the sum of all fabrics. */
    @Override
    public FabricStats stats() {
        return byName.values()
                .stream()
                .map(Fabric::stats)
                .reduce(FabricStats.NONE,
                        FabricStats::plus);
    }

    @Override
    public void register(Slab slab) {
        byName.values().forEach(fabric -> fabric.register(slab));
    }

    @Override
    public Transfer begin(RemoteBuffer buffer) {
        Fabric fabric = find(buffer.session().fabric());
        if (fabric == null) {
            throw new TransferException(TransferException.Reason.UNAVAILABLE,
                    "there is no fabric " + buffer.session().fabric());
        }
        return fabric.begin(buffer);
    }

    /** Closes all fabrics, whatever happens in one; throws the first failure. */
    @Override
    public void close() {
        AllSteps.run(new ArrayList<>(byName.values()).reversed()
                .stream()
                .map(fabric -> (Runnable) fabric::close)
                .toList());
    }
}
