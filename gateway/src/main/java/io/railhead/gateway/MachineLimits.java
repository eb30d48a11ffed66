package io.railhead.gateway;

import com.sun.management.UnixOperatingSystemMXBean;
import io.railhead.cache.memory.MemoryBudget;
import io.railhead.gateway.admission.Limits;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.config.MachineNeeds;
import java.lang.management.ManagementFactory;

/** The machine's limits, used as defaults of keys that the configuration leaves out. */
final class MachineLimits {
    private static final int LEAST = 64;
    private static final long CONNECTION_BYTES = 32 << 10;
    /**
     * Heap and direct memory of a request, each: heads and pieces of bodies. The JVM limits both
     * alike by default.
     */
    private static final long REQUEST_BYTES = 512 << 10;
    /** Readers share pages, so the cache's memory alone would allow too few. */
    private static final int READERS_OF_A_PAGE = 8;

    private MachineLimits() {}

    static Limits of(GatewayConfig config) {
        GatewayConfig.Admission asked = config.gateway().admission();
        long window = config.cache().window().bytes();
        int requests = asked.requests() == 0
                ? within(Math.min(Runtime.getRuntime().maxMemory(),
                        MemoryBudget.maxDirectBytes()) / REQUEST_BYTES)
                : asked.requests();
        long bytes = asked.bytes().bytes() == 0
                ? READERS_OF_A_PAGE * config.cache().memory().bytes()
                : asked.bytes().bytes();
        return new Limits(requests, Math.max(bytes, window), window);
    }

    /**
     * Returns one connection for each descriptor that the gateway does not need itself; some are
     * for loopback.
     */
    static int connections(GatewayConfig config) {
        int asked = config.gateway().admission().connections();
        if (asked != 0) {
            return asked;
        }
        MachineNeeds needs = MachineNeeds.of(config);
        long spare = mostDescriptors() - MachineNeeds.OWN_DESCRIPTORS - needs.storeConnections();
        return within(Math.min(spare / 4 * 3,
                Runtime.getRuntime().maxMemory() / 2 / CONNECTION_BYTES));
    }

    private static long mostDescriptors() {
        return ManagementFactory
                .getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean machine
                        ? machine.getMaxFileDescriptorCount()
                        : Integer.MAX_VALUE;
    }

    private static int within(long count) {
        return Math.clamp(count, LEAST, Integer.MAX_VALUE);
    }
}
