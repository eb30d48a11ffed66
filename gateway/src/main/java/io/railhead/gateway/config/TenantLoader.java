package io.railhead.gateway.config;

import io.railhead.backend.Rate;
import io.railhead.cache.CacheConfig;
import io.railhead.cache.TenantQuota;
import java.util.LinkedHashMap;
import java.util.Map;

/** Reads the quotas, floors and rates of tenants. */
final class TenantLoader {
    private static final int MOST_TENANTS = 64;
    private static final int MOST_REQUESTS = 1_000_000_000;
    private static final long MOST_BYTES = 1L << 40;
    /** The tenant of principals that name none. */
    private static final String NO_TENANT = "default";

    private TenantLoader() {}

    /** @param cacheable the cacheable memory of {@link CacheConfig#cacheableBytes} */
    static Map<String, TenantQuota> tenants(Section cache, long cacheable) throws ConfigException {
        return tenants(cache, cacheable,
                "cache.memory leaves without cache.reserve and room for fills");
    }

    /** @param room the bytes that tenants share, and {@code name} their name in a problem */
    static Map<String, TenantQuota> tenants(Section cache, long room, String name)
            throws ConfigException {
        Map<String, TenantQuota> tenants = new LinkedHashMap<>();
        long floors = 0;
        for (Map.Entry<String, Section> entry : cache.sections("tenants").entrySet()) {
            TenantQuota share = share(entry.getValue(), room, name);
            floors += share.floorBytes();
            tenants.put(entry.getKey(), share);
        }
        if (tenants.size() > MOST_TENANTS) {
            throw cache.problem("tenants", "must be at most " + MOST_TENANTS);
        }
        if (floors > room) {
            throw cache.problem("tenants", "floors are " + new ByteCount(floors)
                    + " together, and may be at most " + new ByteCount(room) + ": what " + name);
        }
        return tenants;
    }

    /** @param section {@code gateway.admission.rate} */
    static RateLimits rates(Section section) throws ConfigException {
        Rate other = rate(section, Rate.NONE);
        Map<String, Rate> tenants = new LinkedHashMap<>();
        for (Map.Entry<String, Section> entry : section.sections("tenants").entrySet()) {
            if (entry.getKey().equals(NO_TENANT)) {
                throw section.problem("tenants." + NO_TENANT, "is no tenant: principals without a"
                        + " tenant have a rate each; name the principal");
            }
            tenants.put(entry.getKey(), rate(entry.getValue(), other));
            entry.getValue().close();
        }
        section.close();
        return new RateLimits(other, tenants);
    }

    static Rate rate(Section section, Rate otherwise) throws ConfigException {
        int requests = section.count("requests", (int) otherwise.requests(), 0, MOST_REQUESTS);
        ByteCount bytes = section.bytes("bytes", new ByteCount(otherwise.bytes()).toString());
        if (bytes.bytes() > MOST_BYTES) {
            throw section.problem("bytes", "must be at most 1024GiB: " + bytes);
        }
        return new Rate(requests, bytes.bytes());
    }

    private static TenantQuota share(Section section, long room, String name)
            throws ConfigException {
        long quota = section.value("quota", "100%", text -> bytes(text, room, name));
        long floor = section.value("floor", "0%", text -> bytes(text, room, name));
        section.close();
        if (floor > quota) {
            throw section.problem("floor", "must not be above quota");
        }
        return new TenantQuota(quota >= room ? TenantQuota.NO_QUOTA : quota, floor);
    }

    private static long bytes(String text, long room, String name) {
        if (text.endsWith("%")) {
            return Quantity.percent(text).of(room);
        }
        long bytes = ByteCount.parse(text).bytes();
        if (bytes > room) {
            throw new IllegalArgumentException(
                    "is more than the " + new ByteCount(room) + " that " + name);
        }
        return bytes;
    }
}
