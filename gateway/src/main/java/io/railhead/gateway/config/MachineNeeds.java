package io.railhead.gateway.config;

import io.railhead.gateway.config.GatewayConfig.Cache;
import io.railhead.gateway.config.GatewayConfig.Rdma;
import java.nio.file.Path;

/**
 * The requirements of a configuration on the machine.
 *
 * @param storeConnections the most connections to all backends together
 */
public record MachineNeeds(Cache cache, Rdma rdma, int storeConnections) {
    /** The descriptors of a gateway without clients: files, threads and listeners. */
    public static final int OWN_DESCRIPTORS = 512;

    private static final Path FOLDER = Path.of("/etc/railhead");

    public static MachineNeeds of(GatewayConfig config) {
        return new MachineNeeds(config.cache(), config.rdma(),
                config.backends()
                        .values()
                        .stream()
                        .mapToInt(store -> store.backend().maxConnections())
                        .sum());
    }

    /** Returns the needs of an empty configuration with one backend. */
    public static MachineNeeds defaults() {
        try {
            Section nothing = Section.root("defaults", null);
            Cache cache = ConfigLoader.cache(nothing, FOLDER);
            return new MachineNeeds(cache, new RdmaLoader(FOLDER).load(nothing, cache.page()),
                    StoreLoader.MAX_CONNECTIONS);
        } catch (ConfigException e) {
            throw new IllegalStateException("the defaults are not valid", e);
        }
    }
}
