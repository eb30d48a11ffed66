package io.railhead.gateway.admission;

import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One tenant's share of admission: its requests in flight, its rate, and its one scan of many
 * objects. Any thread.
 */
public final class TenantInFlight {
    private final Object key;
    private final String name;
    private final InFlightCounter inFlightCounter = new InFlightCounter();
    private final AtomicBoolean scanning = new AtomicBoolean();
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

    /** Begins a scan, which {@link #endScan} must end; false if another one is under way. */
    public boolean tryBeginScan() {
        return scanning.compareAndSet(false, true);
    }

    public void endScan() {
        scanning.set(false);
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
