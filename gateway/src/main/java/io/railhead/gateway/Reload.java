package io.railhead.gateway;

import io.railhead.backend.Backend;
import io.railhead.gateway.accounting.UsageTable;
import io.railhead.gateway.admission.Admission;
import io.railhead.gateway.channel.ChannelServer;
import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.frontdoor.Connections;
import io.railhead.gateway.log.ApplicationLog;
import io.railhead.gateway.object.writeback.WriteBack;
import io.railhead.gateway.request.PlacedStore;
import io.railhead.gateway.request.Routes;
import io.railhead.gateway.tracing.Tracing;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Puts another configuration into force while requests are served. The whole change is refused if
 * it names an unusable store or changes a key that needs a restart.
 */
final class Reload {
    private final Parts parts;
    private volatile GatewayConfig config;

    /**
     * The parts of a gateway that a reload can change.
     *
     * @param nanoClock the clock of cached objects
     * @param probing probes new stores, without waiting
     * @param writeBack holds acknowledged writes that stores do not have yet; null for none ever
     */
    record Parts(OpenStores stores, Routes routes, ChannelServer requests, Admission admission,
            Connections connections, Tracing tracing, UsageTable usage, LongSupplier nanoClock,
            Consumer<List<Backend>> probing, @Nullable WriteBack writeBack) {}

    Reload(GatewayConfig config, Parts parts) {
        this.config = config;
        this.parts = parts;
    }

    /** The configuration in force. */
    GatewayConfig config() {
        return config;
    }

    /** Returns the files of stores' certificate authorities. */
    Stream<Path> authorities() {
        return config.backends()
                .values()
                .stream()
                .map(store -> store.backend().ca())
                .filter(Objects::nonNull)
                .distinct();
    }

    /** Applies a configuration. Blocks: files are read and threads started. */
    synchronized void apply(GatewayConfig next) throws ConfigException {
        List<String> fixed = config.keysThatNeedARestart(next);
        if (!fixed.isEmpty()) {
            throw new ConfigException("nothing of the file is used: " + String.join(", ", fixed)
                    + (fixed.size() == 1 ? " needs" : " need") + " a restart");
        }
        WriteBack writeBack = parts.writeBack();
        if (writeBack == null) {
            use(next, Set.of());
            return;
        }
        writeBack.changeStores(true);
        try {
            use(next, writeBack.stores());
        } finally {
            writeBack.changeStores(false);
        }
    }

    /** @param inUse stores for which acknowledged writes are pending, or arrive */
    private void use(GatewayConfig next, Set<String> inUse) throws ConfigException {
        try (OpenStores.Change stores = parts.stores().open(next.backends())) {
            requireSame(inUse, stores.placed());
            // Read now: a new promise covers knowledge from this moment on.
            long nowNanos = parts.nanoClock().getAsLong();
            parts.routes()
                    .replace(new Routes.Table(
                            next.rules().after(parts.routes().table().rules(), nowNanos),
                            stores.placed()));
            parts.requests().rerouted();
            applyLimits(next);
            List<Backend> fresh = stores.fresh();
            config = next;
            stores.done();
            parts.probing().accept(fresh);
        } catch (IllegalArgumentException e) {
            throw new ConfigException(String.valueOf(e.getMessage()));
        }
    }

    /** Pending writes must not be lost, nor reach another store of the same name. */
    private void requireSame(Set<String> inUse, Map<String, PlacedStore> placed)
            throws ConfigException {
        for (String name : inUse) {
            PlacedStore before = parts.routes().table().stores().get(name);
            PlacedStore after = placed.get(name);
            boolean isSame = before != null && after != null && before.era().equals(after.era());
            if (!isSame) {
                throw new ConfigException("nothing of the file is used: backends." + name
                        + " has acknowledged writes that are not written yet, and "
                        + (after == null ? "is gone" : "has no endpoint of before"));
            }
        }
    }

    private void applyLimits(GatewayConfig next) {
        parts.admission().limit(MachineLimits.of(next));
        parts.admission().limit(next.gateway().admission().rates());
        parts.connections().limit(MachineLimits.connections(next));
        parts.tracing().use(next.tracing());
        parts.usage().price(next.accounting().prices());
        if (next.log().level() != config.log().level()) {
            ApplicationLog.level(next.log().level());
        }
    }
}
