package io.railhead.gateway.admission;

import org.jspecify.annotations.Nullable;

/** One tenant's share of admission: its requests in flight, and its rate. Any thread. */
public final class TenantInFlight {
    private final Object key;
    private final String name;
    private final InFlightCounter inFlightCounter = new InFlightCounter();
    private volatile @Nullable Resolved resolved;

    /** The rate in one table; the table changes at a reload. */
    private record Resolved(TenantRates table, @Nullable TenantRate rate) {}

    /** @param key the same for each share of this tenant that there ever is */
    TenantInFlight(Object key, String name) {
        this.key = key;
        this.name = name;
    }

    /** Returns the name in metrics; "" for an unknown sender. */
    String name() {
        return name;
    }

    InFlightCounter use() {
        return inFlightCounter;
    }

    /** Returns the tenant's rate; null if it has no limit. */
    @Nullable
    TenantRate rate(TenantRates now) {
        Resolved known = resolved;
        if (known == null || known.table() != now) {
            known = new Resolved(now, now.of(key, name));
            resolved = known;
        }
        return known.rate();
    }
}
