package io.railhead.gateway;

import io.railhead.backend.Backend;
import io.railhead.gateway.accounting.UsageTable;
import io.railhead.gateway.admission.Admission;
import io.railhead.gateway.channel.ChannelServer;
import io.railhead.gateway.config.ConfigException;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.frontdoor.Connections;
import io.railhead.gateway.log.ApplicationLog;
import io.railhead.gateway.request.Routes;
import io.railhead.gateway.tracing.Tracing;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;

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
     * @param storesInUse names those that acknowledged writes wait for
     */
    record Parts(OpenStores stores, Routes routes, ChannelServer requests, Admission admission,
            Connections connections, Tracing tracing, UsageTable usage, LongSupplier nanoClock,
            Consumer<List<Backend>> probing, Supplier<Set<String>> storesInUse) {}

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
        for (String store : parts.storesInUse().get()) {
            if (!next.backends().containsKey(store)) {
                throw new ConfigException("nothing of the file is used: backends." + store
                        + " has acknowledged writes that are not written yet, and is gone");
            }
        }
        try (OpenStores.Change stores = parts.stores().open(next.backends())) {
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
