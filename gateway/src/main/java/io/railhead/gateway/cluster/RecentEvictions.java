package io.railhead.gateway.cluster;

import io.railhead.cache.Selection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Names that were evicted a moment ago. Other gateways may not have evicted them yet, so none is
 * asked for their pages. Any thread.
 */
final class RecentEvictions {
    /** More than an operator waits until every gateway has evicted them. */
    private static final long KEPT_NANOS = Duration.ofSeconds(10).toNanos();
    private static final int MOST = 256;

    private volatile List<Evicted> recent = List.of();

    /** @param names null for all names, where too many were evicted to tell them apart */
    private record Evicted(@Nullable Selection names, long sinceNanos) {

        boolean isOver(long nowNanos) {
            return nowNanos - sinceNanos > KEPT_NANOS;
        }

        boolean covers(String bucket, String key) {
            return names == null || names.covers(bucket, key);
        }
    }

    synchronized void add(Selection names, long nowNanos) {
        List<Evicted> left = new ArrayList<>(recent);
        left.removeIf(each -> each.isOver(nowNanos));
        if (left.size() >= MOST) {
            left.clear();
            left.add(new Evicted(null, nowNanos));
        } else {
            left.add(new Evicted(names, nowNanos));
        }
        recent = List.copyOf(left);
    }

    /** Returns whether an object was evicted by name a moment ago. */
    boolean cover(String bucket, String key, long nowNanos) {
        for (Evicted each : recent) {
            if (!each.isOver(nowNanos) && each.covers(bucket, key)) {
                return true;
            }
        }
        return false;
    }
}
