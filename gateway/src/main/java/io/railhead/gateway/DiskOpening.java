package io.railhead.gateway;

import io.railhead.backend.BackendConfig;
import io.railhead.cache.CacheConfig;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.ObjectId;
import io.railhead.cache.disk.DiskConfig;
import io.railhead.cache.disk.DiskTier;
import io.railhead.cache.disk.DiskTrial;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.config.GatewayConfig.Disk;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Opens the disk tier, and tells it the stores' identities. */
final class DiskOpening {
    /** The most memory that pages waiting for disks may keep in use. */
    private static final long MOST_QUEUED_BYTES = 256L << 20;
    /** The part of the room for fills that these pages may take. */
    private static final int QUEUED_PART = 4;

    private DiskOpening() {}

    /** Returns null if no disk is configured. Disks that cannot be used are left out. */
    static ObjectCache.@Nullable Lower open(GatewayConfig config, LongSupplier nanoClock) {
        Disk disk = config.cache().disk();
        return disk == null
                ? null
                : new ObjectCache.Lower(
                        DiskTier.open(diskConfig(config.cache(), disk), nanoClock),
                        new StoreIdentities(config.backends())::of);
    }

    /**
     * Returns a line for each disk that a gateway would do without, or whose pages it would drop,
     * within some seconds.
     */
    static List<String> warnings(GatewayConfig config) {
        Disk disk = config.cache().disk();
        return disk == null
                ? List.of()
                : DiskTier.check(diskConfig(config.cache(), disk))
                        .stream()
                        .flatMap(DiskOpening::warnings)
                        .toList();
    }

    private static Stream<String> warnings(DiskTrial trial) {
        Stream<String> problems = trial.problem().isEmpty()
                ? Stream.empty()
                : Stream.of("cache.disk: " + trial.problem()
                        + ": a gateway serves without this disk");
        Stream<String> drops = trial.dropped().isEmpty()
                ? Stream.empty()
                : Stream.of("cache.disk: " + trial.path()
                        + ": a start drops its pages, since " + trial.dropped());
        return Stream.concat(problems, drops);
    }

    private static DiskConfig diskConfig(GatewayConfig.Cache cache, Disk disk) {
        long usable = cache.memory().bytes() - cache.reserve().of(cache.memory().bytes());
        long fills = usable - CacheConfig.cacheableBytes(usable, cache.run().bytes());
        return new DiskConfig(disk.paths(), disk.size().bytes(), disk.writesPerDay().bytes(),
                disk.minObject().bytes(), (int) cache.page().bytes(),
                Math.max(cache.page().bytes(), Math.min(MOST_QUEUED_BYTES, fills / QUEUED_PART)),
                DiskConfig.HANGS, shares(disk), disk.keys());
    }

    private static Map<String, DiskConfig.Share> shares(Disk disk) {
        double all = (double) disk.size().bytes() * disk.paths().size();
        Map<String, DiskConfig.Share> shares = new HashMap<>();
        disk.tenants()
                .forEach((tenant, quota) -> shares.put(tenant,
                        new DiskConfig.Share(quota.quotaBytes() / all, quota.floorBytes() / all)));
        return shares;
    }

    /** Returns what tells a store from others, at any gateway and after restarts. */
    static String identity(BackendConfig store) {
        return store.endpoints()
                .stream()
                .map(URI::toString)
                .sorted()
                .collect(Collectors.joining(" ")) + " " + store.region();
    }

    /**
     * The identities of stores as they were configured at the start. A store that a reload added or
     * pointed elsewhere marks its objects' namespaces by a number that means nothing after a
     * restart, so these are not kept on disk.
     */
    private static final class StoreIdentities {
        private final Map<String, String> byName = new HashMap<>();

        StoreIdentities(Map<String, GatewayConfig.Store> stores) {
            stores.forEach((name, store) -> byName.put(name, identity(store.backend())));
        }

        @Nullable
        String of(ObjectId id) {
            return id.namespace().startsWith(OpenStores.LATER_ERA)
                    ? null
                    : byName.get(id.backend());
        }
    }
}
