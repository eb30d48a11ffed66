package io.railhead.gateway.admission;

import io.railhead.backend.Rate;
import io.railhead.backend.TokenBucket;
import io.railhead.gateway.config.RateLimits;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The buckets of one configuration. Another configuration has a table of its own, whose buckets are
 * full. Any thread.
 *
 * <p> Buckets outlive the requests of their tenant, since otherwise a debt would be forgotten.
 * Anybody can invent addresses, so full buckets are dropped once there are many: a new one is as
 * good. Above the bound, new sharers have one bucket together.
 */
final class TenantRates {
    private static final int MOST = 1 << 16;

    private final RateLimits limits;
    private final LongSupplier nanoClock;
    private final Map<Object, TenantRate> byKey = new ConcurrentHashMap<>();
    private final @Nullable TenantRate crowd;

    TenantRates(RateLimits limits, LongSupplier nanoClock) {
        this.limits = limits;
        this.nanoClock = nanoClock;
        this.crowd = open(limits.other());
    }

    RateLimits limits() {
        return limits;
    }

    /**
     * Returns the rate of one sharer; null if it has no limit.
     *
     * @param name the tenant's name in the configuration; "" for none
     */
    @Nullable
    TenantRate of(Object key, String name) {
        Rate rate = limits.of(name);
        if (rate.equals(Rate.NONE)) {
            return null;
        }
        TenantRate known = byKey.get(key);
        if (known != null) {
            return known;
        }
        if (byKey.size() >= MOST && rate.equals(limits.other()) && !makeRoom()) {
            return crowd;
        }
        return byKey.computeIfAbsent(key, _ -> open(rate));
    }

    int size() {
        return byKey.size();
    }

    private synchronized boolean makeRoom() {
        byKey.values().removeIf(TenantRate::isFull);
        return byKey.size() < MOST;
    }

    private @Nullable TenantRate open(Rate rate) {
        return rate.equals(Rate.NONE)
                ? null
                : new TenantRate(bucket(rate.requests()), bucket(rate.bytes()));
    }

    private @Nullable TokenBucket bucket(long perSecond) {
        return perSecond == 0 ? null : new TokenBucket(perSecond, nanoClock);
    }
}
